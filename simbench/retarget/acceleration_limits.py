"""What joints can accelerate, estimated from motors, inertia and gravity."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.stats import qmc

from simbench.errors import RetargetError
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

_POSTURES = 256
"""In which gravity and inertia are taken; the worst of them counts."""
_LEAST_SHARE = 0.1
"""Of a motor's torque for acceleration, where gravity leaves less in the worst posture."""
_SHORTEST_START = 0.02
"""s from rest to full speed: what is quicker is decided by gears and control, not by torque and inertia."""


def acceleration_limits(robot: Robot, names: Sequence[str]) -> Array:
    """Estimate what joints can accelerate from their motors, for robots' data sheets do not say.

    (τ_max − max |g|) / max J over 256 postures of the joints named, spread evenly between their limits, the
    others in the robot's first posture; g is the torque of gravity with the root upright, J the inertia about
    the joint's axis of all that it moves, rotor included. What neighbours' accelerations cost is left out, so
    this is a measure of scale, not a guarantee of torque. No less than a tenth of the torque is counted,
    and no more than reaches the speed limit in 20 ms.

    Parameters
    ----------
    robot : Robot
    names : sequence of str

    Returns
    -------
    (n,) array
        rad/s².

    Raises
    ------
    RetargetError
        If a joint has no torque limit.
    """
    model, data = robot.model, robot.model.createData()
    columns = np.array([robot.joint_names.index(name) for name in names], dtype=np.int64)
    in_q, in_v = robot.root_q + columns, robot.root_v + columns
    lower, upper = model.lowerPositionLimit[in_q], model.upperPositionLimit[in_q]
    q = pin.neutral(model)
    q[robot.root_q :] = next(iter(robot.postures.values()), q[robot.root_q :])
    spread = qmc.Halton(len(columns), scramble=False).random(_POSTURES)
    inertia, weight = np.zeros(len(columns)), np.zeros(len(columns))
    for share in spread:
        q[in_q] = lower + share * (upper - lower)
        inertia = np.maximum(inertia, np.diag(pin.crba(model, data, q))[in_v])
        weight = np.maximum(weight, np.abs(pin.computeGeneralizedGravity(model, data, q)[in_v]))
    torque = np.asarray(model.effortLimit)[in_v]
    bad = np.flatnonzero(~((torque > 0) & np.isfinite(torque)))
    if bad.size:
        raise RetargetError(
            f"{robot.name}: joint {names[bad[0]]} has no torque limit, so its acceleration limit is unknown; "
            "give acceleration limits"
        )
    left = np.maximum(torque - weight, _LEAST_SHARE * torque)
    return np.asarray(np.minimum(left / inertia, model.velocityLimit[in_v] / _SHORTEST_START))
