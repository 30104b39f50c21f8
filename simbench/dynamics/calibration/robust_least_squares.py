"""Robust linear least squares with the covariance of the solution."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array

Integers = NDArray[np.int64]

_HUBER = 1.345
"""Standard deviations beyond which a residual counts less: 95 % as efficient as least squares on normal
noise."""
_NORMAL_MEDIAN = 0.6744897501960817
"""Median of the absolute value of normal noise of 1."""
_ROUNDS, _CONVERGED = 50, 1e-12
"""Maximum number of reweightings, and relative change of the solution at which they end."""
_NULL = 1e-7
"""Fraction of the greatest singular value, columns scaled to one, below which a direction has no effect."""
_ZERO_COLUMN = 1e-8
"""Fraction of the greatest column that rounding leaves in a derivative by differences."""
_SCALE_RATIO = 1e-2
"""Least scale of a group over the greatest: an exact group must not outweigh what only the others tell."""
_NOISY = 0.3
"""Fraction of a column that may be error: beyond it the column carries no information."""
KNOWN = -1
"""Group of rows that are scaled to standard deviations already."""
_COMPONENT = 0.03
"""Component of an unknown in a direction without effect below which it is determined all the same."""


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
    covariance = _covariance(scaled, residuals, weights, inside, blocks)
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
        group: float(np.median(np.abs(residuals[groups == group]))) / _NORMAL_MEDIAN
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


def _covariance(matrix: Array, residuals: Array, weights: Array, inside: Array, blocks: Integers) -> Array:
    names, index = np.unique(blocks, return_inverse=True)
    scores = np.zeros((len(names), matrix.shape[1]))
    np.add.at(scores, index, matrix * (weights * residuals)[:, None])
    normal = matrix.T @ (matrix * inside[:, None])
    inverse = np.linalg.pinv(normal, rcond=_NULL**2, hermitian=True)
    count = len(names)
    return np.asarray(inverse @ (scores.T @ scores) @ inverse * count / max(count - 1, 1))
