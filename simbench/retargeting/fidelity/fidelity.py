"""Fidelity of a robot's motion, planned or executed, to the person's that it follows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import frame_poses
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.fidelity.body_errors import BODY_QUANTITIES, ROOT, ROOT_HEIGHT, compare_body
from simbench.retargeting.fidelity.footsteps import StepErrors
from simbench.retargeting.fidelity.lag import measure_lag
from simbench.retargeting.fidelity.limits import LimitShares, joint_speeds, measure_limit_shares
from simbench.retargeting.fidelity.tempo import Tempo, measure_tempo
from simbench.retargeting.imitation.robot_errors import (
    HAND,
    ErrorTrack,
    RobotErrors,
    RobotErrorSummary,
    compare_with_person,
    hand_aims,
    path_without_heading,
    summarise_tracks,
)
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.robot.upper_body import has_both_arms

_FEWEST_SAMPLES = 4
"""Samples of the recording that must be executed for anything to be compared: a cubic spline needs them."""


@dataclass(frozen=True)
class Fidelity:
    """What a robot's motion leaves of the person's.

    Parameters
    ----------
    tracks : tuple of ErrorTrack
        Errors over time, at samples of the recording.
    arm_lengths : {side: float}
        Length of the robot's arms, m; empty if they have no length like a person's.
    recording_time : (T,) array
        Times of the samples in the recording, s.
    robot_time : (T,) array
        Times of the same samples in the plan or in the run, s.
    tempo : Tempo
        Tempo of the robot against the person's.
    limits : LimitShares
        Shares of the samples at a limit.
    lag : float or None
        Lag of the hands behind the person's at that tempo, s; None if it was not measured.
    executed : float
        Fraction of the recording's samples that were executed: below 1 for a run that ended early.
    steps : StepErrors or None
        Errors of the footsteps where steps are followed.
    """

    tracks: tuple[ErrorTrack, ...]
    arm_lengths: Mapping[str, float]
    recording_time: Array
    robot_time: Array
    tempo: Tempo
    limits: LimitShares
    lag: float | None = None
    executed: float = 1.0
    steps: StepErrors | None = None


@dataclass(frozen=True)
class Execution:
    """A robot's executed motion, and how the recording lies in it.

    Parameters
    ----------
    motion : JointTrajectory
        S samples of the robot's joints and base, from before the recording's first sample on if possible.
    speeds : (S, n) array
        Joint velocities at these samples, rad/s or m/s.
    robot_time : (T,) array
        Times, on the clock of `motion`, at which the robot is to be where the person is at each sample of the
        recording, s.
    heading : float
        Direction of the robot's x axis in the world frame, rad about z, as it was placed.
    """

    motion: JointTrajectory
    speeds: Array
    robot_time: Array
    heading: float = field(default=0.0)


def planned_fidelity(
    robot: Robot,
    trajectory: JointTrajectory,
    motion: HumanMotion,
    errors: RobotErrors,
    limits: tuple[float, float],
    *,
    heading: float = 0.0,
) -> Fidelity:
    """Measure what a plan leaves of the person.

    Parameters
    ----------
    robot : Robot
        The robot.
    trajectory : JointTrajectory
        Its planned motion: sample k is that of sample k of the recording.
    motion : HumanMotion
        The recording, with T samples.
    errors : RobotErrors
        Errors of the plan's arms, hands and trunk.
    limits : (float, float)
        Margin that the plan keeps from limits of position, rad, and fraction of the speed limits that it may
        use.
    heading : float
        Direction of the robot's x axis in the world frame, rad about z, as it was placed.

    Returns
    -------
    Fidelity
        Errors at all samples, tempo, lag of two arms, and shares of the samples at a limit.
    """
    tracks, lag = errors.tracks, None
    if has_human_arms(robot, motion):
        tracks += compare_body(robot, trajectory, motion, heading=heading)
        lag = _hand_lag(robot, trajectory, motion, trajectory.time, heading)
    return Fidelity(
        tracks,
        errors.arm_lengths,
        motion.time,
        trajectory.time,
        measure_tempo(motion.time, trajectory.time),
        measure_limit_shares(robot, trajectory.q, joint_speeds(trajectory), *limits),
        lag,
    )


def executed_fidelity(
    robot: Robot, execution: Execution, motion: HumanMotion, limits: tuple[float, float]
) -> Fidelity | None:
    """Measure what a run leaves of the person.

    The executed motion is compared with the recording at the recording's samples, each at the robot's time.

    Parameters
    ----------
    robot : Robot
        The robot.
    execution : Execution
        Its executed motion.
    motion : HumanMotion
        The recording, with T samples.
    limits : (float, float)
        Margin that the plan keeps from limits of position, rad, and fraction of the speed limits that it may
        use.

    Returns
    -------
    Fidelity or None
        Errors at the samples that were executed, none for a robot without two arms like a person's; None if
        they are fewer than 4.
    """
    logged, robot_time = execution.motion, execution.robot_time
    count = int(np.searchsorted(robot_time, logged.time[-1], side="right"))
    if count < _FEWEST_SAMPLES:
        return None
    during = (logged.time >= robot_time[0]) & (logged.time <= robot_time[-1])
    tracks: tuple[ErrorTrack, ...] = ()
    arm_lengths: Mapping[str, float] = {}
    lag = None
    if has_human_arms(robot, motion):
        sampled = sample_trajectory(logged, robot_time[:count])
        person = first_samples(motion, count)
        errors = compare_with_person(robot, sampled, person, heading=execution.heading)
        tracks = errors.tracks + compare_body(robot, sampled, person, heading=execution.heading)
        arm_lengths = errors.arm_lengths
        lag = _hand_lag(robot, logged, motion, robot_time, execution.heading)
    return Fidelity(
        tracks,
        arm_lengths,
        motion.time,
        robot_time,
        measure_tempo(motion.time, robot_time),
        measure_limit_shares(robot, logged.q[during], execution.speeds[during], *limits),
        lag,
        count / len(motion.time),
    )


def has_human_arms(robot: Robot, motion: HumanMotion) -> bool:
    """Tell whether a robot's arms can be compared with a person's.

    Parameters
    ----------
    robot : Robot
        The robot.
    motion : HumanMotion
        The recording.

    Returns
    -------
    bool
        Whether the robot has two arms with shoulder, elbow and wrist, and the recording has both arms.
    """
    joints = [f"{side}_{joint}" for side in SIDES for joint in ("shoulder", "elbow", "wrist")]
    return (
        has_both_arms(robot)
        and "basic" in robot.postures
        and all(name in robot.frames and name in motion.joints for name in joints)
    )


def base_heading(pose: Array) -> float:
    """Compute the direction in which a robot looks that was placed upright.

    Parameters
    ----------
    pose : (7,) array
        Pose of its root link in the world frame: position, m, and quaternion x, y, z, w.

    Returns
    -------
    float
        Direction of its x axis, rad about the world's z axis.
    """
    x, y, z, w = pose[3:]
    return float(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))


def sample_trajectory(trajectory: JointTrajectory, time: Array) -> JointTrajectory:
    """Sample a motion at other times, linearly between its samples.

    Parameters
    ----------
    trajectory : JointTrajectory
        S samples, dense against the motion, as those of a log.
    time : (T,) array
        Times, s; before the first sample and after the last one the motion stands still.

    Returns
    -------
    JointTrajectory
        T samples.
    """
    after = np.searchsorted(trajectory.time, time).clip(1, len(trajectory.time) - 1)
    start, end = trajectory.time[after - 1], trajectory.time[after]
    share = ((time - start) / (end - start)).clip(0.0, 1.0)[:, None]
    q = (1.0 - share) * trajectory.q[after - 1] + share * trajectory.q[after]
    if trajectory.base is None:
        return replace(trajectory, time=time, q=q)
    first, second = trajectory.base[after - 1], trajectory.base[after].copy()
    # A quaternion and its negative are the same rotation; the nearer one is interpolated to.
    second[:, 3:] *= np.where(np.sum(first[:, 3:] * second[:, 3:], axis=1) < 0.0, -1.0, 1.0)[:, None]
    base = (1.0 - share) * first + share * second
    base[:, 3:] /= np.linalg.norm(base[:, 3:], axis=1, keepdims=True)
    return JointTrajectory(time, q, trajectory.joint_names, base)


def first_samples(motion: HumanMotion, count: int) -> HumanMotion:
    """Take the first samples of a recording.

    Parameters
    ----------
    motion : HumanMotion
        The recording.
    count : int
        Number of samples to keep.

    Returns
    -------
    HumanMotion
        Joints and segments at these samples.
    """
    return replace(
        motion,
        time=motion.time[:count],
        joints={name: values[:count] for name, values in motion.joints.items()},
        segments={name: values[:count] for name, values in motion.segments.items()},
        markers={},
        strokes=None,
    )


def summarise_fidelity(fidelity: Fidelity) -> tuple[RobotErrorSummary, ...]:
    """Compute mean, 95th percentile and largest value of each error, and when it is largest.

    Parameters
    ----------
    fidelity : Fidelity
        What a robot's motion leaves of the person's.

    Returns
    -------
    tuple of RobotErrorSummary
        In the order of `BODY_QUANTITIES`. The hand's is a fraction of the arm's length where that is known.
    """
    found = []
    for quantity in BODY_QUANTITIES:
        tracks = [track for track in fidelity.tracks if track.quantity == quantity]
        if not tracks:
            continue
        unit, scales = "rad", [1.0] * len(tracks)
        if quantity in (ROOT, ROOT_HEIGHT, HAND):
            unit = "m"
        if quantity == HAND and all(track.side in fidelity.arm_lengths for track in tracks):
            unit, scales = "", [1.0 / fidelity.arm_lengths[track.side] for track in tracks]
        found.append(summarise_tracks(tracks, unit, scales))
    return tuple(found)


def _hand_lag(
    robot: Robot, executed: JointTrajectory, motion: HumanMotion, robot_time: Array, heading: float
) -> float | None:
    """Lag of the wrists, relative to their shoulders, behind the person's."""
    aims = hand_aims(robot, motion)
    # Splines of a log need the samples about the recording only.
    near = (executed.time >= robot_time[0] - 1.0) & (executed.time <= robot_time[-1] + 1.0)
    base = None if executed.base is None else executed.base[near]
    cut = JointTrajectory(executed.time[near], executed.q[near], executed.joint_names, base)
    roles = [f"{side}_{joint}" for side in SIDES for joint in ("shoulder", "wrist")]
    frames = [robot.model.getFrameId(robot.frames[role]) for role in roles]
    poses = frame_poses(robot.model, frames, path_without_heading(cut, heading))
    places = [each[:, :3, 3] for each in poses]
    hands = np.hstack([places[1] - places[0], places[3] - places[2]])
    return measure_lag(robot_time, np.hstack([aims[side] for side in SIDES]), cut.time, hands)
