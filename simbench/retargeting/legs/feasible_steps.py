"""The nearest footsteps that a robot can take: their times, and their places."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.optimize import isotonic_regression

from simbench.balance.gait.footsteps import StepLimits, soles_overlap, yaw_of
from simbench.kinematics.arrays import Array
from simbench.retargeting.legs.footsteps import FootstepPlan, TimedStep
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

SHORTEST_SWING = 0.28
"""Shortest swing, s: within it a foot rises, moves and sinks at speeds that a leg's joints have."""
SHORTEST_DOUBLE_SUPPORT = 0.08
"""Shortest time on both feet between two swings, s: the ZMP moves from sole to sole in it."""
_SHORTEST_CONTACT = 0.10
"""Shortest contact of a foot between two swings of its own, s."""
LONGEST_SWING = 2.5
"""Longest time on one foot, s: the joints give way, and the trunk drifts over the sole meanwhile."""
_TIME_NOTE, _PLACE_NOTE, _TURN_NOTE = 0.03, 0.01, 0.05
"""Changes from which on they are said, s, m and rad."""
_REACH_FRACTION = 0.9
"""Part of the longest step that is used: the rest is for the COG's motion."""
_TURN_FRACTION = 0.8
"""Part of the largest rotation of a foot against the other one that is used."""
_PUSH, _MOST_PUSH = 0.005, 0.3
"""Distance by which a foot is moved outward at a time until the soles do not overlap, and in all, m."""
_CLEAR_GROWTH = 0.01
"""Distance that is left between the soles then, m."""


@dataclass(frozen=True)
class StepChange:
    """A footstep that was changed.

    Parameters
    ----------
    time : float
        Time of the person's landing or lift, s of the recording.
    reason : str
        What was changed, by how much, and why, in one line.
    """

    time: float
    reason: str


class FeasibleSteps(NamedTuple):
    """Footsteps that a robot can take, and how they differ from what was asked.

    Parameters
    ----------
    plan : FootstepPlan
        The footsteps.
    changes : tuple of StepChange
        Changes, by time.
    """

    plan: FootstepPlan
    changes: tuple[StepChange, ...]


def make_feasible(robot: Robot, plan: FootstepPlan, limits: StepLimits, stance: Sequence[pin.SE3]) -> FeasibleSteps:
    """Find the footsteps nearest to a plan that a robot can take.

    Times: of all sequences in which a swing lasts at least 0.28 s and both feet stand for at least 0.08 s
    between two swings, the one with the least sum of squared changes (isotonic regression). Swings longer than
    2.5 s are shortened at both ends. Places, step by step: the foot's rotation against the standing foot within
    the legs' range, its distance from the place beside that foot within their reach, and the soles apart.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    plan : FootstepPlan
        Scaled footsteps.
    limits : StepLimits
        Reach and rotations of a step.
    stance : sequence of pinocchio.SE3
        Left and right foot frame beside each other as the robot stands.

    Returns
    -------
    FeasibleSteps
        The nearest steps.
    """
    steps, changes = _feasible_times(plan.steps)
    beside = [stance[1].actInv(stance[0]), stance[0].actInv(stance[1])]
    feet = [_pose(row) for row in plan.start]
    feet[1], _ = _feasible_place(robot, limits, 1, feet, beside[1], feet[1])
    start = np.array([[*foot.translation[:2], yaw] for foot, yaw in zip(feet, plan.start[:, 2], strict=True)])
    placed = []
    for step in steps:
        wanted = _pose(np.array([*step.position, step.yaw]))
        pose, reasons = _feasible_place(robot, limits, step.foot, feet, beside[step.foot], wanted)
        changes += [StepChange(step.landing, f"the {SIDES[step.foot]} foot {reason}") for reason in reasons]
        yaw = step.yaw + math.remainder(yaw_of(pose) - step.yaw, math.tau)
        placed.append(step._replace(position=pose.translation[:2].copy(), yaw=yaw))
        feet[step.foot] = pose
    changes.sort(key=lambda change: change.time)
    return FeasibleSteps(plan._replace(start=start, steps=tuple(placed)), tuple(changes))


def _feasible_times(steps: Sequence[TimedStep]) -> tuple[list[TimedStep], list[StepChange]]:
    """Lift and land the feet one after the other, as near as possible to when the person did."""
    if not steps:
        return [], []
    changes: list[StepChange] = []
    events, gaps = [], []
    for number, step in enumerate(steps):
        lift, landing = step.lift, step.landing
        if landing - lift > LONGEST_SWING:
            middle = 0.5 * (lift + landing)
            changes.append(
                StepChange(
                    lift,
                    f"the person stands {landing - lift:.2f} s on the {SIDES[1 - step.foot]} foot alone; the robot "
                    f"{LONGEST_SWING:g} s",
                )
            )
            lift, landing = middle - 0.5 * LONGEST_SWING, middle + 0.5 * LONGEST_SWING
        if number:
            same = steps[number - 1].foot == step.foot
            gaps.append(_SHORTEST_CONTACT if same else SHORTEST_DOUBLE_SUPPORT)
        gaps.append(SHORTEST_SWING)
        events += [lift, landing]
    offset = np.concatenate([[0.0], np.cumsum(gaps)])
    # With the least gaps taken off, the times must only not decrease.
    times = isotonic_regression(np.array(events) - offset).x + offset
    result = []
    for number, step in enumerate(steps):
        lift, landing = times[2 * number : 2 * number + 2].tolist()
        result.append(step._replace(lift=lift, landing=landing))
        changes += _time_changes(steps, number, lift, landing)
    return result, changes


def _time_changes(steps: Sequence[TimedStep], number: int, lift: float, landing: float) -> list[StepChange]:
    """Say by how much a swing is moved in time, and why."""
    step = steps[number]
    if step.landing - step.lift > LONGEST_SWING:
        return []
    side = SIDES[step.foot]
    found = []
    flight = steps[number + 1].lift - step.landing if number + 1 < len(steps) else 0.0
    if number + 1 < len(steps) and steps[number + 1].foot != step.foot and flight < 0.0:
        found.append(
            StepChange(
                steps[number + 1].lift,
                f"both feet are off the floor for {-flight:.2f} s, as in a run or a jump: the robot lands the "
                f"{side} foot {step.landing - landing:.2f} s earlier",
            )
        )
    elif abs(landing - step.landing) > _TIME_NOTE and step.recorded:
        how = "later" if landing > step.landing else "earlier"
        found.append(
            StepChange(
                step.landing,
                f"the {side} foot lands {abs(landing - step.landing):.2f} s {how}: swings of at least "
                f"{SHORTEST_SWING:g} s and {SHORTEST_DOUBLE_SUPPORT:g} s on both feet",
            )
        )
    return found


def _feasible_place(
    robot: Robot, limits: StepLimits, foot: int, feet: Sequence[pin.SE3], beside: pin.SE3, wanted: pin.SE3
) -> tuple[pin.SE3, list[str]]:
    """Nearest pose to a wanted one that a foot can reach beside the one that stands, and what was changed."""
    standing, outward = feet[1 - foot], (1.0, -1.0)[foot]
    home = standing * beside
    reasons = []
    turn = math.remainder(yaw_of(wanted) - yaw_of(home), math.tau) * outward
    allowed = float(np.clip(turn, -_TURN_FRACTION * limits.inward, _TURN_FRACTION * limits.outward))
    if abs(allowed - turn) > _TURN_NOTE:
        reasons.append(f"turns by {outward * allowed:+.2f} rad against the other one, not {outward * turn:+.2f}")
    yaw = yaw_of(home) + outward * allowed
    reach = _REACH_FRACTION * limits.reach
    displacement = wanted.translation[:2] - home.translation[:2]
    distance = float(np.linalg.norm(displacement))
    if distance > reach:
        displacement = displacement * (reach / distance)
        if distance - reach > _PLACE_NOTE:
            reasons.append(f"steps {reach:.2f} m from its place beside the other one, not {distance:.2f} m")
    position = home.translation[:2] + displacement
    across = standing.rotation[:2, 1] * outward
    pose = _pose(np.array([*position, yaw]))
    pushed = 0.0
    while soles_overlap(robot, SIDES[foot], feet[foot], pose, standing) and pushed < _MOST_PUSH:
        pushed += _PUSH
        pose = _pose(np.array([*(position + (pushed + _CLEAR_GROWTH) * across), yaw]))
    if pushed > _PLACE_NOTE:
        reasons.append(f"lands {pushed + _CLEAR_GROWTH:.2f} m farther out: its sole would come over the other one")
    return pose, reasons


def _pose(place: Array) -> pin.SE3:
    """Pose of a level foot at x, y (m) and yaw (rad)."""
    return pin.SE3(pin.utils.rotate("z", float(place[2])), np.array([place[0], place[1], 0.0]))
