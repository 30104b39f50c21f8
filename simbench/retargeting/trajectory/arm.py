"""Plan a trajectory of a robot on a fixed base: its joints are tracked as they are."""

import numpy as np
from scipy.interpolate import BPoly

from simbench.kinematics.arrays import Array
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RobotSection, SimulationSection
from simbench.retargeting.arm.fixed_base import base_pose, choose_rest, planned_torques
from simbench.retargeting.reference.assembly import (
    COAST_TIME,
    MAX_LEAD_STRETCH,
    Segment,
    assemble,
    run_up,
    sample_lead_times,
    sample_motion,
    stretch_lead,
)
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.retargeting.trajectory.checking import check_trajectory
from simbench.retargeting.trajectory.curves import fit_curve
from simbench.retargeting.trajectory.smoothing import smooth_noise
from simbench.retargeting.trajectory.tracked import TrackedMotion, TrajectoryPlan
from simbench.robot.robot import Robot


def plan_on_fixed_base(
    robot: Robot,
    trajectory: JointTrajectory,
    section: RobotSection,
    settings: SimulationSection,
    feedforward: str,
) -> TrajectoryPlan:
    """Plan how a robot on a fixed base follows a trajectory.

    With a lead-in it starts in its posture and returns to it; without one it starts in the trajectory's first
    posture, from which it gets under way in a tenth of a second.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    trajectory : JointTrajectory
        Motion of its joints, in the order of `robot.joint_names`, from 0 s.
    section : RobotSection
        Place, and the posture in which it rests before and after.
    settings : SimulationSection
        Physics step, and times to settle, lead in and hold.
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
        If a lead-in or lead-out is too fast however long it takes.
    """
    inside, doubts = check_trajectory(robot, trajectory)
    smoothed, notes = smooth_noise(robot, inside)
    time, joints = smoothed.time, smoothed.q
    first, last = fit_curve(time, joints).derivative()(time[[0, -1]])
    lead_in = _plan_lead(robot, section, joints[0], first, settings.lead_in_s)
    lead_out = _plan_lead(robot, section, joints[-1], -last, settings.lead_in_s)
    whole = assemble(lead_in, Segment(time, joints), lead_out)
    sampled = sample_motion(fit_curve(whole.time, whole.joints), settings, float(whole.time[-1]))
    torque = planned_torques(robot, sampled.position, sampled.velocity, sampled.acceleration, feedforward)
    count = len(sampled.clock)
    grip = np.zeros((count, len(robot.hands)), dtype=bool)
    reference = Reference(sampled.position, sampled.velocity, torque, sampled.acceleration, grip)
    start = settings.settle_s + float(lead_in.time[-1])
    height = robot.base_height if section.height_m is None else section.height_m
    base = base_pose(section.position_m, section.heading_rad, height)
    clock = settings.timestep_s * np.arange(1, count + 1) - start
    within = (clock >= 0.0) & (clock <= time[-1])
    tracked = np.full_like(sampled.position, np.nan)
    tracked[within] = fit_curve(time, trajectory.q)(clock[within])
    nothing = np.empty((count, 0))
    return TrajectoryPlan(
        Timeline(reference, base, start, start + time),
        None,
        TrackedMotion(tracked, nothing, np.empty((count, 0, 4)), nothing.astype(bool)),
        {},
        tuple(notes),
        tuple(doubts),
    )


def _plan_lead(
    robot: Robot, section: RobotSection, posture: Array, velocity: Array, duration: float
) -> Segment:
    """Plan the way from rest to a posture and a velocity within the speed limits; duration 0: coast only."""
    limit = np.maximum(robot.model.velocityLimit, 1.05 * np.abs(velocity))
    limits = robot.model.lowerPositionLimit, robot.model.upperPositionLimit
    home = robot.postures[choose_rest(robot, section.posture)]
    if duration == 0.0:
        home, duration = posture - 0.5 * COAST_TIME * velocity, COAST_TIME
    rest = np.zeros_like(posture)

    def plan_quintic(duration: float) -> Segment:
        clock = sample_lead_times(duration)
        joints = BPoly.from_derivatives([0.0, duration], [[home, rest, rest], [posture, rest, rest]])(clock)
        return Segment(clock, joints + run_up(clock, joints, velocity, duration, limits))

    where = f"{robot.name}: between its posture and the trajectory"
    return stretch_lead(plan_quintic, duration, MAX_LEAD_STRETCH * duration, limit, where)
