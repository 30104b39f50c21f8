"""Robots in MuJoCo: loading, state in Pinocchio's coordinates, joint torques."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.robot.robot import Robot, placed_robot
from simbench.sim.engine import LinkHandle, RootMotion, World
from simbench.sim.mujoco.body import MujocoBody, free_coordinates, free_pose
from simbench.sim.mujoco.robot_description import add_collision_shapes, read_description, refused
from simbench.sim.mujoco.scene import END_STOP, MujocoScene
from simbench.sim.state import RobotState
from simbench.sim.vectors import Quaternion, Vector


@dataclass(frozen=True)
class MujocoRobot(MujocoBody):
    """A robot in one of MuJoCo's worlds.

    `scene`: world of the body; `handle`: number of the body in its world; `links`: link name to MuJoCo's
    index.
    """

    world: World  # World that holds the robot.
    robot: Robot  # Robot whose model has this world's frame as its universe.
    root: LinkHandle  # MuJoCo's index of the root link.
    root_com: Vector  # (3,): centre of mass of the root link in its frame, m.
    # First indices of a free root among MuJoCo's position and velocity coordinates.
    root_columns: tuple[int, int] | None
    # `position_columns`, `velocity_columns` (n,) of int: indices of the joints there, in the order of
    # `robot.joint_names`.
    position_columns: NDArray[np.int64]
    velocity_columns: NDArray[np.int64]
    # Mapping of int to (3, 3) array: empty: no rotor is inertia of a link.
    rotors: Mapping[int, Array] = field(default_factory=dict)
    has_armature: bool = True  # True: MuJoCo's joints have the reflected inertia of their rotors.

    @property
    def root_motion(self) -> RootMotion:
        """What of the root's motion MuJoCo integrates: the velocity of its origin, turning in its axes."""
        return RootMotion(point=(0.0, 0.0, 0.0), turns_in_root=True)

    def read_state(self, state: RobotState) -> None:
        """Copy the configuration and velocity of the robot into `state`.

        Of a free root MuJoCo has the linear velocity of its origin in world axes, and the angular velocity in
        its own. `state`: buffers from `empty_state`; overwritten.
        """
        data = self.scene.data
        q, v = data.qpos, data.qvel
        _take(q, self.position_columns, v, self.velocity_columns, state.q, state.v)
        if self.root_columns is not None:
            at, speed = self.root_columns
            _take_root(q[at : at + 7], v[speed : speed + 6], state.q, state.v, state.root)

    def root_pose(self) -> Array:
        """Read the pose of the root link.

        Returns (7,): position (m) and quaternion x, y, z, w of the root link in the world.
        """
        if self.root_columns is not None:
            at = self.root_columns[0]
            return free_pose(self.scene.data.qpos[at : at + 7])
        data = self.scene.locate_links()
        return free_pose(np.concatenate([data.xpos[self.root], data.xquat[self.root]]))

    def root_com_frame(self) -> tuple[Vector, Quaternion]:
        """Read the frame at the root link's centre of mass, with the axes of the link's frame.

        Returns `position` (3,): centre of mass of the root link, world frame, m; `rotation` (4,): quaternion
        x, y, z, w of the root link's frame in the world.
        """
        data = self.scene.locate_links()
        w, x, y, z = data.xquat[self.root].tolist()
        return tuple(data.xipos[self.root].tolist()), (x, y, z, w)

    def place(self, base: Array, positions: Array) -> None:
        """Set the pose of the robot, at rest.

        `base` (7,): pose of the root link: x, y, z (m), quaternion x, y, z, w; `positions` (n,): joint
        positions in the order of `robot.joint_names`, rad.
        """
        data = self.scene.data
        if self.root_columns is not None:
            at, speed = self.root_columns
            data.qpos[at : at + 7] = free_coordinates(np.asarray(base, dtype=float))
            data.qvel[speed : speed + 6] = 0.0
        data.qpos[self.position_columns] = positions
        data.qvel[self.velocity_columns] = 0.0
        self.scene.state_changed()

    def apply_root_torque(self, torque: Vector) -> None:
        """Apply a torque to the root link during the next step. `torque` (3,): torque, world axes, N·m."""
        self.scene.data.xfrc_applied[self.root, 3:] += torque

    def apply_joint_torques(self, torques: Array) -> None:
        """Apply torques to the joints during the next step.

        `torques` (n,): joint torques in the order of `robot.joint_names`, N·m.
        """
        self.scene.data.qfrc_applied[self.velocity_columns] = torques


def load_robot(world: World, scene: MujocoScene, robot: Robot, base: Array, positions: Array) -> MujocoRobot:
    """Put a robot into a world, at rest. Only a robot whose description says so has a fixed root.

    `world`: world that gets the robot; `scene`: the same world's model; `base` (7,): pose of the root link:
    x, y, z (m), quaternion x, y, z, w; `positions` (n,): joint positions in the order of `robot.joint_names`,
    rad. Raises RobotError if MuJoCo cannot simulate the robot.
    """
    robot = placed_robot(robot, base)
    description, root = read_description(robot)
    handle = scene.new_body()
    prefix = f"{handle}/"
    scene.spec.worldbody.add_frame().attach_body(description.body(root), prefix, "")
    spec = scene.spec
    stand = spec.body(prefix + root)
    stand.pos, stand.quat = base[:3], np.roll(base[3:], 1)
    if robot.floating:
        stand.add_freejoint(name=prefix)
    for name, rotor in zip(robot.joint_names, robot.motors.reflected_inertia, strict=True):
        joint = spec.joint(prefix + name)
        joint.armature = rotor
        joint.solref_limit, joint.solimp_limit = END_STOP.solref(scene.timestep), END_STOP.solimp
    shapes = add_collision_shapes(scene, robot, prefix, handle)
    for names in shapes.values():
        for name in names:
            scene.add_pair(name, "floor", scene.floor_friction, ground=True)
    for first, second in robot.self_collision_pairs:
        for one in shapes.get(first, ()):
            for other in shapes.get(second, ()):
                scene.add_pair(one, other, 1.0)
    try:
        scene.own_new_links(handle)
    except ValueError as error:
        raise refused(robot, error) from error
    model = scene.model
    free = model.joint(prefix) if robot.floating else None
    joints = [model.joint(prefix + name) for name in robot.joint_names]
    links = {
        name.removeprefix(prefix): LinkHandle(index)
        for index in range(model.nbody)
        if (name := model.body(index).name).startswith(prefix)
    }
    loaded = MujocoRobot(
        scene=scene,
        handle=handle,
        links=links,
        world=world,
        robot=robot,
        root=links[root],
        root_com=tuple(model.body_ipos[links[root]].tolist()),
        root_columns=None if free is None else (int(free.qposadr[0]), int(free.dofadr[0])),
        position_columns=np.array([joint.qposadr[0] for joint in joints], dtype=np.int64),
        velocity_columns=np.array([joint.dofadr[0] for joint in joints], dtype=np.int64),
    )
    loaded.place(base, positions)
    return loaded


@compiled
def _take(
    qpos: Array,
    position_columns: NDArray[np.int64],
    qvel: Array,
    velocity_columns: NDArray[np.int64],
    q: Array,
    v: Array,
) -> None:
    """Write the coordinates of the joints behind those of the root."""
    count = len(position_columns)
    root_q, root_v = len(q) - count, len(v) - count
    for i in range(count):
        q[root_q + i], v[root_v + i] = qpos[position_columns[i]], qvel[velocity_columns[i]]


@compiled
def _take_root(pose: Array, twist: Array, q: Array, v: Array, root: Array) -> None:
    """Write the root's coordinates in Pinocchio's order and axes, and what MuJoCo integrates to `root`."""
    w, x, y, z = pose[3], pose[4], pose[5], pose[6]
    q[0], q[1], q[2] = pose[0], pose[1], pose[2]
    q[3], q[4], q[5], q[6] = x, y, z, w
    root[0], root[1], root[2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    root[3], root[4], root[5] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    root[6], root[7], root[8] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)
    for i in range(3):
        root[9 + i] = twist[i]
        v[i] = root[i] * twist[0] + root[3 + i] * twist[1] + root[6 + i] * twist[2]
        v[3 + i] = twist[3 + i]
        root[12 + i] = root[3 * i] * twist[3] + root[3 * i + 1] * twist[4] + root[3 * i + 2] * twist[5]
