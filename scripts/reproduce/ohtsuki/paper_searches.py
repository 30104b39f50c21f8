"""The searches that Ohtsuki, Shikata & Noborio compare: a genetic algorithm, Newton-Raphson, Nelder-Mead."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from simbench.kinematics.arrays import Array

POPULATION = 100
"""Candidates of a generation."""
CROSSOVER, MUTATION = 15.0, 20.0
"""Distribution indices: the greater, the closer are children to their parents."""
KINEMATIC_GENERATIONS, DYNAMIC_GENERATIONS = 500, 1000
"""Generations of the two searches (Ohtsuki, §5)."""


def genetic_search(
    error: Callable[[Array], Array],
    lower: ArrayLike,
    upper: ArrayLike,
    generations: int,
    seed: int,
    batch: tuple[int, ...] = (),
) -> tuple[Array, Array]:
    """Minimise errors within a box by a genetic algorithm, those of many problems at once.

    Binary tournaments choose the parents, simulated binary crossover and polynomial mutation (Deb & Agrawal
    1995) make as many children, and the better half of both lives on. The paper does not give its own
    operators; these are the usual ones for real numbers.

    Parameters
    ----------
    error : callable
        Error (..., m) as a function of candidates (..., m, p), of which the leading axes are `batch`.
    lower : (p,) array_like
        Lower bounds of the unknowns.
    upper : (p,) array_like
        Upper bounds of the unknowns.
    generations : int
        Number of generations.
    seed : int
        Seed of the random numbers; the same seed and batch give the same result.
    batch : tuple of int
        Shape of the array of problems.

    Returns
    -------
    best : (..., p) array
        Candidate with the least error of each problem.
    history : (generations, ...) array
        Least error found up to each generation.
    """
    rng = np.random.default_rng(seed)
    low, high = np.asarray(lower, dtype=float), np.asarray(upper, dtype=float)
    people = rng.uniform(low, high, (*batch, POPULATION, len(low)))
    values = error(people)
    history = [values.min(axis=-1)]
    for _ in range(generations - 1):
        drawn = rng.integers(POPULATION, size=(2, *batch, POPULATION))
        first, second = (np.take_along_axis(values, each, axis=-1) for each in drawn)
        winners = np.where(first < second, *drawn)[..., None]
        parents = np.take_along_axis(people, winners, axis=-2)
        children = np.clip(_mutated(_crossed(parents, rng), high - low, rng), low, high)
        people = np.concatenate([people, children], axis=-2)
        values = np.concatenate([values, error(children)], axis=-1)
        order = np.argpartition(values, POPULATION, axis=-1)[..., :POPULATION]
        people = np.take_along_axis(people, order[..., None], axis=-2)
        values = np.take_along_axis(values, order, axis=-1)
        history.append(values.min(axis=-1))
    best = np.argmin(values, axis=-1)[..., None, None]
    return np.take_along_axis(people, best, axis=-2)[..., 0, :], np.array(history)


def _crossed(parents: Array, rng: np.random.Generator) -> Array:
    """Cross each parent of the first half with one of the second, every unknown with a chance of a half."""
    one, other = np.split(parents, 2, axis=-2)
    u = rng.random(one.shape)
    spread = np.where(u < 0.5, 2.0 * u, 0.5 / (1.0 - u)) ** (1.0 / (CROSSOVER + 1.0))
    spread = np.where(rng.random(one.shape) < 0.5, spread, 1.0)
    middle, half = 0.5 * (one + other), 0.5 * spread * (one - other)
    return np.concatenate([middle + half, middle - half], axis=-2)


def _mutated(children: Array, width: Array, rng: np.random.Generator) -> Array:
    """Change one unknown of a child on the mean, by a fraction of the box's width."""
    u = rng.random(children.shape)
    power = 1.0 / (MUTATION + 1.0)
    change = np.where(u < 0.5, (2.0 * u) ** power - 1.0, 1.0 - (2.0 - 2.0 * u) ** power)
    return np.where(rng.random(children.shape) * len(width) < 1.0, children + width * change, children)


def newton_raphson(
    residuals: Callable[[Array], Array],
    derivative: Callable[[Array], Array],
    start: ArrayLike,
    rounds: int = 100,
    on_step: Callable[[Array], object] | None = None,
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
    on_step : callable, optional
        Called with every iterate.

    Returns
    -------
    (p,) array
        Final iterate; from a poor initial guess it need not have converged.
    """
    x = np.array(start, dtype=float)
    for _ in range(rounds):
        step = np.linalg.lstsq(derivative(x), residuals(x), rcond=None)[0]
        x = x - step
        if on_step is not None:
            on_step(x)
        if not np.isfinite(x).all() or np.abs(step).max() <= 1e-14 * (1.0 + np.abs(x).max()):
            break
    return x


def nelder_mead(
    error: Callable[[Array], float], start: ArrayLike, on_step: Callable[[Array], object] | None = None
) -> Array:
    """Minimise by the simplex method of Nelder & Mead (1965).

    Parameters
    ----------
    error : callable
        Error as a function of the unknowns (p,).
    start : (p,) array_like
        Initial guess.
    on_step : callable, optional
        Called with the best point of every simplex.

    Returns
    -------
    (p,) array
        Minimiser, to 1e-10, or where scipy's iteration limit stopped the search.
    """
    found = minimize(
        error, start, method="Nelder-Mead", callback=on_step, options={"xatol": 1e-10, "fatol": 1e-14}
    )
    return np.asarray(found.x)
