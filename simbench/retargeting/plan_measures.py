"""Measures of a planned motion: joints that stay at a limit, and the errors against the person."""

import numpy as np

from simbench.motion.joint_use import joint_units
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.joint_order import joint_limits
from simbench.retargeting.body_errors import QUANTITIES, RobotErrors, summarise_errors
from simbench.robot.robot import Robot

NEAR_LIMIT = 0.01
"""Distance from the limit that a plan keeps within which a joint is at it, rad or m: beyond what smoothing
and interpolation move it."""


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
