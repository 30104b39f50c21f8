"""A whole motion-capture session: every person performs every task, the truth is kept with the recordings."""

import csv
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import MotionError
from simbench.files.storage import claim_folder
from simbench.motion.actors.free_motions import FREE
from simbench.motion.actors.human_model import ARM_JOINT_NAMES, SPINE_JOINTS, HumanModel
from simbench.motion.actors.people import (
    CRITERIA,
    ERGONOMIC,
    STANCES,
    ActorPerformance,
    ActorStrategy,
    deal_strategies,
    session_people,
)
from simbench.motion.actors.perform import perform
from simbench.motion.actors.tasks import PLACES
from simbench.motion.actors.virtual_mocap import MocapErrors
from simbench.motion.writers import Truth, write_netcdf
from simbench.robot.sides import SIDES
from simbench.system.termination import exit_with_parent

# Tasks and free motions of a session, in the order that its seed counts them.
SESSION_TASKS = (
    *("valves", "drawer", "canoe_paddles", "steering_wheel", "pump", "knife", "grater", "hand_drill"),
    *("waving", "signing", "arms_forward", "fast_waving"),
)
# What can be performed.
TASKS = (*SESSION_TASKS, *(task for task in (*PLACES, *FREE) if task not in SESSION_TASKS))
FREE_PERFORMER = 1  # Number of the actor who does the free motions, as in Kim & Kim (2005) one did.
# A person who cannot do it from where they stand steps nearer or back: tried one after the other, as part of
# the arm's length.
STEPS = (0.0, 0.04, -0.04, 0.08, -0.08, 0.14, -0.14, 0.24, -0.24)


def perform_in_session(seed: int, number: int, task: str) -> ActorPerformance:
    """Have one participant of a session perform one task.

    `seed`: seed of the virtual session; `number`: number of the participant, from 1. Returns the same whether
    it is recorded alone or with the whole session.
    """
    people = session_people(seed)
    if task not in TASKS:
        raise MotionError(f"actor:{task}: unknown task; known: {', '.join(TASKS)}")
    if not 1 <= number <= len(people):
        raise MotionError(f"actor {number}: a session has actors 1 to {len(people)}")
    person, source = people[number - 1], f"actor:{task}:{number}"
    # The first number is the stream: 0 is for the people themselves.
    key = [seed, 1, number, _seed_number(task)]
    errors = MocapErrors(skin=person.skin)
    if task in FREE:
        return FREE[task](person, np.random.default_rng(key), errors, source)
    strategy = deal_in_session(seed, number, task)
    human = HumanModel(person.actor, person.proportions, person.lift)
    stances = [(person, STANCES[person.stance])]
    if strategy.dominant == "ergonomy":
        # They choose distance and grip by ergonomics. The thesis found it dominant in motions that pass near
        # the ergonomic posture (Tomić 2018, conclusion): who minimises it does not stand anywhere.
        arm = ERGONOMIC[len(SPINE_JOINTS) : len(SPINE_JOINTS) + len(ARM_JOINT_NAMES)]
        upper, fore = person.proportions.upper_arm, person.proportions.forearm
        bent = np.cos(arm[ARM_JOINT_NAMES.index("elbow_flexion")])
        reach = np.sqrt(upper**2 + fore**2 + 2.0 * upper * fore * bent) / (upper + fore)
        stances.insert(0, (replace(person, comfort=arm.copy(), stance="well posed"), float(reach)))
    for participant, reach in stances:
        for step in STEPS:
            rng = np.random.default_rng([*key, 1])
            try:
                placed = PLACES[task](human, participant, reach + step, rng)
                return perform(participant, placed, strategy, rng, errors, source)
            except MotionError as error:
                refusal = error
    raise refusal


def deal_in_session(seed: int, number: int, task: str) -> ActorStrategy:
    """Draw what a participant minimises in a task. Arguments as of `perform_in_session`."""
    # Everybody up to this participant is dealt to.
    keys = ([seed, 1, each, _seed_number(task), 0] for each in range(1, number + 1))
    return deal_strategies(task, map(np.random.default_rng, keys))[-1]


def _seed_number(task: str) -> int:
    """Give a task its number in seeds: outside a session one of its own, whatever else is registered."""
    if task in SESSION_TASKS:
        return SESSION_TASKS.index(task)
    return len(SESSION_TASKS) + zlib.crc32(task.encode())


def record_session(
    folder: Path,
    seed: int,
    jobs: int,
    actors: Sequence[int] | None = None,
    tasks: Sequence[str] | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Record a session: one NetCDF file a recording, with its ground truth, and a table of them.

    Parameters
    ----------
    folder : Path
        Made by this; it must not exist or be empty. It appears under its name only when it is whole.
    seed : int
        Everything follows from it, to the byte.
    jobs : int
        Processes at once.
    actors : sequence of int, optional
        Numbers of the participants, by default all.
    tasks : sequence of str, optional
        Names, by default all. The free motions are one participant's.
    on_progress : callable (done, total)
        Called with the numbers of finished and of all recordings.

    Raises
    ------
    MotionError
        An unknown actor or task, or a folder that cannot be used.
    """
    people = session_people(seed)
    numbers = range(1, len(people) + 1) if actors is None else sorted(set(actors))
    names = SESSION_TASKS if tasks is None else tuple(dict.fromkeys(tasks))
    for number in numbers:
        if not 1 <= number <= len(people):
            raise MotionError(f"actor {number}: a session has actors 1 to {len(people)}")
    for name in names:
        if name not in TASKS:
            raise MotionError(f"task {name}: unknown; known: {', '.join(TASKS)}")
    chosen = [(n, task) for n in numbers for task in names if task not in FREE or n == FREE_PERFORMER]
    if not chosen:
        raise MotionError(
            f"nothing to record: {', '.join(FREE)} are performed by actor {FREE_PERFORMER} only"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise MotionError(f"{folder}: exists and is not an empty folder; give another --out")
    # The folder is made beside the final one, and renamed when all is in it.
    part = folder.with_name(folder.name + ".incomplete")
    with ExitStack() as stack:
        try:
            stack.enter_context(claim_folder(part, _holds_only_recordings))
        except OSError as error:
            raise MotionError(f"{part}: cannot be made: {error.strerror}") from None
        try:
            rows = {}
            on_progress(0, len(chosen))
            # Fresh processes: a copy of one with threads of its own may hang. They end with this one.
            with (
                _one_thread_each(),
                ProcessPoolExecutor(jobs, get_context("spawn"), exit_with_parent) as pool,
            ):
                try:
                    running = {pool.submit(_record, part, seed, *each): each for each in chosen}
                    for done, future in enumerate(as_completed(running), 1):
                        rows[running[future]] = future.result()
                        on_progress(done, len(chosen))
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
            with (part / "session.csv").open("w", encoding="utf-8", newline="") as file:
                table = csv.DictWriter(file, list(rows[chosen[0]]), lineterminator="\n")
                table.writeheader()
                table.writerows(rows[each] for each in chosen)
            part.replace(folder)
        except OSError as error:
            raise MotionError(f"{part}: cannot be written: {error.strerror}") from None


def ground_truth(performance: ActorPerformance) -> tuple[Truth, dict[str, str | float]]:
    """Collect the arrays and numbers of a performance that the recording does not show.

    Returns `truth`: variables for the recording's file; `attributes`: the strategy's weights, the equipment's
    numbers, and the sample of first contact.
    """
    model = performance.human.model
    names = [model.names[joint] for joint in range(2, model.njoints)]
    indices = [model.joints[model.getJointId(name)].idx_q for name in names]
    phases = performance.phases
    truth: dict[str, tuple[tuple[str, ...], ArrayLike, str]] = {
        "coordinate": (("coordinate",), np.array(names), ""),
        "joint_angle": (("time", "coordinate"), performance.q[:, indices], "rad"),
        "pelvis_pose": (("time", "pose"), performance.q[:, :7], "m, quaternion x y z w"),
        "travel": (("time",), performance.travel, "m or rad"),
        "boundaries": (("boundary",), performance.boundaries, "s"),
        "phases": (("phase", "bound"), np.array(list(phases.values())), "sample"),
        "phase": (("phase",), np.array(list(phases)), ""),
    }
    for side in SIDES:
        dims = ("time", "row", "rotation_and_place")
        truth[f"{side}_palm"] = dims, performance.palms[side][:, :3, :4], "m, 1"
    attributes: dict[str, str | float] = {
        f"equipment_{k}": float(v) for k, v in performance.equipment.items()
    }
    if performance.contact_start is not None:
        attributes["contact_start_sample"] = performance.contact_start
    if performance.strategy is not None:
        attributes |= {f"strategy_{name}": float(v) for name, v in asdict(performance.strategy).items()}
    return truth, attributes


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Start processes without threads of their own: the arrays are too small, and a core has enough of one.

    NumPy looks at the environment once, when a new process imports it.
    """
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        del os.environ[name]
        os.environ.update({} if before is None else {name: before})


def _record(folder: Path, seed: int, number: int, task: str) -> dict[str, str | float]:
    """Perform, write, and sum up one recording."""
    performance = perform_in_session(seed, number, task)
    truth, attributes = ground_truth(performance)
    name = f"actor_{number:02d}_{task}.nc"
    write_netcdf(performance.motion, folder / name, truth, attributes)
    person, motion = session_people(seed)[number - 1], performance.motion
    weights = asdict(performance.strategy) if performance.strategy else {}
    return {
        "file": name,
        "actor": number,
        "task": task,
        "sex": person.actor.sex or "",
        "age_years": person.actor.age or "",
        "height_m": person.actor.height,
        "mass_kg": person.actor.mass or "",
        "stance": person.stance,
        "rate_hz": round(motion.rate, 6),
        "frames": len(motion.time),
        "repetitions": len(performance.boundaries) - 1,
        **{f"weight_{criterion}": weights.get(criterion, "") for criterion in CRITERIA},
    }


def _holds_only_recordings(folder: Path) -> bool:
    """Return whether a folder contains nothing but what an interrupted session writes."""
    suffixes = (".nc", ".csv", ".part", ".part.nc")
    with os.scandir(folder) as entries:
        return all(each.is_file(follow_symlinks=False) and each.name.endswith(suffixes) for each in entries)
