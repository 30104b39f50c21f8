"""Contact phases: when hands are on the equipment, and the transitions before and after."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk

_RESTING_SPEED = 0.03
"""Speed below which a palm rests, m/s."""
_SHORT_GAP = 0.2
"""Longest time, s, for which a hand seems off its handle and is still on it."""


def contact_phases(
    time: Array,
    palm: Array,
    handle_path: Array,
    *,
    contact_distance: float,
    transition_distance: float,
    transition_time: float,
) -> tuple[Array, NDArray[np.bool_]]:
    """Find when the actor's hand is on a handle, and the blend weight of its path around that.

    Contact is the longest time for which the palm is within `contact_distance` of positions that the handle
    can take, from the first to the last sample at which the palm rests. Within `transition_distance` around
    that the robot's palm is on the actor's path, which avoids the equipment; the minimum-jerk transition to
    it ends there and takes `transition_time`. (In the paper it is linear, starts at that distance and ends
    at contact: a smaller robot's hands then come at a drawer through its front.)

    Parameters
    ----------
    time : (T,) array
        Time of each sample, s.
    palm : (T, 3) array
        Position of the actor's palm in the world frame, m.
    handle_path : (K, 3) array
        Positions that the handle can take, world frame, m; empty if the hand has nothing to touch.
    contact_distance : float
        Distance of palm and handle below which the hand is in contact, m.
    transition_distance : float
        Distance of palm and handle below which the robot is on the actor's path, m.
    transition_time : float
        Duration of the transition to the actor's path, and from it, s.

    Returns
    -------
    share : (T,) array
        Blend weight: 0 the robot's own hand path, 1 the actor's.
    contact : (T,) bool array
        Whether the hand is on its handle.
    """
    share, contact = np.zeros(len(time)), np.zeros(len(time), dtype=bool)
    if len(handle_path) == 0:
        return share, contact
    distance = np.linalg.norm(palm[:, None, :] - handle_path[None, :, :], axis=2).min(axis=1)
    runs = _runs(time, distance < contact_distance)
    if not runs:
        return share, contact
    first, last = max(runs, key=lambda run: float(time[run[1]] - time[run[0]]))
    speed = np.linalg.norm(np.gradient(palm, time, axis=0), axis=1) if len(time) > 1 else np.zeros(1)
    resting = first + np.flatnonzero(speed[first : last + 1] < _RESTING_SPEED)
    if len(resting):
        # Until the hand rests on it the handle stands still, and the palm passes positions it may move to.
        first = resting[0] if first > 0 else first
        last = resting[-1] if last < len(time) - 1 else last
    contact[first : last + 1] = True
    near = _runs(time, distance < transition_distance)
    begin, end = next(run for run in near if run[0] <= first <= run[1])
    rise = 1.0 + (time - time[begin]) / transition_time
    fall = 1.0 - (time - time[end]) / transition_time
    share = np.clip(np.minimum(rise, fall), 0.0, 1.0)
    return minimum_jerk(share, 0.0, 1.0), contact


def near_contact(time: Array, contact: NDArray[np.bool_], duration: float) -> Array:
    """Weight samples by their time from contact: 1 in contact, 0 far from it, minimum jerk in between.

    Parameters
    ----------
    time : (T,) array
        Time of each sample, s.
    contact : (T,) bool array
        Whether a hand is on its handle.
    duration : float
        Time before and after contact at which the weight becomes 0, s.

    Returns
    -------
    (T,) array
        Weight, 0 to 1.
    """
    if not contact.any():
        return np.zeros(len(time))
    first, last = time[contact][[0, -1]]
    away = np.maximum(np.maximum(first - time, time - last), 0.0)
    return minimum_jerk(1.0 - away / duration, 0.0, 1.0)


def _runs(time: Array, inside: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last samples of the stretches that are inside, those a short gap apart taken together."""
    samples = np.flatnonzero(inside)
    if not len(samples):
        return []
    cuts = np.flatnonzero((np.diff(samples) > 1) & (np.diff(time[samples]) > _SHORT_GAP))
    return list(zip(samples[np.r_[0, cuts + 1]], samples[np.r_[cuts, len(samples) - 1]], strict=True))
