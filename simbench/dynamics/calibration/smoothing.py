"""Taking noise out of recorded channels, as much of it as the data themselves say there is.

A channel passes a zero-phase Butterworth filter, or is averaged. The cut-off is the one with the least risk
after Mallows (1973): what the filter takes away, less the noise that it should have taken away. Without noise
it does nothing. What a channel's rate tells already is not filtered, only the slow rest, offset and drift.
"""

import numpy as np
from scipy.integrate import cumulative_trapezoid
from scipy.ndimage import median_filter
from scipy.signal import butter, sosfiltfilt

from simbench.dynamics.calibration.arm_motion import ArmMotion
from simbench.kinematics.arrays import Array

_THIRD = np.sqrt(20.0)
"""Standard deviation of third differences of white noise of 1."""
_NORMAL = 0.6744897501960817
"""Median of the absolute value of normal noise of 1."""
_SHARE = np.pi / (2.0 * np.sqrt(2.0))
"""Of the noise below the cut-off that passes there and back a filter of second order, 1 / (1 + (f/f_c)⁴)."""
_SPIKE, _TALL = 10.0, 0.01
"""A sample so many deviations, and so much of its channel's range, off the median of five is a spike."""
_CLEAN = 1e-9
"""Of a channel's range: noise that no filter is needed for."""
_LOWEST = 0.1
"""Hz."""
_ABOVE_NOISE = 3.0
"""A channel whose spread is less than so many times the noise that is left in it does not move."""


def noise_of(values: Array) -> Array:
    """Estimate the standard deviation of white noise in channels (T, n): (n,)."""
    thirds = np.diff(values, 3, axis=0)
    return np.asarray(np.median(np.abs(thirds), axis=0) / (_NORMAL * _THIRD))


def smooth(values: Array, rate: float, together: bool = False, price: float = 2.0) -> tuple[Array, Array]:
    """Filter channels, each as its noise asks for, or all alike as the noise of all asks for.

    Parameters
    ----------
    values : (T, n) array
    rate : float
        Hz.
    together : bool
        Whether they pass one filter: so does what is to be compared with all of them.
    price : float
        Of what passes: 2 is Mallows'; the logarithm of the samples, Schwarz's, lets pass only what is surely
        there.

    Returns
    -------
    smoothed : (T, n) array
    left : (n,) array
        Standard deviation of the noise that is left.
    """
    noise = noise_of(values)
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
    middle = median_filter(values, (5, 1), mode="nearest")
    off, tall = np.abs(values - middle), _TALL * np.ptp(middle, axis=0)
    return np.where(off > np.maximum(_SPIKE * noise, tall), middle, values)


def _filtered(values: Array, cutoff: float, rate: float) -> Array:
    """Filter there and back, beyond both ends mirrored about where the channel ends without its noise."""
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


def smoothed(motion: ArmMotion) -> tuple[ArmMotion, Array]:
    """Filter a motion, and hold still what does not rise above its noise.

    Parameters
    ----------
    motion : ArmMotion

    Returns
    -------
    motion : ArmMotion
    left : (n,) array
        Standard deviation of the noise that is left in q.
    """
    acceleration = _moving(*smooth(motion.acceleration, motion.rate))
    velocity = _moving(*_by_rate(motion.velocity, motion.acceleration, motion.rate))
    q, left = _by_rate(motion.q, motion.velocity, motion.rate)
    middle = q.mean(axis=0)
    q = middle + _moving(q - middle, left)
    return ArmMotion(motion.rate, q, velocity, acceleration, motion.target), left


def _by_rate(values: Array, change: Array, rate: float) -> tuple[Array, Array]:
    """Filter channels by themselves or by what their rates leave of them, whichever leaves less noise."""
    way = cumulative_trapezoid(change, dx=1.0 / rate, axis=0, initial=0.0)
    alone, alone_left = smooth(values, rate)
    rest = values - way
    slow, slow_left = smooth(rest, rate, price=float(np.log(len(rest))))
    # Noise of the rate adds up over as many samples as the filter of the rest averages.
    averaged = (noise_of(rest) / np.maximum(slow_left, np.finfo(float).tiny)) ** 2
    slow_left = np.hypot(slow_left, noise_of(change) / rate * np.sqrt(averaged))
    better = slow_left < alone_left
    return np.where(better, way + slow, alone), np.where(better, slow_left, alone_left)


def _moving(values: Array, left: Array) -> Array:
    return np.where(np.sqrt(np.mean(values**2, axis=0)) > _ABOVE_NOISE * left, values, 0.0)
