"""Grip: a force-limited compliant constraint between a palm and a handle, engaged by contact."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.kinematics.compiled import compile_for
from simbench.robot.robot_limbs import links_with_collision_shape, palm_links
from simbench.sim.control.command import Load
from simbench.sim.engine import BodyHandle, Fixture, LinkHandle, RobotBody
from simbench.sim.fixtures.mechanism import MechanismHandle, part_origin
from simbench.sim.grip_spring import PIVOT, RIGID, SLIDE, GripSpring, Wrench, spring_wrench
from simbench.sim.signals import Signal
from simbench.sim.vectors import (
    Motion,
    Quaternion,
    Vector,
    conjugate,
    locate,
    multiply,
    rotate,
    squared_norm,
    subtract,
)

_TOUCH_DISTANCE = 1e-3
"""Distance of a hand's link from the handle that counts as contact, m."""
_AT_REST: Motion = ((0.0,) * 3, (0.0,) * 3, (0.0, 0.0, 0.0, 1.0), (0.0,) * 3, (0.0,) * 3)
_NO_WRENCH: Wrench = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class GripDesign:
    """Strength and compliance of a grip."""

    # `stiffness_n_m`, `damping_ns_m`: stiffness (N/m) and damping (N·s/m) between palm and handle, in all
    # directions.
    stiffness_n_m: float
    damping_ns_m: float
    # `rotational_stiffness_nm_rad`, `rotational_damping_nms_rad`: stiffness (N·m/rad) and damping (N·m·s/rad)
    # about all axes.
    rotational_stiffness_nm_rad: float
    rotational_damping_nms_rad: float
    # `max_force_n`, `max_torque_nm`: force (N) and torque (N·m) at which the hand lets go.
    max_force_n: float
    max_torque_nm: float
    tolerance_m: float  # Distance of palm and handle within which the grip may engage, m.


class Grip:
    """One hand and the handle it may hold.

    When the grip engages, the position of the held point on the link that carries the handle becomes its rest
    position: that of the palm's centre, or of the middle of the rod that the palm lies on. From then on the
    palm feels `spring_wrench` there, and the handle the opposite. A handle that allows a pivot about its axis
    opposes no rotation about it, one that allows a slide no motion along it. The axis moves with the handle's
    link.

    A hand whose links have no collision shape feels nothing: its grip engages where the palm is near enough.

    The spring is explicit: its force is known before the step, logged as it is, and part of the controller's
    prediction. `side`: `left` or `right`; `fixture`: equipment with a handle for that hand; `design`:
    strength and compliance.
    """

    def __init__(self, body: RobotBody, side: str, fixture: Fixture, design: GripDesign) -> None:
        model, hand = body.robot.model, body.robot.hands[f"{side}_hand"]
        frame = model.frames[model.getFrameId(body.robot.frames[f"{side}_hand"])]
        self.wrench: Wrench = _NO_WRENCH
        """Force (N) and torque (N·m) on the palm, world axes, at `point`."""
        self.point: Vector = (0.0, 0.0, 0.0)
        """Point of application of the wrench, world frame, m."""
        self.engaged = False
        self.lost = 0
        """How often the grip let go because of overload."""
        self.body, self.fixture = body, fixture
        handle = fixture.mechanism.handles[side]
        self.palm_link = body.links[hand.palm]
        self.handle_link = fixture.links[handle.part]
        self._design = design
        point = np.array(handle.point)
        in_link = handle.pose.act(point) - part_origin(fixture.mechanism, handle.part)
        self._handle: Vector = tuple(in_link.tolist())
        palm = model.frames[model.getFrameId(hand.palm)].placement
        pose = pin.SE3ToXYZQUAT(palm).tolist()
        self._joint = int(frame.parentJoint)
        self._palm: Vector = tuple(palm.actInv(frame.placement).act(point).tolist())
        free, axis = _free_axis(handle)
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
        rigid = palm_links(body.robot, f"{side}_hand")
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
            if not self._touches(centre, handle):
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
        self._push(force, torque, point)
        return self._joint, load

    def release(self) -> None:
        """Open the hand; it may engage again."""
        self._blocked = False
        if self.engaged:
            self.engaged = False
            self.wrench = _NO_WRENCH

    def _touches(self, centre: Vector, handle: Motion) -> bool:
        """Whether the palm is near enough, and a link of the hand that has a shape touches the handle."""
        if squared_norm(subtract(centre, locate(handle, self._handle))) > self._design.tolerance_m**2:
            return False
        if not self._hand_links:
            return True
        # Asked for the distance, not for contacts: a palm may be excepted from those.
        robot, rod = self.body.handle, (self.fixture.handle, self.handle_link)
        near = self.body.world.are_links_near
        return any(near((robot, link), rod, _TOUCH_DISTANCE) for link in self._hand_links)

    def _push(self, force: Vector, torque: Vector, point: Vector) -> None:
        """Apply the wrench to the palm, and its opposite to the handle."""
        (fx, fy, fz), (tx, ty, tz) = force, torque
        self.body.apply_wrench(self.palm_link, force, torque, point)
        self.fixture.apply_wrench(self.handle_link, (-fx, -fy, -fz), (-tx, -ty, -tz), point)


class EmptyHand:
    """A hand for which no equipment has a handle: it holds nothing."""

    wrench: Wrench = _NO_WRENCH
    """Force (N) and torque (N·m) on the palm: none."""
    point: Vector = (0.0, 0.0, 0.0)
    """Point of application, world frame, m: of no meaning."""
    engaged = False
    lost = 0
    """How often it let go because of overload."""

    def release(self) -> None:
        """Do nothing: it is open."""


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
"""What is logged of the grips of a robot."""


def _free_axis(handle: MechanismHandle) -> tuple[int, Vector]:
    """Tell which motion a handle leaves free, and its axis in the axes of the handle's part."""
    if handle.axis is None or handle.grip == "rigid":
        return RIGID, (0.0, 0.0, 0.0)
    axis: Vector = tuple((handle.pose.rotation @ np.array(handle.axis)).tolist())
    return (PIVOT if handle.grip == "pivot" else SLIDE), axis


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
