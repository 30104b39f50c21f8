"""Feet of a robot trajectory on a flat floor: where each one stands, and how it swings between."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals, find_foot_contacts, point_speeds
from simbench.kinematics.profiles import minimum_jerk
from simbench.retargeting.trajectory.curves import Flags, SolePath

_SWING_SMOOTHING = 0.02
"""Standard deviation of the Gaussian that takes the noise out of a swing, s: a step takes 0.3 s or more."""
_FLAT = 0.1
"""Tilt of a sole up to which it counts for where the foot stands, rad."""
_ONSET = 0.2
"""Part of a swing in which the foot takes up the file's motion, and in which it gives it up again."""
LANDING_TIME = 0.3
"""Time in which a foot that is in the air at the file's beginning is lifted before it, and one at its end is
put down after it, s: lifted within the rest of its swing, it turned the G1 by 0.05 rad."""
_LIFTED = 0.001
"""Height of a sole above where it stands from which on it has left the floor, m."""
_REFINED = 0.15
"""Longest time by which the beginning and the end of a contact are corrected, s: planned steps rise and sink
slowly, so that they pass the heights by which contacts are detected late and early."""
_EVEN = 0.01
"""Difference of height up to which two soles are at the same one, m."""
_FLOATING, _STANDING_SPEED = 0.03, 0.3
"""Height (m) and speed (m/s) below which the lower foot stands although it does not touch the floor."""
_SHORTEST_SWING, _SHORTEST_CONTACT = 0.06, 0.04
"""Duration below which a swing or a contact is an error of its detection, s."""


class FootPlan(NamedTuple):
    """Planned motion of both feet, left and right, N samples; soles are level.

    Parameters
    ----------
    position : (N, 2, 3) array
        Positions of the foot frames in the world frame, m.
    yaw : (N, 2) array
        Rotation of the foot frames about the vertical, rad, without jumps.
    contact : (N, 2) bool array
        Whether each foot is on the floor.
    in_swing : (N, 2) array
        Progress of a foot's swing, 0 to 1; NaN on the floor.
    steps : int
        Number of swings.
    """

    position: Array
    yaw: Array
    contact: Flags
    in_swing: Array
    steps: int


def find_contacts(time: Array, soles: SolePath) -> Flags:
    """Find when each foot of a trajectory stands on the floor.

    Heights and speeds of the soles' corners decide (`find_foot_contacts`). A contact ends when the sole
    begins to rise, and begins when it has come to rest: without the samples next to a swing at which the sole
    is 1 mm or more above its median height in the contact, at most 0.15 s of them at each end. While no foot
    is on the floor, the lower one stands if it is slow and less than 3 cm above: retargeted feet float.

    Parameters
    ----------
    time : (T,) array
        Times of the samples, s, evenly spaced.
    soles : SolePath
        Motion of the soles over the floor z = 0, T samples.

    Returns
    -------
    (T, 2) bool array
        Whether each foot stands.
    """
    clearance = soles.clearance
    contact = np.stack(
        [
            find_foot_contacts(time, corners[:, :, 2], point_speeds(time, corners), 0.0)
            for corners in soles.corners
        ],
        axis=1,
    )
    refined = _without_rising(contact, clearance, float(time[1] - time[0]))
    slow = point_speeds(time, soles.position) < _STANDING_SPEED
    lower = clearance < clearance.min(axis=1, keepdims=True) + _EVEN
    floating = ~contact.any(axis=1, keepdims=True) & lower & slow & (clearance < _FLOATING)
    return np.asarray(refined | floating)


def _without_rising(contact: Flags, clearance: Array, timestep: float) -> Flags:
    """Shorten contacts (T, 2) by the samples at their ends at which the sole already rises or still sinks."""
    refined = contact.copy()
    most = round(_REFINED / timestep)
    for foot in (0, 1):
        for first, last in contact_intervals(contact[:, foot]):
            height = clearance[first : last + 1, foot]
            low = height < np.median(height) + _LIFTED
            begin = min(int(low.argmax()), most) if first > 0 else 0
            end = min(int(low[::-1].argmax()), most) if last < len(contact) - 1 else 0
            if begin + end < len(height):
                refined[first : first + begin, foot] = refined[last + 1 - end : last + 1, foot] = False
    return refined


def plan_feet(
    soles: SolePath, contact: Flags, timestep: float, before: int, after: int, lift: float
) -> FootPlan:
    """Plan level feet that stand where a trajectory's feet stand, and swing as they swing.

    A foot in contact keeps one pose: the median of the file's over the time in which its sole is flat. In
    between it follows the file's path, moved so that it meets both of them, at rest at both ends, and at
    least `lift` high once. A foot that is in the air at the first sample is lifted before it from the floor
    below, and one that is at the last sample is put down below, if the other foot stands.

    Parameters
    ----------
    soles : SolePath
        Motion of the trajectory's soles, M samples.
    contact : (M, 2) bool array
        Whether they are in contact with the floor.
    timestep : float
        Time between samples, s.
    before, after : int
        Number of samples to stand before and after.
    lift : float
        Least height of the middle of a swing, m.

    Returns
    -------
    FootPlan
        Planned feet, before + M + after samples.
    """
    samples = len(contact)
    total = before + samples + after
    position, yaw = np.empty((total, 2, 3)), np.empty((total, 2))
    in_swing = np.full((total, 2), np.nan)
    span = round(LANDING_TIME / timestep)
    lifting, landing = min(span, before - 1), min(span, after)
    steps = 0
    rows = np.clip(np.arange(total) - before, 0, samples - 1).astype(np.int64)
    for foot in (0, 1):
        # Without the other foot on the floor, nothing would carry the robot meanwhile.
        ends = [bool(contact[row, foot] or not contact[row].any()) for row in (0, -1)]
        stands = np.concatenate(
            [
                np.ones(before - lifting, bool),
                np.full(lifting, ends[0]),
                contact[:, foot],
                np.full(landing, ends[1]),
                np.ones(after - landing, bool),
            ]
        )
        stands = _without_short(
            _without_short(stands, False, _SHORTEST_SWING / timestep), True, _SHORTEST_CONTACT / timestep
        )
        intervals = contact_intervals(stands)
        held = [_standing_pose(soles, foot, rows[first : last + 1]) for first, last in intervals]
        for (first, last), pose in zip(intervals, held, strict=True):
            position[first : last + 1, foot] = [*pose[:2], 0.0]
            yaw[first : last + 1, foot] = pose[2]
        clearance = soles.clearance[:, foot]
        path = np.column_stack([soles.position[:, foot, :2], soles.yaw[:, foot], clearance])
        path = gaussian_filter1d(path, _SWING_SMOOTHING / timestep, axis=0, mode="nearest")
        for number, ((_, last), (first, _)) in enumerate(pairwise(intervals)):
            progress = np.arange(1, first - last) / (first - last)
            swing = _swing(path[rows[last + 1 : first]], held[number], held[number + 1], progress, lift)
            position[last + 1 : first, foot] = swing[:, [0, 1, 3]]
            yaw[last + 1 : first, foot] = swing[:, 2]
            in_swing[last + 1 : first, foot] = progress
            steps += 1
    return FootPlan(position, yaw, np.isnan(in_swing), in_swing, steps)


def _standing_pose(soles: SolePath, foot: int, rows: NDArray[np.int64]) -> Array:
    """Pose (x, y, yaw) at which a foot stands during samples of the file, in m and rad."""
    rows = np.unique(rows)
    flat = rows[soles.tilt[rows, foot] < _FLAT]
    # Without any, as on the toes alone: where the sole is least tilted.
    used = flat if flat.size else rows[[soles.tilt[rows, foot].argmin()]]
    place = np.median(soles.position[used, foot, :2], axis=0)
    return np.array([*place, np.median(soles.yaw[used, foot])])


def _swing(path: Array, begin: Array, end: Array, progress: Array, lift: float) -> Array:
    """Move a swing (x, y, yaw, height) so that it leads from one standing pose to the next, (N, 4)."""
    share = minimum_jerk(progress, 0.0, 1.0)[:, None]
    moved = path[:, :3] + (1.0 - share) * (begin - path[0, :3]) + share * (end - path[-1, :3])
    onset, offset = (minimum_jerk(s, 0.0, _ONSET)[:, None] for s in (progress, 1.0 - progress))
    moved = begin + onset * (moved - begin)
    moved = end + offset * (moved - end)
    height = np.maximum(path[:, 3], 0.0) * onset[:, 0] * offset[:, 0]
    missing = max(lift - float(height.max()), 0.0)
    height = height + missing * 0.5 * (1.0 - np.cos(2.0 * np.pi * progress))
    return np.column_stack([moved, height])


def _without_short(flags: Flags, value: bool, shortest: float) -> Flags:
    """Flip runs of one value that are shorter than a number of samples and not at an end."""
    result = flags.copy()
    for first, last in contact_intervals(flags == value):
        if first > 0 and last < len(flags) - 1 and last - first + 1 < shortest:
            result[first : last + 1] = not value
    return result
