"""Trunk, arms and head of a robot that follows a person's steps: their posture relative to its root."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.options import RetargetSection
from simbench.retargeting.arm_adaptation.arm_adaptation import adapted_posture
from simbench.retargeting.collision.clearance import body_shapes
from simbench.retargeting.imitation.calibration import calibrate
from simbench.retargeting.imitation.errors import imitation_errors
from simbench.retargeting.imitation.imitation import imitate
from simbench.retargeting.imitation.limit_rescaling import rescale_into_limits
from simbench.retargeting.imitation.posture import limited_posture
from simbench.retargeting.imitation.tasks import WRISTS
from simbench.retargeting.legs.body import low_pass
from simbench.robot.robot import Robot

_BANDWIDTHS = (12.0, 8.0, 6.0, 4.5, 3.5, 2.7, 2.0, 1.5, 1.1, 0.8, 0.5)
"""Bandwidths that are tried in turn for a joint that is too fast, Hz."""


class FollowedUpperBody(NamedTuple):
    """Motion of trunk and arms.

    Parameters
    ----------
    joints : (T, n) array
        Positions of all joints of the robot; those of legs and head as at rest, rad.
    columns : (m,) int array
        Columns of trunk and arms.
    filtered : int
        Number of joints that are smoothed because they would be too fast.
    metrics : dict of str to float
        Metrics `imitation.*`.
    """

    joints: Array
    columns: NDArray[np.int64]
    filtered: int
    metrics: dict[str, float]


def follow_upper_body(
    robot: Robot, motion: HumanMotion, settings: RetargetSection, rest: Array
) -> FollowedUpperBody:
    """Imitate a person with trunk and arms, at the recorded tempo.

    Parameters
    ----------
    robot : Robot
        Robot of human form.
    motion : HumanMotion
        Recording seen from the robot's root (`seen_from_root`).
    settings : RetargetSection
        Method, margins and smoothing.
    rest : (n,) array
        Joint positions at rest, rad.

    Returns
    -------
    FollowedUpperBody
        Positions inside the joints' limits, at speeds inside theirs.

    Raises
    ------
    RetargetError
        If the scenario has criteria for hands that hold something.
    """
    if settings.weights is not None:
        raise RetargetError("retarget.weights: hands hold nothing with retarget.legs: follow")
    actor = calibrate(robot, motion)
    method = "analytical" if settings.method == "arm_adaptation" else settings.method
    imitation = imitate(
        actor,
        motion,
        method=method,
        smoothing_window=settings.smoothing_window,
        smoothing_order=settings.smoothing_order,
    )
    margin = settings.joint_limit_margin_rad
    lower, upper = actor.model.lowerPositionLimit[7:] + margin, actor.model.upperPositionLimit[7:] - margin
    if settings.method == "arm_adaptation":
        posture = adapted_posture(robot, motion, margin=margin)
    elif settings.posture == "rescaled":
        posture = rescale_into_limits(motion.time, imitation.q[:, 7:], lower, upper)
    else:
        posture = limited_posture(imitation, motion, body_shapes(robot, rest), lower, upper)
    columns = np.array([robot.joint_names.index(name) for name in actor.model.names[2:]])
    limit = np.asarray(robot.model.velocityLimit[6:])[columns] * settings.speed_limit_fraction
    bounded, filtered = within_speed_limits(motion.time, posture, limit)
    joints = np.tile(rest, (len(motion.time), 1))
    joints[:, columns] = bounded
    errors = imitation_errors(imitation, motion).joints
    wrists = np.array([errors[name] for name in WRISTS])
    metrics = {"imitation.hand_mean_m": float(wrists.mean()), "imitation.hand_max_m": float(wrists.max())}
    return FollowedUpperBody(joints, columns, filtered, metrics)


def within_speed_limits(time: Array, joints: Array, limit: Array) -> tuple[Array, int]:
    """Smooth joints that are faster than their limits, without delay and without changing the clock.

    Each such joint is filtered by the widest Gaussian low-pass of a list with which it is slow enough: its
    amplitude gives way.

    Parameters
    ----------
    time : (T,) array
        Time of the samples, s, evenly spaced.
    joints : (T, m) array
        Joint positions, rad.
    limit : (m,) array
        Largest speeds, rad/s.

    Returns
    -------
    joints : (T, m) array
        Positions, rad; their mean where no filter of the list slows a joint enough.
    filtered : int
        Number of joints that were filtered.
    """
    result, count = joints.copy(), 0
    rate = (len(time) - 1) / (time[-1] - time[0])
    for column in range(joints.shape[1]):
        if _fastest(time, joints[:, column]) <= limit[column]:
            continue
        count += 1
        for bandwidth in _BANDWIDTHS:
            smooth = low_pass(joints[:, column], bandwidth, rate)
            if _fastest(time, smooth) <= limit[column]:
                result[:, column] = smooth
                break
        else:
            result[:, column] = joints[:, column].mean()
    return result, count


def _fastest(time: Array, values: Array) -> float:
    """Largest speed between two samples."""
    return float(np.abs(np.diff(values) / np.diff(time)).max())
