"""How well a recording identifies the weights of criteria: the mixtures about as good as the best one."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy.linalg import null_space

from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.skills.ioc.fitness import Fitness
from simbench.skills.ioc.inverse_optimal_control import (
    Mixture,
    compute_criterion_shares,
    make_mean_fitness,
    mean_duration,
    mean_period,
)
from simbench.skills.person.task_motion import TaskMotion

TOLERANCE = 1e-4
"""Mean error, m, by which a mixture may be worse than the best and still be about as good."""
APART = 0.1
"""Two weights cannot be told apart where mixtures about as good extend farther than this."""
_HALVINGS = 5
_NO_STEP = 1e-9
_SIZE, _NAMES = len(CRITERIA), tuple(CRITERIA)


@dataclass(frozen=True)
class Flatness:
    """Mixtures about as good as the best one, as far as straight lines from it reach."""

    tolerance: float  # Mean error by which they are worse at most, m.
    lowest: Array  # `lowest`, `highest` (4,): least and greatest value of each weight among them.
    highest: Array
    # (3, 4): principal directions of these mixtures, unit changes of the weights of sum 0, flattest first.
    directions: Array
    widths: Array  # (3,): how far the mixtures extend along each direction.
    # Criteria that have the greatest share in one of them, that of the best mixture first.
    dominant: tuple[str, ...]
    evaluations: int  # Number of laws whose fitness was computed.

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
    found = mixture.found
    return explore_flatness(
        lambda weights: fitness(weights) / seconds,
        mixture.weights,
        mixture.fitness,
        tolerance,
        found.tried[found.values / seconds <= mixture.fitness + tolerance],
        mean_period(tasks),
    )


def explore_flatness(
    fitness: Fitness, best: Array, least: float, tolerance: float, known: Array, period: float
) -> Flatness:
    """Follow straight lines from the best weights for as long as fitness stays within the tolerance.

    The lines exchange the weights of two criteria, go to each criterion alone, and along the principal
    directions of what these have found. In equation 4.23 energy and ergonomics enter K as k_en + k_erg Δt²,
    velocity and manipulability as k_vel + k_man; only the pull to the ergonomic posture and the push along ω
    tell one from the other. `fitness`: function of weights (m, 4) to mean errors (m,), m; `best` (4,):
    weights of the best mixture; `least`: mean error of the best mixture, m; `tolerance`: mean error by which
    a mixture may be worse than the best, m; `known` (p, 4): weights that are within the tolerance; may be
    empty; `period`: Δt, s, for the shares that say what dominates. Returns mixtures about as good.
    """
    units = np.eye(_SIZE)
    swaps = np.array([units[j] - units[i] for i, j in permutations(range(_SIZE), 2)])
    first, count = _find_line_ends(fitness, best, least + tolerance, np.vstack([swaps, units - best]))
    cloud = np.vstack([best, known, first])
    axes = _principal_directions(cloud, best)
    second, more = _find_line_ends(fitness, best, least + tolerance, np.vstack([axes, -axes]))
    cloud = np.vstack([cloud, second])
    axes = _principal_directions(cloud, best)
    leaders = np.argmax(compute_criterion_shares(np.vstack([best, cloud]), period), axis=1).tolist()
    return Flatness(
        tolerance,
        cloud.min(axis=0),
        cloud.max(axis=0),
        axes,
        np.ptp(cloud @ axes.T, axis=0),
        tuple(_NAMES[k] for k in dict.fromkeys(leaders)),
        count + more,
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
