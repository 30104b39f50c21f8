"""Plan a robot trajectory on free feet: rest, lead-in, motion, lead-out, with the contacts as steps."""

import numpy as np
from numpy.typing import NDArray

from simbench.balance.controller.whole_body import WholeBodyPlan
from simbench.balance.gait.gait import Gait
from simbench.balance.inverted_pendulum import cog_profile, natural_frequency
from simbench.balance.standing.ground_reaction import standing_torques
from simbench.balance.standing.pelvis_height import leg_length
from simbench.balance.standing.standing import leg_columns
from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RobotSection, SimulationSection
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.retargeting.trajectory.checking import check_trajectory
from simbench.retargeting.trajectory.curves import sample_configurations
from simbench.retargeting.trajectory.feasibility import follow_ideally
from simbench.retargeting.trajectory.findings import describe_feet, plan_metrics
from simbench.retargeting.trajectory.footholds import FootPlan
from simbench.retargeting.trajectory.ground import place_trajectory
from simbench.retargeting.trajectory.smoothing import smooth_noise
from simbench.retargeting.trajectory.steps import PlannedSteps, TrajectoryTask, plan_steps
from simbench.retargeting.trajectory.tracked import TrackedMotion, TrajectoryPlan
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES


def plan_on_feet(
    robot: Robot,
    trajectory: JointTrajectory,
    section: RobotSection,
    settings: SimulationSection,
    rate: float,
    feedforward: str,
) -> TrajectoryPlan:
    """Plan how a robot on free feet follows a trajectory.

    The samples are smoothed as far as their noise demands (`smooth_noise`).
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
        raise ScenarioError(
            "robot.posture: a trajectory is followed on free feet; allowed: standing postures"
        )
    inside, doubts = check_trajectory(robot, trajectory)
    placed = place_trajectory(robot, inside, section)
    smoothed, smoothing = smooth_noise(robot, placed.trajectory)
    every = round(1.0 / (settings.timestep_s * rate))
    setting = TrajectoryTask(robot, smoothed, section, settings, every)
    steps = plan_steps(setting)
    lowered, followed = follow_ideally(
        robot, lambda low: make_whole_plan(setting, steps, low), leg_length(robot)
    )
    whole = followed.plan
    timeline = build_timeline(setting, steps, whole, followed.path, feedforward)
    tracked = _track(setting, steps, placed.trajectory)
    notes, more = describe_feet(setting, steps)
    if lowered > 0.0:
        notes.append(f"the COG is planned {lowered:.3f} m lower than in the file: level feet need bent knees")
    metrics = plan_metrics(setting, steps, placed.height, lowered)
    return TrajectoryPlan(
        timeline,
        whole,
        tracked,
        metrics,
        (*placed.notes, *smoothing, *notes),
        (*doubts, *more, *followed.doubts),
    )


def make_whole_plan(setting: TrajectoryTask, steps: PlannedSteps, lowered: float) -> WholeBodyPlan:
    """Make the plan of the balance controller.

    Parameters
    ----------
    setting : TrajectoryTask
        The motion, and how it is followed.
    steps : PlannedSteps
        Feet, ZMP, joints, the root's orientation and the height of the COG.
    lowered : float
        Distance by which the COG is lower than there, m.

    Returns
    -------
    WholeBodyPlan
        The plan at every tick of the balance controller.
    """
    robot, feet, tick = setting.robot, steps.feet, setting.tick
    n, count = len(robot.joint_names), len(feet.contact)
    rows = np.concatenate([[0], np.arange(setting.every - 1, setting.every * (count - 1), setting.every)])
    values = steps.sampled.position[rows]
    ticks: Array = tick * np.arange(count, dtype=np.float64)
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
    """Foot (N,) of the base section: the one in contact, of both or none the nearer to the ZMP."""
    distance = np.linalg.norm(feet.position[:, :, :2] - zmp[:, None], axis=2)
    either = feet.contact.sum(axis=1) != 1
    return np.where(either, distance.argmin(axis=1), feet.contact.argmax(axis=1)).astype(np.int64)


def build_timeline(
    setting: TrajectoryTask, steps: PlannedSteps, whole: WholeBodyPlan, path: Array, feedforward: str
) -> Timeline:
    """Build the reference at every physics step: the upper body's curve, and legs that follow the plan.

    Parameters
    ----------
    setting : TrajectoryTask
        The motion, and how it is followed.
    steps : PlannedSteps
        Joints at every physics step, and when the motion begins.
    whole : WholeBodyPlan
        Plan of the balance controller.
    path : (N, 7 + n) array
        Configurations at its samples.
    feedforward : str
        Feed-forward torque, as in `ControlSection`.

    Returns
    -------
    Timeline
        The reference.
    """
    robot, settings = setting.robot, setting.settings
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


def _track(setting: TrajectoryTask, steps: PlannedSteps, placed: JointTrajectory) -> TrackedMotion:
    """Sample the trajectory as placed, not smoothed, at every physics step."""
    robot, settings = setting.robot, setting.settings
    n, count = len(robot.joint_names), len(steps.sampled.clock)
    clock: Array = settings.timestep_s * np.arange(1, count + 1, dtype=np.float64) - steps.start
    inside = (clock >= 0.0) & (clock <= setting.duration)
    q = np.full((count, 7 + n), np.nan)
    q[inside] = sample_configurations(placed, clock[inside])
    grid = np.linspace(0.0, setting.duration, len(steps.contact))
    feet = np.full((count, 2, 4), np.nan)
    contact = np.zeros((count, 2), bool)
    for foot in (0, 1):
        values = np.column_stack([steps.soles.position[:, foot], steps.soles.yaw[:, foot]])
        for axis in range(4):
            feet[inside, foot, axis] = np.interp(clock[inside], grid, values[:, axis])
        contact[inside, foot] = np.interp(clock[inside], grid, steps.contact[:, foot].astype(float)) >= 0.5
    return TrackedMotion(q[:, 7:], q[:, :7], feet, contact)
