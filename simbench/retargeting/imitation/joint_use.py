"""What a trajectory asks of a robot's joints: range, closest approach to a limit, speed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from simbench.kinematics.tree import kinematic_tree
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot

_TIMESTEP = 1e-3
"""At which the speed of the interpolated trajectory is examined, s: a controller's."""


@dataclass(frozen=True)
class JointUse:
    """What one joint does, against what it can do.

    Parameters
    ----------
    name : str
    unit : str
        rad or m; speeds are per second.
    lowest, highest : float
        Positions.
    lower, upper : float
        Limits.
    speed : float
        Peak.
    speed_limit : float
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
        """Closest approach to a limit; negative beyond it."""
        return min(self.lowest - self.lower, self.upper - self.highest)


def joint_uses(robot: Robot, trajectory: JointTrajectory) -> tuple[JointUse, ...]:
    """Measure what a trajectory asks of each joint, in the trajectory's order.

    Speeds are those of the cubic spline through the samples.

    Parameters
    ----------
    robot : Robot
    trajectory : JointTrajectory
        At least two samples of all the robot's joints.

    Returns
    -------
    tuple of JointUse
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
    """Units of the robot's joint positions: `rad` where a joint turns, `m` where it slides."""
    return tuple("m" if slides else "rad" for slides in kinematic_tree(robot.model).sliding)


def _peak_speeds(time: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    speed = make_interp_spline(time, q, k=min(3, len(time) - 1)).derivative()
    fine = np.arange(time[0], time[-1], _TIMESTEP)
    return np.asarray(np.abs(speed(fine)).max(axis=0))
