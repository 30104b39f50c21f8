"""The controller that suits a robot."""

from collections.abc import Sequence
from typing import Protocol

from simbench.kinematics.arrays import Array
from simbench.sim.control.arm_controller import ArmController
from simbench.sim.control.command import Command, Load
from simbench.sim.control.joint_controller import JointController
from simbench.sim.control.laws import ControlLaw, PdLaw
from simbench.sim.state import RobotState
from simbench.sim.world import RobotBody


class Controller(Protocol):
    """What drives the joints of a robot by a law."""

    command: Command

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Compute the part of the law that does not depend on the state."""

    def hold_feet(self, held: Sequence[bool]) -> None:
        """Say which feet, or thighs, are held from now on."""

    def step(self, state: RobotState, demand: Array, loads: Sequence[Load] = ()) -> Command:
        """Compute the torques of this step and hand them to Bullet."""


def make_controller(body: RobotBody, law: ControlLaw | None = None, seated: Sequence[str] = ()) -> Controller:
    """Make the controller of a robot: compiled as a whole for an arm, whose steps take next to no time.

    Parameters
    ----------
    body : RobotBody
    law : ControlLaw, optional
        PD with the robot's gains by default.
    seated : sequence of str
        Links that a seat holds, instead of feet that the ground holds.

    Returns
    -------
    Controller
    """
    if body.robot.floating or body.robot.feet:
        return JointController(body, law, seated)
    return ArmController(body, PdLaw(body.robot, body.world.timestep) if law is None else law)
