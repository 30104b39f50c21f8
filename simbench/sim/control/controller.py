"""The controller that suits a robot, and the one of an arm whose root is fixed."""

from collections.abc import Sequence

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.sim.control.arm_step import arm_constants, arm_memory, arm_step
from simbench.sim.control.command import Command, Controller, Load
from simbench.sim.control.joint_controller import JointController
from simbench.sim.control.laws import ControlLaw, PdLaw
from simbench.sim.engine import GRAVITY, RobotBody
from simbench.sim.state import RobotState

_MOST_ARM_JOINTS = 9
"""Joints up to which an arm's step is compiled as a whole, anew for every number of them. With more, numba
has taken the record of one robot for that of another in the same process."""


class ArmController:
    """Drives the joints of an arm by a law, as `JointController` does, but in one compiled call.

    `body`: robot with a fixed root; `law`: law that the motors follow.
    """

    def __init__(self, body: RobotBody, law: ControlLaw) -> None:
        joints = len(body.robot.joint_names)
        self._apply = body.apply_joint_torques
        self._constants = arm_constants(
            body.robot, law, body.world.timestep, GRAVITY, has_armature=body.has_armature
        )
        self._memory = arm_memory(joints)
        # Views: what a step writes is in them.
        requested, motor, joint, friction, self._load = (
            self._memory[name][0] for name in ("requested", "motor", "joint", "friction", "load")
        )
        self._loaded: list[int] = []
        self.demand = law.demand
        self._law_of_step = law if law.beside_step else None
        self._law_torque = np.zeros(joints)
        self.command = Command(requested, motor, joint, friction)

    def hold_feet(self, held: Sequence[bool]) -> None:
        """Do nothing: an arm has no feet. `held`: ignored."""

    def step(self, state: RobotState, demand: Array, loads: Sequence[Load] = ()) -> Command:
        """Compute the torques of this step and hand them to the engine.

        `state`: state at the start of the step; `demand` (n,): row of `demand` for this step; `loads`: known
        external forces. Returns torques of this step; overwritten by the next step.
        """
        for joint in self._loaded:
            self._load[joint] = 0.0
        self._loaded.clear()
        for joint, wrench in loads:
            self._load[joint] = wrench
            self._loaded.append(joint)
        if self._law_of_step is not None:
            self._law_of_step.torque(state, demand, self._law_torque)
            demand = self._law_torque
        command = self.command
        command.saturated = arm_step(self._constants, self._memory, state.q, state.v, demand)
        self._apply(command.joint)
        return command


def make_controller(body: RobotBody, law: ControlLaw | None = None, seated: Sequence[str] = ()) -> Controller:
    """Make the controller of a robot: compiled as a whole for an arm, whose steps take next to no time.

    `body`: robot to drive; `law`: law that the motors follow; PD with the robot's gains by default; `seated`:
    links that a seat holds, instead of feet that the ground holds. Returns `ArmController` for a fixed root
    without feet and with few joints, `JointController` for any other.
    """
    if body.robot.floating or body.robot.feet or len(body.robot.joint_names) > _MOST_ARM_JOINTS:
        return JointController(body, law, seated)
    return ArmController(body, PdLaw(body.robot, body.world.timestep) if law is None else law)
