"""Grip: a force-limited compliant constraint between a palm and a handle, engaged by contact."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.sim.fixtures import Fixture
from simbench.sim.world import RobotBody, bullet


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


LinkMotion = tuple[pin.SE3, pin.Motion]


class Grip:
    """One hand and the handle it may hold.

    When the grip engages, the palm's place in the handle's frame is taken as its rest frame. With X the
    palm's pose in the rest frame and V the palm's velocity relative to it, the wrench on the palm is

        force = −k x − c v,   torque = −κ log R − γ ω,   (x, R) = X, (v, ω) = V,

    at the rest frame's origin and in its axes; the handle feels the opposite there. The spring is explicit:
    its force is known before the step, logged as it is, and told to the controller's prediction.
    """

    def __init__(self, body: RobotBody, side: str, fixture: Fixture, design: GripDesign) -> None:
        robot = body.robot
        frame = robot.model.frames[robot.model.getFrameId(robot.frames[f"{side}_hand"])]
        hand = robot.hands[f"{side}_hand"]
        self.wrench = np.zeros(6)
        """Force (N) and torque (N·m) on the palm, world axes, at `point`."""
        self.point = np.zeros(3)
        """Where the wrench acts, m, world."""
        self.engaged = False
        self.lost = 0
        """How often the grip let go because of overload."""
        self._body, self._fixture, self._design = body, fixture, design
        self._handle = fixture.handles[side]
        self._handle_link = fixture.links[self._handle.link]
        self._joint, self._placement = int(frame.parentJoint), frame.placement.copy()
        self._palm_link = body.links[hand.palm]
        self._hand_links = (body.links[hand.palm], body.links[hand.fingers])
        self._stiffness = _six(design.stiffness_n_m, design.rotational_stiffness_nm_rad)
        self._damping = _six(design.damping_ns_m, design.rotational_damping_nms_rad)
        self._rest = pin.SE3.Identity()
        self._offset = np.zeros(6)
        self._blocked = False

    def apply(
        self, data: pin.Data, wanted: bool, look: bool, motions: dict[tuple[int, int], LinkMotion]
    ) -> tuple[int, pin.Force] | None:
        """Engage, hold or let go, and apply the forces of this step.

        Parameters
        ----------
        data : pinocchio.Data
            Forward kinematics, with velocity, of the robot's current state; `update_links` has told Bullet.
        wanted : bool
            Whether the hand is meant to hold; a grip lost by overload stays open until this was False.
        look : bool
            Whether to look for contact in this step (a tactile sensor's rate).
        motions : dict of (body, link) to LinkMotion
            What grips have already asked Bullet in this step; extended.

        Returns
        -------
        (joint id, force in the joint's frame), or None while the hand is open
        """
        if not wanted:
            self._release()
            self._blocked = False
            return None
        if not self.engaged and (self._blocked or not look):
            return None
        palm = data.oMi[self._joint] * self._placement
        key = (self._fixture.body, self._handle_link)
        if key not in motions:
            motions[key] = link_motion(self._fixture, self._handle_link)
        link, velocity = motions[key]
        if not self.engaged:
            handle = link * self._handle.pose
            if not self._touches(palm, handle):
                return None
            # The rest frame in the frame of the link that carries the handle.
            self.engaged, self._rest = True, link.actInv(palm)
        rest = link * self._rest
        pose = rest.actInv(palm)
        self._offset[:3] = pose.translation
        self._offset[3:] = pin.log3(pose.rotation)
        motion = pose.act(self._placement.actInv(data.v[self._joint])) - self._rest.actInv(velocity)
        local = -(self._stiffness * self._offset + self._damping * motion.vector)
        force, torque = local[:3], local[3:]
        if force @ force > self._design.max_force_n**2 or torque @ torque > self._design.max_torque_nm**2:
            self._release()
            self._blocked = True
            self.lost += 1
            return None
        self.wrench[:3], self.wrench[3:] = rest.rotation @ force, rest.rotation @ torque
        self.point[:] = rest.translation
        self._push()
        return self._joint, self._placement.act(pose.actInv(pin.Force(local)))

    def _release(self) -> None:
        self.engaged = False
        self.wrench[:] = 0.0

    def _touches(self, palm: pin.SE3, handle: pin.SE3) -> bool:
        if np.linalg.norm(palm.translation - handle.translation) > self._design.tolerance_m:
            return False
        client = self._body.world.client
        return any(
            bullet.getContactPoints(
                self._body.body, self._fixture.body, link, self._handle_link, physicsClientId=client
            )
            for link in self._hand_links
        )

    def _push(self) -> None:
        """Apply the wrench to the palm, and its opposite to the handle."""
        client = self._body.world.client
        force, torque, point = self.wrench[:3], self.wrench[3:], self.point
        pairs = (
            (self._body.body, self._palm_link, force, torque),
            (self._fixture.body, self._handle_link, -force, -torque),
        )
        for body, link, f, t in pairs:
            bullet.applyExternalForce(body, link, f, point, bullet.WORLD_FRAME, physicsClientId=client)
            bullet.applyExternalTorque(body, link, t, bullet.WORLD_FRAME, physicsClientId=client)


def link_motion(fixture: Fixture, link: int) -> LinkMotion:
    """Pose of a fixture's link in the world, and its velocity in its own frame."""
    com, _, _, _, position, quaternion, linear, angular = bullet.getLinkState(
        fixture.body,
        link,
        computeLinkVelocity=1,
        computeForwardKinematics=1,
        physicsClientId=fixture.world.client,
    )
    frame = pin.XYZQUATToSE3(np.array(position + quaternion))
    at_com = pin.SE3(frame.rotation.T, frame.rotation.T @ (np.array(com) - frame.translation))
    return frame, at_com.act(pin.Motion(np.array(linear + angular)))


def _six(linear: float, angular: float) -> NDArray[np.float64]:
    return np.array([linear, linear, linear, angular, angular, angular])
