"""Speed of the weighted law that moves a model of a person: time of a step and of a rollout, and its
error."""

import time

import numpy as np
from rich.table import Table

from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.motion.actors.session import perform_in_session
from simbench.skills.anatomical_motion import prepare_motion
from simbench.skills.inverse_optimal_control import make_fitness
from simbench.skills.law_motion import follow_path
from simbench.skills.task_motion import TaskMotion, prepare_romeo_motion

RECORDINGS = ((2018, 1, "drawer"), (2018, 3, "valves"))
"""Session, actor and task of each recording."""
MIXED = np.full(4, 0.25)
POPULATION = 40
"""Number of weights evaluated at once, as many as the thesis's genetic algorithm has individuals."""
USER_STEPS = 200
"""Number of steps of a rollout with a criterion of the user, which calls Python and is slow."""


def step_seconds(task: TaskMotion, weights: np.ndarray, repeat: int) -> float:
    """Measure the shortest mean time of a step, s, in consecutive rollouts."""
    fitness = make_fitness(task)
    fitness(weights[:1])
    best = np.inf
    for _ in range(repeat):
        started = time.perf_counter()
        fitness(weights)
        best = min(best, time.perf_counter() - started)
    return best / (len(weights) * (len(task.time) - 1))


def general_seconds(motion, span: tuple[float, float]) -> float:
    """Measure the time of a step, s, with a criterion of the user added."""
    task = prepare_romeo_motion(motion, span=span)
    criteria = {**CRITERIA, "again": CRITERIA["velocity"]}
    started = time.perf_counter()
    follow_path(task, [*(0.8 * MIXED), 0.2], criteria)
    return (time.perf_counter() - started) / (len(task.time) - 1)


def skills_table(repeat: int) -> Table:
    """Tabulate times of steps and rollouts for both models of a person, and errors of single criteria."""
    table = Table("mm per sample alone:", "joints", "µs/step", "rollouts/s", *CRITERIA)
    rng = np.random.default_rng(1)
    population = np.vstack([MIXED, rng.dirichlet(np.ones(4), POPULATION - 1)])
    for seed, actor, name in RECORDINGS:
        motion = perform_in_session(seed, actor, name).motion
        for task in (
            prepare_motion(motion),
            prepare_romeo_motion(motion),
            prepare_romeo_motion(motion, given=()),
        ):
            seconds = step_seconds(task, population, repeat)
            alone = 1e3 * make_fitness(task)(np.eye(4)) / task.duration
            table.add_row(
                f"{name} {actor}, {len(task.time)} samples",
                f"{len(task.body.resolved)}",
                f"{1e6 * seconds:.1f}",
                f"{1.0 / (seconds * (len(task.time) - 1)):.0f}",
                *(f"{value:.1f}" for value in alone),
            )
        span = (float(task.time[0]), float(task.time[USER_STEPS]))
        table.add_row("  with a fifth criterion", "15", f"{1e6 * general_seconds(motion, span):.0f}")
    return table
