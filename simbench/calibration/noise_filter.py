"""Low-pass filters for recorded channels with a cut-off that follows from their noise, and robust fits.

A channel passes a zero-phase Butterworth filter, or is averaged. The cut-off is the one with the least risk
after Mallows (1973): what the filter removes, less the noise that it should have removed. Channels without
noise are not changed. The part of a channel that the integral of its derivative explains is not filtered,
only the slow remainder, offset and drift.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid
from scipy.ndimage import median_filter
from scipy.signal import butter, sosfiltfilt

from simbench.calibration.arm_recording import ArmMotion
from simbench.kinematics.arrays import Array

Integers = NDArray[np.int64]

_THIRD = np.sqrt(20.0)  # Standard deviation of the third differences of white noise of 1.
_NORMAL = 0.6744897501960817  # Median of the absolute value of normal noise of 1.
# Fraction of the noise below the cut-off that passes a second-order filter forwards and backwards, 1 / (1 +
# (f/f_c)⁴).
_SHARE = np.pi / (2.0 * np.sqrt(2.0))
# A sample that differs from the median of five by so many deviations, and by this fraction of its channel's
# range, is a spike.
_SPIKE, _TALL = 10.0, 0.01
_CLEAN = 1e-9  # Fraction of a channel's range below which noise needs no filter.
_LOWEST = 0.1  # Lowest cut-off, Hz.
# A channel whose RMS is less than so many times the noise that remains in it does not move.
_ABOVE_NOISE = 3.0
# Standard deviations beyond which a residual counts less: 95 % as efficient as least squares on normal noise.
_HUBER = 1.345
# Maximum number of reweightings, and relative change of the solution at which they end.
_ROUNDS, _CONVERGED = 50, 1e-12
# Fraction of the greatest singular value, columns scaled to one, below which a direction has no effect.
_NULL = 1e-7
_ZERO_COLUMN = 1e-8  # Fraction of the greatest column that rounding leaves in a derivative by differences.
# Least scale of a group over the greatest: an exact group must not outweigh what only the others tell.
_SCALE_RATIO = 1e-2
_NOISY = 0.3  # Fraction of a column that may be error: beyond it the column carries no information.
KNOWN = -1  # Group of rows that are scaled to standard deviations already.
# Component of an unknown in a direction without effect below which it is determined all the same.
_COMPONENT = 0.03


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
    # Isolated outliers give way to the median of five samples.
    middle = median_filter(values, (5, 1), mode="nearest")
    off, tall = np.abs(values - middle), _TALL * np.ptp(middle, axis=0)
    values = np.where(off > np.maximum(_SPIKE * noise, tall), middle, values)
    if (noise <= _CLEAN * np.ptp(values, axis=0)).all():
        return values, noise
    kept, left = values.copy(), noise.copy()
    risk = noise**2
    cutoffs = [0.0]
    while (cutoff := rate / 2.0 ** (len(cutoffs) + 1)) >= max(_LOWEST, 2.0 * rate / len(values)):
        cutoffs.append(cutoff)
    for cutoff in cutoffs:
        if cutoff:
            passed = _SHARE * cutoff / (rate / 2.0)
            # Forwards and backwards; both ends are extended by reflection about their noise-free values.
            width = min(len(values) - 1, int(2.0 * rate / cutoff))
            near = max(2, width // 8)
            first, last = (
                np.polynomial.polynomial.polyfit(np.arange(near), end, 1)[0]
                for end in (values[:near], values[: -near - 1 : -1])
            )
            before, after = 2.0 * first - values[width:0:-1], 2.0 * last - values[-2 : -width - 2 : -1]
            longer = np.concatenate([before, values, after])
            sections = butter(2, cutoff, fs=rate, output="sos")
            filtered = np.asarray(sosfiltfilt(sections, longer, axis=0, padlen=0)[width:-width])
        else:
            passed, filtered = 1.0 / len(values), values.mean(axis=0) + 0.0 * values
        taken = np.mean((values - filtered) ** 2, axis=0)
        expected = taken - noise**2 * (1.0 - price * passed)
        better = expected < risk
        if together:
            better = np.full_like(better, expected.sum() < risk.sum())
        kept[:, better], risk[better] = filtered[:, better], expected[better]
        left[better] = noise[better] * np.sqrt(passed)
    return kept, left


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


def robust_least_squares(
    matrix: Array, errors: Array, values: Array, groups: Integers, blocks: Integers
) -> tuple[Array, Array]:
    """Solve matrix · x = values with Huber weights, the rows of each group scaled by their own deviation.

    `matrix` (m, p): coefficients, such as a regressor; `errors` (m, p): possible error of each coefficient:
    unknowns whose effect is not larger are not determined; `values` (m,): right-hand side; `groups` (m,) int:
    group of each row: rows of one group, such as those of a joint, have residuals of one size; `KNOWN` marks
    rows that are scaled to standard deviations already; `blocks` (m,) int: block of each row, such as a
    stretch of time: residuals of one block may be correlated, those of different blocks are not. Returns
    `solution` (p,): solution; NaN for every unknown that the matrix does not determine; `covariance` (p, p):
    covariance of the solution, estimated from the blocks (Liang & Zeger 1986) so that correlated residuals do
    not count as independent ones.
    """
    size = np.linalg.norm(matrix, axis=0)
    seen = (size > _ZERO_COLUMN * size.max(initial=0.0)) & (np.linalg.norm(errors, axis=0) <= _NOISY * size)
    scaled = matrix[:, seen] / size[seen]
    weights = np.ones(len(values))
    solution = np.zeros(scaled.shape[1])
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)
        found = np.linalg.lstsq(scaled * root[:, None], values * root, rcond=_NULL)[0]
        change, solution = np.abs(found - solution).max(initial=0.0), found
        residuals = values - scaled @ solution
        weights, inside = _weights(residuals, groups, np.abs(values).max(initial=0.0))
        if change <= _CONVERGED * np.abs(solution).max(initial=0.0):
            break
    names, index = np.unique(blocks, return_inverse=True)
    scores = np.zeros((len(names), scaled.shape[1]))
    np.add.at(scores, index, scaled * (weights * residuals)[:, None])
    normal = scaled.T @ (scaled * inside[:, None])
    inverse = np.linalg.pinv(normal, rcond=_NULL**2, hermitian=True)
    covariance = inverse @ (scores.T @ scores) @ inverse * len(names) / max(len(names) - 1, 1)
    _, lengths, directions = np.linalg.svd(scaled, full_matrices=False)
    wrong = np.linalg.norm(errors[:, seen] / size[seen], ord=2) if seen.any() else 0.0
    silent = directions[lengths <= max(_NULL * lengths.max(initial=0.0), wrong)]
    solution[(np.abs(silent) > _COMPONENT).any(axis=0)] = np.nan
    every, spread = np.full(len(seen), np.nan), np.full((len(seen), len(seen)), np.nan)
    every[seen] = solution / size[seen]
    spread[np.ix_(seen, seen)] = covariance / np.outer(size[seen], size[seen])
    return every, spread


def _weights(residuals: Array, groups: Integers, greatest: float) -> tuple[Array, Array]:
    """Compute Huber's weight of every row over its group's variance, and that of the fully counted rows."""
    weights, inside = np.empty_like(residuals), np.empty_like(residuals)
    # Rows that differ by rounding alone must not be told apart into good and bad ones.
    floor = 1e-12 * greatest + 1e-100
    spread = {
        group: float(np.median(np.abs(residuals[groups == group]))) / _NORMAL
        for group in np.unique(groups).tolist()
        if group != KNOWN
    }
    floor += _SCALE_RATIO * max(spread.values(), default=0.0)
    for group in np.unique(groups).tolist():
        rows = groups == group
        scale = max(spread[group], floor) if group in spread else 1.0
        far = np.abs(residuals[rows]) / scale
        weights[rows] = np.minimum(1.0, _HUBER / np.maximum(far, _HUBER)) / scale**2
        inside[rows] = (far <= _HUBER) / scale**2
    greatest = weights.max(initial=0.0)
    return weights / greatest, inside / greatest
