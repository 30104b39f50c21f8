"""Weights that are not negative and add up to 1: their grid, their box, and coordinates of even effect."""

from itertools import combinations

import numpy as np

from simbench.kinematics.arrays import Array


def lattice(degree: int, size: int) -> Array:
    """List the weights that are multiples of 1 / degree.

    Parameters
    ----------
    degree : int
        At least 1; vertices are on every lattice, a face's inner points from its number of vertices on.
    size : int
        Number of weights s.

    Returns
    -------
    (C(degree + s − 1, s − 1), s) array
    """
    # Stars and bars: where the s - 1 bars stand among all places.
    bars = np.array(list(combinations(range(degree + size - 1), size - 1)), dtype=float)
    ends = np.full((len(bars), 1), -1.0), np.full((len(bars), 1), degree + size - 1.0)
    return (np.diff(np.hstack([ends[0], bars.reshape(len(ends[0]), -1), ends[1]]), axis=1) - 1.0) / degree


def from_box(box: Array) -> Array:
    """Map the unit box onto the simplex so that uniform points become uniform weights.

    A stick is broken: each weight takes of what is left the part that the smallest of so many uniform points
    would. Faces of the box become faces of the simplex, so that a weight can be exactly 0 or 1.

    Parameters
    ----------
    box : (m, s − 1) array
        In [0, 1].

    Returns
    -------
    (m, s) array
    """
    later = np.arange(box.shape[1], 0, -1)
    kept = (1.0 - box) ** (1.0 / later)
    left = np.cumprod(np.hstack([np.ones((len(box), 1)), kept]), axis=1)
    return np.hstack([left[:, :-1] - left[:, 1:], left[:, -1:]])


def rescaled(weights: Array, scale: Array) -> Array:
    """Multiply each weight by its scale and bring the sum back to 1: maps the simplex one to one onto itself.

    Parameters
    ----------
    weights : (..., s) array
    scale : (s,) array
        Positive.

    Returns
    -------
    (..., s) array
    """
    scaled = weights * scale
    return np.asarray(scaled / scaled.sum(axis=-1, keepdims=True))
