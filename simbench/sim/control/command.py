"""The interface of a controller: the loads it knows, and the torques of motors and joints that it gives."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from simbench.kinematics.arrays import Array
from simbench.sim.state import RobotState, Signal

# A known external force: Pinocchio's index of the joint whose body it acts on, force (N) and moment (N·m) in
# the joint's frame.
Load = tuple[int, tuple[float, float, float, float, float, float]]


@dataclass
class Command:
    """Torques of one step, arrays in the order of `robot.joint_names`."""

    requested: Array  # (n,): motor torque that the control law asks for, N·m.
    motor: Array  # (n,): the same within the torque limits.
    # (n,): torque that the joint receives: motor torque minus what accelerates the rotor, and friction, N·m.
    joint: Array
    friction: Array  # (n,): coulomb and viscous friction on the joint, N·m.
    saturated: int = 0  # Number of motors at their limit.
    # (nv,): what is applied beside, so that rotors that are inertia of links act as rotors: torque on the
    # root in its frame (elements 3 to 5) and on the joints, N·m; None where no link has a rotor's inertia.
    cancelling: Array | None = None


# What is logged of a command.
COMMAND_SIGNALS: tuple[Signal[Command], ...] = tuple(
    Signal(f"torque_{name}", ("joint",), "N m", description, attrgetter(name))
    for name, description in (
        ("requested", "Motor torque that the control law asks for."),
        ("motor", "Motor torque within the limits."),
        ("joint", "Torque that the joint receives."),
        ("friction", "Coulomb and viscous friction on the joint."),
    )
)


class Controller(Protocol):
    """Drives the joints of a robot by a law."""

    command: Command

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Compute the part of the law that does not depend on the state.

        Parameters
        ----------
        position, velocity, feedforward : (..., n) array
            Reference at the end of a step, rad, rad/s, N·m.
        acceleration : (..., n) array or float
            Reference acceleration, rad/s².

        Returns
        -------
        (..., n) array
            Demand of the law, in its own unit.
        """

    def hold_feet(self, held: Sequence[bool]) -> None:
        """Set which feet, or thighs, the ground or a seat holds from now on.

        Parameters
        ----------
        held : sequence of bool
            In the order of `robot.feet`, or of the links on a seat.
        """

    def step(self, state: RobotState, demand: Array, loads: Sequence[Load] = ()) -> Command:
        """Compute the torques of this step and hand them to the engine.

        Parameters
        ----------
        state : RobotState
            State at the start of the step.
        demand : (n,) array
            Row of `demand` for this step.
        loads : sequence of Load
            Known external forces.

        Returns
        -------
        Command
            Torques of this step; overwritten by the next step.
        """
