"""Planned feet, ZMP and COG in time, with rest before and after, and the legs that follow them.

Feet are level on a flat floor. The legs follow by the balance controller's inverse kinematics.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin
import shapely
from scipy.interpolate import make_interp_spline

from simbench.balance.gait import Gait
from simbench.balance.ground_reaction import standing_torques
from simbench.balance.inverted_pendulum import CogZmpGains, cog_profile, natural_frequency
from simbench.balance.leg_ik import Stance, leg_columns, solve_com_ik, stand
from simbench.balance.step_planning import correct_cog
from simbench.balance.whole_body import WholeBodyController, WholeBodyPlan
from simbench.errors import LegReachError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.kinematics.foot_contact import contact_intervals
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RobotSection, SimulationSection
from simbench.retargeting.reference.reference import (
    Flags,
    Reference,
    SampledMotion,
    Timeline,
    assemble,
    plan_lead,
)
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

# Part of a sole's length and width that the planned ZMP may use. The balance controller needs the rest: with
# half of it the measured ZMP of G1 was on the edges of its narrow soles for 7 % of the time, now never.
_SOLE_PART = 0.25
# Distances by which the pelvis is lowered in turn until the legs reach the feet, m, and how many of them
# further it is lowered then: legs that just reach are straight once the robot moves, and the balance
# controller gives up.
_PELVIS_LOWERED, _SPARE = np.arange(0.0, 0.31, 0.01), 3
# Time constants 1 / ω of the pendulum at rest before and after, in which the COG gets under way.
_TIME_CONSTANTS = 4.0
# Shortest way from rest to the motion, s.
_SHORTEST_LEAD = 0.3
# Keeps the COG on its profile; nothing is measured.
_GAINS = CogZmpGains(cog=10.0, zmp=0.0)
# Corrections of the COG: each leaves about a tenth of the ZMP's error.
_CORRECTIONS = 2
# Part of the excess that lowering may leave to go on: joints that turn sideways do not gain by it.
_HELPS = 0.8
# Distances by which the COG is lowered in turn, as parts of the leg's length.
_LOWERED = (0.0, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15)


class FootPlan(NamedTuple):
    """Planned motion of both feet, left and right, N samples; soles are level."""

    position: Array  # (N, 2, 3): positions of the foot frames in the world frame, m.
    yaw: Array  # (N, 2): rotation of the foot frames about the vertical, rad, without jumps.
    contact: Flags  # (N, 2) bool: whether each foot is on the floor.
    in_swing: Array  # (N, 2): progress of a foot's swing, 0 to 1; NaN on the floor.
    steps: int  # Number of swings.


@dataclass(frozen=True)
class TrajectoryTask:
    """A placed trajectory and the sections of the scenario by which a robot on feet follows it."""

    robot: Robot  # Robot with two legs.
    trajectory: JointTrajectory  # Motion in the world, joints inside their limits.
    section: RobotSection  # Posture in which the robot rests before and after.
    settings: SimulationSection  # Physics step, and times to settle, lead in and hold.
    every: int  # Physics steps in a tick of the balance controller.

    @property
    def tick(self) -> float:
        """Period of the balance controller, s."""
        return self.every * self.settings.timestep_s

    @property
    def duration(self) -> float:
        """Duration of the trajectory, s."""
        return float(self.trajectory.time[-1])


class PlannedSteps(NamedTuple):
    """Feet, ZMP and the curve of all other things, sampled."""

    start: float  # Time of the trajectory's first sample, s.
    sampled: SampledMotion  # Joints, root quaternion and height of the COG at every physics step.
    feet: FootPlan  # Planned feet at every tick.
    zmp: Array  # (N, 2): desired ZMP at every tick, m.
    rest: Array  # (7 + n,): posture at the start: root pose and joint positions.


def interpolate(at: Array, time: Array, values: Array) -> Array:
    """Interpolate values (T, ...) at times (T,) linearly at others (N,): (N, ...)."""
    return np.apply_along_axis(lambda each: np.interp(at, time, each), 0, values)


def cog_heights(robot: Robot, q: Array) -> Array:
    """Compute the height of the COG in the world frame, (T,), m, of configurations (T, 7 + n)."""
    data = robot.model.createData()
    return np.array([pin.centerOfMass(robot.model, data, each)[2] for each in q])


def nearest_supported(robot: Robot, points: Array, feet: FootPlan, loaded: Flags | None = None) -> Array:
    """Bring points (N, 2) on the floor, m, to the middle parts of the soles that carry, and between them.

    All soles in contact carry, or those that are `loaded` (N, 2). While none is, the points go straight from
    where one left the floor to where one lands.
    """
    loaded = feet.contact if loaded is None else loaded
    result = points.copy()
    changes = np.flatnonzero((np.diff(loaded, axis=0) | np.diff(feet.contact, axis=0)).any(axis=1)) + 1
    for rows in np.split(np.arange(len(points)), changes):
        corners = []
        for foot in np.flatnonzero(loaded[rows[0]]).tolist():
            sole = robot.soles[f"{SIDES[foot]}_foot"][:, :2]
            middle = 0.5 * (sole.min(axis=0) + sole.max(axis=0))
            rotation = pin.utils.rotate("z", float(feet.yaw[rows[0], foot]))[:2, :2]
            used = middle + _SOLE_PART * (sole - middle)
            corners.append(used @ rotation.T + feet.position[rows[0], foot, :2])
        if not corners:
            continue
        hull = shapely.MultiPoint(np.vstack(corners)).convex_hull
        there = np.asarray(shapely.points(points[rows]))
        outside = ~shapely.covers(hull, there)
        if outside.any():
            edge = shapely.LineString(shapely.get_coordinates(hull))
            nearest = shapely.line_interpolate_point(edge, shapely.line_locate_point(edge, there[outside]))
            result[rows[outside]] = shapely.get_coordinates(nearest)
    flight: Flags = np.logical_not(loaded.any(axis=1))
    for first, last in contact_intervals(flight):
        ends, inside = np.clip([first - 1, last + 1], 0, len(points) - 1), np.arange(first, last + 1)
        result[inside] = interpolate(inside, ends, result[ends])
    return result


def plan_leads(
    task: TrajectoryTask, values: Array, ends: list[Array], omega: float, spare: Sequence[float] = (0.0, 0.0)
) -> tuple[SampledMotion, Array, tuple[float, float]]:
    """Plan the ways from rest to a motion and from its end to rest, and sample all of it.

    `values` (T, n + 5) are joint positions (rad), quaternion of the root link and height of the COG (m) at
    the samples; `ends` the feet at both ends, (2, 3) each, left and right, x, y (m) and rotation about the
    vertical (rad). The COG rests over the middle between the centres of both soles. The ways are as long as
    the COG of a pendulum of frequency `omega`, 1/s, needs to get under way, and as `spare`, s, asks. Refuses
    ends at which the robot cannot stand, and joints that are too fast however long the ways take.

    Returns the motion at every physics step, the posture at its start (7 + n,): root pose and joint
    positions, and the durations of both ways, s.
    """
    robot, settings, section, n = task.robot, task.settings, task.section, len(task.robot.joint_names)
    time, base, model = task.trajectory.time, task.trajectory.base, task.robot.model
    assert base is not None
    slopes = make_interp_spline(time, values, k=3).derivative()(time[[0, -1]])
    # The legs' columns are not used, and root and COG have no limits.
    used = np.setdiff1d(np.arange(n), np.concatenate([leg_columns(robot, side) for side in SIDES]))
    limit, low, high = (np.full(values.shape[1], value) for value in (np.inf, -np.inf, np.inf))
    low[used], high[used] = model.lowerPositionLimit[7 + used], model.upperPositionLimit[7 + used]
    where, leads, rests = f"{robot.name}: between its posture and the trajectory", [], []
    for end, waiting in enumerate((settings.settle_s, settings.hold_s)):
        feet, there = ends[end], values[-end]
        middle, velocity = middle_of_soles(robot, feet), -slopes[1] if end else slopes[0]
        if settings.lead_in_s > 0.0:
            yaw, height = float(feet[:, 2].mean()), section.height_m or 0.0
            stance = stand(robot, (0.0, 0.0), yaw, section.posture, height)
        else:
            stance = Stance({}, base[-end].copy(), there[:n], middle)
        rest = _solve_rest(robot, stance, feet, middle)
        quaternion = rest[3:7] * (1.0 if rest[3:7] @ there[n : n + 4] >= 0.0 else -1.0)
        home = np.concatenate([rest[7:], quaternion, cog_heights(robot, rest[None])])
        limit[used] = np.maximum(model.velocityLimit[6 + used], 1.05 * np.abs(velocity[used]))
        least = max(settings.lead_in_s, _TIME_CONSTANTS / omega - waiting, _SHORTEST_LEAD, spare[end])
        leads.append(plan_lead(where, home, there, velocity, least, (low, high), limit))
        rests.append(rest)
    whole, joints = assemble(leads[0], (time, values), leads[1])
    sampled = SampledMotion(make_interp_spline(whole, joints, k=3), settings, float(whole[-1]))
    return sampled, rests[0], (float(leads[0][0][-1]), float(leads[1][0][-1]))


def _solve_rest(robot: Robot, stance: Stance, feet: Array, zmp: Array) -> Array:
    """Find a posture at rest (7 + n,) with feet at given places (2, 3) and the COG over a point between them.

    The stance gives joint positions, and the root link's orientation and height; its legs and its place only
    begin the search. The pelvis is as high as in it, or lower if the legs would not reach the feet otherwise,
    with 3 cm to spare if they bend as far.
    """
    soles = {
        side: pin.SE3(pin.utils.rotate("z", float(yaw)), np.array([x, y, 0.0]))
        for side, (x, y, yaw) in zip(SIDES, feet, strict=True)
    }
    base = stance.base.copy()
    base[:2] = feet[:, :2].mean(axis=0)
    placed = replace(stance, soles=soles, base=base, target=zmp)
    legs = np.concatenate([leg_columns(robot, side) for side in SIDES])
    low, high = robot.model.lowerPositionLimit[7 + legs], robot.model.upperPositionLimit[7 + legs]
    reached: list[Array] = []
    for lowered in _PELVIS_LOWERED:
        try:
            root, joints = solve_com_ik(robot, placed, stance.joints[None], height=np.array([-lowered]))
            inside = bool(((low <= joints[0, legs]) & (joints[0, legs] <= high)).all())
        except RetargetError:
            inside = False
        if inside:
            reached.append(np.concatenate([root[0], joints[0]]))
        if (inside and (lowered == 0.0 or len(reached) > _SPARE)) or (reached and not inside):
            break
    if reached:
        return reached[-1]
    apart = np.linalg.norm(feet[0, :2] - feet[1, :2])
    raise LegReachError(
        f"{robot.name}: cannot stand where the trajectory has its feet, {apart:.2f} m apart; "
        "begin and end it elsewhere (motion.start_s, motion.end_s)"
    )


def middle_of_soles(robot: Robot, feet: Array) -> Array:
    """Find the middle (2,), m, between the centres of both soles; feet (2, 3) as for `plan_leads`."""
    centres = []
    for side, (x, y, yaw) in zip(SIDES, feet, strict=True):
        corners = robot.soles[f"{side}_foot"][:, :2]
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        centres.append(pin.utils.rotate("z", float(yaw))[:2, :2] @ middle + [x, y])
    return np.asarray(np.mean(centres, axis=0))


class FollowedPlan:
    """The legs' motion that follows a plan: the balance controller without a simulator.

    `plan`: the plan with its COG corrected for the bodies' angular momentum; `path` (N, 7 + n):
    configurations at its samples; `doubts`: limits that the legs would exceed, one line each; `excess` (N,):
    how far the legs are beyond their limits at each sample: rad beyond a position limit, or a speed's part
    beyond its limit, 0 within them, and 1 from where a leg became straight; `score`: part of the ticks after
    a leg became straight, and the sum of both largest excesses; 0 and 0 are feasible.
    """

    def __init__(self, robot: Robot, plan: WholeBodyPlan) -> None:
        self.plan = plan
        self.path: Array = np.empty(0)
        for correction in range(_CORRECTIONS + 1):
            if correction:
                gait = correct_cog(robot, plan.gait, self.path, float(plan.cog_height.mean()))
                self.plan = plan = replace(plan, gait=gait)
            # All ticks of the plan with ideal measurements.
            whole = WholeBodyController(robot, plan, _GAINS)
            model, legs, count = robot.model, whole.legs, len(plan.gait.zmp)
            self.path = path = np.empty((count, model.nq))
            speed = np.zeros((count, len(legs)))
            path[0] = whole.configuration
            for tick in range(count - 1):
                whole.tick(tick, None, None)
                path[tick + 1] = whole.configuration
                speed[tick] = np.abs(whole.velocity[6 + legs])
            if whole.gave_up is not None:
                break
        q, timestep = path[:, 7 + legs], plan.gait.timestep
        excess = np.maximum(model.lowerPositionLimit[7 + legs] - q, q - model.upperPositionLimit[7 + legs])
        ratio = speed / model.velocityLimit[6 + legs]
        self.excess: Array = np.maximum(excess.max(axis=1), ratio.max(axis=1) - 1.0).clip(0.0)
        self.score = 0.0, max(float(excess.max()), 0.0) + max(float(ratio.max()) - 1.0, 0.0)
        self.doubts: list[str] = []
        if whole.gave_up is not None:
            self.excess[whole.gave_up :] = 1.0
            self.score = 1.0 - whole.gave_up / count, self.score[1]
            self.doubts.append(
                f"a leg would have to be straight from {whole.gave_up * timestep:.2f} s of the run on: steps "
                "are too long for level soles, or it stands too high; the balance controller gives up there"
            )
        for values, allowed, words in (
            (excess, 0.0, "{:.3f} rad beyond its position limit"),
            (ratio, 1.0, "{:.2f} times as fast as its limit"),
        ):
            # Next to a straight leg, joints and speeds are no motion's.
            if not self.score[0] and values.max() > allowed:
                tick, joint = divmod(int(values.argmax()), len(legs))
                self.doubts.append(
                    f"to follow, {robot.joint_names[legs[joint]]} would be {words.format(values.max())} at "
                    f"{tick * timestep:.2f} s of the run"
                )


def make_whole_plan(task: TrajectoryTask, steps: PlannedSteps, lowered: float) -> WholeBodyPlan:
    """Make the plan of the balance controller at every tick, with the COG `lowered` by a distance, m."""
    feet, tick, settle = steps.feet, task.tick, task.settings.settle_s
    n, count = len(task.robot.joint_names), len(feet.contact)
    rows = np.concatenate([[0], np.arange(task.every - 1, task.every * (count - 1), task.every)])
    values = steps.sampled.position[rows]
    ticks: Array = tick * np.arange(count, dtype=np.float64)
    end, last = steps.start + task.duration, float(steps.sampled.clock[-1]) + settle
    low = minimum_jerk(ticks, settle, steps.start - settle) * (1.0 - minimum_jerk(ticks, end, last - end))
    height = values[:, n + 4] - lowered * low
    quaternion = values[:, n : n + 4] / np.linalg.norm(values[:, n : n + 4], axis=1, keepdims=True)
    cog, velocity, acceleration = cog_profile(steps.zmp, tick, natural_frequency(float(height.mean())))
    rate = np.gradient(feet.yaw, tick, axis=0)
    # The foot of the base section is the one in contact, of both or none the nearer to the ZMP.
    nearer = np.linalg.norm(feet.position[:, :, :2] - steps.zmp[:, None], axis=2).argmin(axis=1)
    support = np.where(feet.contact.sum(axis=1) != 1, nearer, feet.contact.argmax(axis=1))
    gait = Gait(
        timestep=tick,
        zmp=steps.zmp,
        cog=cog,
        cog_velocity=velocity,
        cog_acceleration=acceleration,
        foot_position=feet.position,
        foot_velocity=np.gradient(feet.position, tick, axis=0),
        foot_yaw=feet.yaw,
        foot_yaw_rate=rate,
        contact=feet.contact,
        pelvis_yaw=feet.yaw.mean(axis=1),
        pelvis_yaw_rate=rate.mean(axis=1),
        support=support.astype(np.int64),
        steps=feet.steps,
        in_swing=feet.in_swing,
    )
    joints = values[:, :n].copy()
    joints[0] = steps.rest[7:]
    return WholeBodyPlan(gait, joints, steps.rest[:7], height, quaternion)


def follow_ideally(
    robot: Robot, make_plan: Callable[[float], WholeBodyPlan], leg: float
) -> tuple[float, FollowedPlan]:
    """Run the balance controller without a simulator, lowering the COG until the legs can follow.

    Level feet need a lower COG than feet that roll over heel and toe, and the controller bent knees.
    Distances by which the COG is lowered are parts of the leg's length `leg`, m. Returns the distance, m, and
    the first plan inside all limits; if there is none, the nearest to them that was found.
    """
    best: tuple[float, FollowedPlan] | None = None
    for part in _LOWERED:
        found, helps = FollowedPlan(robot, make_plan(part * leg)), False
        if best is None or found.score < best[1].score:
            lost, beyond = (np.inf, np.inf) if best is None else best[1].score
            helps = found.score[0] < lost or found.score[1] < _HELPS * beyond
            best = part * leg, found
        if found.score == (0.0, 0.0) or (found.score[0] == 0.0 and not helps):
            break
    assert best is not None
    return best


def build_timeline(
    task: TrajectoryTask, steps: PlannedSteps, whole: WholeBodyPlan, path: Array, feedforward: str
) -> Timeline:
    """Build the reference at every physics step: the upper body's curve, and legs that follow a plan.

    `path` (N, 7 + n) are configurations at the plan's samples.
    """
    robot, settings, sampled = task.robot, task.settings, steps.sampled
    n, count = len(robot.joint_names), len(sampled.clock)
    legs = np.concatenate([leg_columns(robot, side) for side in SIDES])
    clock: Array = settings.timestep_s * np.arange(1.0, count + 1.0)
    ticks: Array = task.tick * np.arange(0.0, len(path))
    position, velocity, acceleration = (
        each[:, :n].copy() for each in (sampled.position, sampled.velocity, sampled.acceleration)
    )
    rate = np.gradient(path[:, 7 + legs], task.tick, axis=0)
    position[:, legs] = interpolate(clock, ticks, path[:, 7 + legs])
    velocity[:, legs] = interpolate(clock, ticks, rate)
    acceleration[:, legs] = 0.0
    torque = np.zeros_like(position)
    if feedforward != "none":
        rows = np.unique([*range(0, len(path), max(round(0.01 / task.tick), 1)), len(path) - 1])
        standing = standing_torques(robot, ticks[rows], path[rows, :7], path[rows, 7:], inertia=False)
        torque = interpolate(clock, ticks[rows], standing)
    grip = np.zeros((count, len(robot.hands)), dtype=bool)
    reference = Reference(position, velocity, torque, acceleration, grip)
    return Timeline(reference, whole.base, steps.start, steps.start + task.trajectory.time)
