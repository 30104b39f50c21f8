"""Feet that turn or slide on the floor: when a robot, whose feet stand still, takes a step for it."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import Flags, contact_intervals
from simbench.retargeting.legs.step_times import SHORTEST_DOUBLE_SUPPORT, SHORTEST_SWING

PIVOT_SWING = 0.34
"""Duration of a step that replaces a foot's turn on the floor, s: the foot hardly moves."""
_WINDOW = SHORTEST_SWING + 2.0 * SHORTEST_DOUBLE_SUPPORT
"""Shortest time in which both feet stand and a robot can take such a step, s."""
_GRID = 0.05
"""Interval of the times that are tried, s."""
_APART = 0.6
"""Least time between two such steps of one foot, s."""
_OTHER_APART = PIVOT_SWING + SHORTEST_DOUBLE_SUPPORT
"""Least time between such steps of both feet, s."""
_SLIDE_RADIUS = 0.4
"""Slide that counts as much as a turn of 1 rad, m."""
_PENALTY = 0.03
"""Cost of a step, rad² s: that of standing for 1 s half 0.35 rad to the left, half to the right of it."""
_LEAST_TURN = 0.35
"""Turn for which a step is taken, rad."""


class Pivot(NamedTuple):
    """A foot that turned or slid on the floor by so much that the robot takes a step.

    Parameters
    ----------
    foot : int
        0 left, 1 right.
    lift, landing : float
        Times at which the robot's foot is to leave the floor and to land, s of the recording.
    """

    foot: int
    lift: float
    landing: float


class FootTracks(NamedTuple):
    """Motion of both feet.

    Parameters
    ----------
    time : (T,) array
        Times of the samples, s.
    position : (T, 2, 2) array
        Place of the left and the right ankle, m.
    yaw : (T, 2) array
        Direction of each foot, rad, without jumps.
    flags : (T, 2) bool array
        Whether each foot is on the floor.
    """

    time: Array
    position: Array
    yaw: Array
    flags: Flags


def find_pivots(feet: FootTracks) -> tuple[Pivot, ...]:
    """Choose the steps that replace turns and slides of feet on the floor.

    A robot's foot stands still, so that it can follow only between two stays, while the other foot stands.
    For each stay, the times are those of the piecewise constant pose with the least sum of squared
    differences, and a constant cost of each step (dynamic programming). Those that turn the foot by less
    than 0.35 rad, or slide it by less than 0.14 m, are left out.

    Parameters
    ----------
    feet : FootTracks
        Motion of both feet.

    Returns
    -------
    tuple of Pivot
        Steps, by time.
    """
    time = feet.time
    stays = [
        (foot, int(first), int(last))
        for foot in range(2)
        for first, last in contact_intervals(feet.flags[:, foot])
    ]
    windows = [
        (time[first] if first else -np.inf, time[last] if last < len(time) - 1 else np.inf)
        for first, last in contact_intervals(np.asarray(feet.flags.all(axis=1)))
    ]
    features = np.concatenate([feet.yaw[..., None], feet.position / _SLIDE_RADIUS], axis=2)
    turns = [float(np.ptp(feet.yaw[first : last + 1, foot])) for foot, first, last in stays]
    taken: list[tuple[int, float]] = []
    for number in np.argsort(-np.array(turns), kind="stable").tolist():
        foot, first, last = stays[number]
        others = np.array([when for other, when in taken if other != foot])
        candidates = [
            row
            for row in _candidate_rows(time, windows, first, last)
            if not len(others) or np.abs(others - time[row]).min() >= _OTHER_APART
        ]
        rows = np.arange(first, last + 1)
        cuts = _best_cuts(time[rows], features[rows, foot], np.array(candidates, dtype=np.int64) - first)
        taken += [(foot, float(time[first + cut])) for cut in cuts]
    half = 0.5 * PIVOT_SWING
    return tuple(
        Pivot(foot, when - half, when + half) for foot, when in sorted(taken, key=lambda each: each[1])
    )


def _candidate_rows(time: Array, windows: list[tuple[float, float]], first: int, last: int) -> list[int]:
    """List the samples of a stay at which the middle of a step fits into a time on both feet."""
    rows: list[int] = []
    margin = 0.5 * _WINDOW
    for begin, end in windows:
        low, high = max(begin + margin, time[first]), min(end - margin, time[last])
        if low > high:
            continue
        count = int((high - low) / _GRID) + 1
        rows += np.searchsorted(time, np.linspace(low, high, count)).tolist()
    return sorted({row for row in rows if first < row < last})


def _best_cuts(time: Array, values: Array, candidates: NDArray[np.int64]) -> list[int]:
    """Choose the samples, of candidates, at which to cut a track (N, 3) into the most constant pieces."""
    if not len(candidates):
        return []
    weights = np.gradient(time)
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(weights[:, None] * values, axis=0)])
    squares = np.concatenate([[0.0], np.cumsum(weights * np.sum(values**2, axis=1))])
    totals = np.concatenate([[0.0], np.cumsum(weights)])

    def mean(begin: int, end: int) -> Array:
        return np.asarray((sums[end] - sums[begin]) / (totals[end] - totals[begin]))

    def cost(begin: int, end: int) -> float:
        total = sums[end] - sums[begin]
        return float(squares[end] - squares[begin] - total @ total / (totals[end] - totals[begin]))

    ends = [0, *candidates.tolist(), len(time)]
    best, before = [0.0], [0]
    for number in range(1, len(ends)):
        options = [
            best[earlier] + cost(ends[earlier], ends[number]) + _PENALTY
            for earlier in range(number)
            if earlier == 0 or number == len(ends) - 1 or time[ends[number]] - time[ends[earlier]] >= _APART
        ]
        before.append(int(np.argmin(options)))
        best.append(options[before[-1]])
    cuts: list[int] = []
    number = before[-1]
    while number > 0:
        cuts.insert(0, ends[number])
        number = before[number]
    while cuts:
        edges = [0, *cuts, len(time)]
        means = [mean(begin, end) for begin, end in pairwise(edges)]
        changes = np.linalg.norm(np.diff(means, axis=0), axis=1)
        if changes.min() >= _LEAST_TURN:
            break
        del cuts[int(changes.argmin())]
    return cuts
