"""Repetitions among the stops of a recording."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.phases.hand_trajectory import HandTrajectory
from simbench.motion.phases.stops import STILL, Stops

# Number of points in which two paths are compared, and most stops within one repetition.
SAMPLES, MAX_STOPS = 32, 40
# Largest distance between the ends of a repetition, and between the paths of two repetitions, as fractions of
# the extent of the path.
CLOSED, SIMILAR = 0.35, 0.6
# Chains of repetitions that travel at least this fraction of the farthest compete by their number of
# repetitions.
NEARLY_FARTHEST = 0.85


def find_repetitions(hands: HandTrajectory, found: Stops) -> NDArray[np.int64]:
    """Find stops that recur in the same posture and are reached along the same path.

    Candidates for a repetition are all intervals that begin and end at stops in the same posture. Candidates
    that follow each other on similar paths, compared over arc length so that timing does not matter, form
    chains. The chain that covers most of the distance travelled is chosen; among nearly equal ones the one
    with most repetitions, then the one whose stops are the slowest.

    Parameters
    ----------
    hands : HandTrajectory
        Hands of the recording.
    found : Stops
        Stops of the hands.

    Returns
    -------
    (N + 1,) int array
        Indices into `found.stops` of the stops around N repetitions; empty if nothing repeats.
    """
    stops = found.stops
    step = hands.time[1] - hands.time[0]
    travel = np.cumsum(np.maximum(hands.speed - STILL, 0.0)) * step
    first, last = np.triu_indices(len(stops), 1)
    postures = hands.smooth[stops]
    keep = last - first <= MAX_STOPS
    first, last = first[keep], last[keep]
    distance = np.linalg.norm(postures[first] - postures[last], axis=1)
    # A closed path is at least twice as long as its extent (root mean square over four points).
    keep = distance <= CLOSED * (travel[stops[last]] - travel[stops[first]])
    first, last, distance = first[keep], last[keep], distance[keep]
    if len(first) == 0:
        return np.empty(0, dtype=np.int64)
    begin, end = travel[stops[first]], travel[stops[last]]
    targets = begin[:, None] + np.linspace(0.0, 1.0, SAMPLES) * (end - begin)[:, None]
    shapes = hands.smooth[np.minimum(np.searchsorted(travel, targets), len(travel) - 1)]
    extent = np.sqrt(((shapes - shapes.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean(axis=1))
    keep = distance <= CLOSED * extent
    first, last, shapes, extent = first[keep], last[keep], shapes[keep], extent[keep]
    return _longest_chain(first, last, shapes, extent, travel[stops], hands.speed[stops])


def _longest_chain(
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    shapes: Array,
    extent: Array,
    travel: Array,
    speed: Array,
) -> NDArray[np.int64]:
    """Chain candidates (K,) from stop `first` to stop `last` with paths (K, SAMPLES, D) and extents (K,).

    `travel` and `speed` are the arc length, m, and the speed, m/s, at all stops.
    """
    count = np.ones(len(first), dtype=np.int64)
    reach = last.copy()
    following = np.full(len(first), -1)
    # Candidates that begin later come first, so that what follows a candidate is known when it is processed.
    for k in np.argsort(-first, kind="stable"):
        after = np.flatnonzero(first == last[k])
        difference = np.sqrt(((shapes[after] - shapes[k]) ** 2).sum(axis=2).mean(axis=1))
        after = after[difference <= SIMILAR * np.minimum(extent[after], extent[k])]
        if after.size:
            best = after[np.lexsort((count[after], travel[reach[after]]))[-1]]
            count[k], reach[k], following[k] = count[best] + 1, reach[best], best
    if not (count > 1).any():
        return np.empty(0, dtype=np.int64)
    covered = np.where(count > 1, travel[reach] - travel[first], 0.0)
    chains = []
    for k in np.flatnonzero(covered >= NEARLY_FARTHEST * covered.max()):
        chain = [first[k]]
        while k >= 0:
            chain.append(last[k])
            k = following[k]
        chains.append(np.array(chain, dtype=np.int64))
    most = max(map(len, chains))
    return min(
        (chain for chain in chains if len(chain) == most), key=lambda chain: float(speed[chain].mean())
    )
