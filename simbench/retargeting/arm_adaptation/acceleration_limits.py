"""Acceleration limits of joints, estimated from motors, inertia and gravity."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot

_POSTURES = 256
"""In which gravity and inertia are taken; the worst of them counts."""
_LEAST_FRACTION = 0.1
"""Of a motor's torque for acceleration, where gravity leaves less in the worst posture."""
_SHORTEST_START = 0.02
"""s from rest to full speed: what is quicker is decided by gears and control, not by torque and inertia."""


def acceleration_limits(robot: Robot, names: Sequence[str]) -> Array:
    """Estimate acceleration limits of joints from their motors, for robots' data sheets do not say.

    (τ_max − max |g|) / max J over 256 postures of the joint's limb, spread evenly between its limits, the
    rest of the robot in its first posture; g is the torque of gravity with the root upright, J the inertia
    about the joint's axis of all that it moves, rotor included. What neighbours' accelerations cost is left
    out, so this is a measure of scale, not a guarantee of torque. No less than a tenth of the torque is
    counted, and no more than reaches the speed limit in 20 ms.

    Parameters
    ----------
    robot : Robot
        Robot with torque and speed limits of its joints.
    names : sequence of str
        Joints.

    Returns
    -------
    (n,) array
        Acceleration limits, rad/s².

    Raises
    ------
    RetargetError
        If a joint has no torque limit.
    """
    limits = estimated_accelerations(robot, names)
    for name, limit in zip(names, limits, strict=True):
        if not np.isfinite(limit):
            raise RetargetError(
                f"{robot.name}: joint {name} has no torque limit, so its acceleration limit is unknown; "
                "give acceleration limits"
            )
    return limits


def estimated_accelerations(robot: Robot, names: Sequence[str]) -> Array:
    """Estimate acceleration limits as `acceleration_limits` does; a joint without a torque limit has none.

    Parameters
    ----------
    robot : Robot
        Robot with torque and speed limits of its joints.
    names : sequence of str
        Joints.

    Returns
    -------
    (n,) array
        Acceleration limits, rad/s²; infinite without a torque limit.
    """
    limits: dict[str, float] = {}
    for name in names:
        if name not in limits:
            limb = next((group for group in robot.groups.values() if name in group), (name,))
            limits |= dict(zip(limb, _limits_of_limb(robot, limb), strict=True))
    return np.array([limits[name] for name in names], dtype=np.float64)


def known_acceleration_limits(robot: Robot, names: Sequence[str]) -> Array:
    """Estimate acceleration limits of some of a robot's joints; infinite for all others.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.
    names : sequence of str
        Joints whose limits are wanted.

    Returns
    -------
    (n,) array
        Limits by `acceleration_limits`, rad/s²; infinite where a joint is not named, or its motor is unknown.
    """
    torque = dict(zip(robot.joint_names, robot.motors.torque_limit, strict=True))
    known = [name for name in names if 0.0 < torque[name] < np.inf]
    limits = np.full(len(robot.joint_names), np.inf)
    limits[[robot.joint_names.index(name) for name in known]] = acceleration_limits(robot, known)
    return limits


def _limits_of_limb(robot: Robot, limb: Sequence[str]) -> Array:
    """Estimate the limits of all joints of a limb, rad/s²; infinite without a torque limit."""
    # Its import takes a third of a second of CPU time.
    from scipy.stats.qmc import Halton

    model, data = robot.model, robot.model.createData()
    columns = np.array([robot.joint_names.index(name) for name in limb], dtype=np.int64)
    in_q, in_v = robot.root_q + columns, robot.root_v + columns
    lower, upper = model.lowerPositionLimit[in_q], model.upperPositionLimit[in_q]
    q = pin.neutral(model)
    q[robot.root_q :] = next(iter(robot.postures.values()), q[robot.root_q :])
    inertia, weight = np.zeros(len(limb)), np.zeros(len(limb))
    for fraction in Halton(len(limb), scramble=False).random(_POSTURES):
        q[in_q] = lower + fraction * (upper - lower)
        inertia = np.maximum(inertia, np.diag(pin.crba(model, data, q))[in_v])
        weight = np.maximum(weight, np.abs(pin.computeGeneralizedGravity(model, data, q)[in_v]))
    torque = np.asarray(model.effortLimit)[in_v]
    left = np.maximum(torque - weight, _LEAST_FRACTION * torque)
    limits = np.minimum(left / inertia, model.velocityLimit[in_v] / _SHORTEST_START)
    return np.where((torque > 0) & np.isfinite(torque), limits, np.inf)
