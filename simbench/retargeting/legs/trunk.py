"""Trunk joints of a robot that follows a person's steps: as fast as its soles can hold against."""

import numpy as np
import pinocchio as pin

from simbench.balance.inverted_pendulum import GRAVITY
from simbench.kinematics.arrays import Array
from simbench.retargeting.legs.body import low_pass
from simbench.retargeting.legs.upper_body import FollowedUpperBody
from simbench.robot.robot import Robot

_MOMENT_ARM = 0.05
"""Moment that the soles hold against the trunk's, as a part of the weight, m: by so much it moves the ZMP,
and about the vertical a sole 0.25 m long holds about 0.06 m times the weight."""
_BANDWIDTHS = (8.0, 6.0, 4.5, 3.5, 2.7, 2.0, 1.5, 1.1, 0.8, 0.5)
"""Bandwidths that are tried in turn for a joint that accelerates too much, Hz."""


def steady_trunk(robot: Robot, upper: FollowedUpperBody, time: Array) -> FollowedUpperBody:
    """Smooth trunk joints whose acceleration needs a larger moment than the soles can hold against.

    The moment is that of the bodies above the joint, I q̈, with the joint's inertia I in the first posture.

    Parameters
    ----------
    robot : Robot
        Robot of human form.
    upper : FollowedUpperBody
        Motion of trunk and arms, T samples.
    time : (T,) array
        Times of the samples, s, evenly spaced.

    Returns
    -------
    FollowedUpperBody
        The same with other trunk joints, and the number of smoothed joints.
    """
    model, data = robot.model, robot.model.createData()
    root = model.nq - len(robot.joint_names)
    upright = pin.neutral(model)
    upright[root:] = upper.joints[0]
    inertia = np.diag(pin.crba(model, data, upright))[model.nv - len(robot.joint_names) :]
    moment = _MOMENT_ARM * pin.computeTotalMass(model) * GRAVITY
    rate = (len(time) - 1) / (time[-1] - time[0])
    joints, count = upper.joints.copy(), 0
    for name in robot.groups.get("trunk", ()):
        column = robot.joint_names.index(name)
        limit = moment / inertia[column]
        if column not in upper.columns or _largest_acceleration(joints[:, column], rate) <= limit:
            continue
        count += 1
        for bandwidth in _BANDWIDTHS:
            smooth = low_pass(joints[:, column], bandwidth, rate)
            if _largest_acceleration(smooth, rate) <= limit:
                break
        joints[:, column] = smooth
    return upper._replace(joints=joints, filtered=upper.filtered + count)


def _largest_acceleration(values: Array, rate: float) -> float:
    """Largest second derivative of evenly spaced samples."""
    return float(np.abs(np.gradient(np.gradient(values))).max()) * rate**2
