"""Recordings before a marker map is applied: labelled markers, or an animated skeleton and its kinematics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import Actor


@dataclass(frozen=True)
class MarkerRecording:
    """Labelled markers over time, as a motion-capture system reports them, not yet assigned to a body.

    Parameters
    ----------
    time : (T,) array
        Times of the samples at the recording's own rate, s, strictly increasing from 0.
    names : tuple of str
        Names of the M labelled markers, all different.
    positions : (T, M, 3) array
        Positions of the markers in the laboratory's axes, m; NaN where a marker was not seen.
    source : str
        Name of the recording in messages.
    up : str or None
        The laboratory's vertical axis, `x`, `y` or `z`, where the file or the user declares it.
    unit : str
        Unit of length of the file, as declared by it or by the user; the positions are already in metres.
    events : tuple of (str, float)
        Labels and times of events, s, on the clock of `time`.
    details : mapping of str to str
        What else the file says that is used later (for example the actor), by key.
    notes : tuple of str
        What was left out or assumed, as text for the user ("3 unlabelled points ignored").
    doubts : tuple of str
        Those assumptions that may well be wrong, one line each: `inspect`, `retarget` and `run` repeat them.
    """

    time: NDArray[np.float64]
    names: tuple[str, ...]
    positions: NDArray[np.float64]
    source: str
    up: str | None = None
    unit: str = "m"
    events: tuple[tuple[str, float], ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class RecordedPose:
    """One pose of a skeleton."""

    # (J, 3): positions of the joints in the file's world axes, in the file's unit.
    positions: NDArray[np.float64]
    rotations: NDArray[np.float64]  # (J, 3, 3): rotations from each joint's axes to the file's world axes.


@dataclass(frozen=True)
class SkeletonRecording:
    """Poses of the joints of a skeleton, as an animation format holds them, not yet assigned to a body.

    Parameters
    ----------
    time : (T,) array
        Times of the samples at the recording's own rate, s, strictly increasing from 0.
    names : tuple of str
        Names of the J joints and end sites, parents before children, all different.
    parents : (J,) int array
        Index of each joint's parent, -1 for the root.
    offsets : (J, 3) array
        Position of each joint in its parent's axes in the rest pose, in `unit`.
    positions : (T, J, 3) array
        Positions of the joints in the file's world axes, in `unit`.
    rotations : (T, J, 3, 3) array
        Rotations from each joint's axes to the file's world axes; all are the identity in the rest pose.
    source : str
        Name of the recording in messages.
    unit : str or None
        Unit of length, where the format, the file or the user declares one; None where none does (BVH).
    up : str or None
        The file's vertical axis, `x`, `y` or `z`, where it is declared.
    actor : Actor or None
        The person who moved, where the format says so.
    pose_before : RecordedPose or None
        A pose, often a T-pose, that the file holds before the motion and that was cut off.
    notes : tuple of str
        What was left out or assumed, as text for the user.
    doubts : tuple of str
        Those assumptions that may well be wrong, one line each: `inspect`, `retarget` and `run` repeat them.
    """

    time: NDArray[np.float64]
    names: tuple[str, ...]
    parents: NDArray[np.int64]
    offsets: NDArray[np.float64]
    positions: NDArray[np.float64]
    rotations: NDArray[np.float64]
    source: str
    unit: str | None = None
    up: str | None = None
    actor: Actor | None = None
    pose_before: RecordedPose | None = None
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def find_parent(name: str, names: Sequence[str], parents: Mapping[str, str]) -> int:
    """Find the joint of a skeleton that carries another, where some may be missing between them.

    `names`: names of the joints that are there, the root first; `parents`: name of each joint's parent in the
    whole skeleton; the root has none or an empty one. Returns index of the nearest of its ancestors that is
    there, of the first joint if none is; -1 for that one.
    """
    above = parents.get(name, "")
    while above and above not in names:
        above = parents.get(above, "")
    if names.index(name) == 0:
        return -1
    return names.index(above) if above else 0


def compute_world_poses(
    parents: NDArray[np.int64], local_positions: Array, local_rotations: Array
) -> tuple[Array, Array]:
    """Compute the poses of a skeleton's joints in the world from their poses relative to their parents.

    `parents` (J,) int: index of each joint's parent, before its children; -1 for the root; `local_positions`
    (T, J, 3): positions of the joints in their parents' axes, of the root in the world's, in any unit of
    length; `local_rotations` (T, J, 3, 3): rotations from each joint's axes to its parent's. Returns
    `positions` (T, J, 3): positions of the joints in the world, in the same unit; `rotations` (T, J, 3, 3):
    rotations from each joint's axes to the world's.
    """
    positions, rotations = local_positions.copy(), local_rotations.copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            parent_rotation = rotations[:, parent]
            positions[:, joint] = (
                positions[:, parent] + (parent_rotation @ local_positions[:, joint, :, None])[..., 0]
            )
            rotations[:, joint] = parent_rotation @ local_rotations[:, joint]
    return positions, rotations
