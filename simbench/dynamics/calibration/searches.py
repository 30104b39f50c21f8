"""The searches that Ohtsuki, Shikata & Noborio compare: a genetic algorithm, Newton-Raphson, Nelder-Mead."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from simbench.errors import CalibrationError
from simbench.kinematics.arrays import Array

POPULATION = 100
KINEMATIC_GENERATIONS, DYNAMIC_GENERATIONS = 500, 1000
"""Ohtsuki, §5."""


def genetic_search(
    error: Callable[[Array], Array], lower: ArrayLike, upper: ArrayLike, generations: int, seed: int
) -> tuple[Array, Array]:
    """Search a box by the genetic algorithm of pymoo, with its operators: the paper prints none.

    Parameters
    ----------
    error : callable
        Of unknowns (m, p): (m,).
    lower, upper : (p,) array_like
    generations : int
    seed : int
        The same seed finds the same.

    Returns
    -------
    best : (p,) array
    history : (generations,) array
        The least error so far.

    Raises
    ------
    CalibrationError
        pymoo is not installed.
    """
    try:
        from pymoo.algorithms.soo.nonconvex.ga import GA
        from pymoo.core.evaluator import Evaluator
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination
        from pymoo.problems.static import StaticProblem
    except ImportError:
        raise CalibrationError(
            "the genetic algorithm needs pymoo, which pip install 'simbench[study]' brings"
        ) from None
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
    """Solve residuals(x) = 0 by Newton-Raphson, in the sense of least squares, by full steps.

    Parameters
    ----------
    residuals : callable
        Of unknowns (p,): (m,).
    derivative : callable
        Of unknowns (p,): (m, p).
    start : (p,) array_like
    rounds : int
        At most.

    Returns
    -------
    (p,) array
        Wherever it ends: from a bad start it need not converge.
    """
    x = np.array(start, dtype=float)
    for _ in range(rounds):
        step = np.linalg.lstsq(derivative(x), residuals(x), rcond=None)[0]
        x = x - step
        if not np.isfinite(x).all() or np.abs(step).max() <= 1e-14 * (1.0 + np.abs(x).max()):
            break
    return x


def nelder_mead(error: Callable[[Array], float], start: ArrayLike) -> Array:
    """Minimise by the simplex of Nelder & Mead (1965), until it is as small as 1e-10 or stopped by scipy.

    Parameters
    ----------
    error : callable
        Of unknowns (p,).
    start : (p,) array_like

    Returns
    -------
    (p,) array
    """
    found = minimize(error, start, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14})
    return np.asarray(found.x)
