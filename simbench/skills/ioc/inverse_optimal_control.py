"""Inverse optimal control: the mixture of criteria behind one recording, or one mixture for many."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.kinematics.redundancy_law import ENERGY, ERGONOMY
from simbench.skills.ioc.fitness import Fitness, make_fitness
from simbench.skills.ioc.inverse_kinematics import observe
from simbench.skills.ioc.simplex_search import (
    GENETIC,
    LATTICE,
    SearchResult,
    rescale_weights,
    search_weights,
)
from simbench.skills.person.task_motion import TaskMotion

NAMES = tuple(CRITERIA)


@dataclass(frozen=True)
class Mixture:
    """The criteria behind one recording, or the ones that suit many of them best."""

    weights: Array  # (4,): k of energy, velocity, ergonomy, manipulability.
    # (4,): what each criterion counts for, whatever the frame rate: `compute_criterion_shares`.
    shares: Array
    # Mean error over time, m: shoulders and elbows together, as table 4.1 of Tomić (2018) lists it.
    fitness: float
    # (4,): the same of each criterion alone, m (figure 4.1); infinite where the hands cannot keep their path.
    single: Array
    found: SearchResult  # What the search did; its fitness is the mean F of the recordings, m·s.

    @property
    def dominant(self) -> str:
        """Name of the criterion with the greatest share."""
        return NAMES[int(np.argmax(self.shares))]


def find_mixture(tasks: Sequence[TaskMotion], method: str = LATTICE, seed: int = 0) -> Mixture:
    """Solve the inverse optimal control problem (Tomić 2018, §4.3).

    `tasks`: one recording, or several for one mixture that makes their mean fitness least (table 4.2);
    `method`: search method, one of `simplex_search.METHODS`; `seed`: seed of the search. Returns the weights
    with the least mean fitness.
    """
    if not tasks:
        raise SkillError("inverse optimal control of no recording")
    fitness, seconds = make_mean_fitness(tasks), mean_duration(tasks)
    # The thesis draws its first individuals uniformly on the simplex of k itself.
    scale = None if method == GENETIC else compute_even_scale(tasks)
    found = search_weights(fitness, method, seed, scale)
    single = fitness(np.eye(len(NAMES))) / seconds
    shares = compute_criterion_shares(found.weights, mean_period(tasks))
    return Mixture(found.weights, shares, found.fitness / seconds, single, found)


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

    Returns weights (m, 4) to mean F (m,), m·s.
    """
    each = [make_fitness(task) for task in tasks]

    def fitness(weights: ArrayLike) -> Array:
        return np.asarray(np.mean([one(weights) for one in each], axis=0))

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
