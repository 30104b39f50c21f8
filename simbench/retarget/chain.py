"""A chain of unknowns over time, neighbours joined by springs: one Gauss-Newton step for all of them."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded


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
    knots, count = x.shape
    pull = np.zeros_like(x)
    tension = stiffness * np.diff(x, axis=0)
    pull[:-1] += tension
    pull[1:] -= tension
    descent = gradient + pull
    fixed = ((x <= low + 1e-9) & (descent < 0)) | ((x >= high - 1e-9) & (descent > 0))

    springs = np.zeros_like(x)
    springs[:-1] += stiffness
    springs[1:] += stiffness
    free = (~fixed).astype(float)
    blocks = blocks * free[:, :, None] * free[:, None, :]
    diagonal = np.arange(count)
    blocks[:, diagonal, diagonal] += springs + 1e-6 + fixed
    banded = np.zeros((count + 1, knots * count))
    for offset in range(count):
        lower_part = blocks[:, np.arange(offset, count), np.arange(count - offset)]
        banded[offset].reshape(knots, count)[:, : count - offset] = lower_part
    banded[count].reshape(knots, count)[:-1] = -stiffness * free[:-1] * free[1:]
    return np.asarray(solveh_banded(banded, (descent * free).ravel(), lower=True).reshape(knots, count))
