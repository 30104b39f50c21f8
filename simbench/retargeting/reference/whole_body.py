"""The reference of a whole-body plan at every physics step: settle, lead-in, motion, lead-out, hold."""

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import BPoly, make_interp_spline

from simbench.balance.standing.ground_reaction import standing_torques
from simbench.balance.standing.standing import Stance, leg_columns, solve_com_ik
from simbench.balance.standing.standing_profile import planned_zmp
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.options import SimulationSection
from simbench.retargeting.collision.avoidance import clear_path
from simbench.retargeting.reference.assembly import (
    COAST_TIME,
    MAX_LEAD_STRETCH,
    SampledMotion,
    Segment,
    assemble,
    run_up,
    sample_lead_times,
    sample_motion,
    stretch_lead,
)
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.retargeting.whole_body.plan import MotionPlan
from simbench.retargeting.whole_body.stance import require_leg_limits
from simbench.retargeting.whole_body.zmp import solve_legs_for_zmp
from simbench.robot.grips import grip_range
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_CLEARANCE = 0.03
"""Margin between the robot's own links on the way to the motion and back, m."""
_CLOSING_THRESHOLD = 0.97
"""Value of `HandPlan.grip` from which on fingers close: a seventh of a second before the palm rests on its
handle, for they take several, and the person goes on."""
_GRIP_SPEED_FRACTION = 0.8
"""Largest fraction of its speed limit at which a grip closes."""


@dataclass(frozen=True)
class WholeBodySegment(Segment):
    """Stretch of a whole-body motion at its own samples.

    Parameters
    ----------
    time : (T,) array
        Time from the stretch's beginning, s.
    joints : (T, n) array
        Positions of all joints, rad.
    base : (T, 7) array
        Pose of the root link in the world frame: position, m, and quaternion.
    zmp : (T, 2) array
        Desired ZMP in the world frame, m.
    share : (T,) array
        Blend weight of the actor's hand path: 0 where both hands are free, 1 where one is with equipment.
    """

    base: Array
    zmp: Array
    share: Array


def build_whole_body_reference(
    robot: Robot, plan: MotionPlan, settings: SimulationSection, *, feedforward: str, speed_fraction: float
) -> Timeline:
    """Sample a plan at the physics rate, with a beginning and an end at rest.

    With a lead-in the robot starts in its standing posture and returns to it: quintic joint curves that meet
    the motion with its own velocity, in `lead_in_s` or as slowly as speed limits ask. Without one it starts
    in the motion's first posture. On lead-in and lead-out, too, the COG sways so that the ZMP is where it is
    desired, as far as no hand holds equipment.

    Parameters
    ----------
    robot : Robot
        Robot with a floating base.
    plan : MotionPlan
        Planned motion of its joints and base.
    settings : SimulationSection
        Physics step, and times to settle, lead in and hold.
    feedforward : str
        Feed-forward torque: `none`, `gravity` or `inverse_dynamics`, as in `ControlSection`.
    speed_fraction : float
        Fraction of the joint speed limits that may be used.

    Returns
    -------
    Timeline
        Reference of the joints, with the planned base, ZMP and COG.

    Raises
    ------
    RetargetError
        If a lead-in or lead-out is too fast however long it takes, or the legs leave their limits.
    """
    motion = _planned_segment(plan)
    speed_limit = np.asarray(robot.model.velocityLimit[6:]) * speed_fraction
    lead_in = _plan_lead(robot, plan, motion, 0, settings, speed_limit)
    lead_out = _plan_lead(robot, plan, motion, -1, settings, speed_limit)
    whole = _sway(robot, plan, assemble(lead_in, motion, lead_out))
    end = whole.time[-1]
    sampled = sample_motion(make_interp_spline(whole.time, whole.joints, k=3), settings, end)
    before = lead_in.time[-1]
    share = min(_GRIP_SPEED_FRACTION, speed_fraction)
    grip = _plan_grip(robot, plan, sampled, before, settings.timestep_s, share)
    torque = _sample_torques(robot, plan, whole, sampled.clock, feedforward)
    reference = Reference(sampled.position, sampled.velocity, torque, sampled.acceleration, grip)
    known = whole.joints if plan.embedding else _freeze_upper_body(robot, plan.stance, whole.joints)
    _, cog = planned_zmp(robot, whole.time, whole.base, known)
    cog_spline = make_interp_spline(whole.time, cog, k=3)
    cog_velocity = cog_spline.derivative()(sampled.clock)
    cog_velocity[sampled.at_rest] = 0.0
    base_path = make_interp_spline(whole.time, whole.base, k=3)(sampled.clock)
    base_path[:, 3:] /= np.linalg.norm(base_path[:, 3:], axis=1, keepdims=True)
    start = settings.settle_s + before
    return Timeline(
        reference,
        whole.base[0],
        start,
        start + plan.trajectory.time,
        plan.hands,
        base_path,
        make_interp_spline(whole.time, whole.zmp, k=1)(sampled.clock),
        cog_spline(sampled.clock),
        cog_velocity,
    )


def _planned_segment(plan: MotionPlan) -> WholeBodySegment:
    """Take the planned motion as a segment."""
    trajectory, share = plan.trajectory, plan.hands.share
    assert trajectory.base is not None
    blend = np.maximum(share["left"], share["right"])
    return WholeBodySegment(trajectory.time, trajectory.q, trajectory.base, plan.zmp, blend)


def _plan_lead(
    robot: Robot,
    plan: MotionPlan,
    motion: WholeBodySegment,
    end: int,
    settings: SimulationSection,
    speed_limit: Array,
) -> WholeBodySegment:
    """Plan the way from rest to sample `end` (0 or -1) of a motion and its velocity, within the speed limits.

    A quintic from rest to rest, and a run-up to the velocity, which first goes the other way. If the duration
    asked for is too short for the speed limits, the way takes longer and the run-up becomes shorter in the
    same ratio: the farther it went back, perhaps into the body, the faster the way round would have to be.
    The COG goes from the middle of the soles, or stays, to where the plan has it; so does the desired ZMP.
    """
    spline = make_interp_spline(motion.time, motion.joints, k=min(3, len(motion.time) - 1))
    velocity = spline.derivative()(motion.time[[0, -1]])[end] * (1.0 if end == 0 else -1.0)
    posture = motion.joints[end]
    if settings.lead_in_s > 0:
        home, asked = plan.stance.joints, settings.lead_in_s
    else:
        home, asked = posture - 0.5 * COAST_TIME * velocity, COAST_TIME
    # COG, desired ZMP, and blend weight of the hands.
    target = np.array([*_planned_cog(robot, plan, motion, end), *motion.zmp[end], motion.share[end]])
    stance_target = plan.stance.target
    start = np.array([*stance_target, *stance_target, 0.0]) if settings.lead_in_s > 0 else target
    rest = np.zeros_like(posture)
    lowest, highest = plan.limits

    def plan_quintic(duration: float) -> WholeBodySegment:
        clock = sample_lead_times(duration)
        joints = BPoly.from_derivatives([0.0, duration], [[home, rest, rest], [posture, rest, rest]])(clock)
        upper = joints[:, plan.upper]
        upper += run_up(clock, upper, velocity[plan.upper], asked**2 / duration, (lowest, highest))
        clear = clear_path(plan.shapes, upper, _CLEARANCE, (lowest, highest))
        joints[:, plan.upper] = np.clip(clear, lowest, highest)
        progress = minimum_jerk(clock, 0.0, duration)
        cog, zmp, share = np.hsplit(start + progress[:, None] * (target - start), [2, 4])
        base, joints = solve_com_ik(robot, plan.stance, joints, cog, embedding=plan.embedding)
        return WholeBodySegment(clock, joints, base, zmp, share[:, 0])

    where = f"{robot.name}: on the way {'to' if end == 0 else 'from'} the motion"
    return stretch_lead(plan_quintic, asked, MAX_LEAD_STRETCH * asked, speed_limit, where)


def _planned_cog(robot: Robot, plan: MotionPlan, motion: WholeBodySegment, sample: int) -> Array:
    """COG (2,) that balance knows of at a sample of the motion, m."""
    joints = motion.joints[sample]
    known = joints if plan.embedding else _freeze_upper_body(robot, plan.stance, joints)
    q = np.concatenate([motion.base[sample], known])
    return np.asarray(pin.centerOfMass(robot.model, robot.model.createData(), q)[:2])


def _sway(robot: Robot, plan: MotionPlan, whole: WholeBodySegment) -> WholeBodySegment:
    """Let the COG sway for the desired ZMP, as far as hands are free, if balance knows of the upper body."""
    if not plan.embedding:
        return whole
    base, joints = solve_legs_for_zmp(
        robot, plan.stance, whole.time, whole.base, whole.joints, whole.zmp, 1.0 - whole.share
    )
    require_leg_limits(robot, joints)
    return replace(whole, base=base, joints=joints)


def _sample_torques(
    robot: Robot, plan: MotionPlan, whole: WholeBodySegment, clock: Array, feedforward: str
) -> Array:
    """Feed-forward torques (N, n), N·m, of standing, interpolated between the samples of the motion."""
    if feedforward == "none":
        torques = np.zeros_like(whole.joints)
    else:
        torques = standing_torques(
            robot,
            whole.time,
            whole.base,
            whole.joints,
            inertia=feedforward == "inverse_dynamics",
            seated=plan.stance.seated,
        )
    return np.asarray(make_interp_spline(whole.time, torques, k=1)(clock))


def _freeze_upper_body(robot: Robot, stance: Stance, joints: Array) -> Array:
    """Set trunk, arms and head of joint positions (..., n) to those of the stance, rad."""
    frozen = np.broadcast_to(stance.joints, joints.shape).copy()
    for side in SIDES:
        frozen[..., leg_columns(robot, side)] = joints[..., leg_columns(robot, side)]
    return frozen


def _plan_grip(
    robot: Robot,
    plan: MotionPlan,
    sampled: SampledMotion,
    before: float,
    timestep: float,
    speed_fraction: float,
) -> NDArray[np.bool_]:
    """Say when each hand is meant to hold (N, 2), and close its fingers in the reference."""
    clock, grip = sampled.clock - before, np.zeros((len(sampled.clock), 2), dtype=bool)
    for column, side in enumerate(SIDES):
        closing, grip[:, column] = (
            np.interp(clock, plan.trajectory.time, flag.astype(float), left=0.0) >= 1.0 - 1e-9
            for flag in (plan.hands.grip[side] >= _CLOSING_THRESHOLD, plan.hands.contact[side])
        )
        if f"{side}_hand" in robot.hands:
            _close_fingers(robot, side, closing, sampled, timestep, speed_fraction)
    return grip


def _close_fingers(
    robot: Robot,
    side: str,
    closing: NDArray[np.bool_],
    sampled: SampledMotion,
    timestep: float,
    speed_fraction: float,
) -> None:
    """Write the grip joints' reference: closed while the hand holds and just before, open otherwise."""
    for name in robot.hands[f"{side}_hand"].joints:
        column = robot.joint_names.index(name)
        opened, closed = grip_range(robot, name)
        # A smooth step 3s² − 2s³ is fastest in its middle, at 1.5 times its mean speed.
        limit = float(robot.model.velocityLimit[robot.root_v + column])
        duration = 1.5 * abs(closed - opened) / (speed_fraction * limit)
        change = np.where(closing, 1.0, -1.0) * timestep / duration
        progress = np.empty(len(closing))
        level = 0.0
        for step, rate in enumerate(change):
            level = min(max(level + rate, 0.0), 1.0)
            progress[step] = level
        position = opened + (closed - opened) * progress**2 * (3.0 - 2.0 * progress)
        sampled.position[:, column] = position
        sampled.velocity[:, column] = np.gradient(position, timestep)
