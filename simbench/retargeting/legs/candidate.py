"""One way to follow a person's steps: feet, ZMP, root and COG in time, and the legs' motion for them."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.balance.inverted_pendulum import natural_frequency
from simbench.balance.standing.pelvis_height import leg_length
from simbench.balance.standing.standing import leg_columns
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.legs.body import low_pass
from simbench.retargeting.legs.feasible_steps import FeasibleSteps
from simbench.retargeting.legs.footsteps import FootstepPlan
from simbench.retargeting.legs.leg_distance import leg_distances
from simbench.retargeting.legs.leg_range import MAX_TURN_ACCELERATION, MAX_TWIST, TWIST_FRACTION, LegRange
from simbench.retargeting.legs.swing import swing_feet
from simbench.retargeting.legs.task import BodyMotion, Person, StepFollowingOptions
from simbench.retargeting.legs.zmp import TRANSFER_TIME, plan_zmp, weight_between_feet
from simbench.retargeting.motion_fidelity import sample_trajectory
from simbench.retargeting.reference.trajectory_plan import (
    FollowedPlan,
    follow_ideally,
    follow_lowered,
    make_whole_plan,
)
from simbench.retargeting.reference.trajectory_steps import (
    PlannedSteps,
    TrajectoryTask,
    continuous_quaternions,
    plan_leads,
)
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_LIFT = 0.04
"""Height of a swinging foot midway as a part of the leg's length, as of planned steps."""
_SPEED_RESERVE = 0.05
"""Part of the legs' speed limits that a plan is to leave: in a run, feedback adds to the speeds."""
_LEG_CLEARANCE, _CHECKED, _TOUCHING = 0.005, 0.03, 0.2
"""Least distance of the legs from each other, m; interval at which it is checked, s; and what counts as the
excess over a limit where they are nearer."""
_PREPARATION = 0.2
"""Time between the beginning of the lead-in and the first move of the ZMP, s."""

_TURN_BANDWIDTHS = (4.0, 3.0, 2.4, 1.9, 1.5, 1.2, 0.9, 0.7)
"""Bandwidths of the root's rotation about the vertical that are tried in turn, Hz."""


class StepCandidate(NamedTuple):
    """Footsteps at one scale, and the legs' motion that follows them.

    Parameters
    ----------
    wanted : FootstepPlan
        The person's footsteps, scaled.
    feasible : FeasibleSteps
        The nearest that the robot can take.
    setting : TrajectoryTask
        Trunk and arms, the root's orientation, and the scenario's sections.
    steps : PlannedSteps
        Feet, ZMP and everything else in time.
    lowered : float
        Distance by which the COG is lowered for the legs, m.
    followed : FollowedPlan
        The legs' motion, and how far it is beyond their limits.
    lean : float
        Part of the person's lean that is followed.
    """

    wanted: FootstepPlan
    feasible: FeasibleSteps
    setting: TrajectoryTask
    steps: PlannedSteps
    lowered: float
    followed: FollowedPlan
    lean: float


def plan_candidate(
    robot: Robot,
    person: Person,
    options: StepFollowingOptions,
    body: BodyMotion,
    footsteps: tuple[FootstepPlan, FeasibleSteps, LegRange],
    lowered: float | None,
) -> StepCandidate:
    """Plan feet, ZMP, root and COG of footsteps, and let the legs follow.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    person : Person
        The recording.
    options : StepFollowingOptions
        Sections of the scenario.
    body : BodyMotion
        Trunk and arms, and what is asked of the root.
    footsteps : (FootstepPlan, FeasibleSteps, LegRange)
        The person's footsteps, scaled; those that the robot takes; and the range of its legs.
    lowered : float or None
        Distance by which the COG is lowered, m; None for as far as the legs need.

    Returns
    -------
    StepCandidate
        The plan.

    Raises
    ------
    RetargetError
        If the robot cannot stand where it begins or ends.
    """
    wanted, feasible, limits = footsteps
    upper, rotation, heights, lean = body
    time = person.motion.time - person.motion.time[0]
    feet = swing_feet(feasible.plan, time, 0.0)
    quaternion = _root_quaternions(
        rotation, feet.yaw, person.motion.rate, options.section.heading_rad, (limits, lean)
    )
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
    return StepCandidate(wanted, feasible, setting, steps, lowered, followed, lean)


def path_at_samples(best: StepCandidate) -> Array:
    """Take the planned configurations at the recording's samples, which are between ticks at some rates.

    Parameters
    ----------
    best : StepCandidate
        A plan.

    Returns
    -------
    (T, 7 + n) array
        Root pose and joint positions.
    """
    path = best.followed.path
    ticks: Array = best.setting.tick * np.arange(len(path), dtype=np.float64)
    whole = JointTrajectory(ticks, path[:, 7:], best.setting.robot.joint_names, path[:, :7])
    found = sample_trajectory(whole, best.steps.start + best.setting.trajectory.time)
    assert found.base is not None
    return np.hstack([found.base, found.q])


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


def _root_quaternions(
    rotation: Rotation, feet: Array, rate: float, heading: float, limits: tuple[LegRange, float]
) -> Array:
    """Orientation (T, 4) of the root: the person's, as far as the legs allow to turn against the feet."""
    legs, part = limits
    yaw, pitch, roll = rotation.as_euler("ZYX").T
    middle = feet.mean(axis=1)
    yaw = np.unwrap(yaw) + heading
    # The same turn as the feet's, which may have gone round.
    yaw += 2.0 * np.pi * np.round((middle[0] - yaw[0]) / (2.0 * np.pi))
    inward, outward = (0.5 * TWIST_FRACTION * limit for limit in (legs.inward, legs.outward))
    left, right = feet.T
    low = np.maximum(left - outward, right - inward)
    high = np.minimum(left + inward, right + outward)
    yaw = np.where(low < high, np.clip(yaw, low, high), 0.5 * (low + high))
    yaw = middle + part * np.clip(yaw - middle, -MAX_TWIST, MAX_TWIST)
    yaw = _within_turning_moment(yaw, rate)
    turned = Rotation.from_euler("ZYX", np.column_stack([yaw, pitch, roll]))
    return continuous_quaternions(turned.as_quat())


def _within_turning_moment(yaw: Array, rate: float) -> Array:
    """Smooth the root's rotation (T,) so that the soles' friction gives the moment for it."""
    for bandwidth in _TURN_BANDWIDTHS:
        smooth = low_pass(yaw, bandwidth, rate)
        if np.abs(np.gradient(np.gradient(smooth))).max() * rate**2 <= MAX_TURN_ACCELERATION:
            break
    return smooth


def _plan_steps(setting: TrajectoryTask, person: Person, plan: FootstepPlan, values: Array) -> PlannedSteps:
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
    sampled, rest, (before, _) = plan_leads(setting, values, ends, omega, spare)
    start = settings.settle_s + before
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
    return PlannedSteps(start, sampled, feet_plan, zmp, rest)
