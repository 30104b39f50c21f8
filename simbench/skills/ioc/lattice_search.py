"""A frugal search of the simplex: a coarse lattice finds the valleys, models of second order descend them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, OptimizeResult, minimize

from simbench.kinematics.arrays import Array
from simbench.skills.ioc.simplex import lattice

DEGREE = 4
"""Of the lattice: 35 points for four weights, among them the middle, where none is zero."""
DESCENTS = 2
"""Valleys that are descended: the best points of the lattice that have no better neighbour come first."""
NEAR, EXACT = 0.12, 1e-6
"""Radius within which the first and the last model of a descent is trusted."""
MOST = 150
"""Evaluations of one descent."""
STILL, UNCHANGED = 25, 2e-3
"""A descent also ends where so many steps have not bettered fitness by that part of it: of a motion that a
law made it goes on, towards 0; of a person's, more digits of the weights say nothing."""
_HOPELESS = 1e30


def lattice_search(fitness: Callable[[Array], Array], size: int) -> tuple[int, bool]:
    """Evaluate the lattice, then descend from its best points by COBYQA.

    Parameters
    ----------
    fitness : callable
        Of weights (m, size): (m,); whoever gives it keeps the best.
    size : int
        Number of weights.

    Returns
    -------
    descents : int
    converged : bool
        Whether all of them ended by themselves.
    """
    points = lattice(DEGREE, size)
    values = fitness(points)
    starts = _valleys(points, values)
    # The models' arithmetic has tolerances of its own, which are for numbers near 1.
    unit = max(float(values.min()), np.finfo(float).tiny)

    def height(free: Array) -> float:
        weights = np.maximum(np.append(free, 1.0 - free.sum()), 0.0)
        value = float(fitness((weights / weights.sum())[None])[0])
        # Fitness is a mean of norms, pointed where the motion is met: its square has no edge there.
        return (value / unit) ** 2 if np.isfinite(value) else _HOPELESS

    def heeding(heights: list[float]) -> Callable[[OptimizeResult], None]:
        """Watch a descent: squared fitness after each of its steps."""

        def watch(intermediate_result: OptimizeResult) -> None:
            heights.append(float(intermediate_result.fun))
            if _stalled(heights):
                raise StopIteration

        return watch

    last = LinearConstraint(np.ones(size - 1), -np.inf, 1.0)
    ended = True
    for start in points[starts]:
        heights: list[float] = []
        found = minimize(
            height,
            start[:-1],
            method="COBYQA",
            bounds=[(0.0, 1.0)] * (size - 1),
            constraints=last,
            callback=heeding(heights),
            options={"initial_tr_radius": NEAR, "final_tr_radius": EXACT, "maxfev": MOST, "scale": False},
        )
        ended = ended and (bool(found.success) or _stalled(heights))
    return len(starts), ended


def _stalled(heights: list[float]) -> bool:
    """Whether squared fitness has stopped falling."""
    return len(heights) > STILL and heights[-1 - STILL] < (1.0 + UNCHANGED) ** 2 * heights[-1]


def _valleys(points: Array, values: Array) -> NDArray[np.int64]:
    """Find the indices of the best lattice points, those without a better neighbour before all others."""
    steps = np.abs(points[:, None] - points[None]).sum(axis=2)
    near = steps < 2.5 / DEGREE
    lowest = values <= np.where(near, values[None], np.inf).min(axis=1)
    return np.lexsort([values, ~lowest])[:DESCENTS]
