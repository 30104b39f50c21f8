"""What another place of the robot, or another size of the equipment, would bring: each is planned."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from simbench.errors import SimbenchError
from simbench.retargeting.match.body import arm_lengths, match_body
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import has_both_arms
from simbench.robot.sides import SIDES
from simbench.runs.motion_source import scenario_motion
from simbench.runs.preparation import Planning, complete_scenario, prepare
from simbench.runs.scenario.loading import Scenario, scenario_mechanisms
from simbench.system.progress import OnProgress


@dataclass(frozen=True)
class PlannedPlacement:
    """A scenario planned with one place of the robot and one size of the equipment."""

    place: Literal["given", "auto"]  # Value of `robot.place`.
    scale: float  # Value of `equipment_scale`.
    # {str: float or None}: metrics of the plan, such as `retarget.robot_forearm_mean_rad`; empty if there is
    # none.
    metrics: Mapping[str, float | None]
    base: tuple[float, ...] = ()  # (3,): where the root link begins: x, y and z, m, world.
    fault: str = ""  # Why there is no plan; empty if there is one.


def plan_placements(
    robot: Robot,
    scenario: Scenario,
    scales: Sequence[float],
    on_progress: OnProgress,
    *,
    places: Sequence[Literal["given", "auto"]] = ("given", "auto"),
) -> Iterator[PlannedPlacement]:
    """Plan a scenario for every size of its equipment and every way to place its robot.

    What cannot be planned is told, not raised. A scenario that searches the place itself (`robot.place:
    auto`) gives none.
    """
    if scenario.robot.place == "auto":
        places = ("auto",)
    for scale, place in product(scales, places):
        section = scenario.robot.model_copy(update={"place": place})
        varied = scenario.model_copy(update={"equipment_scale": scale, "robot": section})
        try:
            completed, _ = complete_scenario(robot, varied)
            course = prepare(robot, completed, Planning(), on_progress).course
        except SimbenchError as error:
            yield PlannedPlacement(place, scale, {}, fault=str(error))
        else:
            base = tuple(np.asarray(course.timeline.base)[:3].tolist())
            yield PlannedPlacement(place, scale, course.metrics, base)


def arm_ratio(robot: Robot, scenario: Scenario) -> float | None:
    """Length of a robot's arms, shoulder to wrist, by the person's; None without two human arms."""
    if not has_both_arms(robot):
        return None
    unscaled = scenario.model_copy(update={"equipment_scale": 1.0})
    joints = scenario_motion(unscaled, scenario_mechanisms(unscaled)).joints
    body, own, person = match_body(robot), 0.0, 0.0
    for side in SIDES:
        places = [joints.get(f"{side}_{name}") for name in ("shoulder", "elbow", "wrist")]
        shoulder, elbow, wrist = places
        if shoulder is None or elbow is None or wrist is None:
            return None
        own += sum(arm_lengths(body, side))
        person += float(np.median(np.linalg.norm(elbow - shoulder, axis=1)))
        person += float(np.median(np.linalg.norm(wrist - elbow, axis=1)))
    return own / person
