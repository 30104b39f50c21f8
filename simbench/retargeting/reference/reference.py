"""The reference of the joints at every physics step: settle, lead-in, motion, lead-out, hold.

References of retargeted motions of whole bodies and of arms, of a robot's own sweep, and of standing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import BPoly, BSpline, PPoly, make_interp_spline

from simbench.balance.standing.ground_reaction import standing_torques
from simbench.balance.standing.standing import leg_columns, solve_com_ik
from simbench.balance.standing.standing_profile import planned_zmp
from simbench.errors import RetargetError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.kinematics.time_scaling import time_scaling_factor
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.joint_order import joint_limits
from simbench.options import SimulationSection
from simbench.retargeting.arm.fixed_base import ArmPlan, planned_torques
from simbench.retargeting.collision.avoidance import clear_path, is_clear
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.stand.arms_and_legs import require_leg_limits, solve_legs_for_zmp
from simbench.retargeting.stand.standing_plan import MotionPlan
from simbench.robot.grips import grip_range
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

# Time in which a motion without a lead-in gets under way, and comes to rest, s.
_COAST_TIME = 0.1
# Longest duration of a lead-in or lead-out, as a multiple of the one asked for.
_MAX_LEAD_STRETCH = 10.0
# Samples of a lead-in or lead-out, Hz and number.
_LEAD_RATE, _MIN_LEAD_SAMPLES = 100.0, 8
# How far rounding may take a position beyond its limit, rad.
_TOLERANCE = 1e-9
# Physics steps times joints: each array of a reference then takes 0.4 GB.
_MOST_SAMPLES = 50_000_000
# Margin between the robot's own links on the way to the motion and back, m, and least distance there: less of
# a run-up is taken for it.
_CLEARANCE, _LEAST_CLEARANCE = 0.03, 0.005
# Value of `HandPlan.grip` from which on fingers close: a seventh of a second before the palm rests on its
# handle, for they take several, and the person goes on.
_CLOSING_THRESHOLD = 0.97
# Largest fraction of its speed limit at which a grip closes.
_GRIP_SPEED_FRACTION = 0.8
Flags: TypeAlias = NDArray[np.bool_]
Segment: TypeAlias = tuple[Array, ...]
"""Stretch of a motion: time from its start (T,), s; joint positions (T, n), rad; other arrays of T rows."""
Flags = NDArray[np.bool_]
"""Whether each foot is in contact, (T, 2)."""


@dataclass(frozen=True)
class Reference:
    """Reference of the joints at every physics step; row k holds for the end of step k.

    Parameters
    ----------
    position : (N, n) array
        Joint positions in the order of `robot.joint_names`, rad.
    velocity : (N, n) array
        Joint velocities, rad/s.
    feedforward : (N, n) array
        Feed-forward torques, N·m.
    acceleration : (N, n) array
        Joint accelerations, rad/s².
    grip : (N, H) bool array
        Whether each of `robot.hands` is meant to hold.
    """

    position: Array
    velocity: Array
    feedforward: Array
    acceleration: Array
    grip: Flags


@dataclass(frozen=True)
class FollowedSteps:
    """Steps of a person that a robot is to follow, as the person took them and as they are planned.

    Times are in the robot's time from the recording's first sample on, as `JointTrajectory.time` of a plan;
    a run adds `Timeline.start`. Places are those of the feet's frames (`robot.frames["left_foot"]`) in the
    world frame of the run.

    Parameters
    ----------
    side : (K,) int array
        Foot that lands in each step, as index into `SIDES`: 0 is the left one.
    person_time : (K,) array
        Landings of the person, mapped by the tempo map to the robot's time, s; in order.
    person_position : (K, 2) array
        Where the person put the foot down, scaled to the robot, m.
    person_yaw : (K,) array
        Direction of the person's foot about the vertical, rad.
    planned_time, planned_position, planned_yaw : (K,), (K, 2), (K,) arrays
        The same as they are planned.
    heading : float
        Direction of the recording's x axis in the world frame of the run, rad.
    """

    side: NDArray[np.int64]
    person_time: Array
    person_position: Array
    person_yaw: Array
    planned_time: Array
    planned_position: Array
    planned_yaw: Array
    heading: float = 0.0


@dataclass(frozen=True)
class Timeline:
    """A reference, how the recording lies in it, and the planned base, ZMP and COG.

    Parameters
    ----------
    reference : Reference
        Reference of the joints at N physics steps.
    base : (7,) array
        Pose of the root link in the world frame at the start: position, m, and quaternion.
    start : float
        Time of the recording's first sample, s.
    time : (T,) array
        Times of the recording's samples, s.
    hands : HandPlan or None
        Desired motion of the palms at these samples; None if nothing is asked of them.
    base_path : (N, 7) array
        Pose of the root link in the world frame at the end of every physics step; empty for a robot with a
        fixed base.
    zmp : (N, 2) array
        Desired ZMP in the world frame at the end of every physics step, m.
    cog : (N, 3) array
        Planned COG in the world frame, m.
    cog_velocity : (N, 3) array
        Planned velocity of the COG in the world frame, m/s.
    steps : FollowedSteps or None
        Steps of the person that the robot follows; None if its legs do not.
    """

    reference: Reference
    base: Array
    start: float
    time: Array
    hands: HandPlan | None = None
    base_path: Array = field(default_factory=lambda: np.empty((0, 7)))
    zmp: Array = field(default_factory=lambda: np.empty((0, 2)))
    cog: Array = field(default_factory=lambda: np.empty((0, 3)))
    cog_velocity: Array = field(default_factory=lambda: np.empty((0, 3)))
    steps: FollowedSteps | None = None


@dataclass(frozen=True)
class SampledMotion:
    """Joint motion at the end of every physics step, with a beginning and an end at rest.

    Parameters
    ----------
    clock : (N,) array
        Time of the motion at each step, s; it stands still before the beginning and after the end.
    at_rest : (N,) bool array
        Whether it stands still.
    position, velocity, acceleration : (N, n) array
        Joint positions, rad, velocities, rad/s, and accelerations, rad/s²; the latter two zero at rest.
    """

    clock: Array
    at_rest: Flags
    position: Array
    velocity: Array
    acceleration: Array


def assemble(lead_in: Segment, motion: Segment, lead_out: Segment) -> Segment:
    """Join lead-in, motion and lead-out (run backwards); leads end with the motion's end samples."""
    before, after = lead_in[0][-1], lead_out[0][-1]
    end = before + motion[0][-1]
    time = np.concatenate([lead_in[0][:-1], before + motion[0], end + after - lead_out[0][-2::-1]])
    parts = zip(lead_in[1:], motion[1:], lead_out[1:], strict=True)
    return time, *(np.concatenate([first[:-1], middle, last[-2::-1]]) for first, middle, last in parts)


def sample_motion(
    curve: BSpline | BPoly | PPoly, settings: SimulationSection, end: float, begin: float | None = None
) -> SampledMotion:
    """Sample a joint curve at every physics step: rest to settle, the motion, and rest to hold.

    The motion ends at time `end` of the curve. It begins at 0, which is when the robot has settled, or at
    `begin` of a curve whose time includes that to settle. Refuses more steps than fit into memory.
    """
    timestep, origin, begin = settings.timestep_s, 0.0 if begin else settings.settle_s, begin or 0.0
    steps = max(1, round((origin + end + settings.hold_s) / timestep))
    joints = curve.derivative(0)(np.array([begin])).shape[1]
    if steps * joints > _MOST_SAMPLES:
        raise ScenarioError(
            f"simulation: would take {steps} steps of {timestep:g} s; at most {_MOST_SAMPLES // joints} "
            f"with {joints} joints"
        )
    clock = (np.arange(1, steps + 1) * timestep - origin).clip(begin, end)
    position, velocity, acceleration = (curve.derivative(order)(clock) for order in range(3))
    at_rest = (clock <= begin) | (clock >= end)
    velocity[at_rest] = acceleration[at_rest] = 0.0
    return SampledMotion(clock, at_rest, position, velocity, acceleration)


def run_up(clock: Array, way: Array, velocity: Array, length: float, limits: tuple[Array, Array]) -> Array:
    """Plan what a run-up adds (T, n) to a way (T, n) from rest to rest so that it ends with a velocity (n,).

    A quintic of at most `length` seconds that starts at rest, goes back first and ends at 0 with the
    velocity. A joint that would leave its limits by it takes a shorter run-up.
    """
    lowest, highest = np.minimum(limits[0], way.min(axis=0)), np.maximum(limits[1], way.max(axis=0))
    lengths = np.full(len(velocity), length)
    while True:
        progress = (1.0 + (clock - clock[-1])[:, None] / lengths).clip(0.0)
        added = velocity * lengths * progress**3 * (-4.0 + 7.0 * progress - 3.0 * progress**2)
        position = way + added
        leaves = ((position < lowest - _TOLERANCE) | (position > highest + _TOLERANCE)).any(axis=0)
        leaves &= lengths > _COAST_TIME
        if not leaves.any():
            return np.asarray(added)
        lengths[leaves] = np.maximum(lengths[leaves] / 2.0, _COAST_TIME)


def plan_lead(
    where: str,
    home: Array,
    posture: Array,
    velocity: Array,
    asked: float,
    limits: tuple[Array, Array],
    speed_limit: Array,
    stretch: float = _MAX_LEAD_STRETCH,
    detour: Array | None = None,
    finish: Callable[[Array, Array], Segment] | None = None,
) -> Segment:
    """Plan the way from rest at `home` (n,) to a posture and a velocity within the speed limits.

    A quintic from rest to rest, and a run-up to the velocity, in `asked` seconds or as long as it takes, up
    to `stretch` times that. If nothing is asked for it only coasts: it starts beside the posture, from where
    it is reached in 0.1 s. `detour` (K, n) is added over the duration; `finish` makes of the samples' times
    and the quintic what else the way consists of. `where` begins the error message: which robot, and between
    what.
    """
    if asked <= 0.0:
        home, asked = posture - 0.5 * _COAST_TIME * velocity, _COAST_TIME
    rest, duration = np.zeros_like(posture), asked
    while duration <= stretch * asked:
        clock = np.linspace(0.0, duration, max(int(duration * _LEAD_RATE), _MIN_LEAD_SAMPLES) + 1)
        joints = BPoly.from_derivatives([0.0, duration], [[home, rest, rest], [posture, rest, rest]])(clock)
        if finish is None:
            joints += run_up(clock, joints, velocity, duration, limits)
            if detour is not None and len(detour):
                joints += make_interp_spline(np.linspace(0.0, duration, len(detour)), detour, k=3)(clock)
            lead: Segment = clock, joints
        else:
            lead = finish(clock, joints)
        factor = time_scaling_factor(lead[0], lead[1], speed_limit)
        if factor <= 1.0 + 1e-6:
            return lead
        duration *= min(factor, 1.1)
    raise RetargetError(
        f"{where} a joint is {factor:.2f} times as fast as allowed, even in {clock[-1]:.1f} s; begin and "
        "end the recording elsewhere (motion.start_s, motion.end_s)"
    )


def fixed_base_reference(robot: Robot, sampled: SampledMotion, feedforward: str, grip: Flags) -> Reference:
    """Make the reference of a robot with a fixed base, its torques without friction."""
    torque = planned_torques(robot, sampled.position, sampled.velocity, sampled.acceleration, feedforward)
    return Reference(sampled.position, sampled.velocity, torque, sampled.acceleration, grip)


def build_arm_reference(
    robot: Robot, plan: ArmPlan, settings: SimulationSection, *, feedforward: str, speed_fraction: float
) -> Timeline:
    """Sample the plan of an arm on a fixed base at the physics rate, with a beginning and an end at rest.

    With a lead-in the arm starts in its posture and returns to it, hands open: quintic joint curves that meet
    the motion with its own velocity, in `lead_in_s` or as slowly as `speed_fraction` of the speed limits
    asks. Without one, or where the plan wants none, it starts in the motion's first posture and stays in its
    last, its hands as the person's are at the end.
    """
    trajectory, leads = plan.trajectory, settings.lead_in_s if plan.leads else 0.0
    limit = np.tile(np.asarray(robot.model.velocityLimit) * speed_fraction, (2, 1))
    detours, stretch = (plan.detours, _MAX_LEAD_STRETCH) if leads > 0.0 else (np.zeros((2, 0, 0)), 1.0)
    where = f"{robot.name}: between its posture and the motion"
    sampled, before = lead_arm(where, robot, trajectory, plan.home, leads, limit, settings, detours, stretch)
    grip = np.zeros((len(sampled.clock), len(robot.hands)), dtype=bool)
    time, clock, after = trajectory.time, sampled.clock - before, None if leads <= 0.0 else 0.0
    for column, role in enumerate(robot.hands):
        contact = plan.hands.contact.get(role.removesuffix("_hand"))
        if contact is not None:
            held = np.interp(clock, time, contact.astype(float), left=0.0, right=after)
            grip[:, column] = held >= 1.0 - 1e-9
    start = settings.settle_s + before
    reference = fixed_base_reference(robot, sampled, feedforward, grip)
    return Timeline(reference, plan.base, start, start + time, plan.hands)


def lead_arm(
    where: str,
    robot: Robot,
    trajectory: JointTrajectory,
    home: Array,
    asked: float,
    speed_limits: Array,
    settings: SimulationSection,
    detours: Array,
    stretch: float = _MAX_LEAD_STRETCH,
) -> tuple[SampledMotion, float]:
    """Lead the joints of a fixed-base robot from `home` to a trajectory and back, and sample all of it.

    `speed_limits` and `detours`, (2, n) and (2, K, n), are those of the way to it and from it; other
    arguments are those of `plan_lead`. Also returns how long the way to it takes, s.
    """
    time, joints, limits = trajectory.time, trajectory.q, joint_limits(robot)
    slopes = make_interp_spline(time, joints, k=3).derivative()(time[[0, -1]]) * [[1.0], [-1.0]]
    lead_in, lead_out = (
        plan_lead(where, home, joints[k], slopes[k], asked, limits, speed_limits[k], stretch, detours[k])
        for k in (0, -1)
    )
    whole, path = assemble(lead_in, (time, joints), lead_out)
    sampled = sample_motion(make_interp_spline(whole, path, k=3), settings, float(whole[-1]))
    return sampled, float(lead_in[0][-1])


def build_whole_body_reference(
    robot: Robot, plan: MotionPlan, settings: SimulationSection, *, feedforward: str, speed_fraction: float
) -> Timeline:
    """Sample the plan of a floating robot at the physics rate, with a beginning and an end at rest.

    With a lead-in the robot starts in its standing posture and returns to it: quintic joint curves that meet
    the motion with its own velocity, in `lead_in_s` or as slowly as `speed_fraction` of the speed limits
    asks. Without one it starts in the motion's first posture. On lead-in and lead-out, too, the COG sways so
    that the ZMP is where it is desired, as far as no hand holds equipment. Refuses legs that leave their
    limits.
    """
    trajectory, stance, hands = plan.trajectory, plan.stance, plan.hands
    assert trajectory.base is not None
    # Blend weight of the actor's hand path: 0 where both hands are free, 1 where one is with equipment.
    share = np.maximum(hands.share["left"], hands.share["right"])
    motion = trajectory.time, trajectory.q, trajectory.base, plan.zmp, share
    speed_limit = np.asarray(robot.model.velocityLimit[6:]) * speed_fraction
    leads = [_whole_body_lead(robot, plan, motion, end, settings.lead_in_s, speed_limit) for end in (0, -1)]
    time, joints, base, zmp, share = assemble(leads[0], motion, leads[1])
    if plan.embedding:
        base, joints = solve_legs_for_zmp(robot, stance, time, base, joints, zmp, 1.0 - share)
        require_leg_limits(robot, joints)
    sampled = sample_motion(make_interp_spline(time, joints, k=3), settings, time[-1])
    before = leads[0][0][-1]
    grip = np.zeros((len(sampled.clock), 2), dtype=bool)
    for column, side in enumerate(SIDES):
        closing, grip[:, column] = (
            np.interp(sampled.clock - before, trajectory.time, flag.astype(float), left=0.0) >= 1.0 - 1e-9
            for flag in (hands.grip[side] >= _CLOSING_THRESHOLD, hands.contact[side])
        )
        fraction = min(_GRIP_SPEED_FRACTION, speed_fraction)
        if f"{side}_hand" in robot.hands:
            _close_fingers(robot, side, closing, sampled, settings.timestep_s, fraction)
    torque = np.zeros_like(joints)
    if feedforward != "none":
        inertia = feedforward == "inverse_dynamics"
        torque = standing_torques(robot, time, base, joints, inertia=inertia, seated=stance.seated)
    torque = make_interp_spline(time, torque, k=1)(sampled.clock)
    reference = Reference(sampled.position, sampled.velocity, torque, sampled.acceleration, grip)
    cog = make_interp_spline(
        time, planned_zmp(robot, time, base, _balanced_joints(robot, plan, joints))[1], k=3
    )
    cog_velocity = cog.derivative()(sampled.clock)
    cog_velocity[sampled.at_rest] = 0.0
    base_path = make_interp_spline(time, base, k=3)(sampled.clock)
    base_path[:, 3:] /= np.linalg.norm(base_path[:, 3:], axis=1, keepdims=True)
    start = settings.settle_s + before
    zmp = make_interp_spline(time, zmp, k=1)(sampled.clock)
    times = start + trajectory.time
    return Timeline(reference, base[0], start, times, hands, base_path, zmp, cog(sampled.clock), cog_velocity)


def _whole_body_lead(
    robot: Robot, plan: MotionPlan, motion: Segment, end: int, asked: float, speed_limit: Array
) -> Segment:
    """Plan the way from rest to sample `end` (0 or -1) of a motion and its velocity, within the speed limits.

    The run-up first goes the other way. If the duration asked for is too short for the speed limits, the way
    takes longer and the run-up becomes shorter in the same ratio: the farther it went back, perhaps into the
    body, the faster the way round would have to be. The COG goes from the middle of the soles, or stays, to
    where the plan has it; so does the desired ZMP.
    """
    time, joints, base, zmp, share = motion
    spline = make_interp_spline(time, joints, k=min(3, len(time) - 1))
    velocity = spline.derivative()(time[[0, -1]])[end] * (1.0 if end == 0 else -1.0)
    # A motion that ends at the speed that may be used is left a little faster, still within what joints can.
    most = np.asarray(robot.model.velocityLimit[6:])
    speed_limit = np.maximum(speed_limit, np.minimum(1.02 * np.abs(velocity), most))
    q = np.concatenate([base[end], _balanced_joints(robot, plan, joints[end])])
    cog = pin.centerOfMass(robot.model, robot.model.createData(), q)[:2]
    # COG, desired ZMP, and blend weight of the hands.
    target = np.array([*cog, *zmp[end], share[end]])
    start = np.array([*plan.stance.target, *plan.stance.target, 0.0]) if asked > 0 else target
    upper, longest = plan.upper, asked if asked > 0 else _COAST_TIME
    home, limits = plan.stance.joints, (plan.limits[0], plan.limits[1])

    def finish(clock: Array, joints: Array) -> Segment:
        moved, length = joints[:, upper], longest**2 / float(clock[-1])
        while True:
            path = moved + run_up(clock, moved, velocity[upper], length, limits)
            path = clear_path(plan.shapes, path, _CLEARANCE, limits=limits)
            # A hand that moves towards the body has no room for a long run-up.
            if length <= _COAST_TIME / 2.0 or is_clear(plan.shapes, path, _LEAST_CLEARANCE):
                break
            length = max(length / 2.0, _COAST_TIME / 2.0)
        joints[:, upper] = np.clip(path, *limits)
        progress = minimum_jerk(clock, 0.0, float(clock[-1]))
        cog, zmp, share = np.hsplit(start + progress[:, None] * (target - start), [2, 4])
        base, joints = solve_com_ik(robot, plan.stance, joints, cog, embedding=plan.embedding)
        return clock, joints, base, zmp, share[:, 0]

    where = f"{robot.name}: on the way {'to' if end == 0 else 'from'} the motion"
    return plan_lead(where, home, joints[end], velocity, asked, limits, speed_limit, finish=finish)


def _balanced_joints(robot: Robot, plan: MotionPlan, joints: Array) -> Array:
    """Positions (..., n) that balance knows of, rad: without embedding those of trunk, arms, head at rest."""
    if plan.embedding:
        return joints
    frozen = np.broadcast_to(plan.stance.joints, joints.shape).copy()
    for side in SIDES:
        frozen[..., leg_columns(robot, side)] = joints[..., leg_columns(robot, side)]
    return frozen


def _close_fingers(
    robot: Robot, side: str, closing: Flags, sampled: SampledMotion, timestep: float, fraction: float
) -> None:
    """Write the grip joints' reference: closed while the hand holds and just before, open otherwise.

    They move at `fraction` of their speed limits.
    """
    for name in robot.hands[f"{side}_hand"].joints:
        column = robot.joint_names.index(name)
        opened, closed = grip_range(robot, name)
        # A smooth step 3s² − 2s³ is fastest in its middle, at 1.5 times its mean speed.
        duration = (
            1.5 * abs(closed - opened) / (fraction * float(robot.model.velocityLimit[robot.root_v + column]))
        )
        level, progress = 0.0, np.empty(len(closing))
        for step, rate in enumerate(np.where(closing, 1.0, -1.0) * timestep / duration):
            level = progress[step] = min(max(level + rate, 0.0), 1.0)
        position = opened + (closed - opened) * progress**2 * (3.0 - 2.0 * progress)
        sampled.position[:, column] = position
        sampled.velocity[:, column] = np.gradient(position, timestep)


@dataclass(frozen=True)
class FollowedSteps:
    """Steps of a person that a robot is to follow, as the person took them and as they are planned.

    Times are in the robot's time from the recording's first sample on, as `JointTrajectory.time` of a plan;
    a run adds `Timeline.start`. Places are those of the feet's frames (`robot.frames["left_foot"]`) in the
    world frame of the run.

    Parameters
    ----------
    side : (K,) int array
        Foot that lands in each step, as index into `SIDES`: 0 is the left one.
    person_time : (K,) array
        Landings of the person, mapped by the tempo map to the robot's time, s; in order.
    person_position : (K, 2) array
        Where the person put the foot down, scaled to the robot, m.
    person_yaw : (K,) array
        Direction of the person's foot about the vertical, rad.
    planned_time, planned_position, planned_yaw : (K,), (K, 2), (K,) arrays
        The same as they are planned.
    heading : float
        Direction of the recording's x axis in the world frame of the run, rad.
    """

    side: NDArray[np.int64]
    person_time: Array
    person_position: Array
    person_yaw: Array
    planned_time: Array
    planned_position: Array
    planned_yaw: Array
    heading: float = 0.0
