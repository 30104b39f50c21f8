"""Grip: a force-limited compliant constraint between a palm and a handle, engaged by contact."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.kinematics.compiled import compile_for, compiled
from simbench.options import GripSection
from simbench.robot.robot_limbs import hand_links, links_with_collision_shape
from simbench.sim.control.command import Load
from simbench.sim.engine import BodyHandle, Fixture, LinkHandle, RobotBody
from simbench.sim.state import Signal
from simbench.sim.vectors import (
    Motion,
    Quaternion,
    Vector,
    add,
    conjugate,
    cross,
    locate,
    multiply,
    reject,
    remove_twist,
    rotate,
    squared_norm,
    subtract,
)

Wrench = tuple[float, float, float, float, float, float]
# Motion that a handle leaves free to a palm: none, rotation about its axis, translation along it.
RIGID, PIVOT, SLIDE = 0, 1, 2


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


_TOUCH_DISTANCE = 1e-3  # Distance of a hand's link from the handle that counts as contact, m.
_AT_REST: Motion = ((0.0,) * 3, (0.0,) * 3, (0.0, 0.0, 0.0, 1.0), (0.0,) * 3, (0.0,) * 3)
_NO_WRENCH: Wrench = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class Grip:
    """One hand and the handle it may hold.

    When the grip engages, the position of the held point on the link that carries the handle becomes its rest
    position: that of the palm's centre, or of the middle of the rod that the palm lies on. From then on the
    palm feels `spring_wrench` there, and the handle the opposite. A handle that allows a pivot about its axis
    opposes no rotation about it, one that allows a slide no motion along it. The axis moves with the handle's
    link.

    A hand whose links have no collision shape feels nothing: its grip engages where the palm is near enough.
    That of a robot on legs without joints that close the hand engages where its shapes are as near as that.

    The spring is explicit: its force is known before the step, logged as it is, and part of the controller's
    prediction. `side`: `left` or `right`; `fixture`: equipment with a handle for that hand; `design`:
    strength and compliance.
    """

    def __init__(self, body: RobotBody, side: str, fixture: Fixture, design: GripSection) -> None:
        model, hand = body.robot.model, body.robot.hands[f"{side}_hand"]
        frame = model.frames[model.getFrameId(body.robot.frames[f"{side}_hand"])]
        self.wrench: Wrench = _NO_WRENCH  # Force (N) and torque (N·m) on the palm, world axes, at `point`.
        self.point: Vector = (0.0, 0.0, 0.0)  # Point of application of the wrench, world frame, m.
        self.engaged = False
        self.lost = 0  # How often the grip let go because of overload.
        self.body, self.fixture = body, fixture
        handle = fixture.mechanism.handles[side]
        self.palm_link = body.links[hand.palm]
        self.handle_link = fixture.links[handle.part]
        self._design = design
        point = np.array(handle.point)
        # The frame of the handle's link has its origin on the axis of the joint that carries it.
        joints, chain = fixture.mechanism.joints, fixture.mechanism.chain(handle.part)
        in_link = handle.pose.act(point) - (joints[chain[-1]].origin if chain else np.zeros(3))
        self._handle: Vector = tuple(in_link.tolist())
        palm = model.frames[model.getFrameId(hand.palm)].placement
        pose = pin.SE3ToXYZQUAT(palm).tolist()
        self._joint = int(frame.parentJoint)
        self._palm: Vector = tuple(palm.actInv(frame.placement).act(point).tolist())
        # Which motion the handle leaves free, and its axis in the axes of the handle's part.
        free, axis = RIGID, (0.0, 0.0, 0.0)
        if handle.axis is not None and handle.grip != "rigid":
            free = PIVOT if handle.grip == "pivot" else SLIDE
            axis = tuple((handle.pose.rotation @ np.array(handle.axis)).tolist())
        self._spring = GripSpring(
            stiffness=design.stiffness_n_m,
            damping=design.damping_ns_m,
            rotational_stiffness=design.rotational_stiffness_nm_rad,
            rotational_damping=design.rotational_damping_nms_rad,
            held=self._palm,
            free=free,
            axis=axis,
            on_joint=(tuple(pose[:3]), tuple(pose[3:])),
        )
        shaped = links_with_collision_shape(body.robot)
        rigid = hand_links(body.robot, f"{side}_hand", fingers=False)
        # Balance leaves the palms of a robot that stands some millimetres off, which fingers would close.
        closes = bool(hand.joints) or not body.robot.floating
        self._touch = _TOUCH_DISTANCE if closes else design.tolerance_m
        self._hand_links = tuple(body.links[link] for link in (*rigid, *hand.fingers) if link in shaped)
        self._rest: tuple[Vector, Quaternion] = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
        self._spring_wrench = compile_for(spring_wrench, _AT_REST, _AT_REST, self._rest, self._spring)
        self._blocked = False
        if not point.any() and handle.grip == "pivot":
            # The axis goes through the palm itself: a rod there lies in the hollow of a hand, which these
            # palms do not have. Fingers still touch it.
            for link in rigid:
                part = (fixture.handle, self.handle_link)
                body.world.disable_collision((body.handle, body.links[link]), part)

    def apply(self, palm: Motion, handle: Motion, hold: bool, sense: bool) -> Load | None:
        """Engage, hold or let go, and apply the forces of this step.

        `palm`: motion of the palm's link; `handle`: motion of the link that carries the handle; `hold`:
        whether the hand is meant to hold; a grip lost by overload stays open until this was False; `sense`:
        whether to look for contact in this step (a tactile sensor's rate). Returns load on the hand in the
        frame of its joint; None while the hand is open.
        """
        if not hold:
            self.release()
            return None
        if not self.engaged and (self._blocked or not sense):
            return None
        if not self.engaged:
            centre = locate(palm, self._palm)
            apart = subtract(centre, locate(handle, self._handle))
            if squared_norm(apart) > self._design.tolerance_m**2:
                return None
            # Asked for the distance, not for contacts: a palm may be excepted from those.
            robot, rod = self.body.handle, (self.fixture.handle, self.handle_link)
            near = self.body.world.are_links_near
            links = self._hand_links
            if links and not any(near((robot, link), rod, self._touch) for link in links):
                return None
            to_handle = conjugate(handle[2])
            self._rest = rotate(to_handle, subtract(centre, handle[1])), multiply(to_handle, palm[2])
            self.engaged = True
        force, torque, point, load = self._spring_wrench(palm, handle, self._rest, self._spring)
        if (
            squared_norm(force) > self._design.max_force_n**2
            or squared_norm(torque) > self._design.max_torque_nm**2
        ):
            self.release()
            self._blocked = True
            self.lost += 1
            return None
        self.wrench, self.point = (*force, *torque), point
        (fx, fy, fz), (tx, ty, tz) = force, torque
        self.body.apply_wrench(self.palm_link, force, torque, point)
        self.fixture.apply_wrench(self.handle_link, (-fx, -fy, -fz), (-tx, -ty, -tz), point)
        return self._joint, load

    def release(self) -> None:
        """Open the hand; it may engage again."""
        self._blocked = False
        if self.engaged:
            self.engaged = False
            self.wrench = _NO_WRENCH


class EmptyHand:
    """A hand for which no equipment has a handle: it holds nothing."""

    wrench: Wrench = _NO_WRENCH  # Force (N) and torque (N·m) on the palm: none.
    point: Vector = (0.0, 0.0, 0.0)  # Point of application, world frame, m: of no meaning.
    engaged = False
    lost = 0  # How often it let go because of overload.

    def release(self) -> None:
        """Do nothing: it is open."""


# What is logged of the grips of a robot.
GRIP_SIGNALS: tuple[Signal[Sequence[Grip | EmptyHand]], ...] = (
    Signal(
        "grip_wrench",
        ("hand", "axis6"),
        "N, N m at grip_point",
        "Force and torque of each grip on the palm, in the world's axes.",
        lambda grips: [grip.wrench for grip in grips],
    ),
    Signal(
        "grip_point",
        ("hand", "xyz"),
        "m",
        "Point of application of each grip's force in the world.",
        lambda grips: [grip.point for grip in grips],
    ),
    Signal(
        "grip_engaged",
        ("hand",),
        "",
        "Whether each grip holds.",
        lambda grips: [grip.engaged for grip in grips],
        dtype=bool,
    ),
)


def apply_grips(grips: Sequence[Grip | EmptyHand], hold: Sequence[bool], sense: bool) -> list[Load]:
    """Have every hand of a robot engage, hold or let go, and apply the forces of this step.

    `hold`: for each of them, whether the hand is meant to hold; `sense`: whether to look for contact in this
    step (a tactile sensor's rate).
    """
    if not any(hold):
        for grip in grips:
            grip.release()
        return []
    # Asking also has Bullet compute where links are: it takes the lever of an external force about where it
    # last computed the link to be, a step ago unless asked in between.
    able = [(grip, holds) for grip, holds in zip(grips, hold, strict=True) if isinstance(grip, Grip)]
    palms = able[0][0].body.link_motions([grip.palm_link for grip, _ in able])
    handles: dict[tuple[BodyHandle, LinkHandle], Motion] = {}
    loads = []
    for (grip, holds), palm in zip(able, palms, strict=True):
        key = (grip.fixture.handle, grip.handle_link)
        if key not in handles:
            [handles[key]] = grip.fixture.link_motions([grip.handle_link])
        load = grip.apply(palm, handles[key], holds, sense)
        if load is not None:
            loads.append(load)
    return loads
