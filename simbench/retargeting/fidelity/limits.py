"""Share of a motion at which joints are at a limit of their position or their speed."""

from typing import NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline

from simbench.kinematics.arrays import Array
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.imitation.joint_use import NEAR_LIMIT
from simbench.robot.robot import Robot

_NEAR_SPEED = 0.99
"""Fraction of the speed that may be used from which on a joint is at its limit: plans that a limit bounds
reach it but for rounding."""


class LimitShares(NamedTuple):
    """Shares of the samples at which a joint is at a limit.

    Parameters
    ----------
    position : float
        Fraction of the samples at which at least one joint is at a limit of its position.
    speed : float
        Fraction of the samples at which at least one joint is at its speed limit.
    """

    position: float
    speed: float


def measure_limit_shares(
    robot: Robot, positions: Array, speeds: Array, margin: float, speed_fraction: float
) -> LimitShares:
    """Measure how often a joint is at a limit.

    A joint is at a limit of its position within the margin that plans keep, and 0.01 rad (m) more. Joints
    with a range of less than four times that are left out, those that move by less than 0.01 rad (m), and
    fingers.

    Parameters
    ----------
    robot : Robot
        Gives the limits of its n joints.
    positions : (T, n) array
        Joint positions, rad or m.
    speeds : (T, n) array
        Joint velocities, rad/s or m/s.
    margin : float
        Margin that plans keep from the limits of position, rad (m).
    speed_fraction : float
        Fraction of the speed limits that may be used.

    Returns
    -------
    LimitShares
        Fractions of the T samples.
    """
    model, near = robot.model, margin + NEAR_LIMIT
    lower, upper = model.lowerPositionLimit[robot.root_q :], model.upperPositionLimit[robot.root_q :]
    fastest = model.velocityLimit[robot.root_v :]
    fingers = {name for hand in robot.hands.values() for name in hand.joints}
    used = np.array([name not in fingers for name in robot.joint_names]) & (
        np.ptp(positions, axis=0) > NEAR_LIMIT
    )
    at_position = (positions <= lower + near) | (positions >= upper - near)
    at_speed = np.abs(speeds) >= _NEAR_SPEED * speed_fraction * fastest
    return LimitShares(
        float(at_position[:, used & (upper - lower >= 4.0 * near)].any(axis=1).mean()),
        float(at_speed[:, used].any(axis=1).mean()),
    )


def joint_speeds(trajectory: JointTrajectory) -> Array:
    """Compute the joint velocities of a planned motion at its samples.

    Parameters
    ----------
    trajectory : JointTrajectory
        At least two samples of n joints.

    Returns
    -------
    (T, n) array
        Velocities of the cubic spline through the samples, rad/s or m/s.
    """
    spline = make_interp_spline(trajectory.time, trajectory.q, k=min(3, len(trajectory.time) - 1))
    return np.asarray(spline.derivative()(trajectory.time))
