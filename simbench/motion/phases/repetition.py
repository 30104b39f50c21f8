"""Repetitions among the stops of a recording."""

from typing import NamedTuple

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
# So many stops are examined at a time: the paths of the candidates from them on take some megabytes.
BLOCK = 64


def find_repetitions(hands: HandTrajectory, found: Stops) -> NDArray[np.int64]:
    """Find stops that recur in the same posture and are reached along the same path.

    Candidates for a repetition are all intervals that begin and end at stops in the same posture. Candidates
    that follow each other on similar paths, compared over arc length so that timing does not matter, form
    chains. The chain that covers most of the distance travelled is chosen; among nearly equal ones the one
    with most repetitions, then the one whose stops are the slowest. `hands`: hands of the recording; `found`:
    stops of the hands. Returns (N + 1,) int: indices into `found.stops` of the stops around N repetitions;
    empty if nothing repeats.
    """
    stops = found.stops
    step = hands.time[1] - hands.time[0]
    travel = np.cumsum(np.maximum(hands.speed - STILL, 0.0)) * step
    # The paths of all candidates of an hour take gigabytes: only the indices of their samples are held.
    parts = [
        _find_candidates(hands, stops, travel, range(begin, min(begin + BLOCK, len(stops))))
        for begin in range(0, len(stops), BLOCK)
    ]
    candidates = _Candidates(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    chained = _chain(candidates, hands.smooth, travel[stops])
    return _best_chain(candidates, chained, travel[stops], hands.speed[stops])


class _Candidates(NamedTuple):
    """Candidates (K,) for a repetition, in the order of their first stops."""

    first: NDArray[np.int64]  # `first`, `last` (K,) int: stops at which they begin and end.
    last: NDArray[np.int64]
    samples: NDArray[np.int32]  # (K, SAMPLES) int: samples of the recording at equal steps along their paths.
    extent: Array  # (K,): extents of their paths, m.


class _Chained(NamedTuple):
    """For each candidate (K,): repetitions in the chain from it on, last stop, next candidate or -1."""

    repetitions: NDArray[np.int64]
    reach: NDArray[np.int64]
    following: NDArray[np.int64]


def _find_candidates(
    hands: HandTrajectory, stops: NDArray[np.int64], travel: Array, beginning: range
) -> _Candidates:
    """Find the candidates that begin at some of the stops; `travel` (T,) is the arc length, m."""
    first = np.repeat(beginning, MAX_STOPS)
    last = first + np.tile(np.arange(1, MAX_STOPS + 1), len(beginning))
    first, last = first[last < len(stops)], last[last < len(stops)]
    postures = hands.smooth[stops]
    distance = np.linalg.norm(postures[first] - postures[last], axis=1)
    # A closed path is at least twice as long as its extent (root mean square over four points).
    keep = distance <= CLOSED * (travel[stops[last]] - travel[stops[first]])
    first, last, distance = first[keep], last[keep], distance[keep]
    begin, end = travel[stops[first]], travel[stops[last]]
    targets = begin[:, None] + np.linspace(0.0, 1.0, SAMPLES) * (end - begin)[:, None]
    samples = np.minimum(np.searchsorted(travel, targets), len(travel) - 1).astype(np.int32)
    shapes = hands.smooth[samples]
    extent = np.sqrt(((shapes - shapes.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean(axis=1))
    keep = distance <= CLOSED * extent
    return _Candidates(first[keep], last[keep], samples[keep], extent[keep])


def _chain(candidates: _Candidates, smooth: Array, travel: Array) -> _Chained:
    """Find for each candidate the longest chain of similar ones; `travel` (S,) is the arc length at stops."""
    first, last, extent = candidates.first, candidates.last, candidates.extent
    count = np.ones(len(first), dtype=np.int64)
    reach = last.copy()
    following = np.full(len(first), -1)
    begins = np.searchsorted(first, np.arange(len(travel) + 1))
    ending = np.argsort(last, kind="stable")
    ends = np.searchsorted(last[ending], np.arange(len(travel) + 1))
    # Later stops come first, so that what follows a candidate is known when it is processed.
    for stop in range(len(travel) - 1, -1, -1):
        before, after = ending[ends[stop] : ends[stop + 1]], np.arange(begins[stop], begins[stop + 1])
        if not before.size or not after.size:
            continue
        after = after[np.lexsort((count[after], travel[reach[after]]))]
        # Relative to a posture nearby, as the differences of large numbers would be inaccurate.
        nearby = smooth[candidates.samples[after[0], 0]]
        paths = [
            (smooth[candidates.samples[some]] - nearby).reshape(len(some), -1) for some in (before, after)
        ]
        limits = SIMILAR * np.minimum.outer(extent[before], extent[after])
        # The best of the similar ones is the last.
        similar = _mean_squares(*paths) <= limits**2
        found = similar.any(axis=1)
        best = after[len(after) - 1 - similar[found, ::-1].argmax(axis=1)]
        before = before[found]
        count[before], reach[before], following[before] = count[best] + 1, reach[best], best
    return _Chained(count, reach, following)


def _mean_squares(first: Array, second: Array) -> Array:
    """Mean squared distances (A, B) of the points of paths (A, D) and (B, D), m²."""
    squares = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2.0 * first @ second.T
    return np.asarray(squares / SAMPLES)


def _best_chain(candidates: _Candidates, chained: _Chained, travel: Array, speed: Array) -> NDArray[np.int64]:
    """Choose a chain; `travel` and `speed` (S,) are the arc length, m, and the speed, m/s, at all stops."""
    count, reach, following = chained
    if not (count > 1).any():
        return np.empty(0, dtype=np.int64)
    covered = np.where(count > 1, travel[reach] - travel[candidates.first], 0.0)
    far = np.flatnonzero(covered >= NEARLY_FARTHEST * covered.max())
    chains = []
    for k in far[count[far] == count[far].max()]:
        chain = [candidates.first[k]]
        while k >= 0:
            chain.append(candidates.last[k])
            k = following[k]
        chains.append(np.array(chain, dtype=np.int64))
    return min(chains, key=lambda chain: float(speed[chain].mean()))
