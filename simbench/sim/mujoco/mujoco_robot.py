"""Robots in MuJoCo: loading, state in Pinocchio's coordinates, joint torques."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled_entry
from simbench.robot.native_output import quiet_native_output
from simbench.robot.robot import Robot, placed_robot
from simbench.sim.engine import LinkHandle, RootMotion, World
from simbench.sim.mujoco.mujoco_scene import END_STOP, MujocoBody, MujocoScene, free_coordinates, free_pose
from simbench.sim.state import RobotState
from simbench.sim.vectors import Quaternion, Vector

# Link that is put before the root: MuJoCo takes the first link of a URDF for the world, without inertia.
_CARRIER = "universe"
# Mass (kg) and moment (kg·m²) of a massless link between two joints, or of a point, which MuJoCo refuses.
_LEAST = 1e-12
# Part by which the largest moment of inertia may exceed the sum of the others: rounding, as of a plate.
_ROUNDING = 1e-6
_SMALLEST_PART = 1e-9  # Part by which it is smaller than their sum in a description that compiles.


def read_description(robot: Robot) -> tuple[Any, str, dict[str, Array]]:
    """Have MuJoCo read a robot's URDF, without shapes.

    Returns `description`: all links and joints, on a root that is fixed to the world; `root`: name of the
    root link; `exact`: principal moments (3,), kg·m², of the links whose largest exceeds the sum of the
    others. No rigid body has them and MuJoCo compiles none, but it computes with them as Bullet does; the
    description has the nearest that a flat body has. Raises RobotError if MuJoCo cannot simulate the robot.
    """
    tree = ET.fromstring(robot.urdf_text)
    children = {
        str(child.get("link")): joint for joint in tree.iter("joint") for child in joint.iter("child")
    }
    inertias = {}
    for link in tree.findall("link"):
        joint = children.get(str(link.get("name")))
        moving = robot.floating if joint is None else joint.get("type") != "fixed"
        inertias[str(link.get("name"))] = _read_inertia(robot, link, moving=moving)
        for element in ("visual", "collision", "inertial"):
            for each in link.findall(element):
                link.remove(each)
    root = next(str(link.get("name")) for link in tree.findall("link") if link.get("name") not in children)
    ET.SubElement(tree, "link", name=_CARRIER)
    joint = ET.SubElement(tree, "joint", name=_CARRIER, type="fixed")
    ET.SubElement(joint, "parent", link=_CARRIER)
    ET.SubElement(joint, "child", link=root)
    options = {"fusestatic": "false", "balanceinertia": "false", "inertiafromgeom": "false"}
    ET.SubElement(ET.SubElement(tree, "mujoco"), "compiler", options)
    try:
        description = mujoco.MjSpec.from_string(ET.tostring(tree, encoding="unicode"))
    except ValueError as error:
        raise refused(robot, error) from error
    exact = {}
    for name, inertia in inertias.items():
        if inertia is not None:
            # MuJoCo's own reader of URDFs has turned principal axes, until version 4.
            body, (mass, centre, moments, axes) = description.body(name), inertia
            if moments[2] > (1.0 + _ROUNDING) * (moments[0] + moments[1]):
                exact[name] = moments.copy()
            moments[2] = min(moments[2], (1.0 - _SMALLEST_PART) * (moments[0] + moments[1]))
            body.explicitinertial, body.mass = True, mass
            body.ipos, body.inertia = centre, moments
            body.iquat = np.roll(pin.Quaternion(axes).coeffs(), 1)
    return description, root, exact


def require_readable(robot: Robot) -> None:
    """Refuse a robot whose links and joints MuJoCo does not take.

    Raises RobotError if MuJoCo cannot simulate it.
    """
    try:
        read_description(robot)[0].compile()
    except ValueError as error:
        raise refused(robot, error) from error


def refused(robot: Robot, error: Exception | str) -> RobotError:
    """Make the error of a robot that MuJoCo refuses.

    `error`: what MuJoCo said. Returns the same in one line.
    """
    said = " ".join(str(error).split()).removeprefix("Error: ")
    return RobotError(f"{robot.urdf}: not a URDF that MuJoCo can simulate: {said[:200]}")


def add_collision_shapes(scene: MujocoScene, robot: Robot, prefix: str, body: Any) -> dict[str, list[str]]:
    """Add a robot's collision shapes to its links; meshes count as their convex hulls, as everywhere.

    `scene`: world with the robot's links; `prefix`: what the names of its links in the world begin with.
    Returns {str: list of str}: names of the shapes of each link. Raises RobotError if a collision mesh cannot
    be read.
    """
    try:
        with quiet_native_output():
            geometry = pin.buildGeomFromUrdfString(robot.model, robot.urdf_text, pin.GeometryType.COLLISION)
    except (ValueError, RuntimeError) as error:
        raise refused(robot, error) from error
    named: dict[str, list[str]] = {}
    for shape in geometry.geometryObjects:
        frame = robot.model.frames[shape.parentFrame]
        pose = frame.placement.actInv(shape.placement)
        name = f"{prefix}{shape.name}"
        geom = scene.spec.body(prefix + frame.name).add_geom(
            name=name, pos=pose.translation, quat=np.roll(pin.Quaternion(pose.rotation).coeffs(), 1)
        )
        _set_shape(scene, geom, shape.geometry, name)
        scene.make_solid(geom, body, friction=1.0, priority=0)
        named.setdefault(frame.name, []).append(name)
    return named


def _set_shape(scene: MujocoScene, geom: Any, shape: pin.coal.CollisionGeometry, name: str) -> None:
    """Give a shape of the description the form of one of the URDF."""
    kinds = mujoco.mjtGeom
    if isinstance(shape, pin.coal.Box):
        geom.type, geom.size = kinds.mjGEOM_BOX, shape.halfSide
    elif isinstance(shape, pin.coal.Sphere):
        geom.type, geom.size = kinds.mjGEOM_SPHERE, [shape.radius, 0.0, 0.0]
    elif isinstance(shape, (pin.coal.Cylinder, pin.coal.Capsule)):
        round_ends = isinstance(shape, pin.coal.Capsule)
        geom.type = kinds.mjGEOM_CAPSULE if round_ends else kinds.mjGEOM_CYLINDER
        geom.size = [shape.radius, shape.halfLength, 0.0]
    else:
        mesh = scene.spec.add_mesh(name=name)
        mesh.uservert = np.asarray(shape.vertices()).ravel()
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        geom.type, geom.meshname = kinds.mjGEOM_MESH, name


def _read_inertia(
    robot: Robot, link: ET.Element, *, moving: bool
) -> tuple[float, Array, Array, Array] | None:
    """Read mass and inertia of a link; None of one that has neither and does not move by itself.

    Returns mass (kg), centre of mass in the link's frame (m), principal moments (kg·m²), axes as columns.
    A massless link that moves gets the least that MuJoCo takes.
    """
    origin, inertia = link.find("inertial/origin"), link.find("inertial/inertia")
    mass = float(_attribute(link.find("inertial/mass"), "value", "0"))
    entries = [float(_attribute(inertia, name, "0")) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]
    if moving:
        mass = max(mass, _LEAST)
        entries = entries if any(entries) else [_LEAST] * 3 + [0.0] * 3
    if not mass:
        return None
    xx, yy, zz, xy, xz, yz = entries
    moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    if moments[2] < _LEAST and (moving or moments[0] < 0.0):
        # A point, but for rounding.
        moments, axes = np.full(3, _LEAST), np.eye(3)
    if moments[0] < -_ROUNDING * moments[2]:
        what = f"link `{link.get('name')}`: moments of inertia " + ", ".join(f"{each:g}" for each in moments)
        raise refused(robot, f"{what} kg·m²; allowed: ≥ 0")
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    numbers = [
        np.array([float(value) for value in _attribute(origin, name, "0 0 0").split()])
        for name in ("xyz", "rpy")
    ]
    return mass, numbers[0], moments, pin.rpy.rpyToMatrix(numbers[1]) @ axes


def _attribute(element: ET.Element | None, name: str, default: str) -> str:
    """Read an attribute of an element that may be missing."""
    return default if element is None else element.get(name, default)


class MujocoRobot(MujocoBody):
    """A robot in one of MuJoCo's worlds, at rest. Only one whose description says so has a fixed root.

    `world`: world that gets the robot; `scene`: the same world's model; `base` (7,): pose of the root link:
    x, y, z (m), quaternion x, y, z, w; `positions` (n,): joint positions in the order of `robot.joint_names`,
    rad. Raises RobotError if MuJoCo cannot simulate the robot.
    """

    def __init__(self, world: World, scene: MujocoScene, robot: Robot, base: Array, positions: Array) -> None:
        robot = placed_robot(robot, base)
        description, root, exact = read_description(robot)
        handle = scene.new_body()
        prefix = f"{handle}/"
        scene.exact_inertia.update({prefix + name: moments for name, moments in exact.items()})
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
        for name, coupling in robot.couplings.items():
            equality = spec.add_equality(
                type=mujoco.mjtEq.mjEQ_JOINT, name1=prefix + name, name2=prefix + coupling.joint
            )
            equality.data[:2] = coupling.offset, coupling.multiplier
            equality.solref, equality.solimp = END_STOP.solref(scene.timestep), END_STOP.solimp
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
        self.scene, self.handle, self.links, self.world, self.robot = scene, handle, links, world, robot
        self.root = links[root]
        # Centre of mass of the root link in its frame, m.
        self.root_com: Vector = tuple(model.body_ipos[links[root]].tolist())
        # First indices of a free root among MuJoCo's position and velocity coordinates.
        self.root_columns = None if free is None else (int(free.qposadr[0]), int(free.dofadr[0]))
        self.position_columns = np.array([joint.qposadr[0] for joint in joints], dtype=np.int64)
        # Indices (n,) of the joints there, in the order of `robot.joint_names`.
        self.velocity_columns = np.array([joint.dofadr[0] for joint in joints], dtype=np.int64)
        self.rotors: Mapping[int, Array] = {}  # Empty: no rotor is inertia of a link.
        self.has_armature = True
        # MuJoCo integrates the velocity of the root's origin, turning in the root's axes.
        self.root_motion = RootMotion(point=(0.0, 0.0, 0.0), turns_in_root=True)
        self.place(base, positions)

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


@compiled_entry("position_columns (n), velocity_columns (n)")
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


@compiled_entry("pose (7), twist (6), root (15)")
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
