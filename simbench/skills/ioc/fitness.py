"""How far a law's motion is from a recorded one: the fitness that inverse optimal control minimises."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.kinematics.redundancy_law import make_scratch, roll_out_errors
from simbench.skills.ioc.inverse_kinematics import check_weights
from simbench.skills.person.task_motion import TaskMotion

Fitness = Callable[[ArrayLike], Array]
"""Function of weights (m, 4) to fitness F (m,), m·s."""


def compute_path_errors(task: TaskMotion, weights: ArrayLike) -> Array:
    """Follow the path by laws and compute the errors of shoulders and elbows over time.

    `task`: recording that the laws imitate; `weights` (m, 4) _like: k of energy, velocity, ergonomy,
    manipulability, each row not negative with sum 1. Returns (m, T): ‖P_desired − P_obtained‖ of the four
    points stacked, m; infinite from where the hands cannot go on. Raises SkillError the weights are not of
    this form.
    """
    k = np.ascontiguousarray(check_weights(weights, len(CRITERIA)))
    errors = np.empty((len(k), len(task.time)))
    roll_out_errors(task.body, task.path, task.constants, k, make_scratch(task.body), errors)
    return errors


def make_fitness(task: TaskMotion) -> Fitness:
    """Make the function that an optimiser calls for whole populations.

    F(k) = ∫ ‖P_desired − P_obtained‖ dt by the trapezoidal rule (Tomić 2018, eq. 4.24, where the sum of
    neighbouring errors is printed as a difference). `task`: recording that the laws imitate. Returns weights
    (m, 4) to F (m,), m·s; infinite where the hands cannot follow. A pure function: the same weights give the
    same bits.
    """

    def fitness(weights: ArrayLike) -> Array:
        return np.asarray(np.trapezoid(compute_path_errors(task, weights), dx=task.constants.period, axis=1))

    return fitness


def mean_error(task: TaskMotion, fitness: ArrayLike) -> Array:
    """Convert fitness to the mean error over time, which table 4.1 of the thesis lists.

    `task`: recording of the fitness; `fitness` (...) _like: F, m·s. Returns (...): mean error of the four
    points stacked, m.
    """
    return np.asarray(fitness) / task.duration
