"""Lag of a motion behind the one that it follows, from the cross-correlation of their velocities."""

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.signal import correlate

from simbench.kinematics.arrays import Array

_STEP = 0.005
"""Step of the common time grid, s: two hundred samples a second, as recordings and logs have; the peak is
found between the samples."""
_LONGEST = 0.5
"""Largest lag that is looked for, s: a controller's or a filter's is shorter, and the steps of a walk are
longer."""
_LARGEST_SHARE = 0.25
"""Largest lag that is looked for as a fraction of the motion's duration: most of it must be compared."""
_LEAST_CORRELATION = 0.5
"""Correlation below which a motion is not the one that it should follow, and has no lag."""
_FEWEST_STEPS = 8
"""Least number of grid steps that are compared."""


def measure_lag(time: Array, wanted: Array, executed_time: Array, executed: Array) -> float | None:
    """Measure the lag of an executed motion behind a wanted one.

    It is the shift τ with the largest normalised cross-correlation of the velocities v, the wanted's, and u,

        c(τ) = Σ v(t) · u(t + τ) / √(Σ |v(t)|² Σ |u(t + τ)|²),

    refined by a parabola through the largest value on a grid of 5 ms and its neighbours. Shifts of up to
    0.5 s, or a quarter of the duration, are looked for.

    Parameters
    ----------
    time : (T,) array
        Times of the wanted motion, s, increasing.
    wanted : (T, C) array
        Its C coordinates, in any unit.
    executed_time : (S,) array
        Times of the executed motion, s, on the same clock; it may begin earlier and end later.
    executed : (S, C) array
        Its coordinates.

    Returns
    -------
    float or None
        Lag, s, positive where the executed motion is late; None where nothing moves, too little was executed,
        the velocities correlate by less than 0.5, or the largest correlation is at the largest shift.
    """
    begin, end = max(time[0], executed_time[0]), min(time[-1], executed_time[-1])
    shifts = int(min(_LONGEST, _LARGEST_SHARE * (end - begin)) / _STEP)
    # What is compared stays inside the motion at every shift: beside it the executed motion is another one.
    first, last = begin + shifts * _STEP, end - shifts * _STEP
    count = int((last - first) / _STEP) + 1
    if shifts < 1 or count < _FEWEST_STEPS:
        return None
    grid = first + np.arange(-shifts, count + shifts) * _STEP
    asked = _velocity(time, wanted, grid[shifts : shifts + count])
    # Rounding may take the grid beyond the ends.
    done = _velocity(executed_time, executed, grid.clip(executed_time[0], executed_time[-1]))
    product = sum(correlate(u, v, mode="valid", method="fft") for u, v in zip(done.T, asked.T, strict=True))
    power = np.concatenate([[0.0], np.cumsum(np.sum(done**2, axis=1))])
    energy = np.sum(asked**2) * (power[count:] - power[:-count])
    if not energy.min() > 0.0:
        return None
    correlation = np.asarray(product) / np.sqrt(energy)
    peak = int(correlation.argmax())
    if correlation[peak] < _LEAST_CORRELATION or not 0 < peak < len(correlation) - 1:
        return None
    left, top, right = correlation[peak - 1 : peak + 2]
    curvature = left - 2.0 * top + right
    between = 0.5 * (left - right) / curvature if curvature else 0.0
    return float((peak - shifts + between) * _STEP)


def _velocity(time: Array, positions: Array, at: Array) -> Array:
    """Velocities (N, C) of a motion at given times inside it."""
    spline = make_interp_spline(time, positions, k=min(3, len(time) - 1))
    return np.asarray(spline.derivative()(at))
