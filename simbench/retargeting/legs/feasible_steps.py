"""The nearest footsteps that a robot can take: their times, and their places."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import shapely
from scipy.optimize import isotonic_regression

from simbench.balance.gait.footsteps import soles_overlap, yaw_of
from simbench.kinematics.arrays import Array
from simbench.retargeting.legs.foot_directions import Heading, choose_directions
from simbench.retargeting.legs.footsteps import FootstepPlan, TimedStep
from simbench.retargeting.legs.leg_range import INWARD_FRACTION, OUTWARD_FRACTION, LegRange
from simbench.retargeting.legs.step_times import SHORTEST_DOUBLE_SUPPORT, SHORTEST_SWING
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_SHORTEST_CONTACT = 0.10
"""Shortest contact of a foot between two swings of its own, s."""
LONGEST_SWING = 2.5
"""Longest time on one foot, s: the joints give way, and the trunk drifts over the sole meanwhile."""
_TIME_NOTE, _PLACE_NOTE, _TURN_NOTE = 0.03, 0.01, 0.05
"""Changes from which on they are said, s, m and rad."""
_REACH_FRACTION = 0.9
"""Part of the longest step that is used: the rest is for the COG's motion."""
_PUSH = 0.005
"""Distance by which a foot is moved outward at a time until the soles do not overlap, m."""
_FEET_APART = 0.02
"""Least distance of two soles, m: feet are wider than their soles."""
_WAY = (0.4, 0.55, 0.7, 0.85, 1.0)
"""Parts of the way of a foot at which that distance is kept; it may begin nearer."""
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


def make_feasible(
    robot: Robot, plan: FootstepPlan, legs: LegRange, shortened: Sequence[float], heading: Heading
) -> FeasibleSteps:
    """Find the footsteps nearest to a plan that a robot can take.

    Times: of all sequences in which a swing lasts at least 0.28 s and both feet stand for at least 0.1 s
    between two swings, the one with the least sum of squared changes (isotonic regression). Swings longer
    than 2.5 s are shortened at both ends. Places, step by step: the foot's rotation against the standing foot
    within the legs' range, its distance from the place beside that foot within their reach, and the soles
    apart.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    plan : FootstepPlan
        Scaled footsteps.
    legs : LegRange
        Reach and rotations of a step.
    shortened : sequence of float
        Part of the first stance and of each step, from the place beside the other foot, that the robot takes:
        1 for all of it.
    heading : Heading
        The person's heading, with which the feet let the root turn.

    Returns
    -------
    FeasibleSteps
        The nearest steps.
    """
    steps, changes = _feasible_times(plan.steps)
    plan, steps, turned = _turn_feet(plan, steps, legs, heading)
    changes += turned
    feet = [_pose(row) for row in plan.start]
    # The feet stand from the start: there is no swing past the other one.
    feet[1], _ = _feasible_place(robot, legs, 1, [feet[0], None], feet[1], (np.inf, shortened[0]))
    start = plan.start.copy()
    for row, foot in zip(start, feet, strict=True):
        row[:] = [*foot.translation[:2], row[2] + math.remainder(yaw_of(foot) - row[2], math.tau)]
    placed = []
    for step, part in zip(steps, shortened[1:], strict=True):
        wanted = _pose(np.array([*step.position, step.yaw]))
        pose, reasons = _feasible_place(
            robot, legs, step.foot, feet, wanted, (step.landing - step.lift, part)
        )
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
                    f"the person stands {landing - lift:.2f} s on the {SIDES[1 - step.foot]} foot "
                    f"alone; the robot "
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


def _turn_feet(
    plan: FootstepPlan, steps: list[TimedStep], legs: LegRange, heading: Heading
) -> tuple[FootstepPlan, list[TimedStep], list[StepChange]]:
    """Turn all feet together where hips cannot turn them as the person's: the root then turns with them.

    A person turns on a foot that stands; the robot's is put down where the whole turn is followed best.
    """
    wanted = np.array([*plan.start[:, 2], *(step.yaw for step in steps)])
    if _turns_within(wanted, steps, legs):
        return plan, steps, []
    yaws = choose_directions(plan, steps, legs, heading)
    start = plan.start.copy()
    start[:, 2] = yaws[:2]
    placed = [step._replace(yaw=float(yaw)) for step, yaw in zip(steps, yaws[2:], strict=True)]
    changes = [
        StepChange(
            step.landing,
            f"the {SIDES[step.foot]} foot points {after - before:+.2f} rad off: hips turn a foot by "
            f"{-INWARD_FRACTION * legs.inward:.2f} to {OUTWARD_FRACTION * legs.outward:.2f} rad against "
            "the other one",
        )
        for step, before, after in zip(steps, wanted[2:], yaws[2:], strict=True)
        if abs(after - before) > _TURN_NOTE
    ]
    return plan._replace(start=start), placed, changes


def _turns_within(yaws: Array, steps: Sequence[TimedStep], legs: LegRange) -> bool:
    """Tell whether the hips can turn each foot against the other one as asked."""
    latest = [float(yaws[0]), float(yaws[1])]
    turns = [latest[0] - latest[1]]
    for step, yaw in zip(steps, yaws[2:].tolist(), strict=True):
        turns.append((1.0, -1.0)[step.foot] * (yaw - latest[1 - step.foot]))
        latest[step.foot] = yaw
    return min(turns) >= -INWARD_FRACTION * legs.inward and max(turns) <= OUTWARD_FRACTION * legs.outward


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
                f"both feet are off the floor for {-flight:.2f} s, as in a run or a jump: the robot "
                f"lands the "
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
    robot: Robot,
    legs: LegRange,
    foot: int,
    feet: Sequence[pin.SE3 | None],
    wanted: pin.SE3,
    swing: tuple[float, float],
) -> tuple[pin.SE3, list[str]]:
    """Nearest pose to a wanted one that a foot can reach beside the one that stands, and what was changed.

    `swing` is the duration of the swing, s, and the part of the step that is taken; a foot that has no pose
    before stands there from the start.
    """
    standing, outward, (duration, part) = feet[1 - foot], (1.0, -1.0)[foot], swing
    assert standing is not None
    home = standing * legs.beside[foot]
    reasons = []
    turn = math.remainder(yaw_of(wanted) - yaw_of(home), math.tau) * outward
    allowed = part * float(np.clip(turn, -INWARD_FRACTION * legs.inward, OUTWARD_FRACTION * legs.outward))
    start = feet[foot]
    if start is not None:
        # As fast as the hips rotate, from where the foot stood.
        before = math.remainder(yaw_of(start) - yaw_of(home), math.tau) * outward
        fastest = legs.turn_rate * duration
        allowed = float(np.clip(allowed, before - fastest, before + fastest))
    if abs(allowed - turn) > _TURN_NOTE:
        reasons.append(
            f"turns by {outward * allowed:+.2f} rad against the other one, not {outward * turn:+.2f}"
        )
    yaw = yaw_of(home) + outward * allowed
    forward, across = standing.rotation[:2, 0], standing.rotation[:2, 1] * outward
    displacement = wanted.translation[:2] - home.translation[:2]
    distance = float(np.linalg.norm(displacement))
    aside = part * min(float(displacement @ across), legs.aside)
    ahead = part * float(displacement @ forward)
    long = math.hypot(ahead, aside)
    if long > _REACH_FRACTION * legs.reach:
        ahead, aside = (_REACH_FRACTION * legs.reach / long * each for each in (ahead, aside))
    taken = math.hypot(ahead, aside)
    if distance - taken > _PLACE_NOTE:
        reasons.append(f"steps {taken:.2f} m from its place beside the other one, not {distance:.2f} m")

    def place(out: float) -> pin.SE3:
        return _pose(np.array([*(home.translation[:2] + ahead * forward + (aside + out) * across), yaw]))

    out = 0.0
    while _soles_near(robot, foot, start or place(out), place(out), standing):
        out += _PUSH
        if aside + out > legs.aside:
            # Beside the other one there is room for both, at least if they do not turn against each other.
            return home, [*reasons, "is put down beside the other one: its sole would come over it"]
    if out > 0.0:
        out += _CLEAR_GROWTH
    if out > _PLACE_NOTE:
        reasons.append(f"lands {out:.2f} m farther out: its sole would come over the other one")
    return place(out), reasons


def _soles_near(robot: Robot, foot: int, start: pin.SE3, end: pin.SE3, standing: pin.SE3) -> bool:
    """Whether a sole comes over the other one, or nearer to it than feet may in the later part of its way."""
    if soles_overlap(robot, SIDES[foot], start, end, standing):
        return True
    still = _sole(robot, 1 - foot, standing)
    turn = math.remainder(yaw_of(end) - yaw_of(start), math.tau)
    for part in _WAY:
        place = start.translation + part * (end.translation - start.translation)
        moved = _pose(np.array([place[0], place[1], yaw_of(start) + part * turn]))
        if _sole(robot, foot, moved).distance(still) < _FEET_APART:
            return True
    return False


def _sole(robot: Robot, foot: int, pose: pin.SE3) -> shapely.Polygon:
    """Sole of a foot on the floor, m."""
    corners = robot.soles[f"{SIDES[foot]}_foot"] @ pose.rotation.T + pose.translation
    return shapely.Polygon(corners[:, :2])


def _pose(place: Array) -> pin.SE3:
    """Pose of a level foot at x, y (m) and yaw (rad)."""
    return pin.SE3(pin.utils.rotate("z", float(place[2])), np.array([place[0], place[1], 0.0]))
