"""A chain of unknowns over time, neighbours joined by springs: one Gauss-Newton step for all of them."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

_CLAMPINGS = 12
"""A limit that is met late in the loop is met by few frames; the last step is clipped."""


def chain_step(
    x: NDArray[np.float64],
    gradient: NDArray[np.float64],
    blocks: NDArray[np.float64],
    stiffness: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Gauss-Newton step of all knots; coordinates on a limit that would leave it stay.

    Parameters
    ----------
    x, gradient : (K, n) array
        Coordinates, and descent direction of the tracking term.
    blocks : (K, n, n) array
        Gauss-Newton matrices of the tracking term.
    stiffness : (K - 1, n) array
        Springs between neighbouring knots.
    low, high : (n,) array

    Returns
    -------
    (K, n) array
    """
    descent = gradient - _spring_force(x, stiffness, None)
    fixed = ((x <= low + 1e-9) & (descent < 0)) | ((x >= high - 1e-9) & (descent > 0))

    return _solve(descent, blocks, stiffness, fixed, np.zeros_like(x))


def bounded_chain_step(
    x: NDArray[np.float64],
    gradient: NDArray[np.float64],
    blocks: NDArray[np.float64],
    stiffness: NDArray[np.float64],
    bending: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Gauss-Newton step of all knots that ends inside the limits.

    Coordinates that the step takes beyond a limit are set onto it and the others solved again, until none is
    left (the clamping loop of Baerlocher & Boulic 2004, for a whole path).

    Parameters
    ----------
    x, gradient, blocks, stiffness
        As in `chain_step`.
    bending : (K - 2, n) array
        Springs on second differences of three neighbouring knots.
    low, high : (K, n) array
        low ≤ x ≤ high.

    Returns
    -------
    (K, n) array
    """
    descent = gradient - _spring_force(x, stiffness, bending)
    fixed = ((x <= low) & (descent < 0)) | ((x >= high) & (descent > 0))
    held = np.zeros_like(x)
    for _ in range(_CLAMPINGS):
        step = _solve(descent, blocks, stiffness, fixed, held, bending)
        clipped = np.clip(step, low - x, high - x)
        beyond = ~fixed & (step != clipped)
        if not beyond.any():
            break
        held[beyond] = clipped[beyond]
        fixed |= beyond
    return np.clip(step, low - x, high - x)


def _spring_force(
    x: NDArray[np.float64], stiffness: NDArray[np.float64], bending: NDArray[np.float64] | None
) -> NDArray[np.float64]:
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
    descent: NDArray[np.float64],
    blocks: NDArray[np.float64],
    stiffness: NDArray[np.float64],
    fixed: NDArray[np.bool_],
    held: NDArray[np.float64],
    bending: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Solve for the free coordinates while the fixed ones make the steps they are held at."""
    knots, count = descent.shape
    right = descent
    if held.any():
        right = descent - np.einsum("kij,kj->ki", blocks, held) - _spring_force(held, stiffness, bending)
    springs, beside = np.zeros_like(descent), -stiffness.copy()
    springs[:-1] += stiffness
    springs[1:] += stiffness
    if bending is not None:
        springs[:-2] += bending
        springs[1:-1] += 4.0 * bending
        springs[2:] += bending
        beside[:-1] -= 2.0 * bending
        beside[1:] -= 2.0 * bending
    free = (~fixed).astype(float)
    blocks = blocks * free[:, :, None] * free[:, None, :]
    diagonal = np.arange(count)
    blocks[:, diagonal, diagonal] += springs + 1e-6 + fixed
    banded = np.zeros((count * (1 if bending is None else 2) + 1, knots * count))
    for offset in range(count):
        lower_part = blocks[:, np.arange(offset, count), np.arange(count - offset)]
        banded[offset].reshape(knots, count)[:, : count - offset] = lower_part
    banded[count].reshape(knots, count)[:-1] = beside * free[:-1] * free[1:]
    if bending is not None:
        banded[2 * count].reshape(knots, count)[:-2] = bending * free[:-2] * free[2:]
    solved = solveh_banded(banded, (right * free).ravel(), lower=True).reshape(knots, count)
    return np.where(fixed, held, solved)
