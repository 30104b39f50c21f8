"""Savitzky-Golay filter: a polynomial is fitted to a window around every sample."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lstsq
from scipy.ndimage import convolve1d

from simbench.kinematics.arrays import Array


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
        fitted = _evaluate(np.polyfit(np.arange(window, dtype=np.float64), part, order), at, deriv)
        result[into] = (fitted / delta**deriv).reshape(half, *samples.shape[1:])
    return result


def _evaluate(coefficients: Array, at: Array, deriv: int) -> Array:
    """Evaluate a derivative of polynomials, one a column, the highest power first."""
    for _ in range(deriv):
        coefficients = coefficients[:-1] * np.arange(len(coefficients) - 1, 0.0, -1.0)[:, None]
    return np.asarray(np.polyval(coefficients, at[:, None]))
