"""When hands are on the equipment, and how far they are on their way there or back."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.profiles import minimum_jerk

_RESTING_SPEED = 0.03
"""Below which a palm rests, m/s."""
_SHORT_GAP = 0.2
"""Longest time, s, that a hand seems off a handle and is still on it."""


def contact_phases(
    time: NDArray[np.float64],
    palm: NDArray[np.float64],
    handle_path: NDArray[np.float64],
    *,
    contact_distance: float,
    transition_distance: float,
    transition_time: float,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """When a hand is on a handle, and how far its path is the actor's, from the actor's palm.

    Contact lasts while the palm is within `contact_distance` of places the handle can take, the longest time
    it is, from the first to the last sample at which it rests. Within `transition_distance` around that the
    robot's palm is on the actor's path, which avoids the equipment; the minimum-jerk transition to it ends
    there and takes `transition_time`. (In the paper it goes linearly, starts at that distance and ends at
    contact: a smaller robot's hands then come at a drawer through its front.)

    Parameters
    ----------
    time : (T,) array
        s.
    palm : (T, 3) array
        m, world.
    handle_path : (K, 3) array
        Positions the handle can take, m, world; empty if the hand has nothing to touch.
    contact_distance, transition_distance : float
        m.
    transition_time : float
        s.

    Returns
    -------
    share : (T,) array
        0 own size, 1 the actor's path.
    contact : (T,) bool array
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
        # Until the hand rests on it the handle stands still, and the palm passes by places it may go to.
        first = resting[0] if first > 0 else first
        last = resting[-1] if last < len(time) - 1 else last
    contact[first : last + 1] = True
    near = _runs(time, distance < transition_distance)
    begin, end = next(run for run in near if run[0] <= first <= run[1])
    rise = 1.0 + (time - time[begin]) / transition_time
    fall = 1.0 - (time - time[end]) / transition_time
    share = np.clip(np.minimum(rise, fall), 0.0, 1.0)
    return minimum_jerk(share, 0.0, 1.0), contact


def near_contact(
    time: NDArray[np.float64], contact: NDArray[np.bool_], duration: float
) -> NDArray[np.float64]:
    """Rate samples (T,): 1 in contact, 0 a duration, s, before and after; minimum jerk in between."""
    if not contact.any():
        return np.zeros(len(time))
    first, last = time[contact][[0, -1]]
    away = np.maximum(np.maximum(first - time, time - last), 0.0)
    return minimum_jerk(1.0 - away / duration, 0.0, 1.0)


def _runs(time: NDArray[np.float64], inside: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last samples of the stretches that are inside, those a short gap apart taken together."""
    samples = np.flatnonzero(inside)
    if not len(samples):
        return []
    cuts = np.flatnonzero((np.diff(samples) > 1) & (np.diff(time[samples]) > _SHORT_GAP))
    return list(zip(samples[np.r_[0, cuts + 1]], samples[np.r_[cuts, len(samples) - 1]], strict=True))
