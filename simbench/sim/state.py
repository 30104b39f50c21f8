"""Declarations of the quantities that a run samples; states of robots and mechanisms as engines give them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot

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
