"""The searches that Ohtsuki, Shikata & Noborio compare: a genetic algorithm, Newton-Raphson, Nelder-Mead."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from simbench.errors import CalibrationError
from simbench.kinematics.arrays import Array

POPULATION = 100
"""Candidates of a generation."""
KINEMATIC_GENERATIONS, DYNAMIC_GENERATIONS = 500, 1000
"""Generations of the two searches (Ohtsuki, §5)."""


def genetic_search(
    error: Callable[[Array], Array], lower: ArrayLike, upper: ArrayLike, generations: int, seed: int
) -> tuple[Array, Array]:
    """Minimise an error within a box by pymoo's genetic algorithm.

    The operators are pymoo's: the paper does not give its own.

    Parameters
    ----------
    error : callable
        Error (m,) as a function of candidates (m, p).
    lower : (p,) array_like
        Lower bounds of the unknowns.
    upper : (p,) array_like
        Upper bounds of the unknowns.
    generations : int
        Number of generations.
    seed : int
        Seed of the random numbers; the same seed gives the same result.

    Returns
    -------
    best : (p,) array
        Candidate with the least error.
    history : (generations,) array
        Least error found up to each generation.

    Raises
    ------
    CalibrationError
        If pymoo is not installed.
    """
    try:
        from pymoo.algorithms.soo.nonconvex.ga import GA
        from pymoo.core.evaluator import Evaluator
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination
        from pymoo.problems.static import StaticProblem
    except ImportError:
        raise CalibrationError("the genetic algorithm needs pymoo: pip install pymoo") from None
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    problem = Problem(n_var=len(low), n_obj=1, xl=low, xu=high)
    search = GA(pop_size=POPULATION)
    search.setup(problem, termination=NoTermination(), seed=seed, verbose=False)
    best, least = low, np.inf
    history = np.empty(generations)
    for generation in range(generations):
        asked = search.ask()
        unknowns = asked.get("X").astype(float)
        values = error(unknowns)
        Evaluator().eval(StaticProblem(problem, F=values[:, None]), asked)
        search.tell(infills=asked)
        first = int(np.argmin(values))
        if values[first] < least:
            best, least = unknowns[first], float(values[first])
        history[generation] = least
    return best, history


def newton_raphson(
    residuals: Callable[[Array], Array],
    derivative: Callable[[Array], Array],
    start: ArrayLike,
    rounds: int = 100,
) -> Array:
    """Solve residuals(x) = 0 by Newton-Raphson with full steps, in the least-squares sense.

    Parameters
    ----------
    residuals : callable
        Residuals (m,) as a function of the unknowns (p,).
    derivative : callable
        Their Jacobian (m, p) as a function of the unknowns (p,).
    start : (p,) array_like
        Initial guess.
    rounds : int
        Maximum number of steps.

    Returns
    -------
    (p,) array
        Final iterate; from a poor initial guess it need not have converged.
    """
    x = np.array(start, dtype=float)
    for _ in range(rounds):
        step = np.linalg.lstsq(derivative(x), residuals(x), rcond=None)[0]
        x = x - step
        if not np.isfinite(x).all() or np.abs(step).max() <= 1e-14 * (1.0 + np.abs(x).max()):
            break
    return x


def nelder_mead(error: Callable[[Array], float], start: ArrayLike) -> Array:
    """Minimise by the simplex method of Nelder & Mead (1965).

    Parameters
    ----------
    error : callable
        Error as a function of the unknowns (p,).
    start : (p,) array_like
        Initial guess.

    Returns
    -------
    (p,) array
        Minimiser, to 1e-10, or where scipy's iteration limit stopped the search.
    """
    found = minimize(error, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14})
    return np.asarray(found.x)
