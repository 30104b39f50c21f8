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

    When the grip engages, the palm's place on the link that carries the handle is taken as its rest frame:
    its origin at the palm's centre, its axes those of the joint that moves the palm. With X the pose of the
    palm's centre, with the joint's axes, in the rest frame and V its velocity relative to it, the wrench on
    the palm is

        force = −k x − c v,   torque = −κ log R − γ ω,   (x, R) = X, (v, ω) = V,

    at the rest frame's origin and in its axes; the handle feels the opposite there. The spring is explicit:
    its force is known before the step, logged as it is, and told to the controller's prediction.
    """

    def __init__(self, body: RobotBody, side: str, fixture: Fixture, design: GripDesign) -> None:
        robot = body.robot
        frame = robot.model.frames[robot.model.getFrameId(robot.frames[f"{side}_hand"])]
        hand = robot.hands[f"{side}_hand"]
        self._turned = np.zeros((2, 3))
        self.wrench = self._turned.reshape(6)
        """Force (N) and torque (N·m) on the palm, world axes, at `point`."""
        self.point = np.zeros(3)
        """Where the wrench acts, m, world."""
        self.engaged = False
        self.lost = 0
        """How often the grip let go because of overload."""
        self._body, self._fixture, self._design = body, fixture, design
        self._handle = fixture.handles[side]
        self._handle_link = fixture.links[self._handle.link]
        self._joint, self._palm = int(frame.parentJoint), frame.placement.translation.copy()
        self._palm_link = body.links[hand.palm]
        self._hand_links = (body.links[hand.palm], body.links[hand.fingers])
        self._pull = -_six(design.stiffness_n_m, design.rotational_stiffness_nm_rad)
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
        joint = data.oMi[self._joint]
        key = (self._fixture.body, self._handle_link)
        if key not in motions:
            motions[key] = link_motion(self._fixture, self._handle_link)
        link, velocity = motions[key]
        if not self.engaged:
            palm = joint.act(self._palm)
            if not self._touches(palm, link.act(self._handle.pose.translation)):
                return None
            self.engaged, self._rest = True, link.actInv(pin.SE3(joint.rotation, palm))
        rest = link * self._rest
        pose = rest.actInv(joint)
        self._offset[:3] = pose.act(self._palm)
        self._offset[3:] = pin.log3(pose.rotation)
        motion = pose.act(data.v[self._joint]) - self._rest.actInv(velocity)
        local = self._pull * self._offset
        local -= self._damping * motion.vector
        fx, fy, fz, tx, ty, tz = local.tolist()
        if (
            fx * fx + fy * fy + fz * fz > self._design.max_force_n**2
            or tx * tx + ty * ty + tz * tz > self._design.max_torque_nm**2
        ):
            self._release()
            self._blocked = True
            self.lost += 1
            return None
        np.dot(local.reshape(2, 3), rest.rotation.T, out=self._turned)
        self.point[:] = rest.translation
        self._push()
        return self._joint, pose.actInv(pin.Force(local))

    def _release(self) -> None:
        self.engaged = False
        self.wrench[:] = 0.0

    def _touches(self, palm: NDArray[np.float64], handle: NDArray[np.float64]) -> bool:
        if np.linalg.norm(palm - handle) > self._design.tolerance_m:
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
        # Bullet reads lists three times faster than arrays.
        fx, fy, fz, tx, ty, tz = self.wrench.tolist()
        point = self.point.tolist()
        pairs = (
            (self._body.body, self._palm_link, [fx, fy, fz], [tx, ty, tz]),
            (self._fixture.body, self._handle_link, [-fx, -fy, -fz], [-tx, -ty, -tz]),
        )
        for body, link, force, torque in pairs:
            bullet.applyExternalForce(body, link, force, point, bullet.WORLD_FRAME, physicsClientId=client)
            bullet.applyExternalTorque(body, link, torque, bullet.WORLD_FRAME, physicsClientId=client)


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
    (x, y, z), (vx, vy, vz), (wx, wy, wz) = com, linear, angular
    # Of the point of the link that passes the world's origin.
    at_origin = (vx + wz * y - wy * z, vy + wx * z - wz * x, vz + wy * x - wx * y, wx, wy, wz)
    return frame, frame.actInv(pin.Motion(np.array(at_origin)))


def _six(linear: float, angular: float) -> NDArray[np.float64]:
    return np.array([linear, linear, linear, angular, angular, angular])
