"""The pattern that repeats among the stops of a recording."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.phases.hand_path import HandPath
from simbench.motion.phases.stops import STILL, Stops

# Points of a path that are compared, and the stops that one repetition may hold.
SAMPLES, LONGEST = 32, 40
# How far apart the ends of a repetition, and the paths of two, may lie, as shares of the path's extent.
CLOSED, ALIKE = 0.35, 0.6
# Chains of repetitions that travel nearly as far as the farthest compete by their number.
NEARLY = 0.85


def find_repetitions(path: HandPath, found: Stops) -> NDArray[np.int64]:
    """Find stops that recur in the same posture, reached on the same way.

    Candidates for a repetition are all stretches that begin and end at stops of one posture. Those that
    follow each other on like paths, compared over the way travelled so that timing does not matter, form
    chains. The chain that covers most of the way travelled wins; among nearly equal ones that of most
    repetitions, then that whose stops are the slowest.

    Parameters
    ----------
    path : HandPath
    found : Stops

    Returns
    -------
    (N + 1,) int array
        Indices into `found.stops` of the stops around N repetitions; empty if nothing repeats.
    """
    stops = found.stops
    step = path.time[1] - path.time[0]
    way = np.cumsum(np.maximum(path.speed - STILL, 0.0)) * step
    first, last = np.triu_indices(len(stops), 1)
    postures = path.smooth[stops]
    keep = last - first <= LONGEST
    first, last = first[keep], last[keep]
    apart = np.linalg.norm(postures[first] - postures[last], axis=1)
    # A closed path is at least twice as long as its extent, root mean square over four points.
    keep = apart <= CLOSED * (way[stops[last]] - way[stops[first]])
    first, last, apart = first[keep], last[keep], apart[keep]
    if len(first) == 0:
        return np.empty(0, dtype=np.int64)
    begin, end = way[stops[first]], way[stops[last]]
    targets = begin[:, None] + np.linspace(0.0, 1.0, SAMPLES) * (end - begin)[:, None]
    shapes = path.smooth[np.minimum(np.searchsorted(way, targets), len(way) - 1)]
    extent = np.sqrt(((shapes - shapes.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean(axis=1))
    keep = apart <= CLOSED * extent
    first, last, shapes, extent = first[keep], last[keep], shapes[keep], extent[keep]
    return _longest_chain(first, last, shapes, extent, way[stops], path.speed[stops])


def _longest_chain(
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    shapes: Array,
    extent: Array,
    way: Array,
    speed: Array,
) -> NDArray[np.int64]:
    """Chain candidates (K,) from stop `first` to stop `last` with paths (K, SAMPLES, D) and extents (K,)."""
    count = np.ones(len(first), dtype=np.int64)
    reach = last.copy()
    following = np.full(len(first), -1)
    # Those that begin later first: what follows a candidate is known when it is its turn.
    for k in np.argsort(-first, kind="stable"):
        after = np.flatnonzero(first == last[k])
        difference = np.sqrt(((shapes[after] - shapes[k]) ** 2).sum(axis=2).mean(axis=1))
        after = after[difference <= ALIKE * np.minimum(extent[after], extent[k])]
        if after.size:
            best = after[np.lexsort((count[after], way[reach[after]]))[-1]]
            count[k], reach[k], following[k] = count[best] + 1, reach[best], best
    if not (count > 1).any():
        return np.empty(0, dtype=np.int64)
    covered = np.where(count > 1, way[reach] - way[first], 0.0)
    chains = []
    for k in np.flatnonzero(covered >= NEARLY * covered.max()):
        chain = [first[k]]
        while k >= 0:
            chain.append(last[k])
            k = following[k]
        chains.append(np.array(chain, dtype=np.int64))
    most = max(map(len, chains))
    return min(
        (chain for chain in chains if len(chain) == most), key=lambda chain: float(speed[chain].mean())
    )
