"""Plan how a robot follows a person's steps, with trunk and arms, at the recorded tempo."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.balance.controller.whole_body import WholeBodyPlan
from simbench.balance.inverted_pendulum import GRAVITY, natural_frequency
from simbench.balance.standing.pelvis_height import leg_length
from simbench.balance.standing.standing import Stance, height_range, leg_columns, stand
from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.motion.human_motion import HumanMotion, require_both_arms
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection, RobotSection, SimulationSection
from simbench.retargeting.collision.avoidance import UpperBodyPath, avoid_collisions
from simbench.retargeting.collision.clearance import body_shapes
from simbench.retargeting.collision.moving_legs import release_legs
from simbench.retargeting.imitation.requirements import require_human_form
from simbench.retargeting.legs.body import PersonBody, low_pass, measure_body, root_rotations, seen_from_root
from simbench.retargeting.legs.contacts import RecordedSteps, find_recorded_steps
from simbench.retargeting.legs.feasible_steps import FeasibleSteps, make_feasible
from simbench.retargeting.legs.followed import followed_steps
from simbench.retargeting.legs.footsteps import FootstepFrame, FootstepPlan, least_width, scale_footsteps
from simbench.retargeting.legs.leg_distance import leg_distances
from simbench.retargeting.legs.leg_range import LegRange, find_leg_range
from simbench.retargeting.legs.swing import swing_feet
from simbench.retargeting.legs.upper_body import FollowedUpperBody, follow_upper_body, within_speed_limits
from simbench.retargeting.legs.zmp import TRANSFER_TIME, plan_zmp, weight_between_feet
from simbench.retargeting.reference.assembly import Segment, assemble, sample_motion
from simbench.retargeting.reference.reference import Timeline
from simbench.retargeting.trajectory.curves import (
    SolePath,
    cog_heights,
    continuous_quaternions,
    fit_curve,
)
from simbench.retargeting.trajectory.feasibility import FollowedPlan, follow_ideally, follow_lowered
from simbench.retargeting.trajectory.plan import build_timeline, make_whole_plan
from simbench.retargeting.trajectory.steps import PlannedSteps, TrajectoryTask, middle_of_soles, plan_lead
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES

OnProgress = Callable[[str, int, int], None]

_LIFT = 0.04
"""Height of a swinging foot midway as a part of the leg's length, as of planned steps."""
_SCALE_ROUNDS, _STEP_ROUNDS = 5, 6
"""Most rounds in which all steps are shortened, and single ones."""
_SCALING = (0.7, 0.93)
"""Least and largest factor by which the scale is reduced in a round."""
_STUCK = 0.8
"""Part of the excess over limits that shorter steps may leave to go on: else single ones are shortened, which
costs their places, while the scale costs none."""
_SPEED_RESERVE = 0.05
"""Part of the legs' speed limits that a plan is to leave: in a run, feedback adds to the speeds."""
_NEGLIGIBLE = 0.02
"""Excess that needs no shorter steps."""
_LEG_CLEARANCE, _CHECKED, _TOUCHING = 0.005, 0.03, 0.2
"""Least distance of the legs from each other, m; interval at which it is checked, s; and what counts as the
excess over a limit where they are nearer."""
_CLEARANCE = 0.015
"""Margin between the arms and the legs, m."""
_TOLERATED = 0.1
"""Excess of the legs over a position limit, rad, or a speed limit, as a part of it, above which a plan is
refused: a robot that cannot follow by more falls."""
_SHORTER, _AROUND = 0.75, 0.1
"""Factor by which they are, and time before and after a swing that counts as its step, s."""
_LONG_STEP = 0.9
"""Quantile of the steps' lengths that the scale brings within reach; longer ones are shortened."""
_LEAST_SCALE, _MOVED = 0.4, 0.04
"""Least part of the largest scale, and RMS distance by which steps may have to be moved, m, before the scale
is reduced for it: distances shrink, the width of the feet does not."""
_REACH = 0.85
"""Part of the longest step that they may use."""
_BENT = -0.04
"""Height of the pelvis above the posture's as a part of the leg's length, for which reach is computed."""
_HEIGHT_BANDWIDTHS = (3.0, 2.4, 1.9, 1.5, 1.2, 0.9, 0.7, 0.5, 0.3)
"""Bandwidths of the pelvis' height that are tried in turn, Hz; the first is twice the frequency of steps."""
_MAX_LIFT = 0.25
"""Largest vertical acceleration of the COG, as a part of gravity: the pendulum's height is taken to be
constant, and the soles keep their grip."""
_STANDING_QUANTILE = 0.9
"""Quantile of the pelvis' heights at which the person is taken to stand upright."""
_HEIGHT_FRACTION = 0.7
"""Fraction used of the heights that the legs allow: the rest is for steps and sway."""
_DEEPEST_SQUAT = 0.2
"""Largest lowering of the root as a part of its height: at 0.3 a robot counts as fallen, and legs bend
further for long steps."""
_TIME_CONSTANTS = 4.0
"""Time constants 1 / ω of the pendulum at rest before and after, in which the COG gets under way."""
_SHORTEST_LEAD = 0.3
"""Shortest way from rest to the motion, s."""
_PREPARATION = 0.2
"""Time between the beginning of the lead-in and the first move of the ZMP, s."""
_TWIST_FRACTION = 0.85
"""Part of the range of a hip's rotation that the root's rotation against a foot may use."""
_MAX_TWIST = 0.35
"""Largest rotation of the root against the mean of both feet, rad; trunk joints take more of it."""


class StepFollowingOptions(NamedTuple):
    """Sections of a scenario that decide how a robot follows a person's steps.

    Parameters
    ----------
    section : RobotSection
        Place, heading and posture of the robot.
    retarget : RetargetSection
        Method, margins, and whether unlike steps are refused.
    settings : SimulationSection
        Physics step, and times to settle, lead in and hold.
    rate : float
        Rate of the balance controller, Hz.
    feedforward : str
        Feed-forward torque, as in `ControlSection`.
    """

    section: RobotSection
    retarget: RetargetSection
    settings: SimulationSection
    rate: float
    feedforward: str


@dataclass(frozen=True)
class StepFollowingPlan:
    """Planned motion of a robot that follows a person's steps.

    Parameters
    ----------
    timeline : Timeline
        Reference at every physics step.
    whole : WholeBodyPlan
        Plan of the balance controller.
    trajectory : JointTrajectory
        Planned joints and base at the recording's samples.
    wanted : FootstepPlan
        The person's footsteps, scaled.
    planned : FootstepPlan
        The footsteps that the robot takes; times of the recording.
    metrics : dict of str to float
        Metrics of the planning.
    notes, doubts : tuple of str
        What was assumed and changed, and what the robot cannot do as the person did, one line each.
    """

    timeline: Timeline
    whole: WholeBodyPlan
    trajectory: JointTrajectory
    wanted: FootstepPlan
    planned: FootstepPlan
    metrics: dict[str, float]
    notes: tuple[str, ...]
    doubts: tuple[str, ...]


class _Person(NamedTuple):
    """What was found out about the person."""

    motion: HumanMotion
    body: PersonBody
    recorded: RecordedSteps


class _Body(NamedTuple):
    """What trunk and arms do, the root's orientation, the height of the COG, m, and the part of the lean."""

    upper: FollowedUpperBody
    rotation: Rotation
    heights: Array
    lean: float


class _Candidate(NamedTuple):
    """Footsteps at one scale, and the legs' motion that follows them."""

    wanted: FootstepPlan
    feasible: FeasibleSteps
    setting: TrajectoryTask
    steps: PlannedSteps
    lowered: float
    followed: FollowedPlan
    lean: float


def plan_step_following(
    robot: Robot, motion: HumanMotion, options: StepFollowingOptions, on_progress: OnProgress
) -> StepFollowingPlan:
    """Plan how a robot on free feet follows a person's steps, turns, squats and sway at the recorded tempo.

    Footsteps are the person's, scaled by the ratio of the legs' lengths or less, so that nine of ten are
    within reach, and made feasible one by one. The ZMP goes from sole to sole, the COG is that of the linear
    inverted pendulum for it, corrected for the bodies' angular momentum (`follow_ideally`). The root turns
    and leans with the person's trunk, and trunk joints and arms follow the person relative to it. If the legs
    cannot follow, steps are planned shorter.

    Parameters
    ----------
    robot : Robot
        Robot of human form with two legs.
    motion : HumanMotion
        Recording, resampled.
    options : StepFollowingOptions
        Sections of the scenario.
    on_progress : callable (stage, done, total)
        Called as planning proceeds.

    Returns
    -------
    StepFollowingPlan
        The planned motion.

    Raises
    ------
    MotionError
        If arms or hips were not recorded.
    RetargetError
        If the feet were not, the person is not on level ground and on their feet, the robot's legs cannot
        make such steps, or steps were changed and `retarget.legs_strict` is set.
    """
    require_human_form(robot)
    require_both_arms(motion)
    if options.section.posture == SEATED:
        raise RetargetError("retarget.legs: follow: the robot sits; allowed: standing postures")
    on_progress("imitate", 0, 1)
    body = measure_body(motion)
    person = _Person(motion, body, find_recorded_steps(motion, body))
    rotation = root_rotations(body)
    section = options.section
    stance = stand(robot, (0.0, 0.0), 0.0, section.posture, section.height_m or 0.0)
    upper = follow_upper_body(
        robot, seen_from_root(motion, body.pelvis, rotation), options.retarget, stance.joints
    )
    on_progress("imitate", 1, 1)
    best = _choose_scale(robot, person, options, stance, upper, rotation, on_progress)
    changes = [f"at {change.time:.2f} s {change.reason}" for change in best.feasible.changes]
    if options.retarget.legs_strict and (changes or best.followed.doubts):
        raise RetargetError(
            f"retarget.legs_strict: {motion.source}: {[*changes, *best.followed.doubts][0]}; allowed: "
            f"steps that "
            f"{robot.name} can take as the person did"
        )
    return _finish(person, options, best, upper, changes)


def _choose_scale(
    robot: Robot,
    person: _Person,
    options: StepFollowingOptions,
    stance: Stance,
    upper: FollowedUpperBody,
    rotation: Rotation,
    on_progress: OnProgress,
) -> _Candidate:
    """Plan with ever shorter steps until the legs can follow; single steps that they cannot are shortened."""
    legs = find_leg_range(robot, _bent_stance(robot, options.section))
    body = _Body(upper, rotation, _cog_heights(robot, person, options, stance), 1.0)
    scale = _largest_scale(robot, person, options, legs)
    best: _Candidate | None = None
    shortened: list[float] = []
    lean, before = 1.0, np.inf
    for number in range(_SCALE_ROUNDS + _STEP_ROUNDS):
        on_progress("steps", number, _SCALE_ROUNDS + _STEP_ROUNDS)
        wanted = _scaled(robot, person, options, legs, scale)
        shortened = shortened or [1.0] * (len(wanted.steps) + 1)
        feasible = make_feasible(robot, wanted, legs, shortened)
        single = lean < 1.0
        lowered = best.lowered if single and best is not None else None
        candidate = _plan_candidate(robot, person, options, body, (wanted, feasible, legs), lowered)
        if best is None or _badness(candidate) < _badness(best):
            best = candidate
        failing = _failing_steps(candidate)
        if candidate.followed.excess.max() <= _NEGLIGIBLE or not wanted.steps:
            best = candidate
            break
        beyond = float(candidate.followed.excess.sum())
        stuck, before = beyond > _STUCK * before, beyond
        if single or number >= _SCALE_ROUNDS or stuck:
            lean *= _SHORTER
            body = body._replace(rotation=root_rotations(person.body, lean), lean=lean)
            shortened = [
                part * (_SHORTER if fails else 1.0) for part, fails in zip(shortened, failing, strict=True)
            ]
        else:
            excess = float(np.quantile(candidate.followed.excess[candidate.followed.excess > 0.0], 0.9))
            scale *= float(np.clip(1.0 / np.sqrt(1.0 + excess), *_SCALING))
    on_progress("steps", 1, 1)
    assert best is not None
    clear = _clear_of_legs(
        robot, best, body._replace(lean=best.lean), stance, options.retarget.joint_limit_margin_rad
    )
    if clear.upper is not upper:
        footsteps = (best.wanted, best.feasible, legs)
        clear = clear._replace(rotation=root_rotations(person.body, best.lean))
        best = _plan_candidate(robot, person, options, clear, footsteps, best.lowered)
    if best.followed.excess.max(initial=0.0) > _TOLERATED:
        reasons = [*best.followed.doubts, *(change.reason for change in best.feasible.changes)]
        why = "; ".join(reasons[:2])
        raise RetargetError(
            f"retarget.legs: follow: {robot.name} cannot follow {person.motion.source}: {why}; allowed: stand"
        )
    return best


def _failing_steps(candidate: _Candidate) -> list[bool]:
    """Tell in which steps the legs are beyond their limits; the first is the stance before them."""
    excess, tick, start = candidate.followed.excess, candidate.setting.tick, candidate.steps.start
    steps = candidate.feasible.plan.steps
    first_lift = min((step.lift for step in steps), default=0.0)
    failing = [bool((excess[: max(round((start + first_lift - _AROUND) / tick), 1)] > _NEGLIGIBLE).any())]
    for step in steps:
        first, last = (round((start + when) / tick) for when in (step.lift - _AROUND, step.landing + _AROUND))
        failing.append(bool((excess[max(first, 0) : last + 1] > _NEGLIGIBLE).any()))
    return failing


def _loses_balance(candidate: _Candidate) -> bool:
    """Tell whether a leg becomes straight."""
    return bool(candidate.followed.excess[-1] >= 1.0)


def _badness(candidate: _Candidate) -> tuple[bool, float]:
    """Order plans: those that lose balance last, then by how far they are beyond limits."""
    return _loses_balance(candidate), float(candidate.followed.excess.sum())


def _bent_stance(robot: Robot, section: RobotSection) -> Stance:
    """Stance with knees so bent that the robot can step, as far as its legs allow."""
    low, high = height_range(robot, section.posture)
    height = section.height_m or 0.0
    lower = float(np.clip(height + _BENT * leg_length(robot), 0.9 * low, high))
    return stand(robot, (0.0, 0.0), 0.0, section.posture, min(height, lower))


def _scaled(
    robot: Robot, person: _Person, options: StepFollowingOptions, legs: LegRange, scale: float
) -> FootstepPlan:
    """Scale the person's footsteps, and place them in the scenario."""
    section = options.section
    position = np.array(section.position_m, dtype=float)
    frame = FootstepFrame(scale, section.heading_rad, position, least_width(robot, legs.beside[0]))
    return scale_footsteps(person.recorded.contacts, person.motion.time, person.body.heading, frame)


def _largest_scale(robot: Robot, person: _Person, options: StepFollowingOptions, limits: LegRange) -> float:
    """Ratio of the legs' lengths, or less, so that most steps are in reach beside the other foot."""
    ratio = leg_length(robot) / person.recorded.leg
    contacts = person.recorded.contacts
    lengths = []
    for number, contact in enumerate(contacts[1:], 1):
        other = next((each for each in contacts[number - 1 :: -1] if each.foot != contact.foot), None)
        if other is not None:
            heading = float(np.interp(max(contact.landing, 0.0), person.motion.time, person.body.heading))
            forward = np.array([np.cos(heading), np.sin(heading)])
            lengths.append(abs(float((contact.position - other.position) @ forward)))
    longest = float(np.quantile(lengths, _LONG_STEP)) if lengths else 0.0
    scale = largest = min(ratio, _REACH * limits.reach / max(longest, 1e-6))
    while scale > _LEAST_SCALE * largest:
        wanted = _scaled(robot, person, options, limits, scale)
        planned = make_feasible(robot, wanted, limits, [1.0] * (len(wanted.steps) + 1)).plan
        moved = [
            float(np.linalg.norm(after.position - before.position))
            for before, after in zip(wanted.steps, planned.steps, strict=True)
        ]
        if not moved or np.sqrt(np.mean(np.square(moved))) <= _MOVED:
            break
        scale *= _SCALING[1]
    return scale


def _cog_heights(robot: Robot, person: _Person, options: StepFollowingOptions, stance: Stance) -> Array:
    """Height (T,) of the COG: the pelvis' ups and downs, scaled, as far as the legs allow, m."""
    standing = float(cog_heights(robot, np.concatenate([stance.base, stance.joints])[None])[0])
    raised = person.body.pelvis[:, 2]
    scale = options.retarget.pelvis_height_follow * leg_length(robot) / person.recorded.leg
    height = options.section.height_m or 0.0
    low, high = (_HEIGHT_FRACTION * (end - height) for end in height_range(robot, options.section.posture))
    low = max(low, -_DEEPEST_SQUAT * float(stance.base[2]))
    for bandwidth in _HEIGHT_BANDWIDTHS:
        moved = low_pass(raised, bandwidth, person.motion.rate) - np.quantile(raised, _STANDING_QUANTILE)
        limit = np.maximum(np.abs(np.where(moved < 0.0, low, high)), 1e-9)
        heights = np.asarray(standing + limit * np.tanh(scale * moved / limit))
        if np.abs(_second_difference(person.motion.time, heights)).max() <= _MAX_LIFT * GRAVITY:
            break
    return heights


def _second_difference(time: Array, values: Array) -> Array:
    """Second derivative (T,) by central differences."""
    return np.asarray(np.gradient(np.gradient(values, time), time))


def _clear_of_legs(robot: Robot, best: _Candidate, body: _Body, stance: Stance, margin: float) -> _Body:
    """Keep trunk and arms clear of the legs, where they are planned to move."""
    upper, time = body.upper, best.setting.trajectory.time
    path = _path_at_samples(best)
    shapes, legs = release_legs(robot, body_shapes(robot, stance.joints), path[:, :7], path[:, 7:])
    model = robot.model
    limits = np.stack(
        [
            model.lowerPositionLimit[7 + upper.columns] + margin,
            model.upperPositionLimit[7 + upper.columns] - margin,
        ]
    )
    arms = np.clip(upper.joints[:, upper.columns], *limits)
    clear = avoid_collisions(
        shapes, UpperBodyPath(time, arms, path[:, :7]), limits, _CLEARANCE, {}, legs
    ).joints
    if np.array_equal(clear, arms):
        return body
    bounded, _ = within_speed_limits(time, clear, np.asarray(model.velocityLimit[6 + upper.columns]))
    joints = upper.joints.copy()
    joints[:, upper.columns] = bounded
    return body._replace(upper=upper._replace(joints=joints))


def _path_at_samples(best: _Candidate) -> Array:
    """Planned configurations (T, 7 + n) at the recording's samples."""
    rows = np.rint((best.steps.start + best.setting.trajectory.time) / best.setting.tick).astype(int)
    return best.followed.path[np.clip(rows, 0, len(best.followed.path) - 1)]


def _plan_candidate(
    robot: Robot,
    person: _Person,
    options: StepFollowingOptions,
    body: _Body,
    footsteps: tuple[FootstepPlan, FeasibleSteps, LegRange],
    lowered: float | None,
) -> _Candidate:
    """Plan feet, ZMP, root and COG of footsteps; the legs follow, lowered as far as it takes."""
    wanted, feasible, limits = footsteps
    upper, rotation, heights, lean = body
    time = person.motion.time - person.motion.time[0]
    feet = swing_feet(feasible.plan, time, 0.0)
    quaternion = _root_quaternions(rotation, feet.yaw, options.section.heading_rad, limits)
    base = np.column_stack([feet.position.mean(axis=1)[:, :2], heights, quaternion])
    trajectory = JointTrajectory(time, upper.joints, robot.joint_names, base)
    every = round(1.0 / (options.settings.timestep_s * options.rate))
    setting = TrajectoryTask(robot, trajectory, options.section, options.settings, every)
    steps = _plan_steps(setting, person, feasible.plan, np.column_stack([upper.joints, quaternion, heights]))
    if lowered is None:
        lowered, followed = follow_ideally(
            robot, lambda low: make_whole_plan(setting, steps, low), leg_length(robot)
        )
    else:
        followed = follow_lowered(robot, make_whole_plan(setting, steps, lowered))
    followed = _with_leg_contact(robot, _with_speed_reserve(robot, followed, setting.tick), setting.tick)
    return _Candidate(wanted, feasible, setting, steps, lowered, followed, lean)


def _with_speed_reserve(robot: Robot, followed: FollowedPlan, tick: float) -> FollowedPlan:
    """Count speeds of the legs near their limits as beyond: in a run, feedback adds to them."""
    if followed.excess[-1] >= 1.0:
        return followed
    legs = np.concatenate([leg_columns(robot, side) for side in SIDES])
    speed = np.abs(np.diff(followed.path[:, 7 + legs], axis=0)) / tick
    ratio = np.append((speed / robot.model.velocityLimit[6 + legs]).max(axis=1), 0.0)
    return followed._replace(excess=np.maximum(followed.excess, ratio - 1.0 + _SPEED_RESERVE))


def _with_leg_contact(robot: Robot, followed: FollowedPlan, tick: float) -> FollowedPlan:
    """Count legs that touch each other as beyond what they can do."""
    rows = np.unique(
        np.append(np.arange(0, len(followed.path), max(round(_CHECKED / tick), 1)), len(followed.path) - 1)
    )
    apart = leg_distances(robot, followed.path[rows])
    if apart.min() >= _LEG_CLEARANCE:
        return followed
    near = np.interp(np.arange(len(followed.path)), rows, (apart < _LEG_CLEARANCE).astype(float)) >= 0.5
    line = f"the legs would touch each other at {rows[int(apart.argmin())] * tick:.2f} s of the run"
    excess = np.maximum(followed.excess, _TOUCHING * near)
    return followed._replace(doubts=(*followed.doubts, line), excess=excess)


def _root_quaternions(rotation: Rotation, feet: Array, heading: float, limits: LegRange) -> Array:
    """Orientation (T, 4) of the root: the person's, as far as the legs allow to turn against the feet."""
    yaw, pitch, roll = rotation.as_euler("ZYX").T
    middle = feet.mean(axis=1)
    yaw = np.unwrap(yaw) + heading
    # The same turn as the feet's, which may have gone round.
    yaw += 2.0 * np.pi * np.round((middle[0] - yaw[0]) / (2.0 * np.pi))
    inward, outward = (0.5 * _TWIST_FRACTION * limit for limit in (limits.inward, limits.outward))
    left, right = feet.T
    low = np.maximum(left - outward, right - inward)
    high = np.minimum(left + inward, right + outward)
    yaw = np.where(low < high, np.clip(yaw, low, high), 0.5 * (low + high))
    yaw = middle + np.clip(yaw - middle, -_MAX_TWIST, _MAX_TWIST)
    turned = Rotation.from_euler("ZYX", np.column_stack([yaw, pitch, roll]))
    return continuous_quaternions(turned.as_quat())


def _plan_steps(setting: TrajectoryTask, person: _Person, plan: FootstepPlan, values: Array) -> PlannedSteps:
    """Plan feet, ZMP and everything else in time, with rest before and after."""
    robot, settings, tick = setting.robot, setting.settings, setting.tick
    omega = natural_frequency(float(values[:, -1].mean()))
    last = [plan.start[foot] for foot in range(2)]
    for step in plan.steps:
        last[step.foot] = np.array([*step.position, step.yaw])
    ends = [plan.start, np.array(last)]
    first_lift = min([0.0, *(step.lift for step in plan.steps)])
    last_landing = max([setting.duration, *(step.landing for step in plan.steps)])
    spare = [-first_lift + TRANSFER_TIME + _PREPARATION, last_landing - setting.duration + TRANSFER_TIME]
    leads, rests = [], []
    for end, feet in enumerate(ends):
        waiting = settings.hold_s if end else settings.settle_s
        least = max(settings.lead_in_s, _TIME_CONSTANTS / omega - waiting, _SHORTEST_LEAD, spare[end])
        place = (feet, middle_of_soles(robot, feet))
        lead, rest = plan_lead(setting, values, -end, place, least)
        leads.append(lead)
        rests.append(rest)
    whole = assemble(leads[0], Segment(setting.trajectory.time, values), leads[1])
    sampled = sample_motion(fit_curve(whole.time, whole.joints), settings, float(whole.time[-1]))
    start = settings.settle_s + float(leads[0].time[-1])
    total = len(sampled.clock) // setting.every + 1
    clock: Array = tick * np.arange(total, dtype=np.float64) - start
    feet_plan = swing_feet(plan, clock, _LIFT * leg_length(robot))
    weight = np.interp(
        clock,
        setting.trajectory.time,
        weight_between_feet(person.body, person.recorded.contacts, setting.trajectory.time),
    )
    moving = minimum_jerk(clock, -TRANSFER_TIME, TRANSFER_TIME) * (
        1.0 - minimum_jerk(clock, setting.duration, TRANSFER_TIME)
    )
    zmp = plan_zmp(robot, feet_plan, clock, 0.5 + moving * (weight - 0.5))
    unused = np.empty((0, 2, 3))
    soles = SolePath(unused, unused[..., 0], unused[..., 0], (unused, unused))
    contact = np.zeros((0, 2), bool)
    return PlannedSteps(start, sampled, feet_plan, zmp, soles, contact, round(start / tick), rests[0])


def _finish(
    person: _Person,
    options: StepFollowingOptions,
    best: _Candidate,
    upper: FollowedUpperBody,
    changes: list[str],
) -> StepFollowingPlan:
    """Build the reference of the chosen plan, and say what was made of the person's steps."""
    setting, steps, followed = best.setting, best.steps, best.followed
    timeline = replace(
        build_timeline(setting, steps, followed.plan, followed.path, options.feedforward),
        steps=followed_steps(best.wanted, best.feasible.plan, setting.duration),
    )
    path = _path_at_samples(best)
    joints = path[:, 7:].copy()
    joints[:, upper.columns] = setting.trajectory.q[:, upper.columns]
    trajectory = JointTrajectory(setting.trajectory.time, joints, setting.robot.joint_names, path[:, :7])
    planned = best.feasible.plan
    recorded = sum(step.recorded for step in planned.steps)
    notes = [
        *person.recorded.notes,
        f"{recorded} steps of the person are followed, distances {best.wanted.scale:.3f} times the "
        f"person's, feet "
        f"{best.wanted.widened:.3f} m farther apart",
    ]
    if len(planned.steps) > recorded:
        notes.append("the person is in the air at the recording's end: the robot puts the foot down after it")
    if best.lowered > 0.0:
        notes.append(f"the COG is planned {best.lowered:.3f} m lower: level feet need bent knees")
    if best.lean < 1.0:
        notes.append(
            f"{best.lean:.2f} of the trunk's lean is followed: the hips need their range for the steps"
        )
    if upper.filtered:
        notes.append(
            f"{upper.filtered} joints of trunk and arms are smoothed: the person is faster than they are"
        )
    metrics = {
        **upper.metrics,
        "retarget.slow_down": 1.0,
        "retarget.duration_s": setting.duration,
        "follow.person_step_count": float(person.recorded.landings),
        "follow.step_count": float(recorded),
        "follow.changed_step_count": float(len(best.feasible.changes)),
        "follow.scale": best.wanted.scale,
        "follow.widened_m": best.wanted.widened,
        "follow.lowered_m": best.lowered,
    }
    return StepFollowingPlan(
        timeline,
        followed.plan,
        trajectory,
        best.wanted,
        planned,
        metrics,
        tuple(notes),
        (*person.recorded.doubts, *changes, *followed.doubts),
    )


def foot_pose(place: Array) -> pin.SE3:
    """Place a level foot on the floor.

    Parameters
    ----------
    place : (3,) array
        x, y, m, and yaw, rad.

    Returns
    -------
    pinocchio.SE3
        Pose of the foot frame in the world frame.
    """
    return pin.SE3(pin.utils.rotate("z", float(place[2])), np.array([place[0], place[1], 0.0]))
