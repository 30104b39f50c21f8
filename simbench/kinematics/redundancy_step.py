"""One step of redundancy resolution: equation 4.23 of Tomić (2018) inside bounds, compiled.

Every motion that criteria choose is made of these steps: those of virtual actors (`simbench.motion.actors`),
of the laws that imitate a recorded person (`simbench.skills`) and of robots
(`simbench.retargeting.imitation.weighted_posture`).

The gradient of manipulability, det(JJᵀ) of the hands, is here, too.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry
from simbench.kinematics.least_squares import factorise, substitute

_SINGULAR = 1e-12  # Smallest squared pivot that is not rounding, as a fraction of the largest diagonal entry.


class StepProblem(NamedTuple):
    """The quadratic programme of one step: the least ½ mᵀWm − wᵀm with J m = e, inside bounds."""

    weight: Array  # (r, r): W = K⁻¹, symmetric and positive definite; only its lower triangle is read.
    linear_term: Array  # (r,): w = −Δt b.
    columns: Array  # (r, R): Jᵀ, the Jacobian of the constraint transposed.
    error: Array  # (R,): e, the displacement that the constraint asks for, m and rad.
    lower: Array  # `lower`, `upper` (r,): bounds of the displacements m, rad or m.
    upper: Array


class StepFactors(NamedTuple):
    """Factors of the matrices of a step, and memory for its solution; allocated once."""

    # (r,) int: indices of the coordinates that are not locked; the first `free_count[0]` entries count.
    free: NDArray[np.int64]
    free_count: NDArray[np.int64]  # (1,) int: number of free coordinates.
    weight: Array  # (r, r): L with L Lᵀ = W of the free coordinates.
    columns: Array  # (r, R): Y = L⁻¹ Jᵀ.
    gram: Array  # (R, R): Cholesky factor of YᵀY = J W⁻¹ Jᵀ.
    nullspace_step: Array  # (r,): part of the step that does not move the hands.
    task_step: Array  # (r,): part of the step that meets the constraint.
    multipliers: Array  # (R,): right-hand side, then solution, of the systems with J W⁻¹ Jᵀ.


def make_step_problem(coordinates: int, rows: int) -> StepProblem:
    """Allocate the arrays of a step's quadratic programme.

    `coordinates`: number r of coordinates; `rows`: number R of rows of the constraint. Returns all zero.
    """
    return StepProblem(
        weight=np.zeros((coordinates, coordinates)),
        linear_term=np.zeros(coordinates),
        columns=np.zeros((coordinates, rows)),
        error=np.zeros(rows),
        lower=np.zeros(coordinates),
        upper=np.zeros(coordinates),
    )


def make_step_factors(coordinates: int, rows: int) -> StepFactors:
    """Allocate the memory that `solve_step` needs.

    `coordinates`: number r of coordinates; `rows`: number R of rows of the constraint. Returns all zero.
    """
    return StepFactors(
        free=np.zeros(coordinates, dtype=np.int64),
        free_count=np.zeros(1, dtype=np.int64),
        weight=np.zeros((coordinates, coordinates)),
        columns=np.zeros((coordinates, rows)),
        gram=np.zeros((rows, rows)),
        nullspace_step=np.zeros(coordinates),
        task_step=np.zeros(coordinates),
        multipliers=np.zeros(rows),
    )


@compiled
def solve_step(
    problem: StepProblem,
    max_nullspace_step: float,
    reuse_factors: bool,
    locked: NDArray[np.bool_],
    step: Array,
    factors: StepFactors,
) -> bool:
    """Find the displacements m with the least ½ mᵀWm − wᵀm of those with J m = e, inside bounds.

    Without bounds this is m = K(Jᵀ(JKJᵀ)⁻¹(e + JKb') − b') with b' = −w (Tomić 2018, equation 4.23). A
    coordinate that passes a bound is set to it, its column leaves the problem, and the rest is solved again
    (Baerlocher & Boulic 2004); a coordinate once locked stays so. The part of the step in the null space of J
    is scaled down as a whole where one coordinate would move more than `max_nullspace_step`. `problem`:
    weights, constraint and bounds. `max_nullspace_step`: largest displacement of a coordinate in the null
    space of J, rad or m; infinite for no limit. With 0 the linear term is ignored and only the hands count.
    `reuse_factors`: whether `factors` are those of this W, this J and these locked coordinates. `locked` (r,)
    bool: coordinates at a bound, changed in place. Those given as locked move by what `step` holds. `step`
    (r,): m, overwritten. `factors`: overwritten. Returns false if the free coordinates cannot meet the
    constraint: too few, or J singular.
    """
    size = len(locked)
    while True:
        if not reuse_factors:
            count = 0
            for a in range(size):
                if not locked[a]:
                    factors.free[count] = a
                    count += 1
            factors.free_count[0] = count
            if count < len(problem.error):
                return False
            if not (_factorise_weight(problem.weight, factors) and _factorise_gram(problem.columns, factors)):
                return False
        reuse_factors = False
        _solve_free(problem, max_nullspace_step, locked, step, factors)
        # Displacements beyond a bound are set to it and locked.
        beyond = False
        for a in range(size):
            if not locked[a] and (step[a] < problem.lower[a] or step[a] > problem.upper[a]):
                step[a] = problem.lower[a] if step[a] < problem.lower[a] else problem.upper[a]
                locked[a], beyond = True, True
        if not beyond:
            return True


@compiled
def _factorise_weight(weight: Array, factors: StepFactors) -> bool:
    """Compute L of the free coordinates; tell whether W has an inverse."""
    free, count, chol = factors.free, factors.free_count[0], factors.weight
    largest = 0.0
    for a in range(count):
        for b in range(a + 1):
            chol[a, b] = weight[free[a], free[b]]
        largest = max(largest, chol[a, a])
    factorise(chol, count)
    smallest = chol[0, 0]
    for a in range(count):
        smallest = min(smallest, chol[a, a])
    return bool(smallest * smallest > _SINGULAR * largest)


@compiled
def _factorise_gram(columns: Array, factors: StepFactors) -> bool:
    """Compute Y and the Cholesky factor of YᵀY; tell whether J W⁻¹ Jᵀ has an inverse."""
    count, rows, gram = factors.free_count[0], columns.shape[1], factors.gram
    free, chol, reduced = factors.free, factors.weight, factors.columns
    for a in range(count):
        for i in range(rows):
            reduced[a, i] = columns[free[a], i]
        for b in range(a):
            factor = chol[a, b]
            for i in range(rows):
                reduced[a, i] -= factor * reduced[b, i]
        inverse = 1.0 / chol[a, a]
        for i in range(rows):
            reduced[a, i] *= inverse
    for i in range(rows):
        for j in range(i + 1):
            gram[i, j] = 0.0
    for a in range(count):
        for i in range(rows):
            for j in range(i + 1):
                gram[i, j] += reduced[a, i] * reduced[a, j]
    largest = 0.0
    for i in range(rows):
        largest = max(largest, gram[i, i])
    factorise(gram, rows)
    smallest = gram[0, 0]
    for i in range(rows):
        smallest = min(smallest, gram[i, i])
    return bool(smallest * smallest > _SINGULAR * largest)


@compiled
def _solve_free(
    problem: StepProblem,
    max_nullspace_step: float,
    locked: NDArray[np.bool_],
    step: Array,
    factors: StepFactors,
) -> None:
    """Write the displacements of the free coordinates."""
    free, count = factors.free, factors.free_count[0]
    _set_right_hand_sides(problem, locked, step, factors)
    # The least displacement that meets the constraint, W⁻¹Jᵀ(J W⁻¹ Jᵀ)⁻¹ e; e is overwritten.
    rows, task = len(factors.multipliers), factors.task_step
    substitute(factors.gram, factors.multipliers, rows)
    for a in range(count):
        task[a] = 0.0
        for i in range(rows):
            task[a] += factors.columns[a, i] * factors.multipliers[i]
    _back_substitute(factors.weight, task, count)
    if max_nullspace_step == 0.0:
        for a in range(count):
            step[free[a]] = factors.task_step[a]
        return
    _solve_nullspace_step(factors)
    greatest = 0.0
    for a in range(count):
        greatest = max(greatest, abs(factors.nullspace_step[a]))
    fraction = max_nullspace_step / greatest if greatest > max_nullspace_step else 1.0
    for a in range(count):
        step[free[a]] = factors.task_step[a] + fraction * factors.nullspace_step[a]


@compiled
def _set_right_hand_sides(
    problem: StepProblem, locked: NDArray[np.bool_], step: Array, factors: StepFactors
) -> None:
    """Write w and e of the free coordinates: less what the locked ones contribute."""
    free, count, size = factors.free, factors.free_count[0], len(step)
    right, wanted = factors.nullspace_step, factors.multipliers
    for a in range(count):
        right[a] = problem.linear_term[free[a]]
    for i in range(len(wanted)):
        wanted[i] = problem.error[i]
    if count == size:
        return
    for b in range(size):
        if locked[b] and step[b] != 0.0:
            for a in range(count):
                row, column = max(free[a], b), min(free[a], b)
                right[a] -= problem.weight[row, column] * step[b]
            for i in range(len(wanted)):
                wanted[i] -= problem.columns[b, i] * step[b]


@compiled
def _solve_nullspace_step(factors: StepFactors) -> None:
    """Compute L⁻ᵀ(I − Y (YᵀY)⁻¹ Yᵀ) L⁻¹ w: what w asks for, less the part of it that moves the hands."""
    count, rows, chol = factors.free_count[0], len(factors.multipliers), factors.weight
    right, multipliers = factors.nullspace_step, factors.multipliers
    for a in range(count):
        for b in range(a):
            right[a] -= chol[a, b] * right[b]
        right[a] /= chol[a, a]
    for i in range(rows):
        multipliers[i] = 0.0
    for a in range(count):
        for i in range(rows):
            multipliers[i] += factors.columns[a, i] * right[a]
    substitute(factors.gram, multipliers, rows)
    for a in range(count):
        for i in range(rows):
            right[a] -= factors.columns[a, i] * multipliers[i]
    _back_substitute(chol, right, count)


@compiled
def _back_substitute(chol: Array, x: Array, n: int) -> None:
    """Solve Lᵀ x = right in place, row by row of L."""
    for i in range(n - 1, -1, -1):
        x[i] /= chol[i, i]
        for k in range(i):
            x[k] -= chol[i, k] * x[i]


@compiled_entry("columns (n, c), gradient (n)")
def manipulability_gradient(columns: Array, gradient: Array) -> float:
    """Compute det(JJᵀ) and its gradient ω_i = 2 det(JJᵀ) tr[(JJᵀ)⁻¹ ∂J/∂q_i Jᵀ].

    This is equation 4.8 of Tomić (2018). A joint turns and carries the axes of those beyond it: ∂J_j/∂q_i =
    J_i × J_j (the cross product of twists) if i comes before j on the way to a hand, else 0. With D =
    (JJᵀ)⁻¹J, D_j · (J_i × J_j) = J_i · (J_j ×* D_j), so that sums over the joints beyond i are enough. The
    determinant does not depend on the points that the twists are given at. `columns` (n, 6 h): row j is what
    joint j moves: velocity and angular velocity of each of h hands, world axes, each at a point of its own; 0
    for a hand that it does not carry. Parents come before children. `gradient` (n,): overwritten; 0 where JJᵀ
    has no inverse.
    """
    n, rows = columns.shape
    gram = np.zeros((rows, rows))
    largest = 0.0
    for j in range(n):
        gradient[j] = 0.0
        for a in range(rows):
            for b in range(a + 1):
                gram[a, b] += columns[j, a] * columns[j, b]
    for a in range(rows):
        largest = max(largest, gram[a, a])
    factorise(gram, rows)
    determinant = 1.0
    for a in range(rows):
        pivot = gram[a, a] * gram[a, a]
        if pivot <= 1e-15 * largest:
            return 0.0
        determinant *= pivot
    duals = columns.T.copy()
    _substitute_all(gram, duals)
    beyond = np.zeros(rows)
    for j in range(n - 1, -1, -1):
        own, dual = columns[j], duals[:, j]
        total = 0.0
        for a in range(rows):
            total += own[a] * beyond[a]
        gradient[j] = 2.0 * determinant * total
        for h in range(0, rows, 6):
            vx, vy, vz, wx, wy, wz = own[h], own[h + 1], own[h + 2], own[h + 3], own[h + 4], own[h + 5]
            fx, fy, fz = dual[h], dual[h + 1], dual[h + 2]
            tx, ty, tz = dual[h + 3], dual[h + 4], dual[h + 5]
            beyond[h] += wy * fz - wz * fy
            beyond[h + 1] += wz * fx - wx * fz
            beyond[h + 2] += wx * fy - wy * fx
            beyond[h + 3] += vy * fz - vz * fy + wy * tz - wz * ty
            beyond[h + 4] += vz * fx - vx * fz + wz * tx - wx * tz
            beyond[h + 5] += vx * fy - vy * fx + wx * ty - wy * tx
    return determinant


@compiled
def _substitute_all(factor: Array, right: Array) -> None:
    """Solve for all columns (rows, n) at once: in one after the other, each sum waits for the one before."""
    rows, n = right.shape
    for a in range(rows):
        for b in range(a):
            for j in range(n):
                right[a, j] -= factor[a, b] * right[b, j]
        for j in range(n):
            right[a, j] /= factor[a, a]
    for a in range(rows - 1, -1, -1):
        for b in range(a + 1, rows):
            for j in range(n):
                right[a, j] -= factor[b, a] * right[b, j]
        for j in range(n):
            right[a, j] /= factor[a, a]
