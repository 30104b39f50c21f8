"""Robots in Bullet: loading, state in Pinocchio's coordinates, joint torques."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot, placed_robot
from simbench.sim.bullet.body import ROOT, BulletBody, link_handles
from simbench.sim.bullet.capacity import require_robot
from simbench.sim.bullet.client import bullet, quiet_native_output
from simbench.sim.bullet.rotors import add_rotors, rotor_tensors
from simbench.sim.engine import BodyHandle, LinkHandle, RootMotion, World
from simbench.sim.state import RobotState
from simbench.sim.vectors import Quaternion, Vector, conjugate, multiply, rotate, subtract

_POSITION, _SPEED = itemgetter(0), itemgetter(1)
"""Elements of Bullet's joint states."""


@dataclass(frozen=True)
class BulletRobot(BulletBody):
    """A robot in one of Bullet's worlds.

    `client`: PyBullet's client id; `handle`: PyBullet's body id; `links`: link name to Bullet's index (root:
    -1).
    """

    world: World  # World that holds the robot.
    robot: Robot  # Robot whose model has this world's frame as its universe.
    joints: tuple[int, ...]  # Bullet's joint indices in the order of `robot.joint_names`.
    root_com: Vector  # (3,): origin of Bullet's inertial frame in the root link's frame, m.
    # (4,): quaternion x, y, z, w of Bullet's inertial frame in the root link's frame.
    root_principal: Quaternion
    to_root: Quaternion  # (4,): inverse of `root_principal`.
    # Mapping of int to (3, 3) array: by joint of the model, the rotor that is inertia of a leg's link, in the
    # link's axes, kg·m².
    rotors: Mapping[int, Array]
    root: LinkHandle = ROOT  # Bullet's index of the root link.
    has_armature: bool = False  # False: Bullet's joints have no reflected inertia.

    @property
    def root_motion(self) -> RootMotion:
        """What of the root's motion Bullet integrates: the velocity of its centre of mass, in world axes."""
        return RootMotion(self.root_com, turns_in_root=False)

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
        com, quaternion = self.root_com_frame()
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


def load_robot(world: World, client: int, robot: Robot, base: Array, positions: Array) -> BulletRobot:
    """Put a robot into a world, at rest. Only a robot whose description says so has a fixed root.

    Bullet's default motors and its artificial damping (0.04 on every link) are switched off; inertia is the
    description's own; only the self-collision pairs that the robot lists are active. `world`: world that gets
    the robot; `client`: PyBullet's client id of that world; `base` (7,): pose of the root link: x, y, z (m),
    quaternion x, y, z, w; `positions` (n,): joint positions in the order of `robot.joint_names`, rad.
    """
    require_robot(robot)
    robot = placed_robot(robot, base)
    flags = bullet.URDF_USE_INERTIA_FROM_FILE | bullet.URDF_USE_SELF_COLLISION
    # Bullet keeps files that it has read, by their names.
    source = world.scratch / f"robot{bullet.getNumBodies(physicsClientId=client)}.urdf"
    tensors = rotor_tensors(robot)
    urdf = add_rotors(robot.urdf_text, {robot.model.names[joint]: tensors[joint] for joint in tensors})
    source.write_text(urdf, encoding="utf-8")
    with quiet_native_output():
        try:
            body = bullet.loadURDF(
                str(source),
                base[:3],
                base[3:],
                useFixedBase=not robot.floating,
                flags=flags,
                physicsClientId=client,
            )
        except bullet.error as error:
            raise RobotError(f"{robot.urdf}: not a URDF that Bullet can read") from error
    links = link_handles(client, body)
    links[bullet.getBodyInfo(body, physicsClientId=client)[0].decode()] = ROOT
    _remove_damping(client, body)
    _restore_inertia(client, body, links, urdf)
    _limit_self_collision(client, body, links, robot)
    dynamics = bullet.getDynamicsInfo(body, -1, physicsClientId=client)
    com, principal = dynamics[3:5]
    loaded = BulletRobot(
        client=client,
        handle=BodyHandle(body),
        links=links,
        world=world,
        robot=robot,
        joints=_free_joints(client, body, robot),
        root_com=com,
        root_principal=principal,
        to_root=conjugate(principal),
        rotors=tensors,
    )
    loaded.place(base, positions)
    return loaded


def _free_joints(client: int, body: int, robot: Robot) -> tuple[int, ...]:
    """Switch Bullet's default motors off; return its indices of the robot's joints."""
    count = bullet.getNumJoints(body, physicsClientId=client)
    infos = [bullet.getJointInfo(body, i, physicsClientId=client) for i in range(count)]
    movable = [info[0] for info in infos if info[2] != bullet.JOINT_FIXED]
    bullet.setJointMotorControlArray(
        body, movable, bullet.VELOCITY_CONTROL, forces=[0.0] * len(movable), physicsClientId=client
    )
    index = {info[1].decode(): info[0] for info in infos}
    return tuple(index[name] for name in robot.joint_names)


def _remove_damping(client: int, body: int) -> None:
    """Switch artificial damping off, and set friction to 1."""
    for link in range(-1, bullet.getNumJoints(body, physicsClientId=client)):
        bullet.changeDynamics(
            body,
            link,
            linearDamping=0.0,
            angularDamping=0.0,
            jointDamping=0.0,
            lateralFriction=1.0,
            physicsClientId=client,
        )


def _limit_self_collision(client: int, body: int, links: Mapping[str, int], robot: Robot) -> None:
    """Let only the pairs of links collide that the robot lists."""
    count = bullet.getNumJoints(body, physicsClientId=client)
    allowed = {frozenset((links[a], links[b])) for a, b in robot.self_collision_pairs}
    for first in range(-1, count):
        for second in range(first + 1, count):
            enable = frozenset((first, second)) in allowed
            bullet.setCollisionFilterPair(body, body, first, second, int(enable), physicsClientId=client)


def _restore_inertia(client: int, body: int, links: Mapping[str, int], urdf: str) -> None:
    """Give back the principal moments of links that Bullet took for impossible and made points of."""
    for element in ET.fromstring(urdf).iter("link"):
        inertia = element.find("inertial/inertia")
        if inertia is None or element.get("name") not in links:
            continue
        link = links[str(element.get("name"))]
        mass, _, loaded, *_ = bullet.getDynamicsInfo(body, link, physicsClientId=client)
        moments = [float(inertia.get(axis, "0")) for axis in ("ixx", "iyy", "izz")]
        if mass > 0.0 and any(moments) and not any(loaded):
            bullet.changeDynamics(body, link, localInertiaDiagonal=moments, physicsClientId=client)
