"""Searching the weights of criteria that give the least fitness: several methods, one interface.

Weights are points of the simplex: not negative, sum 1. The lattice search evaluates a coarse lattice and
descends from its best points by models of second order; the others are population searches from pymoo, for
which a box is mapped onto the simplex.
"""

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import LinearConstraint, OptimizeResult, minimize

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_criteria import CRITERIA

# Function of weights (m, 4), and optionally a limit, to fitness F (m,), m·s; infinite beyond the limit.
Fitness = Callable[..., Array]

SIZE = len(CRITERIA)
LATTICE, GENETIC, DIFFERENTIAL, COVARIANCE = "lattice", "genetic", "differential-evolution", "cma-es"

# Degree of the lattice: 35 points for four weights, among them the middle, where none is zero.
LATTICE_DEGREE = 4
# Number of valleys that are descended: the best lattice points without a better neighbour come first.
DESCENTS = 2
# Radius within which the first and the last model of a descent is trusted; the first of the descent that
# begins where a rough fitness is least.
FIRST_RADIUS, LAST_RADIUS, NEAR_RADIUS = 0.12, 1e-6, 0.03
MAX_EVALUATIONS = 150  # Evaluations of one descent.
# A descent also ends where so many steps have not improved fitness by this fraction: of a motion that a law
# made it goes on, towards 0; of a person's, more digits of the weights say nothing.
STALLED_STEPS, STALLED_FRACTION = 25, 2e-3

POPULATION = 40
# Generations over which the best fitness must change by less than that, to stop (Tomić 2018, §4.3.1).
STALLED_GENERATIONS, STALLED_FITNESS = 50, 1e-6
MAX_GENERATIONS = 2000
# First standard deviation of CMA-ES, as a fraction of the box: from its middle, all of it is near.
_SIGMA = 0.25
_HOPELESS = 1e30  # Stands for an infinite fitness, which neither COBYQA nor CMA-ES takes.


def search_weights(
    fitness: Fitness,
    method: str = LATTICE,
    seed: int = 0,
    scale: ArrayLike | None = None,
    rough: Fitness | None = None,
) -> tuple[Array, Array, int, bool]:
    """Find the weights with the least fitness.

    `fitness`: function of weights (m, 4), not negative with sum 1, to fitness (m,), infinite where a law
    fails. `method`: all but the first need pymoo. `genetic` is that of Tomić (2018, §4.3.1): 40
    individuals, uniform at first, until the best changes by less than 1e-6 over 50 generations; the two
    after it stop alike. `seed`: the same seed finds the same, to the bit. The lattice search has no
    chance in it. `scale` (4,) _like: the search sees weights x with k ∝ scale x. Where one criterion has
    to be a thousand times another to count as much, steps and uniform points in x are fair to both; in k,
    as in the thesis, without it. `rough`: like `fitness`, cheaper; the lattice search takes it until
    the last descent. Returns `tried` (laws, 4), `values` (laws,): all weights in the order of
    their evaluation, and their fitness, one of them finite; `generations`: those of the population, or
    descents of the lattice search; `converged`: whether the method stopped by its own rule, not by its
    budget.
    """
    if method not in METHODS:
        raise SkillError(f"method {method}: unknown; known: {', '.join(METHODS)}")
    factors = np.ones(SIZE) if scale is None else np.asarray(scale, dtype=float)
    tried: list[Array] = []
    values: list[Array] = []

    def recorded_fitness(x: Array, limit: float = np.inf) -> Array:
        tried.append(rescale_weights(x, factors))
        values.append(np.asarray(fitness(tried[-1], limit) if limit < np.inf else fitness(tried[-1])))
        return values[-1]

    if method == LATTICE:
        scaled = None if rough is None else lambda x: rough(rescale_weights(x, factors))
        generations, converged = search_lattice(recorded_fitness, SIZE, scaled)
    else:
        generations, converged = search_by_population(recorded_fitness, method, SIZE, seed)
    every, heights = np.concatenate(tried), np.concatenate(values)
    if not np.isfinite(heights.min()):
        raise SkillError(f"none of {len(heights)} laws can keep the hands on their path to its end")
    return every, heights, generations, converged


def search_lattice(fitness: Fitness, size: int, rough: Fitness | None = None) -> tuple[int, bool]:
    """Evaluate the lattice, then descend from its best points by COBYQA.

    `fitness`: function of weights (m, size) to fitness (m,); it has to keep the best by itself; `size`:
    number of weights; `rough`: like `fitness`, cheaper: lattice and descents are its, and one more descent,
    of `fitness`, begins where they end best. Returns `descents`: number of descents; `converged`: whether all
    of them ended by themselves.
    """
    first = fitness if rough is None else rough
    points = list_lattice(LATTICE_DEGREE, size)
    values = first(points)
    if rough is not None and not np.isfinite(values.min()):
        return search_lattice(fitness, size)
    # The best lattice points, those without a better neighbour before all others.
    near = np.abs(points[:, None] - points[None]).sum(axis=2) < 2.5 / LATTICE_DEGREE
    lowest = values <= np.where(near, values[None], np.inf).min(axis=1)
    starts = np.lexsort([values, ~lowest])[:DESCENTS]
    descend = partial(_descend, unit=max(float(values.min()), np.finfo(float).tiny))
    ends = [descend(first, start, FIRST_RADIUS) for start in points[starts]]
    if rough is not None:
        bottoms = np.array([bottom for bottom, _ in ends])
        ends.append(descend(fitness, bottoms[np.argmin(fitness(bottoms))], NEAR_RADIUS))
    return len(ends), all(ended for _, ended in ends)


def _descend(fitness: Fitness, start: Array, radius: float, unit: float) -> tuple[Array, bool]:
    """Descend from weights (s,) by models of second order, trusted within a radius at first.

    `unit`: an ordinary fitness. Returns the best weights (s,), and whether the descent ended by itself.
    """
    heights: list[float] = []
    best = start, np.inf

    # The models' arithmetic has tolerances of its own, which are for numbers near 1.
    def height(free: Array) -> float:
        nonlocal best
        weights = np.maximum(np.append(free, 1.0 - free.sum()), 0.0)
        weights /= weights.sum()
        value = float(fitness(weights[None])[0])
        best = min(best, (weights, value), key=lambda each: each[1])
        # Fitness is a mean of norms, pointed where the motion is met: its square has no edge there.
        return (value / unit) ** 2 if np.isfinite(value) else _HOPELESS

    def watch(intermediate_result: OptimizeResult) -> None:
        heights.append(float(intermediate_result.fun))
        if _is_stalled(heights):
            raise StopIteration

    free = len(start) - 1
    found = minimize(
        height,
        start[:-1],
        method="COBYQA",
        bounds=[(0.0, 1.0)] * free,
        constraints=LinearConstraint(np.ones(free), -np.inf, 1.0),
        callback=watch,
        options={
            "initial_tr_radius": radius,
            "final_tr_radius": LAST_RADIUS,
            "maxfev": MAX_EVALUATIONS,
            "scale": False,
        },
    )
    return best[0], bool(found.success) or _is_stalled(heights)


def _is_stalled(heights: list[float]) -> bool:
    """Whether squared fitness has stopped falling."""
    if len(heights) <= STALLED_STEPS:
        return False
    return heights[-1 - STALLED_STEPS] < (1.0 + STALLED_FRACTION) ** 2 * heights[-1]


def search_by_population(fitness: Fitness, method: str, size: int, seed: int) -> tuple[int, bool]:
    """Search the simplex by a population until the best fitness has stopped changing.

    `fitness`: function of weights (m, size) to fitness (m,); it has to keep the best by itself; `method`: one
    of `METHODS` but the first; `size`: number of weights; `seed`: seed of the algorithm. Returns
    `generations`: number of generations; `converged`: false if `MAX_GENERATIONS` came first.
    """
    try:
        from pymoo.algorithms.soo.nonconvex.cmaes import CMAES
        from pymoo.algorithms.soo.nonconvex.de import DE
        from pymoo.algorithms.soo.nonconvex.ga import GA
        from pymoo.core.evaluator import Evaluator
        from pymoo.core.problem import Problem
        from pymoo.core.termination import NoTermination
        from pymoo.problems.static import StaticProblem
    except ImportError:
        raise SkillError("this search needs pymoo (pip install pymoo); the lattice search does not") from None
    problem = Problem(n_var=size - 1, n_obj=1, xl=0.0, xu=1.0)
    search: Any
    if method == GENETIC:
        # The thesis prints no operators, these are pymoo's.
        search = GA(pop_size=POPULATION)
    elif method == DIFFERENTIAL:
        # From random individuals: it stays diverse longer than from the best.
        search = DE(pop_size=10 * (size - 1), variant="DE/rand/1/bin", CR=0.9)
    else:
        # From the middle of the box.
        search = CMAES(x0=np.full(size - 1, 0.5), sigma=_SIGMA)
    search.setup(problem, termination=NoTermination(), seed=seed, verbose=False)
    best: list[float] = []
    while len(best) < MAX_GENERATIONS and search.has_next():
        asked = search.ask()
        if asked is None:
            break
        x = map_box_to_simplex(np.clip(asked.get("X").astype(float), 0.0, 1.0))
        # The genetic algorithm keeps the best of parents and children: of a child worse than every parent it
        # needs to know no more.
        kept = search.pop.get("F") if method == GENETIC and best else np.array([np.inf])
        values = fitness(x, float(kept.max()))
        Evaluator().eval(StaticProblem(problem, F=np.minimum(values, _HOPELESS)[:, None]), asked)
        search.tell(infills=asked)
        best.append(min(float(values.min()), best[-1] if best else np.inf))
        if len(best) > STALLED_GENERATIONS and best[-1 - STALLED_GENERATIONS] - best[-1] < STALLED_FITNESS:
            return len(best), True
    return len(best), len(best) < MAX_GENERATIONS


# The first is by far the fastest; `genetic` is the thesis's.
METHODS = (LATTICE, GENETIC, DIFFERENTIAL, COVARIANCE)


def list_lattice(degree: int, size: int) -> Array:
    """List the weights that are multiples of 1 / degree.

    `degree`: at least 1; vertices are on every lattice, a face's inner points from its number of vertices on;
    `size`: number of weights s. Returns weights, one point a row.
    """
    # Stars and bars: the positions of the s - 1 bars among all.
    bars = np.array(list(combinations(range(degree + size - 1), size - 1)), dtype=float)
    ends = np.full((len(bars), 1), -1.0), np.full((len(bars), 1), degree + size - 1.0)
    return (np.diff(np.hstack([ends[0], bars.reshape(len(ends[0]), -1), ends[1]]), axis=1) - 1.0) / degree


def map_box_to_simplex(box: Array) -> Array:
    """Map the unit box onto the simplex so that uniform points become uniform weights.

    Stick breaking: each weight takes of the rest the fraction that the smallest of n uniform points would, n
    the number of weights after it. Faces of the box become faces of the simplex, so that a weight can be
    exactly 0 or 1. `box` (m, s − 1): points in [0, 1]. Returns (m, s).
    """
    later = np.arange(box.shape[1], 0, -1)
    kept = (1.0 - box) ** (1.0 / later)
    left = np.cumprod(np.hstack([np.ones((len(box), 1)), kept]), axis=1)
    return np.hstack([left[:, :-1] - left[:, 1:], left[:, -1:]])


def rescale_weights(weights: Array, scale: Array) -> Array:
    """Multiply each weight by its scale and bring the sum back to 1: maps the simplex one to one onto itself.

    `weights` (..., s): weights, not negative; `scale` (s,): positive factors. Returns (..., s).
    """
    scaled = weights * scale
    return np.asarray(scaled / scaled.sum(axis=-1, keepdims=True))
