"""Coarse-to-fine solution of a motion: samples of a coarse grid in time, and their solution in between."""

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from simbench.kinematics.arrays import Array

_COARSE_RATE = 12.5
"""Least rate of a coarse grid, Hz: people's arms move below half of it."""
_FEWEST_SAMPLES = 16
"""Of a coarse grid: shorter motions are solved at all samples at once."""


def time_grids(time: Array) -> list[NDArray[np.int64]]:
    """Choose the grids on which a motion is solved, one after the other.

    What an iteration costs is proportional to the number of samples; so is the number of iterations in which
    the instants are found at which joints come to their limits. A solution at a few samples a second is near
    that at all of them, which is then found in a few iterations. `time` (T,): time of the samples, s, evenly
    spaced. Returns list of (S,) int arrays: samples of each grid: a coarse one, if there is one, and all. The
    first and the last are in each.
    """
    count = len(time)
    stride = int((count - 1) / (time[-1] - time[0]) / _COARSE_RATE) if count > 1 else 1
    if stride < 2 or count < _FEWEST_SAMPLES * stride:
        return [np.arange(count)]
    return [np.append(np.arange(0, count - 1, stride), count - 1), np.arange(count)]


def interpolate_change(time: Array, samples: NDArray[np.int64], change: Array) -> Array:
    """Interpolate the change of a motion from the samples of a grid to all of them, by a cubic spline.

    `time` (T,): time of all samples, s; `samples` (S,) int: samples of the grid, from `time_grids`; `change`
    (S, n): change at these samples. Returns (T, n).
    """
    if len(samples) == len(time):
        return change
    return np.asarray(make_interp_spline(time[samples], change, k=min(3, len(samples) - 1))(time))


def hold_between(count: int, samples: NDArray[np.int64], held: NDArray[np.int8]) -> NDArray[np.int8]:
    """Hold between two samples of a grid what is held the same way at both.

    `count`: T, number of all samples; `samples` (S,) int: samples of the grid, from `time_grids`; `held` (S,
    n) int: how each coordinate is held at these samples; 0 if it is not. Returns (T, n) int.
    """
    every = np.arange(count)
    after = np.searchsorted(samples, every)
    before = after - (samples[after] != every)
    return np.where(held[before] == held[after], held[after], 0).astype(np.int8)
