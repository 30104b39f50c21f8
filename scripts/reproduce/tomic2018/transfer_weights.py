"""Tomić (2018), section 4.4: is ROMEO more like a person by the found weights than by one criterion?

python scripts/reproduce/tomic2018/transfer_weights.py [--actors 1,2,...] [--tasks NAME,...] [--table TABLE]
    [--plans] [--videos DIR] [--results FILE.json]

S of eq. 4.25, here the mean over the samples, between the motion of the scaled model that imitates a virtual
actor and ROMEO's own by eq. 4.23: generalised weights, of the thesis (table 4.2) or of what
`scripts/reproduce/tomic2018/ch4.py` left in its table.parquet, and each criterion alone. As in the thesis
that is kinematics: ROMEO at its size on the six virtual joints of legs and spine, which move as the person's;
its palms go as far as the person's from where they are in the person's first posture. Once its joint limits
hold, once there are none. Where limits end a motion early there is no S; ratios are of people whom both laws
can follow.

--plans: S of the shipped scenarios as they are simulated, pelvis level, balanced, equipment where it stands.
--videos: ROMEO opens the drawer by the generalised weights (left) and by energy alone (right), side by side.
Exit status 1 if the drawer's ratio of energy alone to the generalised weights is below the thesis's, 2.8.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pinocchio as pin
import pyarrow as pa
import pyarrow.parquet as pq
from ch4 import TABLE_42
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import add_results_option, add_session_options, begin_results, write_results
from skill_study import EVERYBODY, THESIS_ACTORS, THESIS_TASKS

from simbench.errors import MotionError, SimbenchError, SkillError
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.kinematics.redundancy_law import TaskPath
from simbench.motion.actors.session import perform_in_session
from simbench.motion.phases import find_phases
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.imitation.imitation import imitate, speed_difference
from simbench.retargeting.imitation.scaled_model import calibrate
from simbench.retargeting.imitation.weighted_posture import follow_palms_by_law, palm_path
from simbench.retargeting.stand.standing_plan import plan_motion
from simbench.robot.robot import Robot, load_robot
from simbench.robot.robot_limbs import upper_body
from simbench.runs.motion_source import scenario_motion
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.runs.scenario.schema import Scenario
from simbench.sim.equipment import compute_resistance, describe_handles, find_obstacles

Array = NDArray[np.float64]
Weights = tuple[float, ...]

Found = dict[str, float]

LIMITED, UNLIMITED = "within ROMEO's joint limits", "without joint limits"
GENERAL, ROTORLESS = "generalised", "energy, links only"
SINGLE: dict[str, Weights] = {name: tuple(float(name == other) for other in CRITERIA) for name in CRITERIA}
FACTOR = 2.8
"""S of the drawer with energy alone, 0.0762, as multiple of that with the generalised weights, 0.0269."""
MARGIN = 0.03
"""From the joint limits, rad, as scenarios keep it."""


def paper_weights() -> dict[str, Weights]:
    """Table 4.2, whose rows add up to 1 up to rounding."""
    return {task: tuple(np.divide(k, sum(k)).tolist()) for task, k in TABLE_42.items()}


def found_weights(table: Path) -> dict[str, Weights]:
    """The mixtures for everybody that a study of chapter 4 has found."""
    try:
        rows = pq.read_table(table, columns=["task", "actor", *CRITERIA]).to_pylist()
    except (OSError, pa.ArrowInvalid, KeyError) as error:
        raise SkillError(f"{table}: no table of a study of chapter 4: {error}") from None
    general = [row for row in rows if row["actor"] == EVERYBODY and row["energy"] is not None]
    return {row["task"]: tuple(row[name] for name in CRITERIA) for row in general}


@cache
def romeo() -> tuple[Robot, pin.Model]:
    robot = load_robot("romeo")
    return robot, upper_body(robot)


def robot_path(robot: Robot, model: pin.Model, scaled: pin.Model, q: Array, limits: Array) -> TaskPath:
    """Take a motion of the scaled model (T, 7 + n) to the robot, whose palms go as far from their start."""
    start = q[0].copy()
    start[7:] = start[7:].clip(*limits)
    own, theirs = palm_path(robot, model, start[None]), palm_path(robot, scaled, q)
    turned = theirs.hand_rotation @ theirs.hand_rotation[0].swapaxes(-1, -2) @ own.hand_rotation[0]
    moved = own.hand_position[0] + theirs.hand_position - theirs.hand_position[0]
    return TaskPath(own.start, theirs.prescribed, turned, moved, theirs.points, own.home)


def similarities(weights: Weights, work: tuple[str, int, int]) -> dict[str, Found]:
    """S by law, with joint limits and without, for one actor and task; NaN where a motion ends early."""
    task, number, session = work
    robot, model = romeo()
    motion = perform_in_session(session, number, task).motion
    span = find_phases(motion).pmp
    if span is None:
        raise MotionError(f"{motion.source}: nothing repeats in it")
    inside = (motion.time >= span[0]) & (motion.time <= span[1])
    actor = calibrate(robot, motion)
    q, time = imitate(actor, motion).q[inside], motion.time[inside]
    light = model.copy()
    light.armature = np.zeros(model.nv)
    own = np.array([model.lowerPositionLimit[7:] + MARGIN, model.upperPositionLimit[7:] - MARGIN])
    found: dict[str, Found] = {}
    for kept, limits in ((LIMITED, own), (UNLIMITED, np.array([[-np.inf], [np.inf]]) + 0.0 * own)):
        path = robot_path(robot, model, actor.model, q, limits)
        found[kept] = {}
        for name, k in {GENERAL: weights, **SINGLE, ROTORLESS: SINGLE["energy"]}.items():
            body = light if name == ROTORLESS else model
            try:
                joints = follow_palms_by_law(robot, body, time, path, np.array(k), *limits)
                found[kept][name] = speed_difference(time, q[:, 7:], joints)
            except SkillError:
                found[kept][name] = np.nan
    return found


def ratio(found: Sequence[Found], name: str) -> tuple[float, int]:
    """S of a law as multiple of the generalised weights', of mean S, and of how many people."""
    pairs = np.array([(each[name], each[GENERAL]) for each in found])
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    return (float(np.divide(*pairs.mean(axis=0))), len(pairs)) if len(pairs) else (np.nan, 0)


def similarity_table(kept: str, found: Mapping[str, Sequence[Found]]) -> Table:
    names = (*CRITERIA, ROTORLESS)
    table = _table(
        f"S in (rad/s)² (people), and of one criterion alone as multiple of that, {kept}",
        "task",
        GENERAL,
        *(f"{name}\n/ {GENERAL}" for name in names),
    )
    for task, people in found.items():
        own = [each[GENERAL] for each in people if np.isfinite(each[GENERAL])]
        mean = f"{np.mean(own):.4f}" if own else "-"
        ratios = [ratio(people, name) for name in names]
        cells = [f"{value:.2f} ({count})" if count else "- (0)" for value, count in ratios]
        table.add_row(task, f"{mean} ({len(own)})", *cells)
    return table


def planned_similarity(scenario: Scenario) -> float:
    """S of a scenario's plan."""
    robot, mechanisms = load_robot(scenario.robot.name), scenario_mechanisms(scenario)
    motion = scenario_motion(scenario, mechanisms)
    plan = plan_motion(
        robot,
        motion,
        scenario.robot,
        scenario.retarget,
        Equipment(
            motion.handles or describe_handles(mechanisms),
            partial(find_obstacles, mechanisms, robot),
            compute_resistance(mechanisms),
        ),
        lambda *_: None,
        embedding=scenario.balance.embedding.plan,
    )
    return plan.metrics["retarget.similarity"]


def with_weights(name: str, weights: Weights) -> Scenario:
    keys = ", ".join(f"{criterion}: {k}" for criterion, k in zip(CRITERIA, weights, strict=True))
    return load_scenario(name, [f"retarget.weights={{{keys}}}"])


def plan_table(general: Mapping[str, Weights]) -> Table:
    laws = {GENERAL: None, **SINGLE}
    table = _table("S of the plans of shipped scenarios, (rad/s)²", "scenario", "imitated", *laws)
    for name, weights in general.items():
        cells = [f"{planned_similarity(load_scenario(name)):.4f}"]
        for k in laws.values():
            try:
                cells.append(f"{planned_similarity(with_weights(name, k or weights)):.4f}")
            except SimbenchError as error:
                print(f"{name}: {error}", file=sys.stderr)
                cells.append("refused")
        table.add_row(name, *cells)
    return table


def film_both(folder: Path, weights: Weights) -> Path:
    """Simulate the drawer by the generalised weights and by energy alone, and show both in one video."""
    videos = []
    for name, k in ((GENERAL, weights), ("energy", SINGLE["energy"])):
        result = run_scenario(with_weights("drawer", k), folder / name, video=True)
        assert result.video_file is not None
        videos += ["-i", str(result.video_file)]
    out = folder / "drawer_side_by_side.mp4"
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", *videos]
    subprocess.run([*command, "-filter_complex", "hstack", str(out)], check=True)
    return out


def follow_everybody(
    tasks: Sequence[str], actors: Sequence[int], session: int, general: Mapping[str, Weights], jobs: int
) -> Iterator[tuple[str, list[dict[str, Found]]]]:
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        running = {
            task: list(
                pool.map(partial(similarities, general[task]), [(task, each, session) for each in actors])
            )
            for task in tasks
        }
    yield from running.items()


def _table(title: str, *headings: str) -> Table:
    return Table(*headings, title=title, title_justify="left", box=None, pad_edge=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    add_session_options(parser, THESIS_ACTORS, THESIS_TASKS)
    parser.add_argument("--table", type=Path, help="of a study of chapter 4; by default the thesis's weights")
    parser.add_argument("--plans", action="store_true", help="also of the shipped scenarios")
    parser.add_argument("--videos", type=Path, metavar="DIR", help="of the drawer, both ways")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    add_results_option(parser)
    given = parser.parse_args(arguments)
    weights = "of the study of chapter 4" if given.table else "of the thesis's table 4.2"
    results = begin_results(
        __file__,
        arguments,
        f"{len(given.actors)} virtual actors, {len(given.tasks)} tasks, weights {weights}",
    )
    console = Console(width=140)
    try:
        general = found_weights(given.table) if given.table else paper_weights()
        missing = [task for task in given.tasks if task not in general]
        if missing:
            raise SkillError(f"--tasks {', '.join(missing)}: no weights; known: {', '.join(general)}")
        people = dict(follow_everybody(given.tasks, given.actors, given.session, general, given.jobs))
        found = {
            kept: {task: [each[kept] for each in everybody] for task, everybody in people.items()}
            for kept in (LIMITED, UNLIMITED)
        }
        for kept, by_task in found.items():
            console.print(results.add(similarity_table(kept, by_task), "§4.4, eq. 4.25"), "")
        if given.plans:
            plans = plan_table({task: general[task] for task in given.tasks})
            console.print(results.add(plans, "§4.4, eq. 4.25"), "")
        if given.videos:
            console.print(f"video  {film_both(given.videos, general['drawer'])}")
    except SimbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if "drawer" not in people:
        write_results(given.results, results)
        return 0
    value, count = ratio(found[LIMITED]["drawer"], "energy")
    holds = value >= FACTOR
    mark = "✓" if holds else "MISSED"
    line = f"drawer: energy alone / {GENERAL} {value:.2f} ({count} people), at least {FACTOR}"
    console.print(f"{mark}  {line}")
    results.check(line, holds)
    write_results(given.results, results)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
