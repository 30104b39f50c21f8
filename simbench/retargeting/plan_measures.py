"""Measures of a planned motion: range, speed and limits of its joints, and its errors against the person."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import make_interp_spline

from simbench.kinematics.arrays import Array
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.joint_order import joint_limits, sliding_joints
from simbench.retargeting.body_errors import QUANTITIES, RobotErrors, summarise_errors
from simbench.robot.robot import Robot

# Time step at which the speed of the interpolated trajectory is examined, s: a controller's.
_TIMESTEP = 1e-3
NEAR_LIMIT = 0.01
"""Distance from the limit that a plan keeps within which a joint is at it, rad or m: beyond what smoothing
and interpolation move it."""


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


def limit_stays(
    robot: Robot, trajectory: JointTrajectory, margin: float
) -> list[tuple[float, str, str, float, str, int, int]]:
    """Find the joints of trunk and arms that are at a limit at any sample, the longest stay first.

    A joint is at its limit within the margin that plans keep, and 0.01 rad (m) more. Joints with a range of
    less than four times that are left out, and sliding joints that stand still, such as a lift. Each with
    the fraction of the samples at which it is there, its name, `lower` or `upper`, that limit, `rad` or `m`,
    and first and last sample of its longest stay.
    """
    near, units, stays = margin + NEAR_LIMIT, joint_units(robot), []
    limbs = {name for group in ("trunk", "left_arm", "right_arm") for name in robot.groups.get(group, ())}
    rows = zip(trajectory.joint_names, units, *joint_limits(robot), trajectory.q.T, strict=True)
    for name, unit, lower, upper, q in rows:
        if name not in limbs or upper - lower < 4.0 * near or (unit == "m" and not np.ptp(q)):
            continue
        for end, limit, there in (("lower", lower, q <= lower + near), ("upper", upper, q >= upper - near)):
            if there.any():
                edges = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]])))
                longest = 2 * int(np.diff(edges)[::2].argmax())
                run = int(edges[longest]), int(edges[longest + 1]) - 1
                stays.append((float(there.mean()), name, end, float(limit), unit, *run))
    return sorted(stays, key=lambda stay: -stay[0])


def robot_metrics(
    robot: Robot, trajectory: JointTrajectory, errors: RobotErrors, margin: float
) -> dict[str, float]:
    """Compute mean and maximum of the errors of trunk and arms, and of joints that stay at a limit.

    `retarget.robot_hand_mean_m`, `retarget.robot_upper_arm_max_rad`, ..., and
    `retarget.robot_at_limit_fraction`: the largest fraction of the samples at which one joint is at one of
    its limits, within the margin of `limit_stays`.
    """
    metrics = {}
    for summary in summarise_errors(errors):
        if summary.unit and summary.quantity in QUANTITIES:
            name = f"retarget.robot_{summary.quantity.replace(' ', '_')}"
            metrics[f"{name}_mean_{summary.unit}"] = summary.mean
            metrics[f"{name}_max_{summary.unit}"] = summary.maximum
    fractions = [stay[0] for stay in limit_stays(robot, trajectory, margin)]
    return {**metrics, "retarget.robot_at_limit_fraction": max(fractions, default=0.0)}


def joint_units(robot: Robot) -> tuple[str, ...]:
    """Find the units of the robot's joint positions: `rad` for a revolute joint, `m` for a prismatic one."""
    return tuple("m" if slides else "rad" for slides in sliding_joints(robot))
