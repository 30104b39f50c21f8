"""Rotation matrices, unit quaternions x, y, z, w, angles, the weight of a rotation, and floating bases."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry

# What a radian of orientation error counts against a metre of position error, m/rad; and so how far from the
# middle of a palm, m, points are that stand for its orientation. Where a limit leaves no exact solution the
# palm is in the right place and a little rotated, not the other way round.
ROTATION_WEIGHT = 0.15


def wrap_angle(angle: Array | float) -> Array:
    """Bring angles into [−π, π), as differences of headings that may have gone round are to be.

    `angle`: angles, rad, of any shape. Returns the same angles but for whole turns, rad, of the same shape.
    """
    return np.asarray(np.remainder(angle + np.pi, 2.0 * np.pi) - np.pi)


@compiled_entry("matrix (3, 3)")
def quaternion_to_matrix(x: float, y: float, z: float, w: float, matrix: Array) -> None:
    """Compute the rotation matrix of a unit quaternion.

    `x`: first component of the vector part; `y`: second component of the vector part; `z`: third component of
    the vector part; `w`: scalar part; `matrix` (3, 3): overwritten with the rotation matrix.
    """
    matrix[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    matrix[0, 1] = 2.0 * (x * y - z * w)
    matrix[0, 2] = 2.0 * (x * z + y * w)
    matrix[1, 0] = 2.0 * (x * y + z * w)
    matrix[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    matrix[1, 2] = 2.0 * (y * z - x * w)
    matrix[2, 0] = 2.0 * (x * z - y * w)
    matrix[2, 1] = 2.0 * (y * z + x * w)
    matrix[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@compiled
def matrix_to_quaternion(matrix: Array) -> tuple[float, float, float, float]:
    """Compute the unit quaternion of a rotation matrix, from its largest component.

    `matrix` (3, 3). Returns x, y, z, w, of unit length.
    """
    trace = matrix[0, 0] + matrix[1, 1] + matrix[2, 2]
    v = np.empty(4)
    if trace > 0.0:
        s = 2.0 * np.sqrt(1.0 + trace)
        v[0] = (matrix[2, 1] - matrix[1, 2]) / s
        v[1] = (matrix[0, 2] - matrix[2, 0]) / s
        v[2] = (matrix[1, 0] - matrix[0, 1]) / s
        v[3] = 0.25 * s
    else:
        i = 0
        if matrix[1, 1] > matrix[0, 0]:
            i = 1
        if matrix[2, 2] > matrix[i, i]:
            i = 2
        j, k = (i + 1) % 3, (i + 2) % 3
        s = 2.0 * np.sqrt(1.0 + matrix[i, i] - matrix[j, j] - matrix[k, k])
        v[i] = 0.25 * s
        v[j] = (matrix[i, j] + matrix[j, i]) / s
        v[k] = (matrix[i, k] + matrix[k, i]) / s
        v[3] = (matrix[k, j] - matrix[j, k]) / s
    length = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3])
    return v[0] / length, v[1] / length, v[2] / length, v[3] / length


@compiled_entry("quaternion (T, 4), turn (T, 3), turned (T, 4)")
def turn_quaternions(quaternion: Array, turn: Array, turned: Array) -> None:
    """Turn unit quaternions (T, 4), x y z w, by rotation vectors (T, 3) in world axes, rad.

    The result, `turned` (T, 4), is overwritten; it is of unit length and on the same side as the quaternion.
    """
    for t in range(len(quaternion)):
        angle = np.sqrt(turn[t, 0] ** 2 + turn[t, 1] ** 2 + turn[t, 2] ** 2)
        s = 0.5 * np.sinc(0.5 * angle / np.pi)
        a, b, c, d = s * turn[t, 0], s * turn[t, 1], s * turn[t, 2], np.cos(0.5 * angle)
        x, y, z, w = quaternion[t]
        turned[t, 0] = d * x + a * w + b * z - c * y
        turned[t, 1] = d * y - a * z + b * w + c * x
        turned[t, 2] = d * z + a * y - b * x + c * w
        turned[t, 3] = d * w - a * x - b * y - c * z
        length = np.sqrt((turned[t] ** 2).sum())
        turned[t] *= (1.0 if d >= 0.0 else -1.0) / length


@compiled_entry("quaternion (T, 4), turn (T - 1, 3)")
def turns_between(quaternion: Array, turn: Array) -> None:
    """Find the rotation vectors (T - 1, 3), rad, world axes, from each unit quaternion (T, 4) to the next.

    `turn` is overwritten; angles are at most π.
    """
    for t in range(len(turn)):
        a, b, c, d = -quaternion[t, 0], -quaternion[t, 1], -quaternion[t, 2], quaternion[t, 3]
        x, y, z, w = quaternion[t + 1]
        along = np.array(
            [w * a + x * d + y * c - z * b, w * b - x * c + y * d + z * a, w * c + x * b - y * a + z * d]
        )
        across = w * d - x * a - y * b - z * c
        if across < 0.0:
            along, across = -along, -across
        sine = np.sqrt((along**2).sum())
        turn[t] = along * (2.0 * np.arctan2(sine, across) / sine if sine > 1e-9 else 2.0)


def continuous_quaternions(quaternion: Array) -> Array:
    """Choose the signs of unit quaternions (T, ..., 4) so that each is on the side of the one before."""
    flips = np.where(np.sum(quaternion[1:] * quaternion[:-1], axis=-1) < 0.0, -1.0, 1.0)
    sign = np.cumprod(np.concatenate([np.ones_like(quaternion[:1, ..., 0]), flips]), axis=0)
    return np.asarray(quaternion * sign[..., None])


def heading_of(quaternion: Array) -> Array:
    """Directions of the x axes of quaternions x, y, z, w (..., 4), rad about the world's z axis."""
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    return np.asarray(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))


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
    vector, scalar = unit[:, :3], unit[:, 3:]
    turning, turning_rate = (
        2.0 * (scalar * change[:, :3] - change[:, 3:] * vector - np.cross(vector, change[:, :3]))
        for change in (rate[:, 3:7] / length, second[:, 3:7] / length)
    )
    x, y, z, w = unit.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    rotation = np.moveaxis(np.array(rows), 2, 0)
    linear = np.einsum("tji,tj->ti", rotation, rate[:, :3])
    linear_rate = np.einsum("tji,tj->ti", rotation, second[:, :3]) - np.cross(turning, linear)
    return (
        np.hstack([q[:, :3], unit, q[:, 7:]]),
        np.hstack([linear, turning, rate[:, 7:]]),
        np.hstack([linear_rate, turning_rate, second[:, 7:]]),
    )
