"""Searches by populations, from pymoo: genetic algorithm, differential evolution, CMA-ES."""

from collections.abc import Callable
from typing import Any

import numpy as np

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.skills.ioc.simplex import from_box

POPULATION = 40
STILL, UNCHANGED = 50, 1e-6
"""Generations over which the best fitness must change by less than that, to stop (Tomić 2018, §4.3.1)."""
MOST_GENERATIONS = 2000
_SIGMA = 0.25
"""First standard deviation of CMA-ES, as part of the box: from its middle, all of it is near."""
_HOPELESS = 1e30
"""Stands for an infinite fitness, which CMA-ES does not take."""


def population_search(
    fitness: Callable[[Array], Array], algorithm: Callable[[int], Any], size: int, seed: int
) -> tuple[int, bool]:
    """Search the simplex until the best fitness has stopped changing.

    Parameters
    ----------
    fitness : callable
        Of weights (m, size): (m,); whoever gives it keeps the best.
    algorithm : callable
        Makes pymoo's algorithm for a box of so many dimensions: one of this module's.
    size : int
        Number of weights.
    seed : int

    Returns
    -------
    generations : int
    converged : bool
        False if `MOST_GENERATIONS` came first.

    Raises
    ------
    SkillError
        pymoo is not installed.
    """
    try:
        from pymoo.core.evaluator import Evaluator
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination
        from pymoo.problems.static import StaticProblem
    except ImportError:
        raise SkillError(
            "this search needs pymoo, which pip install 'simbench[study]' brings; the lattice search does not"
        ) from None
    problem = Problem(n_var=size - 1, n_obj=1, xl=0.0, xu=1.0)
    search = algorithm(size - 1)
    search.setup(problem, termination=NoTermination(), seed=seed, verbose=False)
    best: list[float] = []
    while len(best) < MOST_GENERATIONS and search.has_next():
        asked = search.ask()
        if asked is None:
            break
        values = fitness(from_box(np.clip(asked.get("X").astype(float), 0.0, 1.0)))
        Evaluator().eval(StaticProblem(problem, F=np.minimum(values, _HOPELESS)[:, None]), asked)
        search.tell(infills=asked)
        best.append(min(float(values.min()), best[-1] if best else np.inf))
        if len(best) > STILL and best[-1 - STILL] - best[-1] < UNCHANGED:
            return len(best), True
    return len(best), len(best) < MOST_GENERATIONS


def genetic(dimensions: int) -> Any:
    """Make the thesis's genetic algorithm; it prints no operators, these are pymoo's."""
    from pymoo.algorithms.soo.nonconvex.ga import GA

    return GA(pop_size=POPULATION)


def differential_evolution(dimensions: int) -> Any:
    """Make a differential evolution from random individuals: it stays diverse longer than from the best."""
    from pymoo.algorithms.soo.nonconvex.de import DE

    return DE(pop_size=10 * dimensions, variant="DE/rand/1/bin", CR=0.9)


def covariance_adaptation(dimensions: int) -> Any:
    """Make a CMA-ES that starts in the middle of the box."""
    from pymoo.algorithms.soo.nonconvex.cmaes import CMAES

    return CMAES(x0=np.full(dimensions, 0.5), sigma=_SIGMA)
