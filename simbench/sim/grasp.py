"""Grip: a force-limited compliant constraint between a palm and a handle, engaged by contact."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.sim.control.command import Load
from simbench.sim.fixtures.fixture import Fixture
from simbench.sim.fixtures.mechanism import MechanismHandle, part_origin
from simbench.sim.grip_spring import PIVOT, RIGID, SLIDE, Wrench, spring_wrench
from simbench.sim.link_motion import Motion, link_motions, placed
from simbench.sim.vectors import Quaternion, Vector, difference, inverse, product, rotated, square
from simbench.sim.world import RobotBody, bullet

_TOUCH = 1e-3
"""Distance of a hand's link from the handle that counts as contact, m."""
_NOTHING: Wrench = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class GripDesign:
    """Strength and compliance of a grip.

    Parameters
    ----------
    stiffness_n_m, damping_ns_m : float
        Between palm and handle, all directions.
    rotational_stiffness_nm_rad, rotational_damping_nms_rad : float
        About all axes.
    max_force_n, max_torque_nm : float
        Load at which the hand lets go.
    tolerance_m : float
        Distance of palm and handle within which the grip may engage.
    """

    stiffness_n_m: float
    damping_ns_m: float
    rotational_stiffness_nm_rad: float
    rotational_damping_nms_rad: float
    max_force_n: float
    max_torque_nm: float
    tolerance_m: float


class Grip:
    """One hand and the handle it may hold.

    When the grip engages, the held point's place on the link that carries the handle becomes its rest place:
    that of the palm's centre, or of the middle of the rod that the palm lies on. From then on the palm feels
    `spring_wrench` there, and the handle the opposite. A handle that allows a pivot about its axis opposes no
    turn about it, one that allows a slide no motion along it. The axis goes with the handle's link.

    The spring is explicit: its force is known before the step, logged as it is, and told to the controller's
    prediction.
    """

    def __init__(self, body: RobotBody, side: str, fixture: Fixture, design: GripDesign) -> None:
        model, hand = body.robot.model, body.robot.hands[f"{side}_hand"]
        frame = model.frames[model.getFrameId(body.robot.frames[f"{side}_hand"])]
        self.wrench: Wrench = _NOTHING
        """Force (N) and torque (N·m) on the palm, world axes, at `point`."""
        self.point: Vector = (0.0, 0.0, 0.0)
        """Where the wrench acts, m, world."""
        self.engaged = False
        self.lost = 0
        """How often the grip let go because of overload."""
        self.fixture = fixture
        handle = fixture.mechanism.handles[side]
        self.palm_link = body.links[hand.palm]
        self.handle_link = fixture.links[handle.part]
        self.body, self._design = body, design
        point = np.array(handle.point)
        in_link = handle.pose.act(point) - part_origin(fixture.mechanism, handle.part)
        self._handle: Vector = tuple(in_link.tolist())
        self._free, self._axis = _free_axis(handle)
        self._spring = (
            design.stiffness_n_m,
            design.damping_ns_m,
            design.rotational_stiffness_nm_rad,
            design.rotational_damping_nms_rad,
        )
        self._joint = int(frame.parentJoint)
        place = model.frames[model.getFrameId(hand.palm)].placement
        pose = pin.SE3ToXYZQUAT(place).tolist()
        self._on_joint: tuple[Vector, Quaternion] = (tuple(pose[:3]), tuple(pose[3:]))
        self._palm: Vector = tuple(place.actInv(frame.placement).act(point).tolist())
        self._hand_links = tuple(body.links[link] for link in (hand.palm, *hand.fingers))
        self._rest: tuple[Vector, Quaternion] = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
        self._blocked = False
        if not point.any() and handle.grip == "pivot":
            # The axis goes through the palm itself: a rod there lies in the hollow of a hand, which these
            # palms do not have. Fingers still touch it.
            bullet.setCollisionFilterPair(
                body.body,
                fixture.body,
                self.palm_link,
                self.handle_link,
                0,
                physicsClientId=body.world.client,
            )

    def apply(self, palm: Motion, handle: Motion, wanted: bool, look: bool) -> Load | None:
        """Engage, hold or let go, and apply the forces of this step.

        Parameters
        ----------
        palm, handle : Motion
            Of the palm's link and of the link that carries the handle.
        wanted : bool
            Whether the hand is meant to hold; a grip lost by overload stays open until this was False.
        look : bool
            Whether to look for contact in this step (a tactile sensor's rate).

        Returns
        -------
        Load, or None while the hand is open
        """
        if not wanted:
            self.release()
            return None
        if not self.engaged and (self._blocked or not look):
            return None
        if not self.engaged:
            centre = placed(palm, self._palm)
            if not self._touches(centre, handle):
                return None
            back = inverse(handle[2])
            self._rest = rotated(back, difference(centre, handle[1])), product(back, palm[2])
            self.engaged = True
        force, torque, point, load = spring_wrench(
            palm,
            handle,
            self._palm,
            self._rest,
            self._spring,
            self._free,
            self._axis,
            self._on_joint,
        )
        if square(force) > self._design.max_force_n**2 or square(torque) > self._design.max_torque_nm**2:
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
            self.wrench = _NOTHING

    def _touches(self, centre: Vector, handle: Motion) -> bool:
        if square(difference(centre, placed(handle, self._handle))) > self._design.tolerance_m**2:
            return False
        # Asked for the distance, not for contacts: a palm may be excepted from those.
        client, both = self.body.world.client, (self.body.body, self.fixture.body)
        return any(
            bullet.getClosestPoints(*both, _TOUCH, link, self.handle_link, physicsClientId=client)
            for link in self._hand_links
        )

    def _push(self, force: Vector, torque: Vector, point: Vector) -> None:
        """Apply the wrench to the palm, and its opposite to the handle."""
        client = self.body.world.client
        (fx, fy, fz), (tx, ty, tz) = force, torque
        pairs = (
            (self.body.body, self.palm_link, force, torque),
            (self.fixture.body, self.handle_link, (-fx, -fy, -fz), (-tx, -ty, -tz)),
        )
        for body, link, f, t in pairs:
            bullet.applyExternalForce(body, link, f, point, bullet.WORLD_FRAME, physicsClientId=client)
            bullet.applyExternalTorque(body, link, t, bullet.WORLD_FRAME, physicsClientId=client)


def _free_axis(handle: MechanismHandle) -> tuple[int, Vector]:
    """Say what a hand may do on a handle, and the axis of it in the axes of the handle's part."""
    if handle.axis is None or handle.grip == "rigid":
        return RIGID, (0.0, 0.0, 0.0)
    axis: Vector = tuple((handle.pose.rotation @ np.array(handle.axis)).tolist())
    return (PIVOT if handle.grip == "pivot" else SLIDE), axis


def apply_grips(grips: Sequence[Grip], wanted: Sequence[bool], look: bool) -> list[Load]:
    """Have every hand of a robot engage, hold or let go, and apply the forces of this step.

    Parameters
    ----------
    grips : sequence of Grip
        Of one robot.
    wanted : sequence of bool
        Which of them are meant to hold.
    look : bool
        As in `Grip.apply`.

    Returns
    -------
    list of Load
    """
    if not any(wanted):
        for grip in grips:
            grip.release()
        return []
    # Asking also has Bullet compute where links are: it takes the lever of an external force about where it
    # last computed the link to be, a step ago unless asked in between.
    palms = link_motions(grips[0].body, [grip.palm_link for grip in grips])
    handles: dict[tuple[int, int], Motion] = {}
    loads = []
    for grip, palm, hold in zip(grips, palms, wanted, strict=True):
        key = (grip.fixture.body, grip.handle_link)
        if key not in handles:
            [handles[key]] = link_motions(grip.fixture, [grip.handle_link])
        load = grip.apply(palm, handles[key], hold, look)
        if load is not None:
            loads.append(load)
    return loads
