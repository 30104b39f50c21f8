"""Which mixture of criteria moves as a person did: one recording, or one mixture for many."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simbench.errors import SkillError
from simbench.skills.criteria import CRITERIA
from simbench.skills.fitness import Fitness, make_fitness
from simbench.skills.inverse_kinematics import observe
from simbench.skills.optimisers import GENETIC, LATTICE, Found, minimise
from simbench.skills.rollout import ENERGY, ERGONOMY
from simbench.skills.task_motion import TaskMotion

Array = NDArray[np.float64]

NAMES = tuple(CRITERIA)


@dataclass(frozen=True)
class Mixture:
    """The criteria behind one recording, or the ones that suit many of them best.

    Parameters
    ----------
    weights : (4,) array
        k of energy, velocity, ergonomy, manipulability.
    fitness : float
        Mean error over time, m: shoulders and elbows together, as table 4.1 of Tomić (2018) lists it.
    single : (4,) array
        The same of each criterion alone, m (figure 4.1); infinite where the hands cannot keep their path.
    found : Found
        What the search did; its fitness is the mean F of the recordings, m·s.
    """

    weights: Array
    fitness: float
    single: Array
    found: Found

    @property
    def dominant(self) -> str:
        """Name of the criterion with the greatest weight."""
        return NAMES[int(np.argmax(self.weights))]


def find_mixture(tasks: Sequence[TaskMotion], method: str = LATTICE, seed: int = 0) -> Mixture:
    """Solve the inverse optimal control problem (Tomić 2018, §4.3).

    Parameters
    ----------
    tasks : sequence of TaskMotion
        One recording, or several for one mixture that makes their mean fitness least (table 4.2).
    method : str
        As for `minimise`.
    seed : int

    Returns
    -------
    Mixture

    Raises
    ------
    SkillError
        No task, an unknown method, pymoo missing, or no law can follow the recordings.
    """
    if not tasks:
        raise SkillError("inverse optimal control of no recording")
    fitness, seconds = mean_fitness(tasks), mean_duration(tasks)
    # The thesis draws its first individuals uniformly on the simplex of k itself.
    found = minimise(fitness, method, seed, None if method == GENETIC else even_scale(tasks))
    single = fitness(np.eye(len(NAMES))) / seconds
    return Mixture(found.weights, found.fitness / seconds, single, found)


def mean_fitness(tasks: Sequence[TaskMotion]) -> Fitness:
    """Make the mean of the recordings' fitness: weights (m, 4) to (m,) m·s."""
    each = [make_fitness(task) for task in tasks]

    def fitness(weights: ArrayLike) -> Array:
        return np.asarray(np.mean([one(weights) for one in each], axis=0))

    return fitness


def mean_duration(tasks: Sequence[TaskMotion]) -> float:
    """By which mean fitness is divided to be one of a sample, s."""
    return float(np.mean([task.duration for task in tasks]))


def even_scale(tasks: Sequence[TaskMotion]) -> Array:
    """Weights with which each criterion counts about as much as joint velocity.

    In equation 4.23 energy comes with the inertia matrix A, a fraction of a kg·m², where velocity comes with
    the unit matrix; ergonomy with Δt A for each rad away.

    Parameters
    ----------
    tasks : sequence of TaskMotion

    Returns
    -------
    (4,) array
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
