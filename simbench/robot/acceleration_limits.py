"""Acceleration limits of joints, estimated from motors, inertia and gravity."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot

# Number of postures in which gravity and inertia are taken; the worst of them counts.
_POSTURES = 256
# Fraction of a motor's torque left for acceleration, where gravity leaves less in the worst posture.
_LEAST_FRACTION = 0.1
# Time from rest to full speed, s: what is quicker is decided by gears and control, not by torque and inertia.
_SHORTEST_START = 0.02


def estimated_accelerations(robot: Robot, names: Sequence[str]) -> Array:
    """Estimate acceleration limits (n,) of joints from their motors, rad/s², for data sheets do not give any.

    (τ_max − max |g|) / max J over 256 postures of the joint's limb, spread evenly between its limits, the
    rest of the robot in its first posture; g is the torque of gravity with the root upright, J the inertia
    about the joint's axis of all that it moves, rotor included. What neighbours' accelerations cost is left
    out, so this is a measure of scale, not a guarantee of torque. No less than a tenth of the torque is
    counted, and no more than reaches the speed limit in 20 ms. A joint without a torque limit has none.
    """
    # Its import takes a third of a second of CPU time.
    from scipy.stats.qmc import Halton

    model, data = robot.model, robot.model.createData()
    limits: dict[str, float] = {}
    for name in names:
        if name in limits:
            continue
        limb = next((group for group in robot.groups.values() if name in group), (name,))
        columns = np.array([robot.joint_names.index(joint) for joint in limb], dtype=np.int64)
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
        found = np.minimum(left / inertia, model.velocityLimit[in_v] / _SHORTEST_START)
        limits |= dict(zip(limb, np.where((torque > 0) & np.isfinite(found), found, np.inf), strict=True))
    return np.array([limits[name] for name in names], dtype=np.float64)
