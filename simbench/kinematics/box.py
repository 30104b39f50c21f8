"""The least value of a quadratic function in a box, exactly."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled

_STALLED_ROUNDS = 3
"""In which the number of wrong coordinates may not fall before one coordinate at a time changes sides."""
_FREE, _AT_LOW, _AT_HIGH = 0, 1, 2


@compiled
def solve_box(matrix: Array, vector: Array, low: Array, high: Array) -> Array:
    """Find x in [low, high] where ½ xᵀHx − gᵀx is least.

    Block principal pivoting (Júdice & Pires 1994): all coordinates that are beyond a bound, or on one that
    would let them go, change sides at once; if that does not reduce their number for a while, one at a time
    (Murty), which ends for every positive definite H. `matrix` (n, n): H, symmetric and positive definite;
    only its lower triangle is read; `vector` (n,); `low` (n,): lower bounds; minus infinity where there is
    none; `high` (n,): upper bounds, high ≥ low; infinite where there is none. Returns (n,).
    """
    n = len(vector)
    # What is on a bound keeps its place there in x.
    side, x = (low == high).astype(np.int64), low.copy()
    factor, right = np.empty((n, n)), np.empty(n)
    # The free coordinates from the start, the others from the end.
    order = np.empty(n, np.int64)
    fewest, patience = n + 1, _STALLED_ROUNDS
    for _ in range(50 * n + 100):
        count = 0
        for i in range(n):
            if side[i] == _FREE:
                order[count] = i
                count += 1
            else:
                order[n - 1 - i + count] = i
        for a in range(count):
            i = order[a]
            right[a] = vector[i]
            for b in range(n - 1, count - 1, -1):
                j = order[b]
                right[a] -= matrix[max(i, j), min(i, j)] * x[j]
            for b in range(a + 1):
                factor[a, b] = matrix[i, order[b]]
        factorise(factor, count)
        substitute(factor, right, count)
        for a in range(count):
            x[order[a]] = right[a]
        wrong, last = 0, -1
        for i in range(n):
            if _is_wrong(matrix, vector, low, high, side, x, i):
                wrong += 1
                last = i
        if wrong == 0:
            return x
        if wrong < fewest:
            fewest, patience = wrong, _STALLED_ROUNDS
        else:
            patience -= 1
        _change_sides(matrix, vector, low, high, side, x, order, 0 if patience > 0 else last)
    return np.minimum(np.maximum(x, low), high)


@compiled
def _change_sides(
    matrix: Array,
    vector: Array,
    low: Array,
    high: Array,
    side: NDArray[np.int64],
    x: Array,
    marked: NDArray[np.int64],
    start: int,
) -> None:
    """Let the wrong coordinates from `start` on change sides."""
    # Judged all on the same x and sides: they are marked first and changed afterwards.
    count = 0
    for i in range(start, len(x)):
        if _is_wrong(matrix, vector, low, high, side, x, i):
            marked[count] = i
            count += 1
    for i in marked[:count]:
        if side[i] != _FREE:
            side[i] = _FREE
        elif x[i] < low[i]:
            side[i], x[i] = _AT_LOW, low[i]
        else:
            side[i], x[i] = _AT_HIGH, high[i]


@compiled
def _is_wrong(
    matrix: Array, vector: Array, low: Array, high: Array, side: NDArray[np.int64], x: Array, i: int
) -> bool:
    """Whether a free coordinate is beyond a bound, or a bound coordinate would rather be inside."""
    if side[i] == _FREE:
        return bool(x[i] < low[i] or x[i] > high[i])
    if low[i] == high[i]:
        return False
    slope = -vector[i]
    for j in range(len(x)):
        slope += (matrix[i, j] if j <= i else matrix[j, i]) * x[j]
    return bool(slope < 0.0 if side[i] == _AT_LOW else slope > 0.0)


@compiled
def factorise(matrix: Array, n: int) -> None:
    """Overwrite a matrix with its Cholesky factor.

    `matrix` (N, N): its first n rows and columns are symmetric and positive definite; only their lower
    triangle is read, and overwritten with the factor; `n`: number of rows to factorise.
    """
    for j in range(n):
        for k in range(j):
            matrix[j, j] -= matrix[j, k] * matrix[j, k]
        # Rounding may leave a semidefinite matrix a pivot below zero.
        pivot = np.sqrt(max(matrix[j, j], 1e-30))
        matrix[j, j] = pivot
        inverse = 1.0 / pivot
        for i in range(j + 1, n):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total * inverse


@compiled
def substitute(factor: Array, right: Array, n: int) -> None:
    """Solve a linear system with the Cholesky factor of its matrix.

    `factor` (N, N): lower triangular, from `factorise`; `right` (N,): right-hand side; the first n entries
    are overwritten with the solution; `n`: number of unknowns.
    """
    for i in range(n):
        for k in range(i):
            right[i] -= factor[i, k] * right[k]
        right[i] /= factor[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            right[i] -= factor[k, i] * right[k]
        right[i] /= factor[i, i]
