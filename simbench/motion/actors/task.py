"""A task: equipment that determines where the hands can be, and when and how people move it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import transform
from simbench.robot.sides import SIDES


@dataclass(frozen=True)
class Timing:
    """How long the parts of a recording last, and how the equipment is moved.

    Parameters
    ----------
    moves : tuple of (float, float)
        Movements of one repetition: travel of the equipment at their end (m or rad from where the repetition
        began), and mean duration, s.
    repetitions : int
        How often the movements are repeated.
    variation : float
        Relative standard deviation of durations and of travels, over the repetitions.
    pause : float
        Mean stop between two moves, s.
    initial, transition, descent, grasp, rest : float
        Durations, s, of standing with arms forward, moving from there to before the equipment, moving onto
        it, closing the fingers, and standing still at the end.
    rate : float
        Sampling rate of the recording, Hz.
    """

    moves: tuple[tuple[float, float], ...]
    repetitions: int = 5
    variation: float = 0.03
    pause: float = 0.10
    initial: float = 1.0
    transition: float = 1.5
    descent: float = 0.9
    grasp: float = 0.4
    rest: float = 0.5
    rate: float = 100.0


@dataclass(frozen=True)
class Task:
    """A task as one person finds it. World frame: they stand or sit at the origin, looking along x.

    Parameters
    ----------
    name : str
        Name of the task.
    unit : str
        Unit of the equipment's travel, `m`, `rad`, or `MOVES`.
    palms : callable
        From the equipment's travel (T,) to the poses (T, 2, 4, 4) of the left and the right palm on it:
        origin at the palm's centre, x along the fingers, z dorsal.
    timing : Timing
        Durations of a recording, and how the equipment is moved.
    turn_axes : mapping of side to (3,) array or None
        Axis in the palm's axes about which a hand may turn on its handle; None where it is held fully.
    approach : mapping of side to (3,) array
        Position of the palm before it takes the handle, relative to the handle, m, world.
    seated : bool
        Whether the person sits.
    details : mapping of str to float
        The equipment's numbers, SI units, to be kept with the recording.
    period : float or None
        Travel after which the hands' path is repeated; None for the unit's own: a full turn of what turns.
    arms_forward : bool
        Whether the person stands with arms forward at first, as motion capture asks for; otherwise, before
        equipment as high as they are, with arms hanging.
    hands : tuple of str
        Sides of the hands that work; the arm of another one hangs, and `palms` may have any pose for it.
    """

    name: str
    unit: str
    palms: Callable[[Array], Array]
    timing: Timing
    turn_axes: Mapping[str, Array | None]
    approach: Mapping[str, Array]
    seated: bool = False
    details: Mapping[str, float] = field(default_factory=dict)
    period: float | None = None
    arms_forward: bool = True
    hands: tuple[str, ...] = SIDES


# Unit of the travel of equipment that is used by several different movements: how many are done.
MOVES = "moves"
FIXED: Mapping[str, Array | None] = dict.fromkeys(SIDES)  # Both hands held fully.
HANDLE = np.array([0.0, 1.0, 0.0])  # A handle gripped across the palm lies along this axis of it.


def stack_palms(left: Array, right: Array) -> Array:
    """Stack the poses of both palms.

    Parameters
    ----------
    left, right : (T, 4, 4) array
        Poses of the left and of the right palm, world.

    Returns
    -------
    (T, 2, 4, 4) array
        Poses of both.
    """
    return np.stack([left, right], axis=1)


def repeat_pose(pose: Array, count: int) -> Array:
    """Repeat a pose at several samples.

    `pose` (4, 4); `count`: number of samples. Returns (count, 4, 4): the same pose at every sample.
    """
    return np.repeat(pose[None], count, axis=0)


def make_palm_poses(fingers: Array, dorsal: Array, position: Array) -> Array:
    """Make palm poses from where the fingers and the back of the hand point, and the palm's centre.

    Parameters
    ----------
    fingers, dorsal : (..., 3) array
        Directions of the fingers and of the back of the hand, unit vectors at right angles, world.
    position : (..., 3) array
        Position of the palm's centre, m, world.

    Returns
    -------
    (..., 4, 4) array
        Poses in the world: x along the fingers, z dorsal.
    """
    fingers, dorsal = np.broadcast_arrays(fingers, dorsal)
    rotation = np.stack([fingers, np.cross(dorsal, fingers), dorsal], axis=-1)
    return transform(rotation, position)
