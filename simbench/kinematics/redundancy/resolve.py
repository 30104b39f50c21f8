"""Equation 4.23 of Tomić (2018) for one step, inside bounds: the compiled heart of every law."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.box import factorise, substitute
from simbench.kinematics.compiled import compiled

_SINGULAR = 1e-12
"""Of a matrix's diagonal: smaller squared pivots are rounding."""


class Factors(NamedTuple):
    """Arrays that a solution writes to; allocated once.

    Parameters
    ----------
    free : (r,) int array
        Coordinates that are not locked; `number[0]` of them.
    number : (1,) int array
    weight : (r, r) array
        L with L Lᵀ = W of the free coordinates.
    pulled : (r, R) array
        Y = L⁻¹ Jᵀ.
    gram : (R, R) array
        Cholesky factor of YᵀY = J W⁻¹ Jᵀ.
    right, task, wanted : (r,), (r,), (R,) array
    """

    free: NDArray[np.int64]
    number: NDArray[np.int64]
    weight: Array
    pulled: Array
    gram: Array
    right: Array
    task: Array
    wanted: Array


def make_factors(coordinates: int, rows: int) -> Factors:
    """Allocate what `resolve` needs."""
    return Factors(
        np.zeros(coordinates, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros((coordinates, coordinates)),
        np.zeros((coordinates, rows)),
        np.zeros((rows, rows)),
        np.zeros(coordinates),
        np.zeros(coordinates),
        np.zeros(rows),
    )


@compiled
def resolve(
    weight: Array,
    wish: Array,
    columns: Array,
    error: Array,
    least: Array,
    most: Array,
    longest: float,
    locked: NDArray[np.bool_],
    move: Array,
    factors: Factors,
    ready: bool,
) -> bool:
    """Find the least of ½ mᵀWm − wᵀm with J m = e, inside bounds.

    A coordinate that passes a bound is set to it, its column leaves the problem, and the rest is solved again
    (Baerlocher & Boulic 2004). What does not move the hands is shortened as a whole where one coordinate
    would move more than `longest`.

    Parameters
    ----------
    weight : (r, r) array
        W, symmetric and positive definite; its lower triangle is read.
    wish : (r,) array
        w.
    columns : (r, R) array
        Jᵀ.
    error : (R,) array
        e.
    least, most : (r,) array
        Bounds of m.
    longest : float
        Infinite for no bound; with 0 nothing but the hands counts.
    locked : (r,) bool array
        Changed in place: coordinates at a bound. Those given as locked make the move that `move` holds.
    move : (r,) array
        m, overwritten.
    factors : Factors
        Overwritten.
    ready : bool
        Whether they are those of this W, this J and these locked coordinates.

    Returns
    -------
    bool
        False if the free coordinates cannot do it: too few, or J singular.
    """
    while True:
        if not ready and not factor_law(weight, columns, locked, factors):
            return False
        ready = False
        _solve(weight, wish, columns, error, longest, locked, move, factors)
        if not _lock_beyond(least, most, locked, move):
            return True


@compiled
def _lock_beyond(least: Array, most: Array, locked: NDArray[np.bool_], move: Array) -> bool:
    """Set moves beyond a bound to it and lock them; whether there were any."""
    beyond = False
    for a in range(len(move)):
        if locked[a]:
            continue
        if move[a] < least[a] or move[a] > most[a]:
            move[a] = least[a] if move[a] < least[a] else most[a]
            locked[a] = True
            beyond = True
    return beyond


@compiled
def factor_law(weight: Array, columns: Array, locked: NDArray[np.bool_], factors: Factors) -> bool:
    """Factorise W, then J W⁻¹ Jᵀ, of the coordinates that are not locked; whether they have inverses."""
    size, rows = columns.shape
    free, chol, pulled, gram = factors.free, factors.weight, factors.pulled, factors.gram
    count = 0
    for a in range(size):
        if not locked[a]:
            free[count] = a
            count += 1
    factors.number[0] = count
    if count < rows:
        return False
    largest = 0.0
    for a in range(count):
        for b in range(a + 1):
            chol[a, b] = weight[free[a], free[b]]
        largest = max(largest, chol[a, a])
    factorise(chol, count)
    for a in range(count):
        if chol[a, a] * chol[a, a] <= _SINGULAR * largest:
            return False
    for a in range(count):
        for i in range(rows):
            pulled[a, i] = columns[free[a], i]
        for b in range(a):
            factor = chol[a, b]
            for i in range(rows):
                pulled[a, i] -= factor * pulled[b, i]
        inverse = 1.0 / chol[a, a]
        for i in range(rows):
            pulled[a, i] *= inverse
    for i in range(rows):
        for j in range(i + 1):
            gram[i, j] = 0.0
    for a in range(count):
        for i in range(rows):
            factor = pulled[a, i]
            for j in range(i + 1):
                gram[i, j] += factor * pulled[a, j]
    largest = 0.0
    for i in range(rows):
        largest = max(largest, gram[i, i])
    factorise(gram, rows)
    least = gram[0, 0]
    for i in range(rows):
        least = min(least, gram[i, i])
    return bool(least * least > _SINGULAR * largest)


@compiled
def _solve(
    weight: Array,
    wish: Array,
    columns: Array,
    error: Array,
    longest: float,
    locked: NDArray[np.bool_],
    move: Array,
    factors: Factors,
) -> None:
    """Write the moves of the free coordinates."""
    size, rows = columns.shape
    free, count, chol = factors.free, factors.number[0], factors.weight
    pulled, right, wanted = factors.pulled, factors.right, factors.wanted
    for a in range(count):
        right[a] = wish[free[a]]
    for i in range(rows):
        wanted[i] = error[i]
    if count < size:
        for b in range(size):
            if locked[b] and move[b] != 0.0:
                for a in range(count):
                    row, column = max(free[a], b), min(free[a], b)
                    right[a] -= weight[row, column] * move[b]
                for i in range(rows):
                    wanted[i] -= columns[b, i] * move[b]
    _hands_only(wanted, factors)
    if longest == 0.0:
        for a in range(count):
            move[free[a]] = factors.task[a]
        return
    # What is wished, less what of it moves the hands: (I - Y (YᵀY)⁻¹ Yᵀ) L⁻¹ w.
    for a in range(count):
        for b in range(a):
            right[a] -= chol[a, b] * right[b]
        right[a] /= chol[a, a]
    for i in range(rows):
        wanted[i] = 0.0
    for a in range(count):
        for i in range(rows):
            wanted[i] += pulled[a, i] * right[a]
    substitute(factors.gram, wanted, rows)
    for a in range(count):
        for i in range(rows):
            right[a] -= pulled[a, i] * wanted[i]
    _back(chol, right, count)
    greatest = 0.0
    for a in range(count):
        greatest = max(greatest, abs(right[a]))
    share = longest / greatest if greatest > longest else 1.0
    for a in range(count):
        move[free[a]] = factors.task[a] + share * right[a]


@compiled
def _hands_only(wanted: Array, factors: Factors) -> None:
    """Compute the least move that moves the hands by e, W⁻¹Jᵀ(J W⁻¹ Jᵀ)⁻¹ e; e is overwritten."""
    count, rows = factors.number[0], len(wanted)
    task = factors.task
    substitute(factors.gram, wanted, rows)
    for a in range(count):
        task[a] = 0.0
        for i in range(rows):
            task[a] += factors.pulled[a, i] * wanted[i]
    _back(factors.weight, task, count)


@compiled
def _back(chol: Array, x: Array, n: int) -> None:
    """Solve Lᵀ x = right in place, row by row of L."""
    for i in range(n - 1, -1, -1):
        x[i] /= chol[i, i]
        for k in range(i):
            x[k] -= chol[i, k] * x[i]
