"""Declarations of the quantities that a run samples; states of robots and mechanisms as engines give them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.fixtures.mechanism import Mechanism

Source = TypeVar("Source")  # Object that a signal is measured on: a state, a command, the grips of a robot.


@dataclass(frozen=True)
class Signal(Generic[Source]):
    """A quantity that a run samples; recorder and log take everything they know of it from here.

    Parameters
    ----------
    name : str
        Name of the variable in the log.
    dims : tuple of str
        Dimensions of a sample, among the coordinates of the log; empty for a number.
    unit : str
        SI unit, and the frame where there is one; empty for what has none.
    description : str
        Description of the measured quantity.
    measure : callable (Source) -> array_like, optional
        Gives a sample; None for a signal that is computed after the run.
    dtype : type
        Type of the values.
    fill : float
        Value of a sample that is not measured.
    """

    name: str
    dims: tuple[str, ...]
    unit: str
    description: str
    measure: Callable[[Source], ArrayLike] | None = None
    dtype: type[Any] = float
    fill: float = 0.0


@dataclass(frozen=True)
class RobotState:
    """Configuration and velocity of a robot in Pinocchio's conventions."""

    q: Array  # (7 + n,): root position (m, world), root quaternion x, y, z, w, joint positions (rad).
    # (6 + n,): root linear (m/s) and angular velocity (rad/s) in the root frame, joint velocities (rad/s).
    # For a robot with a fixed root, `q` and `v` hold the joints alone.
    v: Array
    # (15,): for a free root: rotation matrix by rows, then linear (m/s) and angular velocity (rad/s) of the
    # root link in world axes, of the point `RobotBody.root_motion` whose velocity the engine integrates.
    root: Array = field(default_factory=lambda: np.zeros(15))


class FixtureState(NamedTuple):
    """Joint state and pose of a fixture."""

    position: Array  # (J,): joint positions, m or rad.
    velocity: Array  # (J,): joint velocities, m/s or rad/s.
    stand: Array  # (7,): pose of the fixture's frame in the world: x, y, z (m), quaternion x, y, z, w.


def empty_state(robot: Robot, *shape: int) -> RobotState:
    """Allocate the buffers that `RobotBody.read_state` fills.

    `*shape`: leading dimensions for buffers of many states; none for one state. Returns zeros: q (*shape, nq)
    and v (*shape, nv).
    """
    return RobotState(np.zeros((*shape, robot.model.nq)), np.zeros((*shape, robot.model.nv)))


def root_and_joint_signals(root_q: int, root_v: int) -> tuple[Signal[RobotState], ...]:
    """Declare what is logged of the state of a robot whose root has some coordinates.

    The base of one with a fixed root is not sampled: it stays as it was at the start. `root_q`: number of
    the root's position coordinates: 7, or 0 for a fixed base; `root_v`: number of the
    root's velocity coordinates: 6, or 0 for a fixed base. Returns signals measured on a `RobotState`.
    """
    floating = root_q > 0
    return (
        Signal("joint_position", ("joint",), "rad", "Joint positions.", lambda state: state.q[root_q:]),
        Signal("joint_velocity", ("joint",), "rad/s", "Joint velocities.", lambda state: state.v[root_v:]),
        Signal(
            "base_pose",
            ("pose",),
            "m; quaternion x y z w",
            "Pose of the root link in the world.",
            (lambda state: state.q[:7]) if floating else None,
        ),
        Signal(
            "base_velocity",
            ("axis6",),
            "m/s, rad/s in the root frame",
            "Linear and angular velocity of the root link.",
            (lambda state: state.v[:6]) if floating else None,
        ),
    )


def fixture_signals(mechanism: Mechanism) -> tuple[Signal[FixtureState], ...]:
    """Declare what is logged of a fixture's state.

    `mechanism`: description of the fixture. Returns signals measured on a `FixtureState`: position and
    velocity of each joint, and the pose of a fixture that stands freely.
    """
    signals: list[Signal[FixtureState]] = []
    for column, joint in enumerate(mechanism.joints):
        name = f"{mechanism.name}_{joint.name}"

        def position(state: FixtureState, column: int = column) -> float:
            return state.position[column]

        def velocity(state: FixtureState, column: int = column) -> float:
            return state.velocity[column]

        signals.append(Signal(name, (), joint.unit, "Position of the joint.", position))
        signals.append(Signal(f"{name}_velocity", (), f"{joint.unit}/s", "Velocity of the joint.", velocity))
    if mechanism.standing:
        signals.append(
            Signal(
                f"{mechanism.name}_stand",
                ("pose",),
                "m; quaternion x y z w",
                "Pose of the fixture's frame in the world.",
                lambda state: state.stand,
            )
        )
    return tuple(signals)
