"""Smooth profiles of a sampled motion, its velocities and accelerations, and the noise in them."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline
from scipy.linalg import lstsq
from scipy.ndimage import convolve1d

from simbench.kinematics.arrays import Array

# Samples of the shortest window: five give the fourth-order central differences, which are exact for
# polynomials of order 4 and place a corner of a curve within two samples.
SHORTEST_WINDOW = 5
# Shortest window at high rates, s: corners of joint curves, which controllers round, would otherwise need
# torques for a few milliseconds that nobody has to give.
SHORTEST_TIME = 0.05
# Longest window, s, of noisy samples. Its second derivative passes 5 Hz, below which people move; positions
# that were rounded to a millimetre at 50 Hz need as much.
LONGEST_WINDOW = 0.3
ORDER = 4  # Order of the polynomials.
# Noise of an acceleration that is accepted, rad/s² or m/s²: the base's shifts the ZMP by 1 cm, and the
# joints' is 2 % of what moves a robot's lightest limbs at their torque limit.
_JOINT_NOISE, _BASE_NOISE = 2.0, 0.1
_UNEVEN = 1e-3  # Deviation from equal intervals, in intervals, up to which samples count as evenly spaced.
# Part of the samples in which the noise is measured, those of the least differences, and the mean of |x|
# there for a normal x of unit deviation. A median is 0 for rounded samples of a slow motion.
_CALM, _CALM_MEAN = 0.8, 0.5586


def savgol_filter(values: ArrayLike, window: int, order: int, deriv: int = 0, delta: float = 1.0) -> Array:
    """Smooth or differentiate samples by polynomials fitted to a sliding window.

    The result is that of `scipy.signal.savgol_filter` along the first axis, bit for bit. The import of
    `scipy.signal` takes 0.9 s of CPU time, mostly for `scipy.stats`, and planning needs nothing else of it.
    `values` (T, ...): samples at equal intervals along the first axis; `window`: number of samples in the
    window, odd, at most T; `order`: order of the polynomials, less than `window`; `deriv`: order of the
    derivative to compute, at most `order`; 0 smooths; `delta`: interval between the samples, s. Returns (T,
    ...): smoothed values, or their derivative in the values' unit / s^deriv. In the first and the last half
    window these are values of the polynomial fitted to the first or last whole window.
    """
    samples = np.asarray(values, dtype=np.float64)
    if not order < window <= len(samples):
        raise ValueError(f"window of {window} must exceed the order {order} and be at most {len(samples)}")
    half = window // 2
    powers = np.arange(order + 1, dtype=np.float64)[:, None]
    wanted = np.zeros(order + 1)
    wanted[deriv] = math.factorial(deriv) / delta**deriv
    # Reversed, because a convolution takes the samples backwards.
    weights = lstsq(np.arange(-half, window - half, dtype=np.float64)[::-1] ** powers, wanted)[0]
    result = np.asarray(convolve1d(samples, weights, axis=0, mode="constant"))
    for begin, into in ((0, slice(0, half)), (len(samples) - window, slice(len(samples) - half, None))):
        part = samples[begin : begin + window].reshape(window, -1)
        at = np.arange(window, dtype=np.float64)[into if begin == 0 else slice(window - half, None)]
        # Polynomials, one a column, the highest power first.
        fitted = np.polyfit(np.arange(window, dtype=np.float64), part, order)
        for _ in range(deriv):
            fitted = fitted[:-1] * np.arange(len(fitted) - 1, 0.0, -1.0)[:, None]
        values = np.polyval(fitted, at[:, None])
        result[into] = (values / delta**deriv).reshape(half, *samples.shape[1:])
    return result


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
    differences = np.diff(samples, n=4, axis=0)
    calm = np.sort(np.abs(differences), axis=0)[: max(1, int(_CALM * len(differences)))]
    # The coefficients 1, 4, 6, 4, 1 make the deviation √70 times that of a sample.
    sample_noise = calm.mean(axis=0) / (_CALM_MEAN * np.sqrt(70.0))
    longest = min(LONGEST_WINDOW / interval + 1.0, len(samples))
    window = min(max(SHORTEST_WINDOW, 2 * round(0.5 * SHORTEST_TIME / interval) + 1), len(samples) - 1 | 1)
    while True:
        # Deviation of an acceleration, 1/s², for white noise of unit deviation of the samples.
        powers = np.vander(np.arange(window) - window // 2.0, ORDER + 1, increasing=True)
        gain = float(2.0 * np.linalg.norm(np.linalg.pinv(powers)[2]) / interval**2)
        noise = gain * sample_noise
        if window + 2 > longest or (noise <= accepted).all():
            break
        window += 2
    position, velocity, acceleration = (
        savgol_filter(samples, window, ORDER, deriv, interval) for deriv in range(3)
    )
    if not is_even:
        position, velocity, acceleration = (
            make_interp_spline(even, each, k=3)(time) for each in (position, velocity, acceleration)
        )
    return Derivatives(position, velocity, acceleration, window, noise)


def minimum_jerk(time: Array, start: float, duration: float) -> Array:
    """Progress of a minimum-jerk movement (Flash & Hogan 1985): 10 s³ − 15 s⁴ + 6 s⁵.

    `time` (T,); `start`: when the movement starts, s; `duration`: how long it takes, s, positive. Returns
    (T,): progress: 0 before the start, 1 after the end, speed and acceleration zero at both.
    """
    s = np.clip((time - start) / duration, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def quintic(
    start: Array, speed: Array, acceleration: Array, end: Array, duration: float, time: Array
) -> tuple[Array, Array]:
    """Compute the quintic that goes from a moving start to rest in a given time.

    `start` (K,): position at the start, in any unit; `speed` (K,): velocity at the start, per second;
    `acceleration` (K,): acceleration at the start, per second²; `end` (K,): position at the end; `duration`:
    time to go, s; `time` (N,): times since the start, s, 0 to `duration`. Returns `position` (N, K); `rate`
    (N, K): velocities there, per second.
    """
    phase = (time / duration)[:, None]
    v, a = speed * duration, acceleration * duration**2
    distance = end - start
    c3 = 10 * distance - 6 * v - 1.5 * a
    c4 = -15 * distance + 8 * v + 1.5 * a
    c5 = 6 * distance - 3 * v - 0.5 * a
    position = start + phase * (v + phase * (0.5 * a + phase * (c3 + phase * (c4 + phase * c5))))
    rate = v + phase * (a + phase * (3 * c3 + phase * (4 * c4 + phase * 5 * c5)))
    return position, rate / duration
