"""Velocities and accelerations of a sampled robot motion, and the noise of the samples in them."""

from dataclasses import dataclass
from itertools import count

import numpy as np
from scipy.interpolate import make_interp_spline

from simbench.kinematics.arrays import Array
from simbench.kinematics.savgol import savgol_filter

SHORTEST_WINDOW = 5
"""Samples of the shortest window: five give the fourth-order central differences, which are exact for
polynomials of order 4 and place a corner of a curve within two samples."""
SHORTEST_TIME = 0.05
"""Shortest window at high rates, s: corners of joint curves, which controllers round, would otherwise need
torques for a few milliseconds that nobody has to give."""
LONGEST_WINDOW = 0.3
"""Longest window, s, of noisy samples. Its second derivative passes 5 Hz, below which people move; positions
that were rounded to a millimetre at 50 Hz need as much."""
ORDER = 4
"""Order of the polynomials."""
_JOINT_NOISE, _BASE_NOISE = 2.0, 0.1
"""Noise of an acceleration that is accepted, rad/s² or m/s²: the base's shifts the ZMP by 1 cm, and the
joints' is 2 % of what moves a robot's lightest limbs at their torque limit."""
_UNEVEN = 1e-3
"""Deviation from equal intervals, in intervals, up to which samples count as evenly spaced."""
_CALM, _CALM_MEAN = 0.8, 0.5586
"""Part of the samples in which the noise is measured, those of the least differences, and the mean of |x|
there for a normal x of unit deviation. A median is 0 for rounded samples of a slow motion."""


@dataclass(frozen=True)
class Derivatives:
    """A motion with its derivatives, on the samples of the trajectory."""

    position: Array  # (T, N): smoothed coordinates.
    velocity: Array  # (T, N): first derivative, the coordinates' unit / s.
    acceleration: Array  # (T, N): second derivative, the coordinates' unit / s².
    window: int
    noise: Array  # (N,): standard deviation of each acceleration that follows from the noise of the samples.


def differentiate(time: Array, values: Array, base_columns: int = 0) -> Derivatives:
    """Differentiate samples twice by polynomials of order 4 over a sliding window (Savitzky and Golay 1964).

    The window is the shortest one of at least five samples for which the noise of the accelerations is
    accepted, at most 0.3 s. The noise of a coordinate is estimated by its lesser fourth differences, which a
    smooth motion hardly has. Samples at unequal intervals are first interpolated by cubic splines. `time`
    (T,): times of the samples, s, T ≥ 5; `values` (T, N): coordinates, rad, m, or parts of quaternions;
    `base_columns`: number of leading columns that are coordinates of the base, whose noise is less
    acceptable. Returns smoothed coordinates and derivatives at the same samples.
    """
    interval = float((time[-1] - time[0]) / (len(time) - 1))
    even = time[0] + interval * np.arange(len(time))
    is_even = bool(np.abs(time - even).max() < _UNEVEN * interval)
    samples = values if is_even else make_interp_spline(time, values, k=3)(even)
    accepted = np.where(np.arange(values.shape[1]) < base_columns, _BASE_NOISE, _JOINT_NOISE)
    window, noise = _choose_window(samples, interval, accepted)
    position, velocity, acceleration = (
        savgol_filter(samples, window, ORDER, deriv, interval) for deriv in range(3)
    )
    if not is_even:
        position, velocity, acceleration = (
            make_interp_spline(even, each, k=3)(time) for each in (position, velocity, acceleration)
        )
    return Derivatives(position, velocity, acceleration, window, noise)


def _choose_window(samples: Array, interval: float, accepted: Array) -> tuple[int, Array]:
    """Choose the number of samples of the window; return it with the noise of the accelerations (N,)."""
    differences = np.diff(samples, n=4, axis=0)
    calm = np.sort(np.abs(differences), axis=0)[: max(1, int(_CALM * len(differences)))]
    # The coefficients 1, 4, 6, 4, 1 make the deviation √70 times that of a sample.
    noise = calm.mean(axis=0) / (_CALM_MEAN * np.sqrt(70.0))
    longest = min(LONGEST_WINDOW / interval + 1.0, len(samples))
    shortest = max(SHORTEST_WINDOW, 2 * round(0.5 * SHORTEST_TIME / interval) + 1)
    for window in count(min(shortest, len(samples) - 1 | 1), 2):
        gain = acceleration_noise_gain(window, interval)
        if window + 2 > longest or (gain * noise <= accepted).all():
            return window, gain * noise
    raise AssertionError


def acceleration_noise_gain(window: int, interval: float) -> float:
    """Compute the standard deviation of the acceleration for samples with white noise of unit deviation.

    `window`: samples of the window, odd, at least 5; `interval`: interval between the samples, s. Returns
    standard deviation, 1/s².
    """
    offsets = np.arange(window) - window // 2
    powers = np.vander(offsets.astype(np.float64), ORDER + 1, increasing=True)
    return float(2.0 * np.linalg.norm(np.linalg.pinv(powers)[2]) / interval**2)
