"""Low-pass filters for recorded channels whose cut-off follows from the noise in the data.

A channel passes a zero-phase Butterworth filter, or is averaged. The cut-off is the one with the least risk
after Mallows (1973): what the filter removes, less the noise that it should have removed. Channels without
noise are not changed. The part of a channel that the integral of its derivative explains is not filtered,
only the slow remainder, offset and drift.
"""

import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.ndimage import median_filter
from scipy.signal import butter, sosfiltfilt

from simbench.dynamics.calibration.arm_motion import ArmMotion
from simbench.kinematics.arrays import Array

_THIRD = np.sqrt(20.0)
"""Standard deviation of the third differences of white noise of 1."""
_NORMAL = 0.6744897501960817
"""Median of the absolute value of normal noise of 1."""
_SHARE = np.pi / (2.0 * np.sqrt(2.0))
"""Fraction of the noise below the cut-off that passes a second-order filter forwards and backwards,
1 / (1 + (f/f_c)⁴)."""
_SPIKE, _TALL = 10.0, 0.01
"""A sample that differs from the median of five by so many deviations, and by this fraction of its channel's
range, is a spike."""
_CLEAN = 1e-9
"""Fraction of a channel's range below which noise needs no filter."""
_LOWEST = 0.1
"""Lowest cut-off, Hz."""
_ABOVE_NOISE = 3.0
"""A channel whose RMS is less than so many times the noise that remains in it does not move."""


def estimate_noise(values: Array) -> Array:
    """Estimate the standard deviation of white noise in channels, from their third differences.

    `values` (T, n): recorded channels at a constant rate. Returns (n,): standard deviation of each channel's
    noise, in its unit.
    """
    thirds = np.diff(values, 3, axis=0)
    return np.asarray(np.median(np.abs(thirds), axis=0) / (_NORMAL * _THIRD))


def filter_channels(
    values: Array, rate: float, together: bool = False, price: float = 2.0
) -> tuple[Array, Array]:
    """Low-pass filter channels with the cut-off that minimises the estimated risk.

    `values` (T, n): recorded channels; `rate`: sampling rate, Hz; `together`: whether all channels pass the
    same filter, as channels that are compared with each other must; `price`: penalty on the noise that
    passes: 2 is Mallows'; the logarithm of the number of samples is Schwarz's, which passes only what is
    surely signal. Returns `smoothed` (T, n); `left` (n,): standard deviation of the noise that remains.
    """
    noise = estimate_noise(values)
    values = _without_spikes(values, noise)
    if (noise <= _CLEAN * np.ptp(values, axis=0)).all():
        return values, noise
    kept, left = values.copy(), noise.copy()
    risk = noise**2
    cutoffs = [0.0]
    while (cutoff := rate / 2.0 ** (len(cutoffs) + 1)) >= max(_LOWEST, 2.0 * rate / len(values)):
        cutoffs.append(cutoff)
    for cutoff in cutoffs:
        passed = _SHARE * cutoff / (rate / 2.0) if cutoff else 1.0 / len(values)
        filtered = _filtered(values, cutoff, rate) if cutoff else values.mean(axis=0) + 0.0 * values
        taken = np.mean((values - filtered) ** 2, axis=0)
        expected = taken - noise**2 * (1.0 - price * passed)
        better = expected < risk
        if together:
            better = np.full_like(better, expected.sum() < risk.sum())
        kept[:, better], risk[better] = filtered[:, better], expected[better]
        left[better] = noise[better] * np.sqrt(passed)
    return kept, left


def _without_spikes(values: Array, noise: Array) -> Array:
    """Replace isolated outliers by the median of five samples."""
    middle = median_filter(values, (5, 1), mode="nearest")
    off, tall = np.abs(values - middle), _TALL * np.ptp(middle, axis=0)
    return np.where(off > np.maximum(_SPIKE * noise, tall), middle, values)


def _filtered(values: Array, cutoff: float, rate: float) -> Array:
    """Filter forwards and backwards; both ends are extended by reflection about their noise-free values."""
    width = min(len(values) - 1, int(2.0 * rate / cutoff))
    near = max(2, width // 8)
    clock = np.arange(near)
    first, last = (
        np.polynomial.polynomial.polyfit(clock, end, 1)[0]
        for end in (values[:near], values[: -near - 1 : -1])
    )
    before, after = 2.0 * first - values[width:0:-1], 2.0 * last - values[-2 : -width - 2 : -1]
    sections = butter(2, cutoff, fs=rate, output="sos")
    longer = np.concatenate([before, values, after])
    return np.asarray(sosfiltfilt(sections, longer, axis=0, padlen=0)[width:-width])


def filter_motion(motion: ArmMotion) -> tuple[ArmMotion, Array]:
    """Filter a recorded motion, and hold channels constant that do not exceed their noise.

    Returns `left` (n,): standard deviation of the noise that remains in q, rad.
    """
    acceleration = _moving(*filter_channels(motion.acceleration, motion.rate))
    velocity = _moving(*_by_rate(motion.velocity, motion.acceleration, motion.rate))
    q, left = _by_rate(motion.q, motion.velocity, motion.rate)
    middle = q.mean(axis=0)
    q = middle + _moving(q - middle, left)
    return ArmMotion(motion.rate, q, velocity, acceleration, motion.target), left


def _by_rate(values: Array, change: Array, rate: float) -> tuple[Array, Array]:
    """Filter channels, or only their difference from the integrated derivative, whichever is less noisy."""
    integral = cumulative_trapezoid(change, dx=1.0 / rate, axis=0, initial=0.0)
    alone, alone_left = filter_channels(values, rate)
    rest = values - integral
    slow, slow_left = filter_channels(rest, rate, price=float(np.log(len(rest))))
    # Noise of the derivative accumulates over as many samples as the filter of the rest averages.
    averaged = (estimate_noise(rest) / np.maximum(slow_left, np.finfo(float).tiny)) ** 2
    slow_left = np.hypot(slow_left, estimate_noise(change) / rate * np.sqrt(averaged))
    better = slow_left < alone_left
    return np.where(better, integral + slow, alone), np.where(better, slow_left, alone_left)


def _moving(values: Array, left: Array) -> Array:
    """Set channels to zero that do not rise above their noise."""
    return np.where(np.sqrt(np.mean(values**2, axis=0)) > _ABOVE_NOISE * left, values, 0.0)
