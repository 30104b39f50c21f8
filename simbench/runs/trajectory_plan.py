"""Robot motions made elsewhere: checked, placed in the world, and planned without retargeting.

A robot on a fixed base tracks its joints as they are. One on free feet follows with rest, lead-in, motion and
lead-out, and with the contacts as steps.
"""

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

from simbench.balance.leg_ik import leg_length
from simbench.balance.whole_body import WholeBodyPlan
from simbench.errors import MotionError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import SHORTEST_WINDOW, differentiate
from simbench.kinematics.rotation import continuous_quaternions, wrap_angle
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.joint_order import joint_limits
from simbench.options import RobotSection, SimulationSection
from simbench.retargeting.arm.fixed_base import base_pose, choose_rest
from simbench.retargeting.reference.planned_steps import (
    PlannedSteps,
    TrajectoryTask,
    build_timeline,
    follow_ideally,
    interpolate,
    make_whole_plan,
)
from simbench.retargeting.reference.reference import Flags, Timeline
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES
from simbench.runs.retargeted_reference import fixed_base_reference, lead_arm
from simbench.runs.tracked_feet import FLAT, SolePath, compute_soles, plan_steps, sample_configurations

# Samples that a cubic spline needs.
MIN_SAMPLES = 4
# Longest trajectory, s; simulated times are up to an hour.
_LONGEST = 3600.0
# Largest distance of the base from the origin of the file's world, m: beyond it is not in metres.
_FARTHEST = 1000.0
# Speed of the base that no robot has, m/s: positions in centimetres, or a jump between two takes.
_FASTEST_BASE = 50.0
# Joint speed over its limit that no motion has: positions in degrees, or columns of other joints.
_FASTEST_RATIO = 30.0
# Excess over a joint limit that is not reported, rad: rounding in files.
_LIMIT_TOLERANCE = 1e-3
# RMS of what smoothing changes from which on it is said, m or rad.
_SMOOTHING_NOTE = 5e-4
# Shift of the base's height from which on it is said, m: soles give by as much.
_HEIGHT_NOTE = 0.002
# Speed of the lower foot below which it may stand, m/s.
_RESTING_SPEED = 0.2
# Slide of a foot on the floor, depth of a sole below it, and height of a sole that stands, from which on they
# are told, m.
_SLIDING, _SINKING, _FLOATING = 0.02, 0.01, 0.01


@dataclass(frozen=True)
class TrackedMotion:
    """The trajectory that a run is to follow, in the world, at every physics step."""

    joints: Array  # (N, n): joint positions, rad; NaN before and after the motion.
    # (N, 7): pose of the root link: position, m, and quaternion x, y, z, w; NaN before and after. Without
    # columns for a robot with a fixed base.
    base: Array
    # (N, 2, 4): positions of the foot frames (m) and their rotation about the vertical (rad); NaN before and
    # after. Empty for a robot with a fixed base.
    feet: Array
    # (N, 2) bool: whether each foot is in contact in the trajectory; empty for a robot with a fixed base.
    contact: Flags


@dataclass(frozen=True)
class TrajectoryPlan:
    """Planned motion of a robot that follows a trajectory."""

    timeline: Timeline  # Reference at every physics step.
    whole: WholeBodyPlan | None  # Plan of the balance controller; None for a robot with a fixed base.
    tracked: TrackedMotion  # The trajectory as the file has it, placed in the world.
    metrics: dict[str, float]
    notes: tuple[str, ...] = ()  # What was changed, one line each.
    doubts: tuple[str, ...] = ()  # What the robot cannot do as the trajectory has it, one line each.


def check_trajectory(robot: Robot, trajectory: JointTrajectory) -> tuple[JointTrajectory, list[str]]:
    """Check a trajectory against what a robot can do, and keep its joints inside their limits.

    Refuses too few samples, and speeds and places that cannot be those of a motion of the robot. Also returns
    a line on joints beyond their position limits and one on speeds, with the first time.
    """
    time, q, base = trajectory.time, trajectory.q, trajectory.base
    if len(time) < MIN_SAMPLES:
        raise MotionError(f"the trajectory has {len(time)} samples; at least {MIN_SAMPLES} are needed")
    if time[-1] - time[0] > _LONGEST:
        raise MotionError(f"the trajectory takes {time[-1] - time[0]:g} s; at most {_LONGEST:g} s can be run")
    low, high = joint_limits(robot)
    ratio = np.abs(np.diff(q, axis=0) / np.diff(time)[:, None]) / robot.model.velocityLimit[robot.root_v :]
    if ratio.max(initial=0.0) > _FASTEST_RATIO:
        sample, joint = np.unravel_index(int(ratio.argmax()), ratio.shape)
        raise MotionError(
            f"joint {robot.joint_names[joint]} moves {ratio.max():.3g} times as fast as its limit at "
            f"{time[sample]:.3f} s; at most {_FASTEST_RATIO:g} times is read as a motion: are positions in "
            "radians, the joints in the right order, and the rate (motion.fps) right?"
        )
    if base is not None:
        distance = np.linalg.norm(base[:, :3], axis=1)
        if distance.max() > _FARTHEST:
            raise MotionError(
                f"the base is {distance.max():.3g} m from the origin at {time[distance.argmax()]:.3f} s; "
                f"at most {_FARTHEST:g} m is read as a motion: are positions in metres?"
            )
        speed = np.linalg.norm(np.diff(base[:, :3], axis=0), axis=1) / np.diff(time)
        if speed.max() > _FASTEST_BASE:
            raise MotionError(
                f"the base moves at {speed.max():.3g} m/s at {time[speed.argmax()]:.3f} s; at most "
                f"{_FASTEST_BASE:g} m/s is read as a motion: are positions in metres, and is the rate "
                "(motion.fps) right?"
            )
    doubts, excess = [], np.maximum(low - q, q - high)
    for values, allowed, words, then in (
        (
            excess,
            _LIMIT_TOLERANCE,
            "beyond its position limit by {:.3f}",
            "; the robot is asked for the limit",
        ),
        (ratio, 1.0, "{:.2f} times as fast as its limit", ""),
    ):
        worst = values.max(axis=0)
        beyond = int((worst > allowed).sum())
        if beyond:
            others = f" ({beyond} joints in all)" if beyond > 1 else ""
            name, begin = robot.joint_names[worst.argmax()], time[(values > allowed).any(axis=1).argmax()]
            doubts.append(
                f"joint {name} is {words.format(worst.max())}{others}, first at {begin:.2f} s{then}"
            )
    return JointTrajectory(time, np.clip(q, low, high), trajectory.joint_names, base), doubts


def smooth_noise(robot: Robot, trajectory: JointTrajectory) -> tuple[JointTrajectory, list[str]]:
    """Smooth the samples of a trajectory as far as their noise would shake the robot, as the verdict does.

    The polynomials of `differentiate` are used: over the shortest window, of at least five samples and 0.05 s
    and at most 0.3 s, whose accelerations are free of noise. Five samples without noise stay as they are.
    Noise of 2 mrad at 50 Hz, interpolated, is 18 rad/s² in the arms, which moves the ZMP by centimetres.
    Joints stay inside their limits. Also returns a line on what was changed; none if it is little.
    """
    if len(trajectory.time) < SHORTEST_WINDOW:
        return trajectory, []
    given, columns, notes = trajectory.q, 0, []
    if trajectory.base is not None:
        turned = continuous_quaternions(trajectory.base[:, 3:])
        given, columns = np.hstack([trajectory.base[:, :3], turned, trajectory.q]), 7
    found = differentiate(trajectory.time, given, columns)
    smoothed = found.position
    changed = np.sqrt(np.mean((smoothed - given) ** 2, axis=0))
    if changed.max(initial=0.0) > _SMOOTHING_NOTE:
        period = (trajectory.time[-1] - trajectory.time[0]) / (len(trajectory.time) - 1)
        text = f"joints by {changed[columns:].max(initial=0.0):.4f} rad RMS at most"
        if columns:
            text += f", the base by {changed[:3].max():.4f} m"
        notes.append(f"the samples have noise and are smoothed over {found.window * period:.2f} s: {text}")
    smoothed[:, 3:columns] /= np.linalg.norm(smoothed[:, 3:columns], axis=1, keepdims=True)
    base = smoothed[:, :7] if columns else None
    return replace(trajectory, q=np.clip(smoothed[:, columns:], *joint_limits(robot)), base=base), notes


def place_trajectory(
    robot: Robot, trajectory: JointTrajectory, section: RobotSection
) -> tuple[JointTrajectory, float, list[str]]:
    """Move a trajectory as a whole so that it starts at the scenario's place, its soles on the floor.

    It starts with the root link's x axis in the direction `heading_rad` and the middle between the feet at
    `position_m`. The floor is where the lower sole is while it rests: the median height of its lowest corner.
    Also returns what was added to the base's height, m, and what was changed, one line each.
    """
    base = trajectory.base
    assert base is not None
    soles = compute_soles(robot, np.hstack([base, trajectory.q]))
    rows, lowest = np.arange(len(base)), soles.clearance.argmin(axis=1)
    speed = np.linalg.norm(np.gradient(soles.position, trajectory.time, axis=0), axis=2)[rows, lowest]
    rests, heights = speed < _RESTING_SPEED, soles.clearance[rows, lowest]
    height = -float(np.median(heights[rests] if rests.any() else heights))
    first = Rotation.from_quat(base[0, 3:]).as_matrix()
    turn = section.heading_rad - float(np.arctan2(first[1, 0], first[0, 0]))
    rotation = pin.utils.rotate("z", turn)
    middle = soles.position[0].mean(axis=0) * [1.0, 1.0, 0.0]
    shift = np.array([*section.position_m, height]) - rotation @ middle
    turned = (Rotation.from_matrix(rotation) * Rotation.from_quat(base[:, 3:])).as_quat()
    notes = []
    if abs(height) > _HEIGHT_NOTE:
        where, change = ("below", "raised") if height > 0.0 else ("above", "lowered")
        stands = f"the soles stand {abs(height):.3f} m {where} the floor in the file"
        notes.append(f"{stands}; the motion is {change} by that")
    if np.linalg.norm(shift[:2]) > 0.01 or abs(wrap_angle(turn)) > 0.01:
        begin = "to begin at robot.position_m and robot.heading_rad"
        notes.append(f"the motion is moved and turned about the vertical {begin}")
    return replace(trajectory, base=np.hstack([base[:, :3] @ rotation.T + shift, turned])), height, notes


def plan_on_fixed_base(
    robot: Robot,
    trajectory: JointTrajectory,
    section: RobotSection,
    settings: SimulationSection,
    feedforward: str,
) -> TrajectoryPlan:
    """Plan how a robot on a fixed base follows a trajectory of its joints, from 0 s.

    With a lead-in it starts in its posture and returns to it; without one it starts in the trajectory's first
    posture, from which it gets under way in a tenth of a second. Refuses what cannot be a motion of the
    robot, and a lead-in or lead-out that is too fast however long it takes.
    """
    inside, doubts = check_trajectory(robot, trajectory)
    smoothed, notes = smooth_noise(robot, inside)
    # Leads may be as fast as a motion that is faster than its limits.
    time, leads = smoothed.time, settings.lead_in_s
    slopes = make_interp_spline(time, smoothed.q, k=3).derivative()(time[[0, -1]])
    limits = np.maximum(robot.model.velocityLimit, 1.05 * np.abs(slopes))
    where, home = (
        f"{robot.name}: between its posture and the trajectory",
        robot.postures[choose_rest(robot, section.posture)],
    )
    sampled, before = lead_arm(where, robot, smoothed, home, leads, limits, settings, np.zeros((2, 0, 0)))
    start, count = settings.settle_s + before, len(sampled.clock)
    height = robot.base_height if section.height_m is None else section.height_m
    base = base_pose(section.position_m, section.heading_rad, height)
    clock = settings.timestep_s * np.arange(1, count + 1) - start
    within = (clock >= 0.0) & (clock <= time[-1])
    tracked, nothing = np.full_like(sampled.position, np.nan), np.empty((count, 0))
    tracked[within] = make_interp_spline(time, trajectory.q, k=3)(clock[within])
    open_hands = np.zeros((count, len(robot.hands)), dtype=bool)
    reference = fixed_base_reference(robot, sampled, feedforward, open_hands)
    timeline = Timeline(reference, base, start, start + time)
    motion = TrackedMotion(tracked, nothing, np.empty((count, 0, 4)), nothing.astype(bool))
    return TrajectoryPlan(timeline, None, motion, {}, tuple(notes), tuple(doubts))


def plan_on_feet(
    robot: Robot,
    trajectory: JointTrajectory,
    section: RobotSection,
    settings: SimulationSection,
    rate: float,
    feedforward: str,
) -> TrajectoryPlan:
    """Plan how a robot on free feet follows a trajectory of its joints and its root link, from 0 s.

    The samples are smoothed as far as their noise demands (`smooth_noise`). Trunk, arms and head, the root's
    orientation and the height of the COG are the trajectory's. Its feet's contacts become the support
    schedule, with each foot level and at rest where it stands. The desired ZMP is the one that the trajectory
    requires, as far as the soles can carry it, and the COG is that of the linear inverted pendulum for it,
    corrected for the bodies' angular momentum (`correct_cog`). The legs follow, at the balance controller's
    `rate`, Hz. Refuses what cannot be a motion of the robot, robots that are to sit, and trajectories that
    begin or end where the robot cannot stand.
    """
    if section.posture == SEATED:
        raise ScenarioError(
            "robot.posture: a trajectory is followed on free feet; allowed: standing postures"
        )
    inside, doubts = check_trajectory(robot, trajectory)
    placed, height, notes = place_trajectory(robot, inside, section)
    smoothed, smoothing = smooth_noise(robot, placed)
    task = TrajectoryTask(robot, smoothed, section, settings, round(1.0 / (settings.timestep_s * rate)))
    steps, soles, contact = plan_steps(task)
    leg = leg_length(robot)
    lowered, followed = follow_ideally(robot, lambda low: make_whole_plan(task, steps, low), leg)
    found, limits, metrics = _describe_feet(task, steps, soles, contact)
    if lowered > 0.0:
        found.append(f"the COG is planned {lowered:.3f} m lower than in the file: level feet need bent knees")
    # The trajectory as placed, not smoothed, at every physics step.
    count, grid = len(steps.sampled.clock), np.linspace(0.0, task.duration, len(contact))
    clock: Array = settings.timestep_s * np.arange(1, count + 1, dtype=np.float64) - steps.start
    within = (clock >= 0.0) & (clock <= task.duration)
    q, feet = np.full((count, 7 + len(robot.joint_names)), np.nan), np.full((count, 2, 4), np.nan)
    q[within] = sample_configurations(placed, clock[within])
    touching = np.zeros((count, 2), bool)
    poses = np.concatenate([soles.position, soles.yaw[:, :, None]], axis=2)
    feet[within] = interpolate(clock[within], grid, poses)
    touching[within] = interpolate(clock[within], grid, contact.astype(float)) >= 0.5
    timeline = build_timeline(task, steps, followed.plan, followed.path, feedforward)
    tracked = TrackedMotion(q[:, 7:], q[:, :7], feet, touching)
    metrics = {"trajectory.floor_shift_m": height, "trajectory.lowered_m": lowered, **metrics}
    notes, doubts = [*notes, *smoothing, *found], [*doubts, *limits, *followed.doubts]
    return TrajectoryPlan(timeline, followed.plan, tracked, metrics, tuple(notes), tuple(doubts))


def _describe_feet(
    task: TrajectoryTask, steps: PlannedSteps, soles: SolePath, contact: Flags
) -> tuple[list[str], list[str], dict[str, float]]:
    """Say what the feet do that planned feet do not: slide, sink, and leave the floor together.

    Returns what was found, what the robot cannot do as the file has it, one line each, and metrics of it.
    """
    doubts, grid = [], np.linspace(0.0, task.duration, len(contact))
    flight = ~contact.any(axis=1)
    if flight.any():
        doubts.append(
            f"both feet are off the floor for {flight.mean() * task.duration:.2f} s, first at "
            f"{grid[flight.argmax()]:.2f} s: the robot is not planned to jump, and cannot follow that"
        )
    height = np.where(contact, soles.clearance, 0.0)
    if height.max(initial=0.0) > _FLOATING:
        row, foot = divmod(int(height.argmax()), 2)
        doubts.append(
            f"the {SIDES[foot]} foot floats {height.max():.3f} m above the floor in the file at "
            f"{grid[row]:.2f} s; it is planned to stand on it"
        )
    # Horizontal distance of flat feet in contact from where they are planned to stand, m.
    rows = slice(round(steps.start / task.tick), round(steps.start / task.tick) + len(contact))
    planned, standing = steps.feet.position[rows, :, :2], steps.feet.contact[rows]
    count = len(planned)
    moved = np.linalg.norm(soles.position[:count, :, :2] - planned, axis=2)
    moved = np.where(contact[:count] & standing & (soles.tilt[:count] < FLAT), moved, 0.0)
    for foot, side in enumerate(SIDES):
        if moved[:, foot].max(initial=0.0) > _SLIDING:
            row = int(moved[:, foot].argmax())
            doubts.append(
                f"the {side} foot slides up to {moved[row, foot]:.3f} m on the floor in the file, at "
                f"{grid[row]:.2f} s; it is planned to stand still"
            )
    depth = -soles.clearance
    if depth.max() > _SINKING:
        row, foot = divmod(int(depth.argmax()), 2)
        doubts.append(
            f"the {SIDES[foot]} sole is {depth.max():.3f} m below the floor in the file at {grid[row]:.2f} s"
        )
    metrics = {
        "trajectory.foot_slide_m": float(moved.max(initial=0.0)),
        "trajectory.flight_s": float(flight.mean() * task.duration),
    }
    return [f"contacts of the feet in the file: {steps.feet.steps} steps"], doubts, metrics
