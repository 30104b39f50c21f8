"""Bullet's bodies: robots and fixtures, their states in Pinocchio's coordinates, their forces and contacts.

Bullet has no reflected rotor inertia (armature); the joint control delivers it as a joint torque, which it
predicts (`sim.control.joint_controller`). Where a contact stops a link within a step, such a torque comes too
late, and the contact meets the link alone: the foot of a geared leg, a twentieth of its rotors, would be hit
away, and chatter on the floor. So in Bullet the links of the legs carry the rotors of their own joints:
inertia I_r a aᵀ about the joint's axis a, of which contacts feel all. What this adds beyond an armature,
I_r (a · ω) instead of I_r q̇ as the momentum, the joint control cancels.
"""

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.native_output import quiet_native_output
from simbench.robot.robot import Robot, placed_robot
from simbench.sim.bullet import require_robot
from simbench.sim.engine import BodyHandle, Contact, LinkHandle, RootMotion, World
from simbench.sim.fixtures.body_file import FRICTION, write_mechanism
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.state import FixtureState, RobotState
from simbench.sim.vectors import Motion, Quaternion, Vector, conjugate, multiply, rotate, subtract

with quiet_native_output():
    import pybullet as bullet

__all__ = ["BulletBody", "BulletContacts", "BulletFixture", "BulletRobot", "add_rotors", "bullet"]

# Largest torque of a gear between two joints, N·m, and the part of its error that a step takes back.
_GEAR_TORQUE, _GEAR_ERP = 1e9, 0.2
# Part of a rotor's inertia below which what its joint moves without it counts as none.
_BARE = 1e-4
ROOT = LinkHandle(-1)  # Bullet's index of every body's root link.


class BulletBody:
    """A body in one of Bullet's worlds."""

    client: int  # PyBullet's client id.
    handle: BodyHandle  # PyBullet's body id.
    links: Mapping[str, LinkHandle]  # Link name to Bullet's index (root: -1).

    def link_motions(self, links: Sequence[LinkHandle]) -> list[Motion]:
        """Compute the poses and velocities of links for the present joint positions.

        `links`: links of this body; the root only alone (`[-1]`). Returns one for each link, in world axes.
        """
        if links == [-1]:
            # Bullet knows the root's motion as that of its centre of mass and principal axes.
            client = self.client
            com, rotation = bullet.getBasePositionAndOrientation(self.handle, physicsClientId=client)
            inertial = bullet.getDynamicsInfo(self.handle, -1, physicsClientId=client)[3:5]
            frame = bullet.multiplyTransforms(com, rotation, *bullet.invertTransform(*inertial))
            linear, angular = bullet.getBaseVelocity(self.handle, physicsClientId=client)
            return [(com, frame[0], frame[1], linear, angular)]
        states = bullet.getLinkStates(
            self.handle, links, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=self.client
        )
        return [(state[0], *state[4:8]) for state in states]

    def apply_force(self, link: LinkHandle, force: Vector, point: Vector) -> None:
        """Apply a force to a link during the next step.

        `link`: link that the force acts on; `force` (3,): force, world axes, N; `point` (3,): point of
        application, world frame, m.
        """
        bullet.applyExternalForce(
            self.handle, link, force, point, bullet.WORLD_FRAME, physicsClientId=self.client
        )

    def apply_wrench(self, link: LinkHandle, force: Vector, torque: Vector, point: Vector) -> None:
        """Apply a force and a torque to a link during the next step.

        Bullet takes the lever of an external force about where it last computed the link to be: a step ago,
        unless `link_motions` asked for the link in between. `link`: link that the wrench acts on; `force`,
        `torque` (3,): force (N) and torque (N·m), world axes; `point` (3,): point of application of the
        force, world frame, m.
        """
        handle, client = self.handle, self.client
        bullet.applyExternalForce(handle, link, force, point, bullet.WORLD_FRAME, physicsClientId=client)
        bullet.applyExternalTorque(handle, link, torque, bullet.WORLD_FRAME, physicsClientId=client)


def add_rotors(robot: Robot) -> tuple[str, dict[int, Array]]:
    """Add the rotors' inertia to the links of the legs, and to links that have next to none of their own.

    A joint that moves no inertia cannot be driven, as that of a neck whose head is a point. Their inertia is
    written in principal axes: Bullet refuses products of inertia of a link that, as a rotor makes it, no
    rigid body could have. `robot`: robot whose motors have reflected inertia. Returns text of the robot's
    URDF with these links changed; and by joint of the model, the inertia I_r a aᵀ (3, 3) of its rotor, kg·m²,
    in the axes of the link that the joint carries: turning joints between the root and a foot, or without
    inertia of their own, that have reflected inertia.
    """
    model, tensors = robot.model, {}
    feet = [model.frames[model.getFrameId(robot.frames[role])].parentJoint for role in robot.feet]
    of_legs = {joint for foot in feet for joint in model.supports[foot]}
    for joint in sorted(of_legs | _bare_joints(robot)):
        if not joint or model.joints[joint].nv != 1:
            continue
        motion = model.joints[joint].createData()
        model.joints[joint].calc(motion, np.zeros(model.nq))
        axis = np.asarray(motion.S).ravel()[3:]
        inertia = robot.motors.reflected_inertia[robot.joint_names.index(model.names[joint])]
        if inertia > 0.0 and axis.any():
            tensors[joint] = inertia * np.outer(axis, axis)
    urdf = ET.fromstring(robot.urdf_text)
    links = {str(link.get("name")): link for link in urdf.findall("link")}
    added = {model.names[joint]: tensor for joint, tensor in tensors.items()}
    for element in urdf.findall("joint"):
        child = element.find("child")
        inertial = None if child is None else links[str(child.get("link"))].find("inertial")
        tensor = added.get(str(element.get("name")))
        if inertial is None or tensor is None:
            continue
        origin = inertial.find("origin")
        if origin is None:
            origin = ET.SubElement(inertial, "origin", xyz="0 0 0")
        axes = pin.rpy.rpyToMatrix(np.array([float(value) for value in origin.get("rpy", "0 0 0").split()]))
        moment_of = inertial.find("inertia")
        assert moment_of is not None
        xx, xy, xz, yy, yz, zz = (
            float(moment_of.get(name, "0")) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        )
        own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        moments, principal = np.linalg.eigh(own + axes.T @ tensor @ axes)
        if np.linalg.det(principal) < 0.0:
            principal[:, 0] *= -1.0
        rpy = pin.rpy.matrixToRpy(axes @ principal)
        origin.set("rpy", " ".join(repr(float(angle)) for angle in rpy))
        for name, moment in zip(("ixx", "iyy", "izz"), moments, strict=True):
            moment_of.set(name, repr(float(moment)))
        for name in ("ixy", "ixz", "iyz"):
            moment_of.set(name, "0")
    return ET.tostring(urdf, encoding="unicode"), tensors


def _bare_joints(robot: Robot) -> set[int]:
    """Find the joints of the model whose rotor is nearly all of the inertia that they move."""
    model, first = robot.model.copy(), robot.root_v
    rotors = robot.motors.reflected_inertia
    if not rotors.any():
        return set()
    model.armature = np.concatenate([np.zeros(first), _BARE**2 * rotors])
    joints = next(iter(robot.postures.values()), np.zeros(len(rotors)))
    q = np.concatenate([pin.neutral(model)[: robot.root_q], joints])
    moved = 1.0 / np.diag(pin.computeMinverse(model, model.createData(), q))[first:]
    bare = np.flatnonzero(moved < _BARE * rotors)
    return {model.getJointId(robot.joint_names[column]) for column in bare}


_POSITION, _SPEED = itemgetter(0), itemgetter(1)  # Elements of Bullet's joint states.


class BulletRobot(BulletBody):
    """A robot in one of Bullet's worlds, at rest. Only one whose description says so has a fixed root.

    Bullet's default motors and its artificial damping (0.04 on every link) are switched off; inertia is the
    description's own; only the self-collision pairs that the robot lists are active. `world`: world that gets
    the robot; `client`: PyBullet's client id of that world; `base` (7,): pose of the root link: x, y, z (m),
    quaternion x, y, z, w; `positions` (n,): joint positions in the order of `robot.joint_names`, rad.
    """

    def __init__(self, world: World, client: int, robot: Robot, base: Array, positions: Array) -> None:
        require_robot(robot)
        robot = placed_robot(robot, base)
        flags = bullet.URDF_USE_INERTIA_FROM_FILE | bullet.URDF_USE_SELF_COLLISION
        # Bullet keeps files that it has read, by their names.
        source = world.scratch / f"robot{bullet.getNumBodies(physicsClientId=client)}.urdf"
        urdf, tensors = add_rotors(robot)
        source.write_text(urdf, encoding="utf-8")
        with quiet_native_output():
            try:
                body = BodyHandle(
                    bullet.loadURDF(
                        str(source),
                        base[:3],
                        base[3:],
                        useFixedBase=not robot.floating,
                        flags=flags,
                        physicsClientId=client,
                    )
                )
            except bullet.error as error:
                raise RobotError(f"{robot.urdf}: not a URDF that Bullet can read") from error
        count = bullet.getNumJoints(body, physicsClientId=client)
        infos = [bullet.getJointInfo(body, i, physicsClientId=client) for i in range(count)]
        links = {info[12].decode(): LinkHandle(info[0]) for info in infos}
        links[bullet.getBodyInfo(body, physicsClientId=client)[0].decode()] = ROOT
        for link in range(-1, len(infos)):
            bullet.changeDynamics(
                body,
                link,
                linearDamping=0.0,
                angularDamping=0.0,
                jointDamping=0.0,
                lateralFriction=1.0,
                physicsClientId=client,
            )
        # Give back the principal moments of links that Bullet took for impossible and made points of.
        for element in ET.fromstring(urdf).iter("link"):
            inertia = element.find("inertial/inertia")
            if inertia is None or element.get("name") not in links:
                continue
            link = links[str(element.get("name"))]
            mass, _, given, *_ = bullet.getDynamicsInfo(body, link, physicsClientId=client)
            moments = [float(inertia.get(axis, "0")) for axis in ("ixx", "iyy", "izz")]
            if mass > 0.0 and any(moments) and not any(given):
                bullet.changeDynamics(body, link, localInertiaDiagonal=moments, physicsClientId=client)
        allowed = {frozenset((links[a], links[b])) for a, b in robot.self_collision_pairs}
        for first, second in itertools.combinations(range(-1, len(infos)), 2):
            enable = frozenset((first, second)) in allowed
            bullet.setCollisionFilterPair(body, body, first, second, int(enable), physicsClientId=client)
        # Bullet's default motors are switched off.
        movable = [info[0] for info in infos if info[2] != bullet.JOINT_FIXED]
        bullet.setJointMotorControlArray(
            body, movable, bullet.VELOCITY_CONTROL, forces=[0.0] * len(movable), physicsClientId=client
        )
        index = {info[1].decode(): info[0] for info in infos}
        for name, coupling in robot.couplings.items():
            # Bullet's gear holds q' + ratio · q = target, with q' of its parent joint.
            gear = bullet.createConstraint(
                *(body, index[name], body, index[coupling.joint], bullet.JOINT_GEAR),
                *((0, 0, 1), (0, 0, 0), (0, 0, 0)),
                physicsClientId=client,
            )
            bullet.changeConstraint(
                gear,
                gearRatio=-coupling.multiplier,
                relativePositionTarget=coupling.offset,
                maxForce=_GEAR_TORQUE,
                erp=_GEAR_ERP,
                physicsClientId=client,
            )
        com, principal = bullet.getDynamicsInfo(body, -1, physicsClientId=client)[3:5]
        self.client, self.handle, self.links, self.world, self.robot = client, body, links, world, robot
        # Bullet's joint indices in the order of `robot.joint_names`.
        self.joints = tuple(index[name] for name in robot.joint_names)
        # Origin (3,), m, and quaternion x, y, z, w of Bullet's inertial frame in the root link's frame.
        self.root_com, self.root_principal = com, principal
        self.to_root: Quaternion = conjugate(principal)
        # By joint of the model, the rotor (3, 3) that is inertia of a leg's link, in its axes, kg·m².
        self.rotors: Mapping[int, Array] = tensors
        self.root, self.has_armature = ROOT, False
        # What of the root's motion Bullet integrates: the velocity of its centre of mass, in world axes.
        self.root_motion = RootMotion(com, turns_in_root=False)
        self.place(base, positions)

    def read_state(self, state: RobotState) -> None:
        """Copy the configuration and velocity of the robot into `state`.

        Of a free root Bullet reports pose and velocity of the centre of mass, with its inertial frame's axes;
        with R, p the pose of the root frame, c its centre of mass, v_c and ω the world velocities: v = Rᵀ(v_c
        − ω × R c), ω_root = Rᵀ ω. `state`: buffers from `empty_state`; overwritten.
        """
        body, client = self.handle, self.client
        states = bullet.getJointStates(body, self.joints, physicsClientId=client)
        positions, speeds = map(_POSITION, states), map(_SPEED, states)
        if not self.robot.floating:
            state.q[:], state.v[:] = [*positions], [*speeds]
            return
        (x, y, z), principal = bullet.getBasePositionAndOrientation(body, physicsClientId=client)
        (vx, vy, vz), (wx, wy, wz) = bullet.getBaseVelocity(body, physicsClientId=client)
        # Not Bullet's multiplyTransforms, which is in single precision.
        quaternion = multiply(principal, self.to_root)
        r = bullet.getMatrixFromQuaternion(quaternion)
        state.root[:] = *r, vx, vy, vz, wx, wy, wz
        ax, ay, az = self.root_com
        cx = r[0] * ax + r[1] * ay + r[2] * az
        cy = r[3] * ax + r[4] * ay + r[5] * az
        cz = r[6] * ax + r[7] * ay + r[8] * az
        vx -= wy * cz - wz * cy
        vy -= wz * cx - wx * cz
        vz -= wx * cy - wy * cx
        state.q[:] = (x - cx, y - cy, z - cz, *quaternion, *positions)
        state.v[:] = (
            r[0] * vx + r[3] * vy + r[6] * vz,
            r[1] * vx + r[4] * vy + r[7] * vz,
            r[2] * vx + r[5] * vy + r[8] * vz,
            r[0] * wx + r[3] * wy + r[6] * wz,
            r[1] * wx + r[4] * wy + r[7] * wz,
            r[2] * wx + r[5] * wy + r[8] * wz,
            *speeds,
        )

    def root_pose(self) -> Array:
        """Read the pose of the root link.

        Returns (7,): position (m) and quaternion x, y, z, w of the root link in the world.
        """
        com, principal = bullet.getBasePositionAndOrientation(self.handle, physicsClientId=self.client)
        quaternion = multiply(principal, self.to_root)
        return np.array([*subtract(com, rotate(quaternion, self.root_com)), *quaternion])

    def root_com_frame(self) -> tuple[Vector, Quaternion]:
        """Read the frame at the root link's centre of mass, with the axes of the link's frame.

        Returns `position` (3,): centre of mass of the root link, world frame, m; `rotation` (4,): quaternion
        x, y, z, w of the root link's frame in the world.
        """
        com, principal = bullet.getBasePositionAndOrientation(self.handle, physicsClientId=self.client)
        return com, multiply(principal, self.to_root)

    def place(self, base: Array, positions: Array) -> None:
        """Set the pose of the robot, at rest.

        `base` (7,): pose of the root link: x, y, z (m), quaternion x, y, z, w; `positions` (n,): joint
        positions in the order of `robot.joint_names`, rad.
        """
        body, client = self.handle, self.client
        rotation: Quaternion = tuple(base[3:].tolist())
        offset, principal = rotate(rotation, self.root_com), multiply(rotation, self.root_principal)
        com = [float(origin) + shift for origin, shift in zip(base[:3], offset, strict=True)]
        bullet.resetBasePositionAndOrientation(body, com, principal, physicsClientId=client)
        bullet.resetBaseVelocity(body, [0, 0, 0], [0, 0, 0], physicsClientId=client)
        bullet.resetJointStatesMultiDof(
            body, list(self.joints), [[value] for value in positions.tolist()], physicsClientId=client
        )

    def apply_root_torque(self, torque: Vector) -> None:
        """Apply a torque to the root link during the next step. `torque` (3,): torque, world axes, N·m."""
        bullet.applyExternalTorque(self.handle, ROOT, torque, bullet.WORLD_FRAME, physicsClientId=self.client)

    def apply_joint_torques(self, torques: Array) -> None:
        """Apply torques to the joints during the next step.

        `torques` (n,): joint torques in the order of `robot.joint_names`, N·m.
        """
        bullet.setJointMotorControlArray(
            self.handle,
            self.joints,
            bullet.TORQUE_CONTROL,
            forces=torques.tolist(),
            physicsClientId=self.client,
        )


class BulletFixture(BulletBody):
    """A piece of equipment in one of Bullet's worlds, in its initial state.

    Furniture does not give way: it is fixed to the world, as is a mechanism that does not stand freely.
    Coulomb friction of a joint is a motor with target velocity 0 and at most that force: solved implicitly,
    so the joint sticks. End stops are Bullet's. Parts of one mechanism do not collide with each other, since
    its joints guide them, except for one that stands freely with what carries it; all collide with everything
    else. `world`: world that gets the fixture; `client`: PyBullet's client id of that world.
    """

    def __init__(self, world: World, client: int, mechanism: Mechanism) -> None:
        body, links = _load(client, mechanism, world.scratch, furniture=False)
        furniture: BodyHandle | None = None
        furniture_links: dict[str, LinkHandle] = {}
        if mechanism.furniture:
            furniture, furniture_links = _load(client, mechanism, world.scratch, furniture=True)
        joints = tuple(
            links[next(part.name for part in mechanism.parts if part.joint == joint.name)]
            for joint in mechanism.joints
        )
        # Damping that differs by direction is applied as an effort at every step (`equipment.resist`).
        self.explicit_damping = np.array(
            [joint.damping if joint.damping == joint.back_damping else 0.0 for joint in mechanism.joints]
        )
        for joint, index, damping in zip(
            mechanism.joints, joints, self.explicit_damping.tolist(), strict=True
        ):
            bullet.changeDynamics(body, index, jointDamping=damping, physicsClientId=client)
            bullet.setJointMotorControl2(
                body,
                index,
                bullet.VELOCITY_CONTROL,
                targetVelocity=0.0,
                force=joint.friction,
                physicsClientId=client,
            )
        self.client, self.handle, self.links, self.mechanism = client, body, links, mechanism
        self.joints: tuple[int, ...] = joints  # Bullet's index of each joint of the mechanism.
        # Body that carries a fixture that stands freely, and its parts' names to Bullet's indices.
        self.furniture, self.furniture_links = furniture, furniture_links
        self._initial_pose = np.asarray(pin.SE3ToXYZQUAT(mechanism.pose))
        self.place(mechanism.start)

    def read_state(self) -> FixtureState:
        """Read joint positions and velocities and the pose of the fixture.

        Returns state after the last step.
        """
        client = self.client
        states = bullet.getJointStates(self.handle, self.joints, physicsClientId=client) or ()
        position = np.array([state[0] for state in states])
        velocity = np.array([state[1] for state in states])
        if not self.mechanism.standing:
            return FixtureState(position, velocity, self._initial_pose)
        base = bullet.getBasePositionAndOrientation(self.handle, physicsClientId=client)
        frame = bullet.multiplyTransforms(*base, *self._root_in_inertial())
        return FixtureState(position, velocity, np.array([*frame[0], *frame[1]]))

    def read_motion(self) -> tuple[list[float], list[float], list[float]]:
        """Read positions and velocities of the joints, and the friction on them in the last step."""
        states = bullet.getJointStates(self.handle, self.joints, physicsClientId=self.client) or ()
        return [each[0] for each in states], [each[1] for each in states], [each[3] for each in states]

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
            self.handle, self.joints[column], bullet.TORQUE_CONTROL, force=effort, physicsClientId=self.client
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


def _load(
    client: int, mechanism: Mechanism, folder: Path, *, furniture: bool
) -> tuple[BodyHandle, dict[str, LinkHandle]]:
    """Load a mechanism or its furniture without Bullet's artificial damping; return it and its links."""
    path = write_mechanism(mechanism, folder, furniture=furniture)
    fixed = furniture or not mechanism.standing
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
    count = bullet.getNumJoints(body, physicsClientId=client)
    for link in range(-1, count):
        bullet.changeDynamics(
            body,
            link,
            linearDamping=0.0,
            angularDamping=0.0,
            lateralFriction=FRICTION,
            physicsClientId=client,
        )
    infos = [bullet.getJointInfo(body, index, physicsClientId=client) for index in range(count)]
    root = (mechanism.furniture if furniture else mechanism.parts)[0]
    return BodyHandle(body), {root.name: ROOT} | {info[12].decode(): LinkHandle(info[0]) for info in infos}


class BulletContacts(tuple[tuple[Any, ...], ...]):
    """All contact points of a world's last step, as `getContactPoints` gives them.

    Asked for those of a body, Bullet names it first and turns the normal round where it was second, but not
    the friction. Asked for all, it tells everything as the first feels it.
    """

    def on(self, body: BodyHandle) -> Iterator[Contact]:
        """Iterate over the contacts of a body.

        `body`: body that feels the contacts. Yields A contact of the body with itself appears once, as one of
        its two links feels it.
        """
        # One pattern, nothing called: all that a robot touches is read here hundreds of times a second.
        for _, first, second, link, other_link, at_first, at_second, (nx, ny, nz), distance, normal, along, (
            sx,
            sy,
            sz,
        ), across, (tx, ty, tz) in self:
            x = normal * nx + along * sx + across * tx
            y = normal * ny + along * sy + across * ty
            z = normal * nz + along * sz + across * tz
            if first == body:
                yield link, second, other_link, at_first, distance, normal, (x, y, z)
            elif second == body:
                yield other_link, first, link, at_second, distance, normal, (-x, -y, -z)
