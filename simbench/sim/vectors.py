"""Vectors and unit quaternions in plain floats, for the few that a step handles one by one.

At this size a NumPy call costs more than the arithmetic, and Bullet's own transforms are in single precision.
"""

import math

from simbench.kinematics.compiled import compiled

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # Unit quaternion x, y, z, w.
# Pose and velocity of a link in world axes: centre of mass (m), origin (m) and rotation of its frame,
# velocity of the centre of mass (m/s), angular velocity (rad/s). Plain: compiled functions take it at once.
Motion = tuple[Vector, Vector, Quaternion, Vector, Vector]


@compiled
def add(a: Vector, b: Vector) -> Vector:
    """Return a + b. `a`, `b` (3,): vectors. Returns (3,): sum."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled
def subtract(a: Vector, b: Vector) -> Vector:
    """Return a − b. `a`, `b` (3,): vectors. Returns (3,): difference."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@compiled
def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b. `a`, `b` (3,): vectors. Returns (3,): vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled
def squared_norm(a: Vector) -> float:
    """Return a · a. `a` (3,): vector."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@compiled
def rotate(quaternion: Quaternion, a: Vector) -> Vector:
    """Rotate a vector: a + 2 w (u × a) + 2 u × (u × a) with the unit quaternion (u, w).

    `quaternion` (4,): unit quaternion x, y, z, w; `a` (3,). Returns (3,).
    """
    u, w = quaternion[:3], quaternion[3]
    u_cross_a = cross(u, a)
    x, y, z = cross(u, u_cross_a)
    return (
        a[0] + 2.0 * (w * u_cross_a[0] + x),
        a[1] + 2.0 * (w * u_cross_a[1] + y),
        a[2] + 2.0 * (w * u_cross_a[2] + z),
    )


@compiled
def conjugate(quaternion: Quaternion) -> Quaternion:
    """Return the inverse rotation.

    `quaternion` (4,): unit quaternion x, y, z, w. Returns (4,): conjugate quaternion.
    """
    x, y, z, w = quaternion
    return -x, -y, -z, w


@compiled
def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Compose two rotations.

    `a`, `b` (4,): unit quaternions x, y, z, w; the rotation b comes first. Returns (4,): quaternion of the
    rotation by b, then by a.
    """
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@compiled
def reject(a: Vector, axis: Vector) -> Vector:
    """Return the component of a vector perpendicular to an axis.

    `a` (3,); `axis` (3,): unit vector. Returns (3,): the vector without its component along the axis.
    """
    along = a[0] * axis[0] + a[1] * axis[1] + a[2] * axis[2]
    return a[0] - along * axis[0], a[1] - along * axis[1], a[2] - along * axis[2]


@compiled
def remove_twist(rotation: Quaternion, axis: Vector) -> Quaternion:
    """Remove the twist about an axis from a rotation: rotation = swing · twist, the swing is left.

    `rotation` (4,): unit quaternion x, y, z, w; `axis` (3,): unit vector. Returns (4,): unit quaternion of
    the swing.
    """
    x, y, z, w = rotation
    along = x * axis[0] + y * axis[1] + z * axis[2]
    length = math.hypot(along, w)
    if length < 1e-12:
        return rotation
    s, c = along / length, w / length
    return multiply(rotation, (-s * axis[0], -s * axis[1], -s * axis[2], c))


@compiled
def locate(link: Motion, point: Vector) -> Vector:
    """Compute the world position of a point that is fixed to a link.

    `point` (3,): position in the link's frame, m. Returns (3,): position in the world, m.
    """
    return add(link[1], rotate(link[2], point))
