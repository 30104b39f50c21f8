"""A virtual actor who performs a task on the scenario's own equipment."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.motion.actors import DEFAULT_ERRORS
from simbench.motion.actors.human_model import HumanModel, build_human_model
from simbench.motion.actors.people import AVERAGE_PERSON, FRUGAL, STANCES
from simbench.motion.actors.perform import perform
from simbench.motion.actors.task import MOVES, Task, Timing, stack_palms
from simbench.motion.actors.tasks import PLACES, DrawerTask, make_drawer_task
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES
from simbench.runs.scenario.loading import Scenario
from simbench.sim.equipment import find_free_axis, find_held_mechanisms, positions_of_use
from simbench.sim.fixtures.mechanism import Mechanism, handle_poses

DRAWER = "drawer"
_TIMES = {
    "initial_duration_s": "initial",
    "transition_duration_s": "transition",
    "descent_duration_s": "descent",
    "grasp_duration_s": "grasp",
    "turning_pause_s": "pause",
    "rest_duration_s": "rest",
}
"""Keys of `motion.task` to fields of `Timing`."""
_MAY_BE_ZERO = ("initial_duration_s", "grasp_duration_s", "turning_pause_s", "rest_duration_s")
_APPROACH = ("approach_forward_m", "approach_outward_m", "approach_up_m")
"""Keys of a hand's position before it grasps its handle, relative to the handle: along x, away from the other
hand, along z."""
_FARTHEST_APPROACH = 0.3
"""Largest distance of that position from the handle, m."""
_MOVES = {DRAWER: ("pull_duration_s", "push_duration_s")}
"""Keys that name the duration of each move of a task."""


def perform_on_fixture(scenario: Scenario, mechanisms: Sequence[Mechanism]) -> HumanMotion:
    """Let the average person use the scenario's equipment, standing or sitting at the world's origin.

    `scenario`: scenario whose source is `actor:<task>`. Returns the performance, with the handles' paths as
    far as they were moved. Raises MotionError if the equipment is out of the actor's reach.
    """
    source = scenario.motion.source
    name = source.partition(":")[2]
    types = [design.type for design in scenario.fixtures]
    held = find_held_mechanisms(mechanisms)
    human = build_human_model(AVERAGE_PERSON.actor)
    if name in types and (name == DRAWER or name in PLACES):
        given = _usual_task(name, human, scenario.seed)
    else:
        used = next((each for each in mechanisms if each.name == name and each.moves), None)
        if used is None:
            raise ScenarioError(f"motion.source {source}: needs a fixture of type {name}")
        given = _declared_task(used)
    hands = tuple(side for side in SIDES if side in held)
    if not hands:
        raise ScenarioError(f"motion.source {source}: no fixture has a handle for a hand")
    middle = np.mean([handle_poses(m, m.start[None])[side][0, :3, 3] for side, m in held.items()], axis=0)
    heading = max(abs(_heading(mechanism)) for mechanism in held.values())
    if name == DRAWER and (heading > 1e-9 or abs(middle[1]) > 1e-9):
        raise ScenarioError("fixtures: actor:drawer stands at the origin; allowed: heading_rad 0 and y 0")

    def palms(travel: Array) -> Array:
        # A hand that holds nothing may be anywhere.
        idle = np.tile(np.eye(4), (len(travel), 1, 1))
        poses = {side: handle_poses(held[side], positions_of_use(held[side], travel))[side] for side in hands}
        return stack_palms(*(poses.get(side, idle) for side in SIDES))

    task = replace(
        given,
        palms=palms,
        timing=_timing(given, scenario),
        turn_axes={side: find_free_axis(held[side], side) for side in hands},
        approach=_approach(given, scenario),
        details={},
        hands=hands,
    )
    rng = np.random.default_rng(scenario.seed)
    return perform(AVERAGE_PERSON, task, FRUGAL, rng, DEFAULT_ERRORS, source).motion


def _usual_task(name: str, human: HumanModel, seed: int) -> Task:
    """Make the task of equipment that is registered, as the average person finds it."""
    if name == DRAWER:
        return make_drawer_task(DrawerTask())
    stance = STANCES[AVERAGE_PERSON.stance]
    return PLACES[name](human, AVERAGE_PERSON, stance, np.random.default_rng(seed))


def _declared_task(mechanism: Mechanism) -> Task:
    """Make the task of equipment that says itself how it is used, without what all take from equipment."""
    count = len(mechanism.moves)
    ends = tuple((float(number), move.duration) for number, move in enumerate(mechanism.moves, 1))
    return Task(
        name=mechanism.name,
        unit=MOVES,
        palms=lambda travel: np.tile(np.eye(4), (len(travel), 2, 1, 1)),
        timing=Timing(moves=ends, repetitions=1, variation=0.0),
        turn_axes={},
        approach={
            side: mechanism.pose.rotation @ np.array(handle.approach or (0.0, 0.0, 0.0))
            for side, handle in mechanism.handles.items()
        },
        period=float(count),
        arms_forward=False,
    )


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
        _require(key, value)
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


def _approach(task: Task, scenario: Scenario) -> dict[str, Array]:
    """Apply the scenario's `motion.task` keys to the hands' positions before the grasp."""
    positions = {}
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        if side not in task.approach:
            continue
        position = np.array(task.approach[side], dtype=float)
        for axis, key in enumerate(_APPROACH):
            if key in scenario.motion.task:
                position[axis] = (sign if key == "approach_outward_m" else 1.0) * scenario.motion.task[key]
        distance = math.hypot(*position)
        if not distance <= _FARTHEST_APPROACH:
            raise ScenarioError(
                f"motion.task: hands come from {distance:.2g} m away by approach_*_m; "
                f"allowed: {_FARTHEST_APPROACH:g}"
            )
        positions[side] = position
    return positions


def _require(key: str, value: float) -> None:
    """Refuse values that cannot be performed."""
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


def _heading(mechanism: Mechanism) -> float:
    """Compute a mechanism's rotation about the vertical, rad."""
    rotation = mechanism.pose.rotation
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))
