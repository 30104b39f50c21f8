"""The reference at every physics step: settle, lead-in, the planned motion, lead-out, hold."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import BPoly, make_interp_spline

from simbench.balance.standing.ground_reaction import standing_torques
from simbench.balance.standing.standing import Stance, leg_columns, solve_com_ik
from simbench.balance.standing.standing_profile import planned_zmp
from simbench.errors import RetargetError
from simbench.kinematics.profiles import minimum_jerk
from simbench.kinematics.time_scaling import time_scaling_factor
from simbench.options import SimulationSection
from simbench.retargeting.collision.clearance import clear_path
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.retargeting.whole_body.plan import MotionPlan
from simbench.retargeting.whole_body.stance import require_leg_limits
from simbench.retargeting.whole_body.zmp import solve_legs_for_zmp
from simbench.robot.grips import grip_range
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_LEAD_RATE = 100.0
_LONGEST_LEAD = 10.0
"""Times the time asked for it."""
COAST_TIME = 0.1
"""In which a motion without a lead-in gets under way, and comes to rest, s."""
_CLEARANCE = 0.03
"""Between the robot's own links on the way to the motion and back, m."""
_CLOSING = 0.97
"""Of `HandPlan.grip`, from which on fingers close: a seventh of a second before the palm rests on its handle,
for they take several, and the person goes on."""
_GRIP_SPEED = 0.8
"""Part of its speed limit at which a grip closes."""


def build_reference(
    robot: Robot, plan: MotionPlan, settings: SimulationSection, *, feedforward: str, speed_fraction: float
) -> Timeline:
    """Sample a plan at the physics rate, with a beginning and an end at rest.

    With a lead-in the robot starts in its standing posture and returns to it: quintic joint curves that meet
    the motion with its own velocity, in `lead_in_s` or as slowly as speed limits ask. Without one it starts
    in the motion's first posture. On these ways, too, the COG sways so that the ZMP is where it is wanted,
    as far as no hand holds equipment.

    Parameters
    ----------
    robot : Robot
    plan : MotionPlan
    settings : SimulationSection
    feedforward : str
        As in `ControlSection`.
    speed_fraction : float
        Part of the joint speed limits that may be used.

    Returns
    -------
    Timeline
    """
    time, joints, base = plan.trajectory.time, plan.trajectory.q, plan.trajectory.base
    assert base is not None
    speed = np.asarray(robot.model.velocityLimit[6:]) * speed_fraction
    ends = make_interp_spline(time, joints, k=min(3, len(time) - 1)).derivative()(time[[0, -1]])
    ways = []
    for end, velocity in ((0, ends[0]), (-1, -ends[1])):
        if settings.lead_in_s > 0:
            home, duration = plan.stance.joints, settings.lead_in_s
        else:
            home, duration = joints[end] - 0.5 * COAST_TIME * velocity, COAST_TIME
        ways.append(_lead(robot, plan, end, velocity, home, duration, speed))
    way_in, way_out = ways
    before, after = way_in.time[-1], way_out.time[-1]
    time = np.concatenate([way_in.time[:-1], before + time, before + time[-1] + after - way_out.time[-2::-1]])
    base = np.concatenate([way_in.base[:-1], base, way_out.base[-2::-1]])
    joints = np.concatenate([way_in.joints[:-1], joints, way_out.joints[-2::-1]])
    zmp = np.concatenate([way_in.zmp[:-1], plan.zmp, way_out.zmp[-2::-1]])
    if plan.embedding:
        touch = np.maximum(plan.hands.share["left"], plan.hands.share["right"])
        free = 1.0 - np.concatenate([way_in.touch[:-1], touch, way_out.touch[-2::-1]])
        base, joints = solve_legs_for_zmp(robot, plan.stance, time, base, joints, zmp, free)
        require_leg_limits(robot, joints)
    _, cog = planned_zmp(robot, time, base, joints if plan.embedding else _still(robot, plan.stance, joints))

    if feedforward == "none":
        torques = np.zeros_like(joints)
    else:
        inertia = feedforward == "inverse_dynamics"
        torques = standing_torques(robot, time, base, joints, inertia=inertia, seated=plan.stance.seated)
    timestep = settings.timestep_s
    steps = round((settings.settle_s + time[-1] + settings.hold_s) / timestep)
    clock = (np.arange(1, steps + 1) * timestep - settings.settle_s).clip(0.0, time[-1])
    spline = make_interp_spline(time, joints, k=3)
    position, velocity, acceleration = (spline.derivative(order)(clock) for order in range(3))
    at_rest = (clock <= 0.0) | (clock >= time[-1])
    velocity[at_rest] = acceleration[at_rest] = 0.0
    torque = make_interp_spline(time, torques, k=1)(clock)
    cog_spline = make_interp_spline(time, cog, k=3)
    cog_velocity = cog_spline.derivative()(clock)
    cog_velocity[at_rest] = 0.0
    base_path = make_interp_spline(time, base, k=3)(clock)
    base_path[:, 3:] /= np.linalg.norm(base_path[:, 3:], axis=1, keepdims=True)
    start = settings.settle_s + before
    grip = np.zeros((steps, 2), dtype=bool)
    for column, side in enumerate(SIDES):
        closing, grip[:, column] = (
            np.interp(clock - before, plan.trajectory.time, wanted.astype(float), left=0.0) >= 1.0 - 1e-9
            for wanted in (plan.hands.grip[side] >= _CLOSING, plan.hands.contact[side])
        )
        if f"{side}_hand" in robot.hands:
            _close_fingers(robot, side, closing, position, velocity, timestep)
    reference = Reference(position, velocity, torque, acceleration, grip)
    return Timeline(
        reference,
        base[0],
        start,
        start + plan.trajectory.time,
        plan.hands,
        base_path,
        make_interp_spline(time, zmp, k=1)(clock),
        cog_spline(clock),
        cog_velocity,
    )


@dataclass(frozen=True)
class _Lead:
    """A way from rest to an end of the motion; `touch` is how far hands are with equipment."""

    time: NDArray[np.float64]
    base: NDArray[np.float64]
    joints: NDArray[np.float64]
    zmp: NDArray[np.float64]
    touch: NDArray[np.float64]


def _lead(
    robot: Robot,
    plan: MotionPlan,
    end: int,
    velocity: NDArray[np.float64],
    home: NDArray[np.float64],
    duration: float,
    speed: NDArray[np.float64],
) -> _Lead:
    """Way from a posture at rest to sample `end` of the plan and a velocity, within the speed limits.

    A quintic from rest to rest, and a run-up to the velocity, which first goes the other way. If `duration`
    is too short for the speed limits, the way takes longer and the run-up becomes shorter in the same ratio:
    the farther it went back, perhaps into the body, the faster the way round would have to be.
    The COG goes from the middle of the soles, or stays, to where the plan has it; so does the wanted ZMP.
    """
    base, posture = plan.trajectory.base[end], plan.trajectory.q[end]  # type: ignore[index]
    known = posture if plan.embedding else _still(robot, plan.stance, posture)
    planned = pin.centerOfMass(robot.model, robot.model.createData(), np.concatenate([base, known]))[:2]
    # COG, wanted ZMP, and how far hands are with equipment.
    ends = np.array([*planned, *plan.zmp[end], max(plan.hands.share[side][end] for side in SIDES)])
    start = np.array([*plan.stance.target, *plan.stance.target, 0.0]) if home is plan.stance.joints else ends
    rest, asked = np.zeros_like(posture), duration
    while duration <= _LONGEST_LEAD * asked:
        run_up = asked**2 / duration
        clock = np.linspace(0.0, duration, max(int(duration * _LEAD_RATE), 8) + 1)
        joints = BPoly.from_derivatives([0.0, duration], [[home, rest, rest], [posture, rest, rest]])(clock)
        onset = BPoly.from_derivatives([0.0, run_up], [[rest, rest, rest], [rest, velocity, rest]])
        joints += onset((clock - duration + run_up).clip(0.0))
        clear = clear_path(plan.shapes, joints[:, plan.upper], _CLEARANCE)
        joints[:, plan.upper] = np.clip(clear, *plan.limits)
        share = minimum_jerk(clock, 0.0, duration)
        cog, zmp, touch = np.hsplit(start + share[:, None] * (ends - start), [2, 4])
        pose, joints = solve_com_ik(robot, plan.stance, joints, cog, embedding=plan.embedding)
        factor = time_scaling_factor(clock, joints, speed)
        if factor <= 1.0 + 1e-6:
            return _Lead(clock, pose, joints, zmp, touch[:, 0])
        duration *= min(factor, 1.1)
    way = "to" if end == 0 else "from"
    raise RetargetError(
        f"{robot.name}: on the way {way} the motion a joint is {factor:.2f} times as fast as allowed, even "
        f"in {clock[-1]:.1f} s; begin and end the recording elsewhere (motion.start_s, motion.end_s)"
    )


def _still(robot: Robot, stance: Stance, joints: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take trunk, arms and head of joint positions (..., n) back to the stance, rad."""
    still = np.broadcast_to(stance.joints, joints.shape).copy()
    for side in SIDES:
        still[..., leg_columns(robot, side)] = joints[..., leg_columns(robot, side)]
    return still


def _close_fingers(
    robot: Robot,
    side: str,
    closing: NDArray[np.bool_],
    position: NDArray[np.float64],
    velocity: NDArray[np.float64],
    timestep: float,
) -> None:
    """Write the grip joints' reference: closed while the hand holds and just before, open otherwise."""
    for name in robot.hands[f"{side}_hand"].joints:
        column = robot.joint_names.index(name)
        opened, closed = grip_range(robot, name)
        # A smooth step 3s² − 2s³ is fastest in its middle, at 1.5 times its mean speed.
        limit = float(robot.model.velocityLimit[robot.root_v + column])
        duration = 1.5 * abs(closed - opened) / (_GRIP_SPEED * limit)
        change = np.where(closing, 1.0, -1.0) * timestep / duration
        share = np.empty(len(closing))
        level = 0.0
        for step, rate in enumerate(change):
            level = min(max(level + rate, 0.0), 1.0)
            share[step] = level
        position[:, column] = opened + (closed - opened) * share**2 * (3.0 - 2.0 * share)
        velocity[:, column] = np.gradient(position[:, column], timestep)
