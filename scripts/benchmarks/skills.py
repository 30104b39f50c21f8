"""How fast a law with criteria moves a person: a step, a rollout, and what a rollout is worth."""

import time

import numpy as np
from rich.table import Table

from simbench.kinematics.redundancy.criteria import CRITERIA
from simbench.motion.actors.session import perform_in_session
from simbench.skills.ioc.fitness import make_fitness, mean_error
from simbench.skills.ioc.inverse_kinematics import follow_path
from simbench.skills.person.anatomical_motion import prepare_motion
from simbench.skills.person.task_motion import TaskMotion, prepare_romeo_motion

RECORDINGS = ((2018, 1, "drawer"), (2018, 3, "valves"))
"""Session, actor, task."""
MIXED = np.full(4, 0.25)
POPULATION = 40
"""Laws at once, as many as the thesis's genetic algorithm has individuals."""
OWN_STEPS = 200
"""Steps of the rollout through Python, which is slow."""


def step_seconds(task: TaskMotion, weights: np.ndarray, repeat: int) -> float:
    """Best time of a step, of rollouts one after the other."""
    fitness = make_fitness(task)
    fitness(weights[:1])
    best = np.inf
    for _ in range(repeat):
        started = time.perf_counter()
        fitness(weights)
        best = min(best, time.perf_counter() - started)
    return best / (len(weights) * (len(task.time) - 1))


def general_seconds(motion, span: tuple[float, float]) -> float:
    """Time of a step with criteria of one's own."""
    task = prepare_romeo_motion(motion, span=span)
    own = {**CRITERIA, "again": CRITERIA["velocity"]}
    started = time.perf_counter()
    follow_path(task, [*(0.8 * MIXED), 0.2], own)
    return (time.perf_counter() - started) / (len(task.time) - 1)


def skills_table(repeat: int) -> Table:
    """Put steps and rollouts of both ways to use the model beside each other."""
    table = Table("mm per sample alone:", "joints", "µs/step", "rollouts/s", *CRITERIA)
    rng = np.random.default_rng(1)
    population = np.vstack([MIXED, rng.dirichlet(np.ones(4), POPULATION - 1)])
    for seed, actor, name in RECORDINGS:
        motion = perform_in_session(seed, actor, name).motion
        for task in (prepare_motion(motion), prepare_romeo_motion(motion), prepare_romeo_motion(motion, given=())):
            seconds = step_seconds(task, population, repeat)
            alone = 1e3 * mean_error(task, make_fitness(task)(np.eye(4)))
            table.add_row(
                f"{name} {actor}, {len(task.time)} samples",
                f"{len(task.body.resolved)}",
                f"{1e6 * seconds:.1f}",
                f"{1.0 / (seconds * (len(task.time) - 1)):.0f}",
                *(f"{value:.1f}" for value in alone),
            )
        span = (float(task.time[0]), float(task.time[OWN_STEPS]))
        table.add_row("  with a fifth criterion", "15", f"{1e6 * general_seconds(motion, span):.0f}")
    return table
