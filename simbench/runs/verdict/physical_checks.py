"""Whether a robot's motion is physically possible: checks on joints, feet, self-collision and balance."""

from dataclasses import replace

import numpy as np
from scipy.ndimage import binary_erosion

from simbench.balance.ground_reaction import support_margins, support_polygons, zmp_from_wrench
from simbench.balance.inverted_pendulum import natural_frequency
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import (
    contact_intervals,
    dimensionless_jerk,
    measure_foot_skate,
    measure_sole_angle,
)
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.joint_order import joint_units
from simbench.retargeting.collision.interference import find_interference
from simbench.robot.robot import Robot
from simbench.runs.verdict import thresholds
from simbench.runs.verdict.motion_state import GroundForces, MotionState, compute_forces, examine_motion
from simbench.runs.verdict.verdict_outcome import (
    Check,
    Outcome,
    Verdict,
    judge,
    lasting_excess,
    lasting_integral,
    moment_at,
    not_applicable,
    since_onset,
)

FOOT_CHECKS = ("foot skate", "floor penetration", "float", "sole angle")
BALANCE_CHECKS = ("ZMP", "COG", "flight", "pull", "friction", "contact wrench")

_FLOOR_NOTE = 0.005  # Height of resting soles above or below the floor from which it is said, m.
_ON_LIMIT = 1e-4  # Distance beyond a limit from which an excess is dated, rad or m.
_MOVING = 0.05  # Range of a joint from which its dimensionless jerk says something, rad or m.
_LEAST_LOAD = 0.25  # Vertical force as a fraction of the weight above which a robot does not fall freely.
# Bounds of the speed from which a foot counts as sliding when a slide is dated, m/s.
_SLOW, _FAST = 0.005, 0.02
_PAUSE = 0.03  # Interruptions of a slide that are closed when it is dated, s.


def check_trajectory(
    robot: Robot, trajectory: JointTrajectory, *, floor: float = 0.0, source: str = ""
) -> Verdict:
    """Check whether a robot's motion is physically possible, by its kinematics and its inverse dynamics.

    Positions, jumps, speeds, torques, feet, self-collision and balance are checked in every sample. The
    motion is not simulated; `simbench verdict` does that too.

    Parameters
    ----------
    robot : Robot
        The robot.
    trajectory : JointTrajectory
        Motion of all the robot's joints in their order, with the base of a floating robot; at least ten
        samples.
    floor : float
        Height of the floor in the trajectory's world, m.
    source : str
        Where the motion is from, for the verdict.

    Returns
    -------
    Verdict
        The checks, with the first moment at which each fails.

    Raises
    ------
    MotionError
        If the motion is too short, is of other joints, or a floating robot's base is missing.
    """
    state = examine_motion(robot, trajectory, floor)
    forces = compute_forces(state)
    checks = [*check_joints(state, forces)]
    if state.feet.roles:
        checks += check_feet(state, forces)
        checks += [check_collision(robot, trajectory), *check_balance(state, forces)]
    else:
        reason = "the base is fixed" if not robot.floating else "the robot has no soles"
        checks += [not_applicable(name, reason) for name in FOOT_CHECKS]
        checks.append(check_collision(robot, trajectory))
        checks += [not_applicable(name, reason) for name in BALANCE_CHECKS]
    notes = []
    if state.feet.roles:
        lowest = state.feet.corners[..., 2].reshape(len(state.time), -1).min(axis=1)
        resting = float(np.median(lowest))
        if abs(resting) > _FLOOR_NOTE:
            side = "above" if resting > 0.0 else "below"
            notes.append(
                f"the lowest sole is {100 * abs(resting):.1f} cm {side} the floor for half of the time; "
                f"declare --floor {resting:.3f} if the floor is there"
            )
    time = trajectory.time
    duration = float(time[-1] - time[0])
    return Verdict(robot.name, source, duration, len(time), tuple(checks), tuple(notes), time=time)


def check_joints(state: MotionState, forces: GroundForces) -> list[Check]:
    """Check the joints of a motion against the robot's limits.

    `forces`: forces that it needs. Returns joint position, jump, joint speed, joint torque, and acceleration
    and jerk, which are only reported.
    """
    robot, time = state.robot, state.time
    names = robot.joint_names
    smooth = state.smooth[:, None]
    lower = robot.model.lowerPositionLimit[robot.root_q :]
    upper = robot.model.upperPositionLimit[robot.root_q :]
    beyond = np.maximum(lower - state.joints, state.joints - upper)
    beyond = np.where(np.isfinite(beyond), beyond, -np.inf)
    excess = since_onset(beyond, thresholds.POSITION, beyond > _ON_LIMIT)
    position = judge(
        "joint position", time, beyond, names, limit=thresholds.POSITION, unit="rad", failing=excess
    )
    units = dict(zip(names, joint_units(robot), strict=True))
    parts = ("base position", "base orientation", *names)
    speeds = np.where(smooth, np.abs(state.velocity[:, robot.root_v :]), np.nan)
    speed = _fraction(speeds, robot.model.velocityLimit[robot.root_v :])
    # Torques are judged where the floor can carry the robot.
    carried = forces.bearing.any(axis=(1, 2)) if robot.floating else True
    judged = np.asarray(state.smooth & carried)[:, None]
    torque = _fraction(np.where(judged, np.abs(forces.torque), np.nan), robot.motors.torque_limit)
    too_strong = lasting_excess(time, torque, thresholds.TORQUE)
    acceleration = state.acceleration[:, robot.root_v :]
    jerk = np.gradient(acceleration, time, axis=0)
    reason = "robots state no limits"
    moving = np.flatnonzero(np.ptp(state.joints, axis=0) > _MOVING)
    if len(moving):
        rough = dimensionless_jerk(time, state.joints[:, moving])
        roughest = int(np.nanargmax(rough))
        reason += f"; dimensionless {rough[roughest]:.3g} ({names[moving[roughest]]})"
    return [
        replace(position, unit=units.get(position.where, "rad")),
        judge("jump", time, state.jumps, parts, limit=0.0, unit="rad or m"),
        judge("joint speed", time, speed, names, limit=thresholds.SPEED, unit="of limit"),
        judge(
            "joint torque", time, torque, names, limit=thresholds.TORQUE, unit="of limit", failing=too_strong
        ),
        _report("joint acceleration", state, acceleration, "rad/s²", "robots state no limits; see torque"),
        _report("joint jerk", state, jerk, "rad/s³", reason),
    ]


def _report(name: str, state: MotionState, values: Array, unit: str, reason: str) -> Check:
    """Make a check that reports the largest size of joint values (T, n) and judges nothing."""
    size = np.where(state.smooth[:, None], np.abs(values), np.nan)
    if np.isnan(size).all():
        return not_applicable(name, reason)
    check = judge(name, state.time, size, state.robot.joint_names, limit=np.inf, unit=unit)
    return replace(check, outcome="not applicable", limit=None, reason=reason)


def _fraction(size: Array, limits: Array) -> Array:
    """Values (T, n) as fractions of limits (n,); NaN without a limit."""
    known = np.isfinite(limits) & (limits > 0.0)
    return np.where(known, size / np.where(known, limits, 1.0), np.nan)


def check_feet(state: MotionState, forces: GroundForces) -> list[Check]:
    """Check the feet of a motion.

    `forces`: forces that it needs. Returns foot skate, floor penetration, float, sole angle.
    """
    feet, time = state.feet, state.time
    heights = feet.corners[..., 2]
    displacement, sliding, depth, angle = [], [], [], []
    for foot in range(len(feet.roles)):
        moved, speed, _ = measure_foot_skate(time, feet.corners[:, foot], feet.touching[:, foot])
        displacement.append(moved)
        # Noise of the samples is no slide, and short pauses are part of one.
        touching = speed[speed > 0.0]
        noise = 4.0 * float(np.median(touching)) if len(touching) else 0.0
        slides = speed > np.clip(noise, _SLOW, _FAST)
        for first, last in contact_intervals(~slides):
            if first > 0 and last < len(time) - 1 and time[last + 1] - time[first] < _PAUSE:
                slides[first : last + 1] = True
        sliding.append(slides)
        depth.append(np.maximum(0.0 - heights[:, foot].min(axis=1), 0.0))
        angle.append(measure_sole_angle(feet.normal[:, foot], feet.contact[:, foot]))
    skates, depths = np.stack(displacement, axis=1), np.stack(depth, axis=1)
    skating = since_onset(skates, thresholds.SKATE, np.stack(sliding, axis=1))
    sinking = since_onset(depths, thresholds.PENETRATION, depths > thresholds.ONSET)
    # The lowest sole is too high while no foot is in contact and the motion is not one of free fall.
    lowest = heights.reshape(len(time), -1).min(axis=1)
    height = np.where(feet.airborne, np.maximum(lowest, 0.0), 0.0)
    for first, last in contact_intervals(height > 0.0):
        if height[first : last + 1].max() > thresholds.FLOAT_HEIGHT:
            height[first : last + 1] = 0.0
    carried = (forces.force[:, 2] > _LEAST_LOAD * forces.weight) & state.smooth
    height = np.where(carried, height, 0.0)
    skate_name, depth_name, float_name, angle_name = FOOT_CHECKS
    roles = feet.roles
    return [
        judge(skate_name, time, skates, roles, limit=thresholds.SKATE, unit="m", failing=skating),
        judge(depth_name, time, depths, roles, limit=thresholds.PENETRATION, unit="m", failing=sinking),
        judge(float_name, time, height, ("feet",), limit=thresholds.FLOAT, unit="m"),
        judge(angle_name, time, np.stack(angle, axis=1), roles, limit=thresholds.SOLE_ANGLE, unit="rad"),
    ]


def check_collision(robot: Robot, trajectory: JointTrajectory) -> Check:
    """Check whether links of a robot come into each other.

    `trajectory`: motion of all its joints. Returns the deepest penetration of two links' convex hulls, and
    the first that is too deep.
    """
    name = "self-collision"
    if not robot.self_collision_pairs:
        return not_applicable(name, "the robot has no pairs of links that can collide")
    time = trajectory.time
    found = find_interference(robot, trajectory)
    series = np.zeros(len(time))
    for each in found:
        inside = (time >= each.start) & (time <= each.end)
        series[inside] = np.maximum(series[inside], -each.distance)
    if not found:
        return Check(name, "pass", 0.0, thresholds.COLLISION, "m", series=series)
    shown = deepest = min(found, key=lambda each: each.distance)
    deep = [each for each in found if -each.distance > thresholds.COLLISION]
    first = None
    if deep:
        shown = min(deep, key=lambda each: each.start)
        # The first sample that is not before the start.
        first = moment_at(time, min(int(np.searchsorted(time, shown.start)), len(time) - 1))
    pair = f"{shown.first} and {shown.second}"
    worst = moment_at(time, int(np.abs(time - deepest.time).argmin()))
    outcome: Outcome = "fail" if deep else "pass"
    limit, depth = thresholds.COLLISION, -deepest.distance
    return Check(name, outcome, depth, limit, "m", worst, first, pair, series=series)


def check_balance(state: MotionState, forces: GroundForces) -> list[Check]:
    """Check whether the floor can give the wrench that a motion needs.

    Returns ZMP and COG against the support polygon, force in flight, pull on the floor, friction, and the
    part of the wrench that no forces of the soles give.
    """
    feet, time, weight = state.feet, state.time, forces.weight
    points = np.where(forces.bearing[..., None], feet.corners[..., :2], np.nan)
    polygons = support_polygons(points.reshape(len(time), -1, 2))
    stands = feet.contact.any(axis=1) & state.smooth
    vertical = forces.force[:, 2]
    pushes = stands & (vertical > 0.0)
    zmp = zmp_from_wrench(forces.force, forces.moment)
    outside = np.where(pushes, -support_margins(zmp, polygons), np.nan)
    # A ZMP that is held at the edge instead of a distance d beyond it moves the capture point by ω ∫ d dt.
    omega = natural_frequency(float(np.median(forces.cog[:, 2])))
    # Without any polygon it is infinitely far; there is no contact then.
    beyond = np.nan_to_num(outside - thresholds.ZMP, nan=0.0, posinf=0.0)
    leaving = lasting_integral(time, omega * beyond[:, None], thresholds.CAPTURE_SHIFT)[:, 0]
    # How long the COG is outside the support polygon without a break, s.
    distance = -support_margins(forces.cog[:, :2], polygons)
    lasted = np.zeros(len(time))
    falling = np.zeros(len(time), bool)
    for first, last in contact_intervals(np.isfinite(distance) & (distance > 0.0)):
        run = slice(first, last + 1)
        lasted[run] = time[run] - time[first]
        falling[run] = lasted[last] > thresholds.COG_TIME
    sideways = np.linalg.norm(forces.force[:, :2], axis=1)
    friction = np.where(pushes, sideways / np.where(pushes, vertical, 1.0), np.nan)
    slips = lasting_excess(time, friction[:, None], thresholds.FRICTION)[:, 0]
    # Part of the wrench that the soles cannot give, where neither ZMP nor friction says it already.
    judged = pushes & (outside <= 0.0) & (friction <= thresholds.FRICTION)
    missing = np.where(judged, forces.missing, np.nan)
    lacking = lasting_excess(time, missing[:, None], thresholds.WRENCH)[:, 0]
    pull = np.where(stands, -vertical / weight, np.nan)
    # Force that a motion needs while the feet are in the air, where there is none.
    heights = feet.corners[..., 2].reshape(len(time), -1).min(axis=1)
    flying = np.zeros(len(time), bool)
    for first, last in contact_intervals(feet.airborne):
        flying[first : last + 1] = heights[first : last + 1].max() > thresholds.FLOAT_HEIGHT
    # Near take-off and landing the derivatives have some of the forces on the floor.
    inner = binary_erosion(feet.airborne, iterations=state.window // 2 + 1)
    size = np.linalg.norm(forces.force, axis=1) / weight
    size = np.where(np.logical_and.reduce([flying, inner, state.smooth]), size, np.nan)
    flight = not_applicable("flight", "a foot is on the floor throughout")
    if not np.isnan(size).all():
        pressing = lasting_excess(time, size[:, None], thresholds.FLIGHT)[:, 0]
        flight = judge("flight", time, size, limit=thresholds.FLIGHT, unit="of weight", failing=pressing)
    return [
        judge("ZMP", time, outside, limit=thresholds.ZMP, unit="m", failing=leaving),
        judge("COG", time, lasted, limit=thresholds.COG_TIME, unit="s", failing=falling),
        flight,
        judge("pull", time, pull, limit=thresholds.PULL, unit="of weight"),
        judge("friction", time, friction, limit=thresholds.FRICTION, unit="", failing=slips),
        judge("contact wrench", time, missing, limit=thresholds.WRENCH, unit="of weight", failing=lacking),
    ]
