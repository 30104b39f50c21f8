"""Joint use of a trajectory: range, closest approach to a limit, peak speed."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import kinematic_tree
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot

_TIMESTEP = 1e-3
"""Time step at which the speed of the interpolated trajectory is examined, s: a controller's."""


@dataclass(frozen=True)
class JointUse:
    """Range and speed of one joint in a trajectory, and its limits.

    Parameters
    ----------
    name : str
        Name of the joint.
    unit : str
        rad or m; speeds are per second.
    lowest : float
        Least position.
    highest : float
        Greatest position.
    lower : float
        Lower limit.
    upper : float
        Upper limit.
    speed : float
        Peak speed.
    speed_limit : float
        Speed limit.
    """

    name: str
    unit: str
    lowest: float
    highest: float
    lower: float
    upper: float
    speed: float
    speed_limit: float

    @property
    def clearance(self) -> float:
        """Least distance from a limit; negative beyond it."""
        return min(self.lowest - self.lower, self.upper - self.highest)


def joint_uses(robot: Robot, trajectory: JointTrajectory) -> tuple[JointUse, ...]:
    """Measure range and peak speed of each joint in a trajectory.

    Speeds are those of the cubic spline through the samples.

    Parameters
    ----------
    robot : Robot
        Gives the limits.
    trajectory : JointTrajectory
        At least two samples of all the robot's joints.

    Returns
    -------
    tuple of JointUse
        Use of each joint, in the trajectory's order of joints.
    """
    model, time, q = robot.model, trajectory.time, trajectory.q
    lower, upper = model.lowerPositionLimit[robot.root_q :], model.upperPositionLimit[robot.root_q :]
    speed = _peak_speeds(time, q)
    limit = model.velocityLimit[robot.root_v :]
    rows = zip(
        trajectory.joint_names,
        joint_units(robot),
        *(values.tolist() for values in (q.min(axis=0), q.max(axis=0), lower, upper, speed, limit)),
        strict=True,
    )
    return tuple(JointUse(*row) for row in rows)


def joint_units(robot: Robot) -> tuple[str, ...]:
    """Find the units of the robot's joint positions.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.

    Returns
    -------
    tuple of n str
        `rad` for a revolute joint, `m` for a prismatic one.
    """
    return tuple("m" if slides else "rad" for slides in kinematic_tree(robot.model).sliding)


def _peak_speeds(time: Array, q: Array) -> Array:
    """Greatest speeds (n,) of the cubic spline through the samples."""
    speed = make_interp_spline(time, q, k=min(3, len(time) - 1)).derivative()
    fine = np.arange(time[0], time[-1], _TIMESTEP)
    return np.asarray(np.abs(speed(fine)).max(axis=0))
