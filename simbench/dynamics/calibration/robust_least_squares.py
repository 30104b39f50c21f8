"""Linear least squares that outliers do not pull, and how sure they are."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array

Integers = NDArray[np.int64]

_HUBER = 1.345
"""Standard deviations from where a residual counts less: 95 % as good as least squares on normal noise."""
_NORMAL = 0.6744897501960817
_ROUNDS, _SETTLED = 50, 1e-12
_NULL = 1e-7
"""Of the greatest singular value, columns scaled to one: below, a direction has no effect."""
_SMALL = 1e-8
"""Of the greatest column: rounding of a derivative by differences."""
_UNLIKE = 1e-2
"""A group's scale over the greatest: one that fits exactly must not drown what only the others tell."""
_NOISY = 0.3
"""A column of which so much is error says nothing."""
KNOWN = -1
"""Group of rows that are in standard deviations already."""
_PART = 0.03
"""Of a direction without effect: who has less part in it is determined all the same."""


def robust_least_squares(
    matrix: Array, errors: Array, values: Array, groups: Integers, blocks: Integers
) -> tuple[Array, Array]:
    """Solve matrix · x = values with Huber's weights, rows of each group by their own scale.

    Parameters
    ----------
    matrix : (m, p) array
    errors : (m, p) array
        By how much it may be wrong: what has no more effect than they is not determined.
    values : (m,) array
    groups : (m,) int array
        Rows of one group have residuals of one size: a joint's; or they are `KNOWN`.
    blocks : (m,) int array
        Residuals of one block may go together, those of different blocks do not: a stretch of time.

    Returns
    -------
    solution : (p,) array
        NaN for every unknown that the matrix does not determine.
    covariance : (p, p) array
        By blocks (Liang & Zeger 1986), so that residuals that last do not pass for many.
    """
    size = np.linalg.norm(matrix, axis=0)
    seen = (size > _SMALL * size.max(initial=0.0)) & (np.linalg.norm(errors, axis=0) <= _NOISY * size)
    scaled = matrix[:, seen] / size[seen]
    weights = np.ones(len(values))
    solution = np.zeros(scaled.shape[1])
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)
        found = np.linalg.lstsq(scaled * root[:, None], values * root, rcond=_NULL)[0]
        change, solution = np.abs(found - solution).max(initial=0.0), found
        residuals = values - scaled @ solution
        weights, inside = _weights(residuals, groups, np.abs(values).max(initial=0.0))
        if change <= _SETTLED * np.abs(solution).max(initial=0.0):
            break
    covariance = _covariance(scaled, residuals, weights, inside, blocks)
    _, lengths, directions = np.linalg.svd(scaled, full_matrices=False)
    wrong = np.linalg.norm(errors[:, seen] / size[seen], ord=2) if seen.any() else 0.0
    silent = directions[lengths <= max(_NULL * lengths.max(initial=0.0), wrong)]
    solution[(np.abs(silent) > _PART).any(axis=0)] = np.nan
    every, spread = np.full(len(seen), np.nan), np.full((len(seen), len(seen)), np.nan)
    every[seen] = solution / size[seen]
    spread[np.ix_(seen, seen)] = covariance / np.outer(size[seen], size[seen])
    return every, spread


def _weights(residuals: Array, groups: Integers, greatest: float) -> tuple[Array, Array]:
    """Huber's weight of every row over its group's variance; the same of the rows that count in full."""
    weights, inside = np.empty_like(residuals), np.empty_like(residuals)
    # Rounding alone must not be told into good and bad rows.
    floor = 1e-12 * greatest + 1e-100
    spread = {
        group: float(np.median(np.abs(residuals[groups == group]))) / _NORMAL
        for group in np.unique(groups).tolist()
        if group != KNOWN
    }
    floor += _UNLIKE * max(spread.values(), default=0.0)
    for group in np.unique(groups).tolist():
        rows = groups == group
        scale = max(spread[group], floor) if group in spread else 1.0
        far = np.abs(residuals[rows]) / scale
        weights[rows] = np.minimum(1.0, _HUBER / np.maximum(far, _HUBER)) / scale**2
        inside[rows] = (far <= _HUBER) / scale**2
    greatest = weights.max(initial=0.0)
    return weights / greatest, inside / greatest


def _covariance(matrix: Array, residuals: Array, weights: Array, inside: Array, blocks: Integers) -> Array:
    names, place = np.unique(blocks, return_inverse=True)
    scores = np.zeros((len(names), matrix.shape[1]))
    np.add.at(scores, place, matrix * (weights * residuals)[:, None])
    normal = matrix.T @ (matrix * inside[:, None])
    inverse = np.linalg.pinv(normal, rcond=_NULL**2, hermitian=True)
    count = len(names)
    return np.asarray(inverse @ (scores.T @ scores) @ inverse * count / max(count - 1, 1))
