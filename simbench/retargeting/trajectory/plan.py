"""Plan a robot trajectory on free feet: rest, lead-in, motion, lead-out, with the feet's contacts as steps."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import BPoly
from scipy.ndimage import gaussian_filter1d

from simbench.balance.controller.whole_body import WholeBodyPlan
from simbench.balance.gait.gait import Gait
from simbench.balance.inverted_pendulum import cog_profile, natural_frequency
from simbench.balance.standing.ground_reaction import standing_torques
from simbench.balance.standing.pelvis_height import leg_length
from simbench.balance.standing.standing import Stance, leg_columns, stand
from simbench.balance.standing.standing_profile import planned_zmp
from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import find_foot_contacts, point_speeds
from simbench.kinematics.profiles import minimum_jerk
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RobotSection, SimulationSection
from simbench.retargeting.reference.assembly import (
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
from simbench.retargeting.trajectory.checking import check_trajectory
from simbench.retargeting.trajectory.curves import (
    Flags,
    SolePath,
    cog_heights,
    compute_soles,
    continuous_quaternions,
    fit_curve,
    sample_configurations,
)
from simbench.retargeting.trajectory.feasibility import follow_ideally
from simbench.retargeting.trajectory.footholds import FootPlan, plan_feet, refine_contacts
from simbench.retargeting.trajectory.ground import place_trajectory
from simbench.retargeting.trajectory.rest import solve_rest
from simbench.retargeting.trajectory.support import support_zmp
from simbench.retargeting.trajectory.tracked import TrackedMotion, TrajectoryPlan
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES

_TIME_CONSTANTS = 4.0
"""Time constants 1 / ω of the pendulum at rest before and after the motion, in which the COG gets under way."""
_LEAST_LIFT = 0.04
"""Least height of a swing as a part of the leg's length: that of planned steps."""
_ZMP_RATE = 100.0
"""Rate at which the ZMP of the trajectory is computed, Hz."""
_SLIDING, _SINKING = 0.02, 0.01
"""Slide of a foot on the floor, and depth of a sole below it, from which on they are told, m."""
_FLAT = 0.1
"""Tilt of a sole up to which it counts as flat, rad."""
_ZMP_BANDWIDTH = 5.0
"""Bandwidth of that ZMP, Hz: above is the noise of samples that were differentiated twice."""


@dataclass(frozen=True)
class _Setting:
    """What planning a trajectory of a floating robot needs in all its steps."""

    robot: Robot
    trajectory: JointTrajectory
    section: RobotSection
    settings: SimulationSection
    every: int

    @property
    def tick(self) -> float:
        """Period of the balance controller, s."""
        return self.every * self.settings.timestep_s

    @property
    def duration(self) -> float:
        """Duration of the trajectory, s."""
        return float(self.trajectory.time[-1])


def plan_on_feet(
    robot: Robot,
    trajectory: JointTrajectory,
    section: RobotSection,
    settings: SimulationSection,
    rate: float,
    feedforward: str,
) -> TrajectoryPlan:
    """Plan how a robot on free feet follows a trajectory.

    Trunk, arms and head, the root's orientation and the height of the COG are the trajectory's. Its feet's
    contacts become the support schedule, with each foot level and at rest where it stands. The desired ZMP is
    the one that the trajectory requires, as far as the soles can carry it, and the COG is that of the linear
    inverted pendulum for it, corrected for the bodies' angular momentum (`correct_cog`). The legs follow.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    trajectory : JointTrajectory
        Motion of its joints, in the order of `robot.joint_names`, and of its root link, from 0 s.
    section : RobotSection
        Place, heading and the posture in which it rests before and after.
    settings : SimulationSection
        Physics step, and times to settle, lead in and hold.
    rate : float
        Rate of the balance controller, Hz.
    feedforward : str
        Feed-forward torque, as in `ControlSection`.

    Returns
    -------
    TrajectoryPlan
        The planned motion.

    Raises
    ------
    MotionError
        If the trajectory cannot be a motion of the robot.
    RetargetError
        If the robot cannot stand where it begins or ends.
    ScenarioError
        If the scenario has the robot sit.
    """
    if section.posture == SEATED:
        raise ScenarioError("robot.posture: a trajectory is followed on free feet; allowed: standing postures")
    inside, doubts = check_trajectory(robot, trajectory)
    placed = place_trajectory(robot, inside, section)
    every = round(1.0 / (settings.timestep_s * rate))
    setting = _Setting(robot, placed.trajectory, section, settings, every)
    steps = _plan_steps(setting)
    lowered, followed = follow_ideally(robot, lambda low: _whole_plan(setting, steps, low), leg_length(robot))
    whole = followed.plan
    timeline = _build_timeline(setting, steps, whole, followed.path, feedforward)
    tracked = _track(setting, steps)
    notes, more = _describe_feet(setting, steps)
    if lowered > 0.0:
        notes.append(f"the COG is planned {lowered:.3f} m lower than in the file: level feet need bent knees")
    metrics = _plan_metrics(setting, steps, placed.height, lowered)
    return TrajectoryPlan(
        timeline,
        whole,
        tracked,
        metrics,
        (*placed.notes, *notes),
        (*doubts, *more, *followed.doubts),
    )


class _Steps(NamedTuple):
    """Feet, ZMP and the curve of all other things, sampled.

    Parameters
    ----------
    start : float
        Time of the trajectory's first sample, s.
    sampled : SampledMotion
        Joints, root quaternion and height of the COG at every physics step.
    feet : FootPlan
        Planned feet at every tick.
    zmp : (N, 2) array
        Desired ZMP at every tick, m.
    soles : SolePath
        Soles of the trajectory at every tick of its duration.
    contact : (M, 2) bool array
        Whether they touch the floor.
    first : int
        First tick of the trajectory's duration.
    rest : (7 + n,) array
        Posture at the start.
    """

    start: float
    sampled: SampledMotion
    feet: FootPlan
    zmp: Array
    soles: SolePath
    contact: Flags
    first: int
    rest: Array


def _plan_steps(setting: _Setting) -> _Steps:
    """Plan feet, ZMP, joints, the root's orientation and the height of the COG in time."""
    robot, settings, tick = setting.robot, setting.settings, setting.tick
    q = np.hstack([setting.trajectory.base, setting.trajectory.q])
    heights = cog_heights(robot, q)
    omega = natural_frequency(float(np.clip(heights.mean(), 0.05, None)))
    clock = np.linspace(0.0, setting.duration, max(round(setting.duration / tick), 2) + 1)
    soles = compute_soles(robot, sample_configurations(setting.trajectory, clock))
    contact = np.stack(
        [
            find_foot_contacts(clock, corners[:, :, 2], point_speeds(clock, corners), 0.0)
            for corners in soles.corners
        ],
        axis=1,
    )
    contact = refine_contacts(contact, soles.clearance, tick)
    lift = _LEAST_LIFT * leg_length(robot)
    alone = plan_feet(soles, contact, tick, 1, round(1.0 / tick), lift)
    ends = [np.column_stack([alone.position[row, :, :2], alone.yaw[row]]) for row in (0, -1)]
    middles = [_middle_of_soles(robot, feet) for feet in ends]
    values = np.hstack([setting.trajectory.q, continuous_quaternions(q[:, 3:7]), heights[:, None]])
    pause = _TIME_CONSTANTS / omega
    leads, rests = [], []
    for end, (feet, middle) in enumerate(zip(ends, middles, strict=True)):
        waiting = settings.hold_s if end else settings.settle_s
        least = max(settings.lead_in_s, pause - waiting, 0.3)
        lead, rest = _plan_lead(setting, values, -end, (feet, middle), least)
        leads.append(lead)
        rests.append(rest)
    whole = assemble(leads[0], Segment(setting.trajectory.time, values), leads[1])
    sampled = sample_motion(fit_curve(whole.time, whole.joints), settings, float(whole.time[-1]))
    before, after = float(leads[0].time[-1]), float(leads[1].time[-1])
    start = settings.settle_s + before
    total = len(sampled.clock) // setting.every + 1
    first = round(start / tick)
    count = min(len(clock), total - first)
    feet = plan_feet(
        SolePath(*(each[:count] for each in soles[:3]), tuple(each[:count] for each in soles.corners)),
        contact[:count],
        tick,
        first,
        total - first - count,
        lift,
    )
    zmp = _desired_zmp(setting, feet, middles, (settings.settle_s, start, start + setting.duration, after))
    return _Steps(start, sampled, feet, zmp, soles, contact, first, rests[0])


def _plan_lead(
    setting: _Setting, values: Array, sample: int, place: tuple[Array, Array], duration: float
) -> tuple[Segment, Array]:
    """Plan the way from rest to the first (0) or last (-1) sample; return it and the posture at rest."""
    robot, section = setting.robot, setting.section
    n = len(robot.joint_names)
    feet, middle = place
    there = values[sample]
    curve = fit_curve(setting.trajectory.time, values)
    velocity = curve.derivative()(setting.trajectory.time[[0, -1]])[sample]
    velocity = velocity if sample == 0 else -velocity
    if setting.settings.lead_in_s > 0.0:
        stance = stand(robot, (0.0, 0.0), float(feet[:, 2].mean()), section.posture, section.height_m or 0.0)
    else:
        assert setting.trajectory.base is not None
        base = setting.trajectory.base[sample]
        stance = Stance({}, base.copy(), there[:n], middle)
    rest = solve_rest(robot, stance, feet, middle)
    quaternion = rest[3:7] * (1.0 if rest[3:7] @ there[n : n + 4] >= 0.0 else -1.0)
    home = np.concatenate([rest[7:], quaternion, cog_heights(robot, rest[None])])
    # The legs' columns are not used, and root and COG have no limits.
    unlimited = np.ones(len(there), bool)
    unlimited[:n] = False
    unlimited[np.concatenate([leg_columns(robot, side) for side in SIDES])] = True
    limit, low, high = (np.full(len(there), value) for value in (np.inf, -np.inf, np.inf))
    limit[:n] = np.maximum(robot.model.velocityLimit[6:], 1.05 * np.abs(velocity[:n]))
    low[:n], high[:n] = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    limit[unlimited], low[unlimited], high[unlimited] = np.inf, -np.inf, np.inf
    still = np.zeros_like(there)

    def plan_quintic(duration: float) -> Segment:
        clock = sample_lead_times(duration)
        path = BPoly.from_derivatives([0.0, duration], [[home, still, still], [there, still, still]])(clock)
        return Segment(clock, path + run_up(clock, path, velocity, duration, (low, high)))

    where = f"{robot.name}: between its posture and the trajectory"
    return stretch_lead(plan_quintic, duration, MAX_LEAD_STRETCH * duration, limit, where), rest


def _middle_of_soles(robot: Robot, feet: Array) -> Array:
    """Middle between the centres of both soles, (2,), m, for feet at x, y and yaw."""
    centres = []
    for side, (x, y, yaw) in zip(SIDES, feet, strict=True):
        corners = robot.soles[f"{side}_foot"][:, :2]
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        centres.append(pin.utils.rotate("z", float(yaw))[:2, :2] @ middle + [x, y])
    return np.asarray(np.mean(centres, axis=0))


def _desired_zmp(
    setting: _Setting, feet: FootPlan, middles: list[Array], times: tuple[float, float, float, float]
) -> Array:
    """Desired ZMP (N, 2) at every tick: between both feet at the ends, as the motion requires in between."""
    settle, start, end, after = times
    clock = np.linspace(0.0, setting.duration, max(round(setting.duration * _ZMP_RATE), 8) + 1)
    q = sample_configurations(setting.trajectory, clock)
    raw = planned_zmp(setting.robot, clock, q[:, :7], q[:, 7:])[0]
    # In flight nothing carries the motion: what is not finite or far away is brought to the soles anyhow.
    raw = np.clip(np.nan_to_num(raw, nan=0.0, posinf=0.0, neginf=0.0), -1e3, 1e3)
    width = np.sqrt(np.log(4.0)) / (2.0 * np.pi * _ZMP_BANDWIDTH * (clock[1] - clock[0]))
    raw = gaussian_filter1d(raw, width, axis=0, mode="nearest")
    ticks = setting.tick * np.arange(len(feet.contact))
    wanted = np.stack([np.interp(ticks - start, clock, raw[:, axis]) for axis in (0, 1)], axis=1)
    leading = minimum_jerk(ticks, settle, start - settle)[:, None]
    leaving = minimum_jerk(ticks, end, after)[:, None]
    wanted = middles[0] + leading * (wanted - middles[0])
    wanted = wanted + leaving * (middles[1] - wanted)
    return support_zmp(setting.robot, wanted, feet, setting.tick)


def _whole_plan(setting: _Setting, steps: _Steps, lowered: float) -> WholeBodyPlan:
    """Plan of the balance controller, the COG lower than the trajectory's by a distance, m."""
    robot, feet, tick = setting.robot, steps.feet, setting.tick
    n, count = len(robot.joint_names), len(feet.contact)
    rows = np.concatenate([[0], np.arange(setting.every - 1, setting.every * (count - 1), setting.every)])
    values = steps.sampled.position[rows]
    ticks = tick * np.arange(count)
    end = steps.start + setting.duration
    last = float(steps.sampled.clock[-1]) + setting.settings.settle_s
    settle = setting.settings.settle_s
    low = minimum_jerk(ticks, settle, steps.start - settle) * (1.0 - minimum_jerk(ticks, end, last - end))
    height = values[:, n + 4] - lowered * low
    quaternion = values[:, n : n + 4] / np.linalg.norm(values[:, n : n + 4], axis=1, keepdims=True)
    omega = natural_frequency(float(height.mean()))
    cog, velocity, acceleration = cog_profile(steps.zmp, tick, omega)
    rate = np.gradient(feet.yaw, tick, axis=0)
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
        support=_supporting_foot(feet, steps.zmp),
        steps=feet.steps,
        in_swing=feet.in_swing,
    )
    joints = values[:, :n].copy()
    joints[0] = steps.rest[7:]
    return WholeBodyPlan(gait, joints, steps.rest[:7], height, quaternion)


def _supporting_foot(feet: FootPlan, zmp: Array) -> NDArray[np.int64]:
    """Foot (N,) that the base section stands on: the one in contact, of both or none the nearer to the ZMP."""
    distance = np.linalg.norm(feet.position[:, :, :2] - zmp[:, None], axis=2)
    either = feet.contact.sum(axis=1) != 1
    return np.where(either, distance.argmin(axis=1), feet.contact.argmax(axis=1)).astype(np.int64)


def _build_timeline(
    setting: _Setting, steps: _Steps, whole: WholeBodyPlan, path: Array, feedforward: str
) -> Timeline:
    """Reference at every physics step: the curve of the upper body, and the legs that follow the plan."""
    robot, settings, every = setting.robot, setting.settings, setting.every
    n, count = len(robot.joint_names), len(steps.sampled.clock)
    legs = np.concatenate([leg_columns(robot, side) for side in SIDES])
    clock = settings.timestep_s * np.arange(1, count + 1)
    ticks = setting.tick * np.arange(len(path))
    position = steps.sampled.position[:, :n].copy()
    velocity, acceleration = steps.sampled.velocity[:, :n].copy(), steps.sampled.acceleration[:, :n].copy()
    rate = np.gradient(path[:, 7 + legs], setting.tick, axis=0)
    for column, leg in enumerate(legs):
        position[:, leg] = np.interp(clock, ticks, path[:, 7 + leg])
        velocity[:, leg] = np.interp(clock, ticks, rate[:, column])
    acceleration[:, legs] = 0.0
    torque = np.zeros_like(position)
    if feedforward != "none":
        rows = np.unique([*range(0, len(path), max(round(0.01 / setting.tick), 1)), len(path) - 1])
        standing = standing_torques(robot, ticks[rows], path[rows, :7], path[rows, 7:], inertia=False)
        torque = np.stack([np.interp(clock, ticks[rows], each) for each in standing.T], axis=1)
    grip = np.zeros((count, len(robot.hands)), dtype=bool)
    return Timeline(
        Reference(position, velocity, torque, acceleration, grip),
        whole.base,
        steps.start,
        steps.start + setting.trajectory.time,
    )


def _track(setting: _Setting, steps: _Steps) -> TrackedMotion:
    """Sample the placed trajectory at every physics step."""
    robot, settings = setting.robot, setting.settings
    n, count = len(robot.joint_names), len(steps.sampled.clock)
    clock = settings.timestep_s * np.arange(1, count + 1) - steps.start
    inside = (clock >= 0.0) & (clock <= setting.duration)
    q = np.full((count, 7 + n), np.nan)
    q[inside] = sample_configurations(setting.trajectory, clock[inside])
    grid = np.linspace(0.0, setting.duration, len(steps.contact))
    feet = np.full((count, 2, 4), np.nan)
    contact = np.zeros((count, 2), bool)
    for foot in (0, 1):
        values = np.column_stack([steps.soles.position[:, foot], steps.soles.yaw[:, foot]])
        for axis in range(4):
            feet[inside, foot, axis] = np.interp(clock[inside], grid, values[:, axis])
        contact[inside, foot] = np.interp(clock[inside], grid, steps.contact[:, foot].astype(float)) >= 0.5
    return TrackedMotion(q[:, 7:], q[:, :7], feet, contact)


def _describe_feet(setting: _Setting, steps: _Steps) -> tuple[list[str], list[str]]:
    """Notes and doubts about what the feet do in the trajectory."""
    notes, doubts = [], []
    time = setting.trajectory.time
    grid = np.linspace(0.0, setting.duration, len(steps.contact))
    flight = ~steps.contact.any(axis=1)
    if flight.any():
        doubts.append(
            f"both feet are off the floor for {flight.mean() * time[-1]:.2f} s, first at "
            f"{grid[flight.argmax()]:.2f} s: the robot is not planned to jump, and cannot follow that"
        )
    moved = _deviation(steps)
    for foot, side in enumerate(SIDES):
        if moved[:, foot].max(initial=0.0) > _SLIDING:
            row = int(moved[:, foot].argmax())
            doubts.append(
                f"the {side} foot slides up to {moved[row, foot]:.3f} m on the floor in the file, at "
                f"{grid[min(row, len(grid) - 1)]:.2f} s; it is planned to stand still"
            )
    depth = -steps.soles.clearance
    if depth.max() > _SINKING:
        row, foot = np.unravel_index(int(depth.argmax()), depth.shape)
        doubts.append(
            f"the {SIDES[foot]} sole is {depth.max():.3f} m below the floor in the file at {grid[row]:.2f} s"
        )
    notes.append(f"contacts of the feet in the file: {steps.feet.steps} steps")
    return notes, doubts


def _deviation(steps: _Steps) -> Array:
    """Horizontal distance (M, 2) of flat feet in contact from where they are planned to stand, m."""
    rows = slice(steps.first, steps.first + len(steps.contact))
    planned = steps.feet.position[rows, :, :2]
    count = len(planned)
    distance = np.linalg.norm(steps.soles.position[:count, :, :2] - planned, axis=2)
    counted = steps.contact[:count] & steps.feet.contact[rows] & (steps.soles.tilt[:count] < _FLAT)
    return np.where(counted, distance, 0.0)


def _plan_metrics(setting: _Setting, steps: _Steps, height: float, lowered: float) -> dict[str, float]:
    """Metrics of the planning."""
    return {
        "trajectory.floor_shift_m": height,
        "trajectory.lowered_m": lowered,
        "trajectory.foot_slide_m": float(_deviation(steps).max(initial=0.0)),
        "trajectory.flight_s": float((~steps.contact.any(axis=1)).mean() * setting.duration),
    }
