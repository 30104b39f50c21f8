"""Vectors and unit quaternions in plain floats, for the few that a step handles one by one.

At this size a NumPy call costs more than the arithmetic, and Bullet's own transforms are in single precision.
"""

import math

from simbench.kinematics.compiled import compiled

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
"""Unit quaternion x, y, z, w."""
Motion = tuple[Vector, Vector, Quaternion, Vector, Vector]
"""Pose and velocity of a link in world axes: centre of mass (m), origin (m) and rotation of its frame,
velocity of the centre of mass (m/s), angular velocity (rad/s). Plain: compiled functions take it at once."""


@compiled
def total(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled
def difference(a: Vector, b: Vector) -> Vector:
    """Return a − b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@compiled
def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def square(a: Vector) -> float:
    """Return a · a."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@compiled
def rotated(quaternion: Quaternion, a: Vector) -> Vector:
    """Turn a vector: a + 2 w (u × a) + 2 u × (u × a) with the unit quaternion (u, w)."""
    u, w = quaternion[:3], quaternion[3]
    across = cross(u, a)
    x, y, z = cross(u, across)
    return (
        a[0] + 2.0 * (w * across[0] + x),
        a[1] + 2.0 * (w * across[1] + y),
        a[2] + 2.0 * (w * across[2] + z),
    )


@compiled
def inverse(quaternion: Quaternion) -> Quaternion:
    """Return the turn back."""
    x, y, z, w = quaternion
    return -x, -y, -z, w


@compiled
def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the turn by b, then by a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@compiled
def across(a: Vector, axis: Vector) -> Vector:
    """Return the part of a at right angles to a unit vector."""
    along = a[0] * axis[0] + a[1] * axis[1] + a[2] * axis[2]
    return a[0] - along * axis[0], a[1] - along * axis[1], a[2] - along * axis[2]


@compiled
def without_twist(turn: Quaternion, axis: Vector) -> Quaternion:
    """Return a turn without its part about a unit vector: turn = swing · twist, the swing is left."""
    x, y, z, w = turn
    along = x * axis[0] + y * axis[1] + z * axis[2]
    length = math.hypot(along, w)
    if length < 1e-12:
        return turn
    s, c = along / length, w / length
    return product(turn, (-s * axis[0], -s * axis[1], -s * axis[2], c))


@compiled
def locate(link: Motion, point: Vector) -> Vector:
    """Return the world position of a point in a link's frame, m."""
    return total(link[1], rotated(link[2], point))
