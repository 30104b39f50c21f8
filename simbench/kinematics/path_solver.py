"""A chain of unknowns over time, neighbours joined by springs: one Gauss-Newton step for all of them."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled

_PIVOTINGS = 6
"""Most rounds of a step by default: a new Gauss-Newton matrix helps more than more rounds."""


def chain_step(
    x: Array,
    gradient: Array,
    blocks: Array,
    stiffness: Array,
    low: Array,
    high: Array,
) -> Array:
    """Gauss-Newton step of all knots; coordinates on a limit that would leave it stay.

    `x` (K, n): coordinates, rad or m; `gradient` (K, n): descent direction of the tracking term; `blocks` (K,
    n, n): gauss-Newton matrices of the tracking term; `stiffness` (K - 1, n): springs between neighbouring
    knots; `low` (n,): lower limits of the coordinates; `high` (n,): upper limits of the coordinates. Returns
    (K, n): step of the coordinates; it may pass limits.
    """
    descent = gradient - _spring_force(x, stiffness, None)
    fixed = ((x <= low + 1e-9) & (descent < 0)) | ((x >= high - 1e-9) & (descent > 0))

    return _solve(descent, blocks, stiffness, fixed, np.zeros_like(x))


def bounded_chain_step(
    x: Array,
    gradient: Array,
    blocks: Array,
    stiffness: Array,
    bending: Array | None,
    box: tuple[Array, Array],
    on_limit: NDArray[np.int8] | None = None,
    pivotings: int = _PIVOTINGS,
) -> tuple[Array, NDArray[np.int8]]:
    """Gauss-Newton step of all knots that ends inside the limits, and which coordinates end on them.

    Block principal pivoting (Júdice & Pires 1994), as `solve_box` does for one knot: coordinates that the
    step takes beyond a limit are set onto it, those that the step would take off their limit are released,
    all of them at once, and the others are solved for again. Where a joint comes to its limit and leaves it
    moves by a few knots a round only, so the coordinates on limits are those of the step before at first. `x`
    (K, n): coordinates inside the limits, rad or m. `gradient` (K, n): descent direction of the tracking
    term. `blocks` (K, n, n): gauss-Newton matrices of the tracking term. `stiffness` (K - 1, n): springs
    between neighbouring knots. `bending` (K - 2, n) or None: springs on second differences of three
    neighbouring knots; None: there are none. `box` ((K, n) , (K, n) array): lower and upper limits of the
    coordinates. `on_limit` (K, n) int: coordinates that are expected to end on a limit: -1 on the lower one,
    1 on the upper one, others 0. By default those that are there and would leave the box. `pivotings`: most
    rounds; if that is too few, the step is clipped. Returns `step` (K, n); `on_limit` (K, n) int: coordinates
    that should be on a limit: to be handed over to the next step.
    """
    descent = gradient - _spring_force(x, stiffness, bending)
    low, high = box[0] - x, box[1] - x
    if on_limit is None:
        on_limit = ((high <= 0.0) & (descent > 0.0)).astype(np.int8)
        on_limit[(low >= 0.0) & (descent < 0.0)] = -1
    for _ in range(pivotings):
        held = np.where(on_limit < 0, low, np.where(on_limit > 0, high, 0.0))
        step = _solve(descent, blocks, stiffness, on_limit != 0, held, bending)
        slope = descent - (blocks @ step[:, :, None])[:, :, 0] - _spring_force(step, stiffness, bending)
        # Beyond a limit, or pressed against the one it is held on.
        above = np.where(on_limit > 0, slope > 0.0, (on_limit == 0) & (step > high))
        below = np.where(on_limit < 0, slope < 0.0, (on_limit == 0) & (step < low))
        before, on_limit = on_limit, above.astype(np.int8) - below.astype(np.int8)
        if np.array_equal(on_limit, before):
            break
    return np.clip(step, low, high), on_limit


def _spring_force(x: Array, stiffness: Array, bending: Array | None) -> Array:
    """Gradient of half the springs' energy."""
    force = np.zeros_like(x)
    tension = stiffness * np.diff(x, axis=0)
    force[:-1] -= tension
    force[1:] += tension
    if bending is not None:
        moment = bending * np.diff(x, 2, axis=0)
        force[:-2] += moment
        force[1:-1] -= 2.0 * moment
        force[2:] += moment
    return force


def _solve(
    descent: Array,
    blocks: Array,
    stiffness: Array,
    fixed: NDArray[np.bool_],
    held: Array,
    bending: Array | None = None,
) -> Array:
    """Solve for the free coordinates while the fixed ones make the steps they are held at."""
    right = descent
    if held.any():
        right = right - (blocks @ held[:, :, None])[:, :, 0] - _spring_force(held, stiffness, bending)
    springs, beside = np.full_like(descent, 1e-6), -stiffness
    springs[:-1] += stiffness
    springs[1:] += stiffness
    if bending is None:
        bending = beside[:0]
    else:
        springs[:-2] += bending
        springs[1:-1] += 4.0 * bending
        springs[2:] += bending
        beside[:-1] -= 2.0 * bending
        beside[1:] -= 2.0 * bending
    # Every other layout in memory would be compiled anew.
    whole = np.ascontiguousarray
    solved = _solve_banded(
        whole(blocks), whole(springs), whole(beside), whole(bending), whole(fixed), whole(right)
    )
    return np.where(fixed, held, solved)


@compiled
def _solve_banded(
    blocks: Array,
    springs: Array,
    beside: Array,
    bending: Array,
    fixed: NDArray[np.bool_],
    right: Array,
) -> Array:
    """Solve for the free coordinates by a banded Cholesky factorisation, column by column.

    `blocks` (K, n, n): only their lower triangles are read; `springs` (K, n): stiffness that is added on the
    diagonal; `beside` (K - 1, n): the entries n below the diagonal; `bending` (K - 2, n) or (0, n) array: the
    entries 2 n below the diagonal; `fixed` (K, n): which coordinates are not free; `right` (K, n): right-hand
    side. Returns (K, n): 0 where fixed.
    """
    knots, n = right.shape
    size, band = knots * n, 2 * n if len(bending) else n
    # Row c holds column c from the diagonal downwards: all that one column does to another is contiguous.
    columns = np.zeros((size + band, band + 1))
    x = np.zeros(size + band)
    for k in range(knots):
        for i in range(n):
            c = k * n + i
            if fixed[k, i]:
                columns[c, 0] = 1.0
                continue
            x[c] = right[k, i]
            columns[c, 0] = blocks[k, i, i] + springs[k, i]
            for j in range(i + 1, n):
                if not fixed[k, j]:
                    columns[c, j - i] = blocks[k, j, i]
            if k + 1 < knots and not fixed[k + 1, i]:
                columns[c, n] = beside[k, i]
            if k < len(bending) and not fixed[k + 2, i]:
                columns[c, 2 * n] = bending[k, i]
    _substitute_banded(columns, x, size)
    return x[:size].reshape((knots, n))


@compiled
def _substitute_banded(columns: Array, x: Array, size: int) -> None:
    """Factorise the columns (size + band, band + 1) and solve for x (size + band,), in place."""
    band = columns.shape[1] - 1
    for c in range(size):
        pivot = columns[c, 0]
        if not pivot > 0.0:
            raise np.linalg.LinAlgError("the chain's matrix is not positive definite")
        scale = 1.0 / np.sqrt(pivot)
        for d in range(band + 1):
            columns[c, d] *= scale
        x[c] *= scale
        for d in range(1, band + 1):
            factor = columns[c, d]
            if factor != 0.0:
                x[c + d] -= factor * x[c]
                for e in range(band + 1 - d):
                    columns[c + d, e] -= factor * columns[c, d + e]
    for c in range(size - 1, -1, -1):
        for d in range(1, band + 1):
            x[c] -= columns[c, d] * x[c + d]
        x[c] /= columns[c, 0]
