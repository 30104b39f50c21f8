"""Change points of a series of values: steps and drifts that are not noise.

A series of n values is compared with shapes that change at one place: a level that holds from value i until
value j (a step, or a step and its return), and a ramp from value i to the last one (a drift). The shape that
leaves the least sum of squares is tested by Student's t with n - 2 degrees of freedom; the parts before,
within and after a level are then searched on their own, as in circular binary segmentation (Olshen et al.
2004, doi:10.1093/biostatistics/kxh008). The probability of chance is multiplied by the number of shapes and
by the number of series that are looked at together (Bonferroni), so that a single false mark among all of
them has at most the probability `FALSE_ALARM_RATE` where noise is normal and independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

FALSE_ALARM_RATE = 0.001
"""Largest probability of any false mark in all series that are looked at together."""
FEWEST = 8
"""Number of values below which nothing is looked for."""
LONGEST = 400
"""Number of values, the last ones, in which changes are looked for: the shapes grow with its square."""

_SHORTEST_LEVEL = 4
"""Number of values that a new level must have held for."""
_SHORTEST_DRIFT = 6
"""Number of values that a ramp must have."""
_ROUNDING = 1e-12
"""Part of a sum of squares that may be rounding alone."""

Array = NDArray[np.float64]


class Change(NamedTuple):
    """A step or a drift in a series."""

    # `step`, from one value to the next, or `drift`, from one value to the last.
    kind: Literal["step", "drift"]
    # Index of the first value at the new level; of a drift, of the last one before it begins to change.
    first: int
    last: int  # Index of the last value of the new level or of the drift.
    # `before`, `after`: level before and after a step; of a drift, its fit at its beginning and at its end.
    before: float
    after: float
    chance: float  # Largest probability that noise alone makes such a change in any of the series.


def find_changes(values: Sequence[float], tolerance: float, series: int = 1) -> tuple[Change, ...]:
    """Find the steps and drifts of a series that are neither noise nor smaller than a tolerance.

    `values`: values in the order of time, all finite; `tolerance`: smallest change that counts, in the unit
    of the values; `series`: number of series that are looked at together. Returns changes in the order of
    time; none for fewer than `FEWEST` values.
    """
    array = np.asarray(values, dtype=np.float64)
    skipped = max(len(array) - LONGEST, 0)
    found = _search(array[skipped:], 0, tolerance, series)
    shifted = (each._replace(first=each.first + skipped, last=each.last + skipped) for each in found)
    return tuple(sorted(shifted, key=lambda change: change.first))


class _Fit(NamedTuple):
    """The shape that explains most of a series."""

    kind: Literal["step", "drift"]
    start: int
    stop: int
    chance: float


def _search(values: Array, offset: int, tolerance: float, series: int) -> Iterator[Change]:
    """Find the changes of a part of a series that begins at an index, and of what they divide it into."""
    if len(values) < FEWEST:
        return
    fit = _best_shape(values)
    chance = min(1.0, fit.chance * series)
    if chance > FALSE_ALARM_RATE:
        return
    inner = [*_described(values, fit, tolerance, chance)]
    if not inner:
        return
    yield from (each._replace(first=each.first + offset, last=each.last + offset) for each in inner)
    bounds = [0, fit.start, fit.stop, len(values)] if fit.kind == "step" else [0, fit.start]
    for begin, end in pairwise(bounds):
        yield from _search(values[begin:end], offset + begin, tolerance, series)


def _described(values: Array, fit: _Fit, tolerance: float, chance: float) -> Iterator[Change]:
    """Describe what a shape says about a series: one step, a step and its return, or a drift."""
    if fit.kind == "drift":
        time = np.maximum(np.arange(len(values)) - fit.start, 0.0)
        slope, level = np.polyfit(time, values, 1)
        last = len(values) - 1
        if abs(slope * time[-1]) > tolerance:
            yield Change("drift", fit.start, last, float(level), float(level + slope * time[-1]), chance)
        return
    bounds = [0, fit.start, fit.stop, len(values)]
    parts = [(begin, end) for begin, end in pairwise(bounds) if end > begin]
    levels = [float(values[begin:end].mean()) for begin, end in parts]
    for number in range(1, len(parts)):
        if abs(levels[number] - levels[number - 1]) > tolerance:
            begin, end = parts[number]
            yield Change("step", begin, end - 1, levels[number - 1], levels[number], chance)


def _best_shape(values: Array) -> _Fit:
    """Find the shape that explains most of a series, and how probable that is by chance."""
    centred = values - values.mean()
    total = float(centred @ centred)
    shapes = _shapes(len(values))
    # A level from i until j: the sum of its values, over the square root of the centred indicator's norm.
    sums = np.concatenate(([0.0], np.cumsum(centred)))
    explained = np.concatenate(
        [(sums[shapes.stops] - sums[shapes.starts]) ** 2 / shapes.norms, (shapes.ramps @ centred) ** 2]
    )
    best = int(explained.argmax())
    left = max(total - float(explained[best]), _ROUNDING * total)
    freedom = len(values) - 2
    # Of a constant series nothing is left to explain.
    statistic = np.sqrt(explained[best] * freedom / left) if left > 0.0 else 0.0
    chance = min(1.0, 2.0 * float(stdtr(freedom, -statistic)) * len(explained))
    if best < len(shapes.starts):
        return _Fit("step", int(shapes.starts[best]), int(shapes.stops[best]), chance)
    return _Fit("drift", best - len(shapes.starts), len(values), chance)


class _Shapes(NamedTuple):
    """Shapes that a series of a length is compared with."""

    starts: NDArray[np.intp]
    stops: NDArray[np.intp]
    norms: Array
    """Sum of squares of each level's indicator without its mean."""
    ramps: Array
    """Ramps without their mean, of unit length, (shapes, n)."""


@lru_cache(maxsize=8)
def _shapes(count: int) -> _Shapes:
    """List the shapes for a series of some values."""
    pairs = np.array(
        [
            (start, stop)
            for start in range(count)
            for stop in range(start + _SHORTEST_LEVEL, count + 1)
            # What is left beside a level is long enough to have a level of its own, or nothing.
            if _is_level(start)
            and _is_level(count - stop)
            and stop - start < count
            # A level from the first value on is the same as one until the last.
            and start > 0
        ],
        dtype=np.intp,
    )
    lengths = pairs[:, 1] - pairs[:, 0]
    time = np.arange(count, dtype=np.float64)
    ramps = np.array([np.maximum(time - start, 0.0) for start in range(count - _SHORTEST_DRIFT + 1)])
    ramps -= ramps.mean(axis=1, keepdims=True)
    ramps /= np.linalg.norm(ramps, axis=1, keepdims=True)
    return _Shapes(pairs[:, 0], pairs[:, 1], lengths * (1.0 - lengths / count), ramps)


def _is_level(length: int) -> bool:
    """Return whether a part of a series is empty, or long enough to be a level."""
    return length == 0 or length >= _SHORTEST_LEVEL
