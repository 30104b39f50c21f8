"""Joint control of a robot whose root is fixed."""

from collections.abc import Sequence

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.sim.control.arm_step import arm_constants, arm_memory, arm_step
from simbench.sim.control.command import Command, Load, drive_joints
from simbench.sim.control.laws import ControlLaw
from simbench.sim.state import RobotState
from simbench.sim.world import GRAVITY, RobotBody


class ArmController:
    """Drives the joints of an arm by a law, as `JointController` does, but in one compiled call.

    Parameters
    ----------
    body : RobotBody
        Of a robot with a fixed root.
    law : ControlLaw
    """

    def __init__(self, body: RobotBody, law: ControlLaw) -> None:
        self._body = body
        self._constants = arm_constants(body.robot, law, body.world.timestep, GRAVITY)
        self._memory = arm_memory(len(body.joints))
        # Views: what a step writes is in them.
        requested, motor, joint, friction, self._load = (
            self._memory[name][0] for name in ("requested", "motor", "joint", "friction", "load")
        )
        self._loaded: list[int] = []
        self.demand = law.demand
        self._beside = law if law.beside_step else None
        self._asked = np.zeros(len(body.joints))
        self.command = Command(requested, motor, joint, friction)

    def hold_feet(self, held: Sequence[bool]) -> None:
        """Do nothing: an arm has no feet."""

    def step(self, state: RobotState, demand: Array, loads: Sequence[Load] = ()) -> Command:
        """Compute the torques of this step and hand them to Bullet; as `JointController.step`."""
        for joint in self._loaded:
            self._load[joint] = 0.0
        self._loaded.clear()
        for joint, wrench in loads:
            self._load[joint] = wrench
            self._loaded.append(joint)
        if self._beside is not None:
            self._beside.torque(state, demand, self._asked)
            demand = self._asked
        command = self.command
        command.saturated = arm_step(self._constants, self._memory, state.q, state.v, demand)
        drive_joints(self._body, command.joint)
        return command
