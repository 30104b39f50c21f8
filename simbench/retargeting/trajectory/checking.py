"""Kinematic check of a robot trajectory: what cannot be true is refused, what exceeds limits is reported."""

from collections.abc import Callable

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot

MIN_SAMPLES = 4
"""Samples that a cubic spline needs."""
_LONGEST = 3600.0
"""Longest trajectory, s; simulated times are up to an hour."""
_FARTHEST = 1000.0
"""Largest distance of the base from the origin of the file's world, m: beyond it is not in metres."""
_FASTEST_BASE = 50.0
"""Speed of the base that no robot has, m/s: positions in centimetres, or a jump between two takes."""
_FASTEST_RATIO = 30.0
"""Joint speed over its limit that no motion has: positions in degrees, or columns of other joints."""
_LIMIT_TOLERANCE = 1e-3
"""Excess over a joint limit that is not reported, rad: rounding in files."""


def check_trajectory(robot: Robot, trajectory: JointTrajectory) -> tuple[JointTrajectory, list[str]]:
    """Check a trajectory against what a robot can do, and keep its joints inside their limits.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.
    trajectory : JointTrajectory
        Motion of all its joints, in the order of `robot.joint_names`, with a base if the robot's floats.

    Returns
    -------
    trajectory : JointTrajectory
        The same with joint positions inside the limits.
    doubts : list of str
        Joints beyond their position or speed limits, with the first time, one line each.

    Raises
    ------
    MotionError
        If there are too few samples, or the numbers cannot be those of a motion of the robot.
    """
    time, q = trajectory.time, trajectory.q
    if len(time) < MIN_SAMPLES:
        raise MotionError(f"the trajectory has {len(time)} samples; at least {MIN_SAMPLES} are needed")
    if time[-1] - time[0] > _LONGEST:
        raise MotionError(f"the trajectory takes {time[-1] - time[0]:g} s; at most {_LONGEST:g} s can be run")
    first = robot.root_q
    low, high = robot.model.lowerPositionLimit[first:], robot.model.upperPositionLimit[first:]
    speed = np.diff(q, axis=0) / np.diff(time)[:, None]
    ratio = np.abs(speed) / robot.model.velocityLimit[robot.root_v :]
    _require_plausible(robot, trajectory, ratio)
    doubts = []
    excess = np.maximum(low - q, q - high)
    line = _describe(robot, time, excess, _LIMIT_TOLERANCE, "beyond its position limit by {:.3f}", np.max)
    if line:
        doubts.append(f"{line}; the robot is asked for the limit")
    line = _describe(robot, time, ratio, 1.0, "{:.2f} times as fast as its limit", np.max)
    if line:
        doubts.append(line)
    clipped = JointTrajectory(time, np.clip(q, low, high), trajectory.joint_names, trajectory.base)
    return clipped, doubts


def _require_plausible(robot: Robot, trajectory: JointTrajectory, ratio: Array) -> None:
    """Refuse speeds and places that cannot be those of the robot."""
    time, base = trajectory.time, trajectory.base
    if ratio.max(initial=0.0) > _FASTEST_RATIO:
        sample, joint = np.unravel_index(int(ratio.argmax()), ratio.shape)
        raise MotionError(
            f"joint {robot.joint_names[joint]} moves {ratio.max():.3g} times as fast as its limit at "
            f"{time[sample]:.3f} s; at most {_FASTEST_RATIO:g} times is read as a motion: are positions in "
            "radians, the joints in the right order, and the rate (motion.fps) right?"
        )
    if base is None:
        return
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


def _describe(
    robot: Robot,
    time: Array,
    values: Array,
    allowed: float,
    words: str,
    summary: Callable[..., Array],
) -> str:
    """Say which joints exceed something, the worst first, and when the first does; empty if none."""
    worst = np.asarray(summary(values, axis=0))
    beyond = np.flatnonzero(worst > allowed)
    if not beyond.size:
        return ""
    joint = int(worst.argmax())
    begin = float(time[int((values > allowed).any(axis=1).argmax())])
    others = f" ({len(beyond)} joints in all)" if len(beyond) > 1 else ""
    return f"joint {robot.joint_names[joint]} is {words.format(worst[joint])}{others}, first at {begin:.2f} s"
