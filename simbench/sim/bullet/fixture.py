"""Fixtures in Bullet: a mechanism built as a body, its state, and the efforts of its joints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.sim.bullet.body import ROOT, BulletBody, link_handles
from simbench.sim.bullet.client import bullet, quiet_native_output
from simbench.sim.engine import BodyHandle, LinkHandle, World
from simbench.sim.fixtures.body_file import FRICTION, write_furniture, write_mechanism
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.state import FixtureState


@dataclass(frozen=True)
class BulletFixture(BulletBody):
    """A piece of equipment in one of Bullet's worlds.

    `client`: PyBullet's client id; `handle`: PyBullet's body id; `links`: part name to Bullet's index (root:
    -1).
    """

    mechanism: Mechanism  # Description that the fixture was built from.
    joints: tuple[int, ...]  # Bullet's index of each joint of the mechanism.
    furniture: BodyHandle | None  # Body id of the furniture that carries a fixture that stands freely.
    furniture_links: Mapping[str, LinkHandle]  # Part name to Bullet's index, for the furniture.

    @cached_property
    def initial_pose(self) -> Array:
        """Initial pose of the fixture's frame in the world: x, y, z (m), quaternion x, y, z, w; (7,)."""
        return np.asarray(pin.SE3ToXYZQUAT(self.mechanism.pose))

    @property
    def name(self) -> str:
        """Name in metrics and logs."""
        return self.mechanism.name

    def read_state(self) -> FixtureState:
        """Read joint positions and velocities and the pose of the fixture.

        Returns state after the last step.
        """
        client = self.client
        states = bullet.getJointStates(self.handle, self.joints, physicsClientId=client) or ()
        position = np.array([state[0] for state in states])
        velocity = np.array([state[1] for state in states])
        if not self.mechanism.standing:
            return FixtureState(position, velocity, self.initial_pose)
        base = bullet.getBasePositionAndOrientation(self.handle, physicsClientId=client)
        frame = bullet.multiplyTransforms(*base, *self._root_in_inertial())
        return FixtureState(position, velocity, np.array([*frame[0], *frame[1]]))

    def joint_state(self, column: int) -> tuple[float, float]:
        """Read the position and the velocity of one joint.

        `column`: index of the joint in `mechanism.joints`. Returns `position`, `velocity`: m and m/s, or rad
        and rad/s.
        """
        position, velocity = bullet.getJointState(
            self.handle, self.joints[column], physicsClientId=self.client
        )[:2]
        return position, velocity

    def apply_joint_effort(self, column: int, effort: float) -> None:
        """Apply a force or torque to one joint during the next step, beside its friction.

        `column`: index of the joint in `mechanism.joints`; `effort`: force (N) of a prismatic joint, torque
        (N·m) of a revolute one.
        """
        bullet.setJointMotorControl2(
            self.handle,
            self.joints[column],
            bullet.TORQUE_CONTROL,
            force=effort,
            physicsClientId=self.client,
        )

    def place(self, position: Array, stand: Array | None = None) -> None:
        """Set the joint positions and the pose of the fixture, at rest.

        `position` (J,): joint positions, m or rad; `stand` (7,): pose of the fixture's frame: x, y, z (m),
        quaternion x, y, z, w; unchanged by default.
        """
        body, client = self.handle, self.client
        for joint, value in zip(self.joints, position, strict=True):
            bullet.resetJointState(body, joint, float(value), targetVelocity=0.0, physicsClientId=client)
        if self.mechanism.standing and stand is not None:
            inertial = bullet.invertTransform(*self._root_in_inertial())
            base = bullet.multiplyTransforms(stand[:3].tolist(), stand[3:].tolist(), *inertial)
            bullet.resetBasePositionAndOrientation(body, *base, physicsClientId=client)
            bullet.resetBaseVelocity(body, (0, 0, 0), (0, 0, 0), physicsClientId=client)

    def _root_in_inertial(self) -> tuple[Sequence[float], Sequence[float]]:
        """Pose of the root's frame in that of its mass and principal axes, which is what Bullet moves."""
        inertial = bullet.getDynamicsInfo(self.handle, -1, physicsClientId=self.client)[3:5]
        return bullet.invertTransform(*inertial)


def build_fixture(world: World, client: int, mechanism: Mechanism) -> BulletFixture:
    """Build a mechanism in a world, in its initial state.

    Furniture does not give way: it is fixed to the world, as is a mechanism that does not stand freely.
    Coulomb friction of a joint is a motor with target velocity 0 and at most that force: solved implicitly,
    so the joint sticks. End stops are Bullet's. Parts of one mechanism do not collide with each other, since
    its joints guide them, except for one that stands freely with what carries it; all collide with everything
    else. `world`: world that gets the fixture; `client`: PyBullet's client id of that world; `mechanism`:
    description of the equipment. Returns the equipment in the world.
    """
    body = _load(client, write_mechanism(mechanism, world.scratch), mechanism, fixed=not mechanism.standing)
    furniture, furniture_links = None, {}
    if mechanism.furniture:
        furniture = _load(client, write_furniture(mechanism, world.scratch), mechanism, fixed=True)
        furniture_links = {mechanism.furniture[0].name: ROOT} | link_handles(client, furniture)
    links = {mechanism.parts[0].name: ROOT} | link_handles(client, body)
    joints = tuple(
        links[next(part.name for part in mechanism.parts if part.joint == joint.name)]
        for joint in mechanism.joints
    )
    for joint, index in zip(mechanism.joints, joints, strict=True):
        # Damping that differs by direction is applied as an effort at every step (`equipment.resist`).
        damping = joint.damping if joint.damping == joint.back_damping else 0.0
        bullet.changeDynamics(body, index, jointDamping=damping, physicsClientId=client)
        bullet.setJointMotorControl2(
            body,
            index,
            bullet.VELOCITY_CONTROL,
            targetVelocity=0.0,
            force=joint.friction,
            physicsClientId=client,
        )
    fixture = BulletFixture(client, body, links, mechanism, joints, furniture, furniture_links)
    fixture.place(mechanism.start)
    return fixture


def _load(client: int, path: str, mechanism: Mechanism, *, fixed: bool) -> BodyHandle:
    """Load the URDF of a mechanism or of its furniture, without Bullet's artificial damping."""
    with quiet_native_output():
        body = int(
            bullet.loadURDF(
                path,
                mechanism.pose.translation,
                pin.SE3ToXYZQUAT(mechanism.pose)[3:],
                useFixedBase=fixed,
                flags=bullet.URDF_USE_INERTIA_FROM_FILE,
                physicsClientId=client,
            )
        )
    for link in range(-1, bullet.getNumJoints(body, physicsClientId=client)):
        bullet.changeDynamics(
            body,
            link,
            linearDamping=0.0,
            angularDamping=0.0,
            lateralFriction=FRICTION,
            physicsClientId=client,
        )
    return BodyHandle(body)
