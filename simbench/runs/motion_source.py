"""The motion that a scenario names: a person's recording, an actor's performance, or a robot's trajectory."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from simbench.errors import MotionError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.motion.actors import DEFAULT_ERRORS, perform_average
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import AVERAGE_PERSON, FRUGAL, STANCES
from simbench.motion.actors.perform import perform
from simbench.motion.actors.task import MOVES, Task, Timing
from simbench.motion.actors.tasks import PLACES, DrawerTask, make_drawer_task
from simbench.motion.human_motion import HumanMotion, resample, scale_motion
from simbench.motion.motion_inspection import find_doubts
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.motion.trajectory import JointTrajectory, round_motion, round_trajectory
from simbench.motion.trajectory_files import read_robot_motion
from simbench.motion.trajectory_files.stored_motion import TrajectoryOptions
from simbench.options import TRAJECTORY
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.runs.scenario.schema import Scenario
from simbench.runs.trajectory_plan import MIN_SAMPLES, TrajectoryPlan, plan_on_feet, plan_on_fixed_base
from simbench.sim.equipment import find_free_axis, find_held_mechanisms, positions_of_use
from simbench.sim.fixtures import fixture_mechanism
from simbench.sim.fixtures.mechanism import Mechanism, handle_poses
from simbench.system.progress import OnProgress

DRAWER = "drawer"  # The task that is never performed without a fixture of the scenario.
_FEWEST_SAMPLES = 4  # Samples that a cubic spline needs.
# Keys of `motion.task` to fields of `Timing`.
_TIMES = {
    "initial_duration_s": "initial",
    "transition_duration_s": "transition",
    "descent_duration_s": "descent",
    "grasp_duration_s": "grasp",
    "turning_pause_s": "pause",
    "rest_duration_s": "rest",
}
_MAY_BE_ZERO = ("initial_duration_s", "grasp_duration_s", "turning_pause_s", "rest_duration_s")
# Keys of a hand's position before it grasps its handle, relative to the handle: along x, away from the other
# hand, along z.
_APPROACH = ("approach_forward_m", "approach_outward_m", "approach_up_m")
_FARTHEST_APPROACH = 0.3  # Largest distance of that position from the handle, m.
# Keys that name the duration of each move of a task.
_MOVES = {DRAWER: ("pull_duration_s", "push_duration_s")}
# Key of a scenario for each option with which a file of a robot's motion is declared.
_KEYS = {
    "--joint-order": "motion.joint_order",
    "--quaternion ": "motion.quaternion: ",
    "--quaternion": "motion.quaternion",
    "--fps": "motion.fps",
}


def scenario_motion(scenario: Scenario, mechanisms: Sequence[Mechanism]) -> HumanMotion:
    """Read a scenario's recording, or have an actor perform it on the equipment; resample and crop it.

    `scenario`: scenario with its section `motion`; `mechanisms`: mechanisms of the scenario's fixtures.
    Returns the motion at `motion.rate_hz`, from `motion.start_s` to `motion.end_s`, scaled with the
    equipment, displaced by as little as rounding if `variation.rounding_seed` is given. Its doubts are those
    of all of the recording.
    """
    section = scenario.motion
    scheme, _, task = section.source.partition(":")
    uses = any(mechanism.name == task and mechanism.moves for mechanism in mechanisms)
    if scheme == "actor" and (task == DRAWER or uses or (mechanisms and task in PLACES)):
        motion = perform_on_fixture(scenario, [fixture_mechanism(design) for design in scenario.fixtures])
    elif section.task:
        raise ScenarioError(
            f"motion.task.{next(iter(section.task))}: {section.source} takes no keys; an actor:<task> on "
            "a fixture of that type does"
        )
    elif scheme == "actor" and ":" not in task:
        # With a participant's number a source names one recording of the session, whatever the seed.
        motion = perform_average(task, scenario.seed).motion
    else:
        options = ReadOptions(
            section.unit,
            section.up,
            section.marker_map,
            section.longest_gap_s,
            strict=section.strict,
            estimate=section.estimate,
            scale=section.scale,
            stature=section.height_m,
            skeleton=section.skeleton,
            body_model=section.body_model,
            fps=section.fps,
            reader=section.reader,
        )
        motion = read_motion(section.source, options)
    if scenario.equipment_scale != 1.0:
        motion = scale_motion(motion, scenario.equipment_scale)
    motion = replace(motion, doubts=find_doubts(motion))
    if section.speed != 1.0:
        motion = replace(motion, time=motion.time / section.speed)
    if abs(motion.rate - section.rate_hz) > 1e-6 * section.rate_hz:
        motion = resample(motion, section.rate_hz)
    start, end = section.start_s or 0.0, section.end_s
    if start != 0.0 or (end is not None and end < motion.time[-1]):
        keep = np.flatnonzero((motion.time >= start) & (motion.time <= (np.inf if end is None else end)))
        if len(keep) < 2:
            raise MotionError(
                f"{motion.source}: nothing between {start:g} and {end} s; it lasts {motion.time[-1]:g} s"
            )
        first, last = keep[0], keep[-1]
        part, strokes = slice(first, last + 1), motion.strokes
        if strokes is not None:
            strokes = strokes[(strokes[:, 0] >= first) & (strokes[:, 1] <= last)] - first
        # Its clock starts at 0.
        motion = replace(
            motion,
            time=motion.time[part] - motion.time[first],
            joints={name: values[part] for name, values in motion.joints.items()},
            segments={name: values[part] for name, values in motion.segments.items()},
            markers={name: values[part] for name, values in motion.markers.items()},
            strokes=strokes,
            filled=tuple(
                replace(gap, first=max(gap.first, first) - first, last=min(gap.last, last) - first)
                for gap in motion.filled
                if gap.last >= first and gap.first <= last
            ),
        )
    if len(motion.time) < _FEWEST_SAMPLES:
        raise MotionError(
            f"{motion.source}: {len(motion.time)} samples at {section.rate_hz:g} Hz are too short to follow; "
            f"at least {_FEWEST_SAMPLES} are needed"
        )
    seed, size = scenario.variation.rounding_seed, scenario.variation.rounding_size
    return motion if seed is None else round_motion(motion, seed, size)


def perform_on_fixture(scenario: Scenario, mechanisms: Sequence[Mechanism]) -> HumanMotion:
    """Let the average person use the scenario's equipment, standing or sitting at the world's origin.

    `scenario`: scenario whose source is `actor:<task>`. Returns the performance, with the handles' paths as
    far as they were moved. Raises MotionError if the equipment is out of the actor's reach.
    """
    source = scenario.motion.source
    name = source.partition(":")[2]
    types = [design.type for design in scenario.fixtures]
    held = find_held_mechanisms(mechanisms)
    human = HumanModel(AVERAGE_PERSON.actor)
    if name in types and name == DRAWER:
        given = make_drawer_task(DrawerTask())
    elif name in types and name in PLACES:
        # As the average person finds it.
        stance, chance = STANCES[AVERAGE_PERSON.stance], np.random.default_rng(scenario.seed)
        given = PLACES[name](human, AVERAGE_PERSON, stance, chance)
    else:
        used = next((each for each in mechanisms if each.name == name and each.moves), None)
        if used is None:
            raise ScenarioError(f"motion.source {source}: needs a fixture of type {name}")
        # Equipment that says itself how it is used.
        ends = tuple((float(number), move.duration) for number, move in enumerate(used.moves, 1))
        given = Task(
            name=used.name,
            unit=MOVES,
            palms=lambda travel: np.tile(np.eye(4), (len(travel), 2, 1, 1)),
            timing=Timing(moves=ends, repetitions=1, variation=0.0),
            turn_axes={},
            approach={
                side: used.pose.rotation @ np.array(handle.approach or (0.0, 0.0, 0.0))
                for side, handle in used.handles.items()
            },
            period=float(len(used.moves)),
            arms_forward=False,
        )
    hands = tuple(side for side in SIDES if side in held)
    if not hands:
        raise ScenarioError(f"motion.source {source}: no fixture has a handle for a hand")
    middle = np.mean([handle_poses(m, m.start[None])[side][0, :3, 3] for side, m in held.items()], axis=0)
    rotations = [mechanism.pose.rotation for mechanism in held.values()]
    heading = max(abs(float(np.arctan2(each[1, 0], each[0, 0]))) for each in rotations)
    if name == DRAWER and (heading > 1e-9 or abs(middle[1]) > 1e-9):
        raise ScenarioError("fixtures: actor:drawer stands at the origin; allowed: heading_rad 0 and y 0")

    def palms(travel: Array) -> Array:
        # A hand that holds nothing may be anywhere.
        idle = np.tile(np.eye(4), (len(travel), 1, 1))
        poses = {side: handle_poses(held[side], positions_of_use(held[side], travel))[side] for side in hands}
        return np.stack([poses.get(side, idle) for side in SIDES], axis=1)

    timing = _timing(given, scenario)
    approach: dict[str, Array] = {}
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        if side not in given.approach:
            continue
        position = np.array(given.approach[side], dtype=float)
        for axis, key in enumerate(_APPROACH):
            if key in scenario.motion.task:
                position[axis] = (sign if key == "approach_outward_m" else 1.0) * scenario.motion.task[key]
        distance = math.hypot(*position)
        if not distance <= _FARTHEST_APPROACH:
            raise ScenarioError(
                f"motion.task: hands come from {distance:.2g} m away by approach_*_m; "
                f"allowed: {_FARTHEST_APPROACH:g}"
            )
        approach[side] = position
    task = replace(
        given,
        palms=palms,
        timing=timing,
        turn_axes={side: find_free_axis(held[side], side) for side in hands},
        approach=approach,
        details={},
        hands=hands,
    )
    rng = np.random.default_rng(scenario.seed)
    return perform(AVERAGE_PERSON, task, FRUGAL, rng, DEFAULT_ERRORS, source).motion


def _timing(task: Task, scenario: Scenario) -> Timing:
    """Apply the scenario's `motion.task` keys to a task's timing."""
    timing, stroke, named = task.timing, f"stroke_{task.unit}", _MOVES.get(task.name, ())
    strokes = () if task.unit == MOVES else (stroke,)
    known = (*strokes, "repetitions", "variation", "move_duration_s", *named, *_TIMES, *_APPROACH)
    changes: dict[str, Any] = {"rate": scenario.motion.rate_hz}
    displacements, durations = np.array(timing.moves).T
    for key, value in scenario.motion.task.items():
        if key not in known:
            raise ScenarioError(f"motion.task.{key}: unknown key; allowed: {', '.join(sorted(known))}")
        if key in _APPROACH:
            continue
        if key == "repetitions":
            possible, allowed = value in range(1, 1001), "a whole number from 1 to 1000"
        elif key == "variation":
            # Random durations deviate by up to twice the variation, and none may become 0.
            possible, allowed = 0.0 <= value < 0.5, "0 to less than 0.5"
        elif key in _MAY_BE_ZERO:
            possible, allowed = 0.0 <= value <= 3600.0, "0 to 3600"
        elif key.startswith("stroke_"):
            possible, allowed = 1e-5 <= value <= 1000.0, "0.00001 to 1000"
        else:
            possible, allowed = 1e-4 <= value <= 3600.0, "0.0001 to 3600"
        if not possible:
            raise ScenarioError(f"motion.task.{key}: {value:g}; allowed: {allowed}")
        if key == stroke:
            displacements *= value / np.abs(displacements).max()
        elif key == "move_duration_s":
            durations *= value / durations.max()
        elif key in named:
            durations[named.index(key)] = value
        elif key == "repetitions":
            changes[key] = int(value)
        else:
            changes[_TIMES.get(key, key)] = value
    moves = tuple(zip(displacements.tolist(), durations.tolist(), strict=True))
    return replace(timing, moves=moves, **changes)


def plan_scenario_trajectory(robot: Robot, scenario: Scenario, on_progress: OnProgress) -> TrajectoryPlan:
    """Read the robot motion of a scenario and plan how the robot follows it.

    `robot`: the scenario's robot; `scenario`: scenario whose `motion.source` is `trajectory:FILE`;
    `on_progress`: called as planning proceeds. Returns the planned motion, with the notes and doubts of
    reading and of planning. Raises RetargetError if the robot cannot stand where it begins or ends.
    """
    for key in ("fixtures", "stepping", "push"):
        if getattr(scenario, key):
            raise ScenarioError(f"{key}: motion.source {TRAJECTORY}FILE uses none")
    section = scenario.motion
    path = Path(section.source.removeprefix(TRAJECTORY))
    on_progress("read", 0, 1)
    options = TrajectoryOptions(section.joint_order, section.quaternion, section.fps)
    try:
        motion = read_robot_motion(path, robot, options)
    except MotionError as error:
        raise MotionError(_with_keys(str(error))) from None
    notes, doubts = (tuple(map(_with_keys, lines)) for lines in (motion.notes, motion.doubts))
    if section.strict and doubts:
        raise MotionError(f"{path}: {doubts[0]} (motion.strict)")
    trajectory = motion.trajectory
    time = trajectory.time / section.speed
    keep = (time >= (section.start_s or 0.0)) & (time <= (np.inf if section.end_s is None else section.end_s))
    if keep.sum() < MIN_SAMPLES:
        raise MotionError(
            f"{path}: {keep.sum()} samples between motion.start_s and motion.end_s; "
            f"at least {MIN_SAMPLES} are needed, and it lasts {time[-1]:g} s"
        )
    base = None if trajectory.base is None else trajectory.base[keep]
    trajectory = JointTrajectory(time[keep] - time[keep][0], trajectory.q[keep], trajectory.joint_names, base)
    if (seed := scenario.variation.rounding_seed) is not None:
        trajectory = round_trajectory(trajectory, seed, scenario.variation.rounding_size)
    on_progress("read", 1, 1)
    settings, feedforward = scenario.simulation, scenario.control.feedforward
    on_progress("plan", 0, 1)
    try:
        if robot.floating:
            plan = plan_on_feet(
                robot, trajectory, scenario.robot, settings, scenario.balance.rate_hz, feedforward
            )
        else:
            plan = plan_on_fixed_base(robot, trajectory, scenario.robot, settings, feedforward)
    except MotionError as error:
        raise MotionError(f"{path}: {error}") from None
    on_progress("plan", 1, 1)
    return replace(plan, notes=(*notes, *plan.notes), doubts=(*doubts, *plan.doubts))


def _with_keys(text: str) -> str:
    """Name the keys of a scenario where a text names options of the command line."""
    for option, key in _KEYS.items():
        text = text.replace(option, key)
    return text
