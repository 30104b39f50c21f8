"""The spring of a grip: the wrench on a palm that is not where it rests on its handle."""

import math

from simbench.kinematics.compiled import compiled
from simbench.sim.link_motion import Motion
from simbench.sim.vectors import (
    Quaternion,
    Vector,
    across,
    cross,
    difference,
    inverse,
    product,
    rotated,
    total,
    without_twist,
)

Wrench = tuple[float, float, float, float, float, float]
RIGID, PIVOT, SLIDE = 0, 1, 2
"""What a palm may do on its handle."""


@compiled
def spring_wrench(
    palm: Motion,
    handle: Motion,
    held: Vector,
    rest: tuple[Vector, Quaternion],
    design: tuple[float, float, float, float],
    free: int,
    axis: Vector,
    on_joint: tuple[Vector, Quaternion],
) -> tuple[Vector, Vector, Vector, Wrench]:
    """Compute the wrench of a spring and damper between a palm and its rest place on a handle.

    With x the held point relative to the rest place, R the palm's turn relative to it, and v, ω the palm's
    velocity relative to the handle's link, taken at the rest place: force = −k x − c v,
    torque = −κ log R − γ ω. What may pivot about its axis a has R without its twist about a and a torque
    without its part along a; what may slide has a force without its part along a.

    Parameters
    ----------
    palm, handle : Motion
        Of the palm's link and of the link that carries the handle.
    held : (3,) floats
        The point that holds, in the palm's link, m.
    rest : (3,) and (4,) floats
        Where that point rests (m) and how the palm's link is turned there, in the handle's link.
    design : (4,) floats
        k (N/m), c (N·s/m), κ (N·m/rad), γ (N·m·s/rad).
    free : `RIGID`, `PIVOT` or `SLIDE`
    axis : (3,) floats
        Of pivot or slide in the handle's link, a unit vector.
    on_joint : (3,) and (4,) floats
        Where the palm's link is (m), and how turned, in the frame of the joint that carries it.

    Returns
    -------
    force, torque : (3,) floats
        On the palm at the rest place, N and N·m, world axes.
    point : (3,) floats
        The rest place in the world, m.
    load : (6,) floats
        The same force and its moment about the joint's origin, in the joint's frame.
    """
    palm_com, palm_place, palm_turn, palm_linear, palm_angular = palm
    handle_com, handle_place, handle_turn, handle_linear, handle_angular = handle
    stiffness, damping, bend_stiffness, bend_damping = design
    along_axis = rotated(handle_turn, axis)
    point = total(handle_place, rotated(handle_turn, rest[0]))
    away = difference(total(palm_place, rotated(palm_turn, held)), point)
    speed = difference(
        total(palm_linear, cross(palm_angular, difference(point, palm_com))),
        total(handle_linear, cross(handle_angular, difference(point, handle_com))),
    )
    if free == SLIDE:
        away, speed = across(away, along_axis), across(speed, along_axis)
    turn = product(palm_turn, inverse(product(handle_turn, rest[1])))
    spin = difference(palm_angular, handle_angular)
    if free == PIVOT:
        turn, spin = without_twist(turn, along_axis), across(spin, along_axis)
    ex, ey, ez, ew = turn
    # log R = 2 atan2(|e|, e_w) e / |e|, of that of R's two quaternions whose e_w is positive
    length = math.sqrt(ex * ex + ey * ey + ez * ez)
    angle = math.copysign(2.0 * math.atan2(length, abs(ew)) / length if length > 1e-12 else 2.0, ew)
    bend = angle * bend_stiffness
    torque = (
        -bend * ex - bend_damping * spin[0],
        -bend * ey - bend_damping * spin[1],
        -bend * ez - bend_damping * spin[2],
    )
    if free == PIVOT:
        torque = across(torque, along_axis)
    force = (
        -stiffness * away[0] - damping * speed[0],
        -stiffness * away[1] - damping * speed[1],
        -stiffness * away[2] - damping * speed[2],
    )
    return force, torque, point, _on_joint(palm, on_joint, force, torque, point)


@compiled
def _on_joint(
    palm: Motion, on_joint: tuple[Vector, Quaternion], force: Vector, torque: Vector, point: Vector
) -> Wrench:
    """Express a wrench at `point`, world axes, in the frame of the joint that carries the palm's link."""
    lever, turn = on_joint
    back = inverse(palm[2])
    moment = total(cross(difference(point, palm[1]), force), torque)
    x, y, z = rotated(turn, rotated(back, force))
    mx, my, mz = total(rotated(turn, rotated(back, moment)), cross(lever, (x, y, z)))
    return x, y, z, mx, my, mz
