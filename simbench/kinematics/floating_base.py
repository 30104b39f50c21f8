"""Coordinates of a floating base and their derivatives, as Pinocchio's free-flyer joint takes them."""

import numpy as np

from simbench.kinematics.arrays import Array


def free_flyer_derivatives(q: Array, rate: Array, second: Array) -> tuple[Array, Array, Array]:
    """Turn coordinates of a floating base and their derivatives into Pinocchio's q, v and a.

    With the quaternion p, ω = 2 p̄ ṗ and ω̇ = 2 p̄ p̈ (vector parts), in the base frame; the velocity of the
    base there is Rᵀẋ, and its rate Rᵀẍ − ω × Rᵀẋ. `q` (T, 7 + n): position of the base, m, its quaternion x,
    y, z, w, not necessarily of unit length, and joint positions, rad; `rate` (T, 7 + n): their first
    derivatives, per second; `second` (T, 7 + n): their second derivatives, per second². Returns `q` (T, 7 +
    n): the same with unit quaternions; `v` (T, 6 + n): velocity: the base's linear (m/s) and angular (rad/s)
    in its own frame, and the joints'; `a` (T, 6 + n): derivative of the components of `v`, as RNEA takes it.
    """
    length = np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    unit = q[:, 3:7] / length
    turning = _turning_rate(unit, rate[:, 3:7] / length)
    turning_rate = _turning_rate(unit, second[:, 3:7] / length)
    rotation = _matrices(unit)
    linear = np.einsum("tji,tj->ti", rotation, rate[:, :3])
    linear_rate = np.einsum("tji,tj->ti", rotation, second[:, :3]) - np.cross(turning, linear)
    return (
        np.hstack([q[:, :3], unit, q[:, 7:]]),
        np.hstack([linear, turning, rate[:, 7:]]),
        np.hstack([linear_rate, turning_rate, second[:, 7:]]),
    )


def _turning_rate(unit: Array, rate: Array) -> Array:
    """Vector part of 2 p̄ ṗ, (T, 3), of quaternions x, y, z, w."""
    vector, scalar = unit[:, :3], unit[:, 3:]
    return np.asarray(2.0 * (scalar * rate[:, :3] - rate[:, 3:] * vector - np.cross(vector, rate[:, :3])))


def _matrices(unit: Array) -> Array:
    """Rotation matrices (T, 3, 3) of quaternions x, y, z, w."""
    x, y, z, w = unit.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
