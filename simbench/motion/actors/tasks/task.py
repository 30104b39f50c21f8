"""A task: equipment that determines where the hands can be, and how people move it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.actors.timing import Timing
from simbench.motion.anatomy import transform
from simbench.motion.handles import HandlePath
from simbench.robot.sides import SIDES

# Number of poses of a handle along its path: 4 mm apart or less, the longest being a circle of 0.12 m.
HANDLE_POSES = 200


@dataclass(frozen=True)
class Task:
    """A task as one person finds it. World frame: they stand or sit at the origin, looking along x.

    Parameters
    ----------
    name : str
        Name of the task.
    unit : str
        Unit of the equipment's travel, `m` or `rad`.
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
    """

    name: str
    unit: str
    palms: Callable[[Array], Array]
    timing: Timing
    turn_axes: Mapping[str, Array | None]
    approach: Mapping[str, Array]
    seated: bool = False
    details: Mapping[str, float] = field(default_factory=dict)


FIXED: Mapping[str, Array | None] = dict.fromkeys(SIDES)
"""Both hands held fully."""
HANDLE = np.array([0.0, 1.0, 0.0])
"""A handle gripped across the palm lies along this axis of it."""


def find_task_handles(task: Task, travel: Array) -> dict[str, HandlePath]:
    """Find the paths along which a task's equipment can move the hands.

    Parameters
    ----------
    task : Task
        The task as a person finds it.
    travel : (T,) array
        How far people move the equipment, m or rad; what turns by more than a full turn repeats its path.

    Returns
    -------
    dict of side to HandlePath
        Path of each hand's handle, and the axis about which the hand may turn.
    """
    low, high = float(travel.min()), float(travel.max())
    if task.unit == "rad":
        high = min(high, low + 2.0 * np.pi)
    positions = np.linspace(low, high, HANDLE_POSES)
    palms = task.palms(positions)
    handles = {}
    for hand, side in enumerate(SIDES):
        poses = palms[:, hand]
        still = bool((poses == poses[0]).all())
        start = 0 if still else int(np.abs(positions - travel[0]).argmin())
        handles[side] = HandlePath(poses[:1] if still else poses, task.turn_axes[side], start)
    return handles


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

    Parameters
    ----------
    pose : (4, 4) array
        The pose.
    count : int
        Number of samples.

    Returns
    -------
    (count, 4, 4) array
        The same pose at every sample.
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
