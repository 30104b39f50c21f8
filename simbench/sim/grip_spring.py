"""The spring of a grip: the wrench on a palm that is displaced from its rest pose on the handle."""

import math
from typing import NamedTuple

from simbench.kinematics.compiled import compiled
from simbench.sim.vectors import (
    Motion,
    Quaternion,
    Vector,
    add,
    conjugate,
    cross,
    multiply,
    reject,
    remove_twist,
    rotate,
    subtract,
)

Wrench = tuple[float, float, float, float, float, float]
RIGID, PIVOT, SLIDE = 0, 1, 2
"""Motion that a handle leaves free to a palm: none, rotation about its axis, translation along it."""


class GripSpring(NamedTuple):
    """Constants of a grip."""

    stiffness: float  # `stiffness`, `damping`: k (N/m) and c (N·s/m).
    damping: float
    # `rotational_stiffness`, `rotational_damping`: κ (N·m/rad) and γ (N·m·s/rad).
    rotational_stiffness: float
    rotational_damping: float
    held: Vector  # (3,): point that holds, in the palm's link, m.
    free: int  # Motion that the handle leaves free.
    axis: Vector  # (3,): axis of pivot or slide in the handle's link, a unit vector.
    # (3,) and (4,) floats: position (m) and quaternion of the palm's link in the frame of the joint that
    # carries it.
    on_joint: tuple[Vector, Quaternion]


@compiled
def spring_wrench(
    palm: Motion, handle: Motion, rest: tuple[Vector, Quaternion], spring: GripSpring
) -> tuple[Vector, Vector, Vector, Wrench]:
    """Compute the wrench of a spring and damper between a palm and its rest pose on a handle.

    With x the held point relative to its rest position, R the palm's rotation relative to its rest
    orientation, and v, ω the palm's velocity relative to the handle's link, taken at the rest position: force
    = −k x − c v, torque = −κ log R − γ ω. For a pivot about an axis a, R is without its twist about a and the
    torque without its part along a; for a slide, the force is without its part along a. `handle`: motion of
    the link that carries the handle; `rest` (3,) and (4,) floats: rest position of the held point (m) and
    rest orientation of the palm's link, in the handle's link; `spring`: constants of the grip. Returns
    `force`, `torque` (3,): wrench on the palm at the rest position, N and N·m, world axes; `point` (3,): rest
    position, world frame, m; `load` (6,): the same force and its moment about the joint's origin, in the
    joint's frame.
    """
    palm_com, palm_origin, palm_rotation, palm_linear, palm_angular = palm
    handle_com, handle_origin, handle_rotation, handle_linear, handle_angular = handle
    along_axis = rotate(handle_rotation, spring.axis)
    point = add(handle_origin, rotate(handle_rotation, rest[0]))
    offset = subtract(add(palm_origin, rotate(palm_rotation, spring.held)), point)
    speed = subtract(
        add(palm_linear, cross(palm_angular, subtract(point, palm_com))),
        add(handle_linear, cross(handle_angular, subtract(point, handle_com))),
    )
    if spring.free == SLIDE:
        offset, speed = reject(offset, along_axis), reject(speed, along_axis)
    rotation = multiply(palm_rotation, conjugate(multiply(handle_rotation, rest[1])))
    spin = subtract(palm_angular, handle_angular)
    if spring.free == PIVOT:
        rotation, spin = remove_twist(rotation, along_axis), reject(spin, along_axis)
    ex, ey, ez, ew = rotation
    # log R = 2 atan2(|e|, e_w) e / |e|, of that of R's two quaternions whose e_w is positive
    length = math.sqrt(ex * ex + ey * ey + ez * ez)
    angle = math.copysign(2.0 * math.atan2(length, abs(ew)) / length if length > 1e-12 else 2.0, ew)
    bend = angle * spring.rotational_stiffness
    bend_damping = spring.rotational_damping
    torque = (
        -bend * ex - bend_damping * spin[0],
        -bend * ey - bend_damping * spin[1],
        -bend * ez - bend_damping * spin[2],
    )
    if spring.free == PIVOT:
        torque = reject(torque, along_axis)
    stiffness, damping = spring.stiffness, spring.damping
    force = (
        -stiffness * offset[0] - damping * speed[0],
        -stiffness * offset[1] - damping * speed[1],
        -stiffness * offset[2] - damping * speed[2],
    )
    return force, torque, point, _on_joint(palm, spring.on_joint, force, torque, point)


@compiled
def _on_joint(
    palm: Motion, on_joint: tuple[Vector, Quaternion], force: Vector, torque: Vector, point: Vector
) -> Wrench:
    """Express a wrench at `point`, world axes, in the frame of the joint that carries the palm's link."""
    lever, rotation = on_joint
    to_palm = conjugate(palm[2])
    moment = add(cross(subtract(point, palm[1]), force), torque)
    x, y, z = rotate(rotation, rotate(to_palm, force))
    mx, my, mz = add(rotate(rotation, rotate(to_palm, moment)), cross(lever, (x, y, z)))
    return x, y, z, mx, my, mz
