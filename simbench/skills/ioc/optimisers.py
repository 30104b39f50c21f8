"""Searching the weights of criteria that give the least fitness: several methods, one interface."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy.criteria import CRITERIA
from simbench.skills.ioc.fitness import Fitness
from simbench.skills.ioc.lattice_search import lattice_search
from simbench.skills.ioc.population_search import (
    covariance_adaptation,
    differential_evolution,
    genetic,
    population_search,
)
from simbench.skills.ioc.simplex import rescaled

SIZE = len(CRITERIA)
LATTICE, GENETIC, DIFFERENTIAL, COVARIANCE = "lattice", "genetic", "differential-evolution", "cma-es"
POPULATIONS: dict[str, Callable[[int], Any]] = {
    GENETIC: genetic,
    DIFFERENTIAL: differential_evolution,
    COVARIANCE: covariance_adaptation,
}
METHODS = (LATTICE, *POPULATIONS)
"""The first is by far the fastest; `genetic` is the thesis's."""


@dataclass(frozen=True)
class Found:
    """What a search found.

    Parameters
    ----------
    weights : (4,) array
        k of energy, velocity, ergonomy, manipulability.
    fitness : float
        Of the weights: the least of all that were evaluated.
    evaluations : int
        Laws whose fitness was computed.
    generations : int
        Of the population; descents of the lattice search.
    converged : bool
        Whether the method stopped by its own rule, not by its budget.
    tried, values : (evaluations, 4), (evaluations,) array
        All weights in the order of their evaluation, and their fitness.
    """

    weights: Array
    fitness: float
    evaluations: int
    generations: int
    converged: bool
    tried: Array
    values: Array


def minimise(
    fitness: Fitness,
    method: str = LATTICE,
    seed: int = 0,
    scale: ArrayLike | None = None,
    allowed: Sequence[int] = tuple(range(SIZE)),
) -> Found:
    """Find the weights with the least fitness.

    Parameters
    ----------
    fitness : callable
        Of weights (m, 4), not negative with sum 1: (m,), infinite where a law fails.
    method : {"lattice", "genetic", "differential-evolution", "cma-es"}
        All but the first need pymoo. `genetic` is that of Tomić (2018, §4.3.1): 40 individuals, uniform at
        first, until the best changes by less than 1e-6 over 50 generations; so stop the two after it.
    seed : int
        The same seed finds the same, to the bit. The lattice search has no chance in it.
    scale : (4,) array_like, optional
        The search sees weights x with k ∝ scale x. Where one criterion has to be a thousand times another to
        count as much, steps and uniform points in x are fair to both; in k, as in the thesis, without it.
    allowed : sequence of int
        Criteria whose weights are searched; the others' are 0.

    Returns
    -------
    Found

    Raises
    ------
    SkillError
        Unknown method, pymoo missing, or no weights of finite fitness met.
    """
    if method not in METHODS:
        raise SkillError(f"method {method}: unknown; known: {', '.join(METHODS)}")
    chosen = list(allowed)
    factors = (np.ones(SIZE) if scale is None else np.asarray(scale, dtype=float))[chosen]
    tried: list[Array] = []
    values: list[Array] = []

    def remembered(x: Array) -> Array:
        weights = np.zeros((len(x), SIZE))
        weights[:, chosen] = rescaled(x, factors)
        tried.append(weights)
        values.append(np.asarray(fitness(weights)))
        return values[-1]

    if method == LATTICE:
        generations, converged = lattice_search(remembered, len(chosen))
    else:
        generations, converged = population_search(remembered, POPULATIONS[method], len(chosen), seed)
    every, heights = np.concatenate(tried), np.concatenate(values)
    best = int(np.argmin(heights))
    if not np.isfinite(heights[best]):
        raise SkillError(f"none of {len(heights)} laws can keep the hands on their path to its end")
    return Found(every[best], float(heights[best]), len(heights), generations, converged, every, heights)
