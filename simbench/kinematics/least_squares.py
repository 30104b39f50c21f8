"""Bounded least squares: the least value of a quadratic function in a box, and Levenberg-Marquardt.

Every such problem is solved by the same loop, with its own residuals and normal equations:

    progress = begin(rule, cost)
    while is_running(rule, progress, rounds):
        # Solve (A + damping D) dx = b inside the bounds (`solve_box`), D the problem's.
        # Compute the cost, A and b at x + dx.
        progress = judge_step(rule, progress, new_cost, largest)
        # Accepted: go there. Else: back to A and b at x.

A common loop that takes the problem's functions as arguments would be one place less: but numba cannot keep
the machine code of what hands functions to functions, and every process would compile it again.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_into_callers

# In which the number of wrong coordinates may not fall before one coordinate at a time changes sides.
_STALLED_ROUNDS = 3
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


class DampingRule(NamedTuple):
    """How steps are damped, and which of them is the last."""

    first: float
    least: float  # Damping below which it is not reduced.
    greatest: float  # Damping at which the iteration gives up: no step, however short, reduces the cost.
    step_tolerance: float  # A step whose largest coordinate is shorter is the last one.
    # A step that reduces the cost by no more than this fraction of it is the last one; negative: never.
    gain_tolerance: float
    # A rejected step that raises the cost by no more than this fraction of it is the last one, too; 0 or
    # negative: never.
    loss_tolerance: float
    cost_tolerance: float  # Cost below which nothing is left to do.


class Progress(NamedTuple):
    """Where an iteration is."""

    cost: float  # Cost at the current point.
    damping: float  # Damping of the next step.
    used: int  # Steps tried.
    accepted: bool  # Whether the last step is accepted.
    finished: bool  # Whether it is the last one.


@compiled_into_callers
def begin(rule: DampingRule, cost: float) -> Progress:
    """Begin an iteration.

    `rule`: how steps are damped; `cost`: cost at the start. Returns before the first step.
    """
    return Progress(cost, rule.first, 0, True, False)


@compiled_into_callers
def is_running(rule: DampingRule, progress: Progress, rounds: int) -> bool:
    """Check whether another step is to be tried.

    `rule`: when to stop; `progress`: state of the iteration; `rounds`: most steps to try. Returns false at
    the end.
    """
    if progress.finished or progress.used >= rounds:
        return False
    return progress.damping < rule.greatest and not progress.cost < rule.cost_tolerance


@compiled_into_callers
def judge_step(rule: DampingRule, progress: Progress, new_cost: float, largest: float) -> Progress:
    """Accept or reject a step, and adapt the damping (Marquardt 1963).

    A step that does not raise the cost is accepted, and the next one damped ten times less; another is
    rejected, and tried again damped ten times more. `rule`: how steps are damped, and when to stop;
    `progress`: before the step; `new_cost`: cost where the step leads; `largest`: largest coordinate of the
    step, as an absolute value. Returns after the step; its cost is that of the accepted point.
    """
    cost, used, settled = progress.cost, progress.used + 1, largest < rule.step_tolerance
    if new_cost <= cost:
        settled = settled or cost - new_cost <= rule.gain_tolerance * cost
        return Progress(new_cost, max(0.1 * progress.damping, rule.least), used, True, settled)
    settled = settled or new_cost - cost <= rule.loss_tolerance * cost
    return Progress(cost, 10.0 * progress.damping, used, False, settled)
