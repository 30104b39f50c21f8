"""Use that a trajectory makes of a robot's joints: their units, ranges and speeds, and their limits."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import kinematic_tree
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.joint_order import joint_limits
from simbench.robot.robot import Robot

# Time step at which the speed of the interpolated trajectory is examined, s: a controller's.
_TIMESTEP = 1e-3


@dataclass(frozen=True)
class JointUse:
    """Range and peak speed of one joint in a trajectory, and its limits: rad or m, and per second."""

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


def spline_speeds(time: Array, positions: Array, at: Array) -> Array:
    """Velocities (N, C) of the cubic spline through the samples of a motion at times inside it."""
    return np.asarray(make_interp_spline(time, positions, k=min(3, len(time) - 1)).derivative()(at))


def joint_uses(robot: Robot, trajectory: JointTrajectory) -> tuple[JointUse, ...]:
    """Measure range and peak speed, that of the cubic spline, of each joint of a trajectory, in its order."""
    time, q = trajectory.time, trajectory.q
    speeds = np.abs(spline_speeds(time, q, np.arange(time[0], time[-1], _TIMESTEP))).max(axis=0)
    limits, fastest = joint_limits(robot), robot.model.velocityLimit[robot.root_v :]
    columns = np.stack([q.min(axis=0), q.max(axis=0), *limits, speeds, fastest])
    rows = zip(trajectory.joint_names, joint_units(robot), *columns.tolist(), strict=True)
    return tuple(JointUse(*row) for row in rows)


def joint_units(robot: Robot) -> tuple[str, ...]:
    """Find the units of the robot's joint positions: `rad` for a revolute joint, `m` for a prismatic one."""
    return tuple("m" if slides else "rad" for slides in kinematic_tree(robot.model).sliding)
