"""Inverse optimal control: the mixture of criteria behind one recording, or one mixture for many.

The fitness that it minimises is how far a law's motion is from a recorded one; `explore_mixture` finds how
well a recording identifies the weights: the mixtures about as good as the best one.
"""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import null_space

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.kinematics.redundancy_law import ENERGY, ERGONOMY, make_scratch, roll_out_errors
from simbench.skills.law_motion import check_weights, observe
from simbench.skills.task_motion import TaskMotion
from simbench.skills.weight_search import GENETIC, LATTICE, Fitness, rescale_weights, search_weights


def compute_path_errors(task: TaskMotion, weights: ArrayLike, limit: ArrayLike = np.inf) -> Array:
    """Follow the path by laws and compute the errors of shoulders and elbows over time.

    `task`: recording that the laws imitate; `weights` (m, 4) _like: k of energy, velocity, ergonomy,
    manipulability, each row not negative with sum 1; `limit` (m,) _like: F at which a law is given up, m·s.
    Returns (m, T): ‖P_desired − P_obtained‖ of the four points stacked, m; infinite from where the hands
    cannot go on or the law is given up. Raises SkillError the weights are not of this form.
    """
    k = np.ascontiguousarray(check_weights(weights, len(CRITERIA)))
    errors = np.empty((len(k), len(task.time)))
    limits = np.broadcast_to(np.asarray(limit, dtype=float), len(k)).copy()
    roll_out_errors(task.body, task.path, task.constants, k, limits, make_scratch(task.body), errors)
    return errors


def make_fitness(task: TaskMotion) -> Fitness:
    """Make the function that an optimiser calls for whole populations.

    F(k) = ∫ ‖P_desired − P_obtained‖ dt by the trapezoidal rule (Tomić 2018, eq. 4.24, where the sum of
    neighbouring errors is printed as a difference). `task`: recording that the laws imitate. Returns weights
    (m, 4), and optionally a limit, to F (m,), m·s; infinite where the hands cannot follow or F passes the
    limit, whose exact value nobody asks for. A pure function: the same weights give the same bits.
    """
    return make_mean_fitness([task])


NAMES = tuple(CRITERIA)
# Of so many recordings one is enough to find the valley in which all of them are searched.
_ROUGH = 5


class Mixture:
    """The criteria behind one recording, or the ones that suit many of them best (Tomić 2018, §4.3).

    `tasks`: one recording, or several for one mixture that makes their mean fitness least (table 4.2);
    `method`: search method, one of `simplex_search.METHODS`; `seed`: seed of the search.

    `weights` (4,): k of energy, velocity, ergonomy, manipulability with the least mean fitness; `shares`
    (4,): what each criterion counts for, whatever the frame rate: `compute_criterion_shares`; `fitness`: mean
    error over time, m: shoulders and elbows together, as table 4.1 lists it; `single` (4,): the same of each
    criterion alone, m (figure 4.1); infinite where the hands cannot keep their path. Of the search: `tried`
    (laws, 4) and `values` (laws,): all weights that it tried, and the mean F of the recordings, m·s, with
    them; `generations`: those of the population, or descents of the lattice search; `converged`: whether it
    stopped by its own rule, not by its budget.
    """

    def __init__(self, tasks: Sequence[TaskMotion], method: str = LATTICE, seed: int = 0) -> None:
        if not tasks:
            raise SkillError("inverse optimal control of no recording")
        fitness, seconds = make_mean_fitness(tasks), mean_duration(tasks)
        # The thesis draws its first individuals uniformly on the simplex of k itself.
        scale = None if method == GENETIC else compute_even_scale(tasks)
        # Each fifth: one repetition of a person's five.
        rough = make_mean_fitness(tasks[2::_ROUGH]) if len(tasks) >= _ROUGH else None
        self.tried, self.values, self.generations, self.converged = search_weights(
            fitness, method, seed, scale, rough
        )
        best = int(np.argmin(self.values))
        self.weights, self.fitness = self.tried[best], float(self.values[best]) / seconds
        self.single = fitness(np.eye(len(NAMES))) / seconds
        self.shares = compute_criterion_shares(self.weights, mean_period(tasks))

    @property
    def dominant(self) -> str:
        """Name of the criterion with the greatest share."""
        return NAMES[int(np.argmax(self.shares))]


def compute_criterion_shares(weights: ArrayLike, period: float) -> Array:
    """Compute what each criterion counts for, whatever the frame rate.

    Equation 4.23 weighs speeds by energy and velocity, but distances from q_erg by ergonomics. A law pulls
    towards q_erg at the rate k_erg Δt / k_en, and alike for the others: the same person, recorded at twice
    the frame rate, needs twice the k_erg. What does not change is k_erg Δt beside k_en, k_vel and k_man; with
    Δt in seconds, ergonomics counts as much as energy where it pulls at 1/s. `weights` (..., 4) _like: k of
    energy, velocity, ergonomy, manipulability. Returns (..., 4): shares of sum 1.
    """
    scale = np.ones(len(NAMES))
    scale[ERGONOMY] = period
    return rescale_weights(np.asarray(weights, dtype=float), scale)


def make_mean_fitness(tasks: Sequence[TaskMotion]) -> Fitness:
    """Make the function that computes the mean fitness of several recordings.

    Returns weights (m, 4), and optionally a limit, to mean F (m,), m·s; infinite as in `make_fitness`.
    """

    def fitness(weights: ArrayLike, limit: float = np.inf) -> Array:
        total = np.zeros(len(np.atleast_2d(weights)))
        for task in tasks:
            # No law is followed any further that one of the recordings has given up.
            left = np.subtract(len(tasks) * limit, total, where=np.isfinite(total), out=-np.ones(len(total)))
            errors = compute_path_errors(task, weights, left)
            total += np.trapezoid(errors, dx=task.constants.period, axis=1)
        return total / len(tasks)

    return fitness


def mean_duration(tasks: Sequence[TaskMotion]) -> float:
    """Compute the mean duration of recordings: mean fitness divided by it is a mean error.

    Returns mean duration, s.
    """
    return float(np.mean([task.duration for task in tasks]))


def mean_period(tasks: Sequence[TaskMotion]) -> float:
    """Compute the mean sampling period Δt of recordings. Returns mean Δt, s."""
    return float(np.mean([task.constants.period for task in tasks]))


def compute_even_scale(tasks: Sequence[TaskMotion]) -> Array:
    """Compute weights with which each criterion counts about as much as joint velocity.

    In equation 4.23 energy comes with the inertia matrix A, a fraction of a kg·m², where velocity comes with
    the unit matrix; ergonomics with Δt A for each rad away. `tasks`: the recordings. Returns (4,): scale of
    energy, velocity, ergonomy, manipulability; 1 for velocity and manipulability.
    """
    inertia, period = [], []
    for task in tasks:
        state = observe(task.body, task.constants, task.path.start)
        inertia.append(np.trace(state.inertia) / len(state.q))
        period.append(state.period)
    scale = np.ones(len(NAMES))
    scale[ENERGY] = 1.0 / np.mean(inertia)
    scale[ERGONOMY] = 1.0 / (np.mean(inertia) * np.mean(period))
    return scale


TOLERANCE = 1e-4  # Mean error, m, by which a mixture may be worse than the best and still be about as good.
APART = 0.1  # Two weights cannot be told apart where mixtures about as good extend farther than this.
_HALVINGS = 5
_NO_STEP = 1e-9
_SIZE, _NAMES = len(CRITERIA), tuple(CRITERIA)


class Flatness:
    """Mixtures about as good as the best one, as far as straight lines from it reach.

    The lines, followed for as long as fitness stays within the tolerance, exchange the weights of two
    criteria, go to each criterion alone, and along the principal directions of what these have found. In
    equation 4.23 energy and ergonomics enter K as k_en + k_erg Δt², velocity and manipulability as k_vel +
    k_man; only the pull to the ergonomic posture and the push along ω tell one from the other.

    `fitness`: function of weights (m, 4) to mean errors (m,), m; `best` (4,): weights of the best mixture;
    `least`: mean error of the best mixture, m; `tolerance`: mean error by which a mixture may be worse than
    the best, m; `known` (p, 4): weights that are within the tolerance; may be empty; `period`: Δt, s, for the
    shares that say what dominates. `lowest`, `highest` (4,): least and greatest value of each weight among
    the mixtures; `directions` (3, 4): their principal directions, unit changes of the weights of sum 0,
    flattest first; `widths` (3,): how far they extend along each; `dominant`: criteria that have the greatest
    share in one of them, that of the best mixture first; `evaluations`: number of laws whose fitness was
    computed.
    """

    def __init__(
        self, fitness: Fitness, best: Array, least: float, tolerance: float, known: Array, period: float
    ) -> None:
        units = np.eye(_SIZE)
        swaps = np.array([units[j] - units[i] for i, j in permutations(range(_SIZE), 2)])
        first, count = _find_line_ends(fitness, best, least + tolerance, np.vstack([swaps, units - best]))
        cloud = np.vstack([best, known, first])
        axes = _principal_directions(cloud, best)
        second, more = _find_line_ends(fitness, best, least + tolerance, np.vstack([axes, -axes]))
        cloud = np.vstack([cloud, second])
        axes = _principal_directions(cloud, best)
        leaders = np.argmax(compute_criterion_shares(np.vstack([best, cloud]), period), axis=1).tolist()
        self.tolerance, self.directions = tolerance, axes
        self.lowest, self.highest = cloud.min(axis=0), cloud.max(axis=0)
        self.widths = np.ptp(cloud @ axes.T, axis=0)
        self.dominant = tuple(_NAMES[k] for k in dict.fromkeys(leaders))
        self.evaluations = count + more

    @property
    def confused(self) -> tuple[tuple[str, str], ...]:
        """Pairs of criteria that are not told apart: one mostly gives way to the other where it is flat."""
        flat = self.directions[self.widths > APART]
        pairs = [sorted((int(np.argmax(each)), int(np.argmin(each)))) for each in flat]
        return tuple((_NAMES[i], _NAMES[j]) for i, j in pairs)


def explore_mixture(tasks: Sequence[TaskMotion], mixture: Mixture, tolerance: float = TOLERANCE) -> Flatness:
    """Find out how flat fitness is around what inverse optimal control found.

    `tasks`: the recordings it was found for; `mixture`: the best mixture; `tolerance`: mean error by which a
    mixture may be worse than the best, m. Returns mixtures about as good.
    """
    fitness, seconds = make_mean_fitness(tasks), mean_duration(tasks)
    # A little above what `Flatness` asks about: the sum of the parts rounds otherwise than the whole.
    limit = (1.0 + 1e-9) * seconds * (mixture.fitness + tolerance)
    return Flatness(
        lambda weights: fitness(weights, limit) / seconds,
        mixture.weights,
        mixture.fitness,
        tolerance,
        mixture.tried[mixture.values / seconds <= mixture.fitness + tolerance],
        mean_period(tasks),
    )


def _find_line_ends(fitness: Fitness, best: Array, limit: float, directions: Array) -> tuple[Array, int]:
    """Find the last points within the limit on lines from the best one by halving; count the evaluations.

    Where fitness comes back below the limit farther out, that part of a line is missed, unless it is the end.
    """
    falls = directions < 0.0
    room = np.min(np.where(falls, best / np.where(falls, -directions, 1.0), np.inf), axis=1)
    room[~falls.any(axis=1)] = 0.0
    near, far, middle = np.zeros(len(room)), room.copy(), room
    asked, count = np.flatnonzero(room > _NO_STEP), 0
    for _ in range(_HALVINGS + 1):
        if not len(asked):
            break
        good = fitness(_points(best, directions[asked], middle[asked])) <= limit
        count += len(asked)
        near[asked] = np.where(good, middle[asked], near[asked])
        far[asked] = np.where(good, far[asked], middle[asked])
        asked = asked[far[asked] - near[asked] > 0.0]
        middle = 0.5 * (near + far)
    return _points(best, directions, near), count


def _points(best: Array, directions: Array, steps: Array) -> Array:
    points = np.maximum(best + steps[:, None] * directions, 0.0)
    return np.asarray(points / points.sum(axis=1, keepdims=True))


def _principal_directions(cloud: Array, best: Array) -> Array:
    """Principal directions (3, 4) of weights about the best ones, widest first."""
    plane = null_space(np.ones((1, _SIZE)))
    return np.asarray(np.linalg.svd((cloud - best) @ plane)[2] @ plane.T)
