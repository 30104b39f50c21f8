"""Figure 4.1 of Tomić (2018): which criterion alone explains a task, by what the law is free to move.

python scripts/reproduce/tomic2018/single_criteria.py [--actors 1,2,...] [--tasks NAME,...]
    [--results FILE.json]

One repetition of each recording. The thesis's model of a person (appendix D) has six virtual joints for legs
and spine in front of trunk and arms, and its J, q̇ and A are of all of them. simbench's analysis lets a law
move trunk and arms, or the person's own spine and arms, while the virtual joints move as recorded. With the
virtual joints free, a metre of the pelvis costs velocity as much as a radian of the wrist; energy knows that
the whole upper body moves with it.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import add_results_option, add_session_options, begin_results, write_results

from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.motion.actors.session import perform_in_session
from simbench.motion.human_motion import HumanMotion
from simbench.robot.human_skeleton import BASE_JOINTS
from simbench.skills.anatomical_motion import prepare_motion
from simbench.skills.inverse_optimal_control import make_fitness
from simbench.skills.task_motion import TaskMotion, prepare_romeo_motion, split_task

BODIES: dict[str, Callable[[HumanMotion], TaskMotion]] = {
    "own skeleton": prepare_motion,
    "own skeleton, no habit": lambda motion: _without_habit(prepare_motion(motion)),
    "ROMEO's, trunk yaw and arms": prepare_romeo_motion,
    "ROMEO's, rotations of the pelvis too": lambda motion: prepare_romeo_motion(
        motion, given=BASE_JOINTS[:3]
    ),
    "ROMEO's, all 21: the thesis's J": lambda motion: prepare_romeo_motion(motion, given=()),
}


def _without_habit(task: TaskMotion) -> TaskMotion:
    return replace(task, constants=task.constants._replace(habit=0.0))


def single_errors(motion: HumanMotion, body: str) -> list[float]:
    """Mean error over the third repetition, m, of each criterion alone; infinite where the hands are lost."""
    part = split_task(BODIES[body](motion), motion, False)[2]
    return (make_fitness(part)(np.eye(len(CRITERIA))) / part.duration).tolist()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_session_options(parser, [1, 2, 3, 4], ["pump", "grater"])
    add_results_option(parser)
    given = parser.parse_args(arguments)
    table = Table(
        "task",
        "what the law moves",
        *CRITERIA,
        "actors with less for\nenergy than velocity",
        title="Figure 4.1: one criterion alone, mean error over time, mm",
        title_justify="left",
        box=None,
    )
    for task in given.tasks:
        motions = [perform_in_session(given.session, actor, task).motion for actor in given.actors]
        for body in BODIES:
            errors = np.array([single_errors(motion, body) for motion in motions])
            less = int(np.sum(errors[:, 0] < errors[:, 1]))
            cells = (f"{1e3 * value:.1f}" for value in errors.mean(axis=0))
            table.add_row(task, body, *cells, f"{less} of {len(motions)}")
    results = begin_results(__file__, arguments, f"{len(given.actors)} virtual actors, one repetition each")
    Console(width=150).print(results.add(table, "figure 4.1"))
    write_results(given.results, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
