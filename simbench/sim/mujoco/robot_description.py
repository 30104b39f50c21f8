"""A robot's URDF as MuJoCo reads it: a free or fixed root, every link kept, inertia untouched."""

import xml.etree.ElementTree as ET
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

from simbench.errors import RobotError
from simbench.robot.convex_geometry import read_collision_geometry
from simbench.robot.robot import Robot
from simbench.sim.mujoco.scene import MujocoScene

_CARRIER = "universe"
"""Link that is put before the root: MuJoCo takes the first link of a URDF for the world, without inertia."""
_LEAST = 1e-12
"""Mass (kg) and moment (kg·m²) of a massless link between two joints, which MuJoCo refuses."""
_ROUNDING = 1e-6
"""Part by which the largest moment of inertia may exceed the sum of the others: rounding, as of a plate."""
_SMALLEST_PART = 1e-9
"""Part by which it is then made smaller than their sum."""


def read_description(robot: Robot) -> tuple[Any, str]:
    """Have MuJoCo read a robot's URDF, without shapes.

    Parameters
    ----------
    robot : Robot
        The robot.

    Returns
    -------
    description : mujoco.MjSpec
        All links and joints, on a root that is fixed to the world.
    root : str
        Name of the root link.

    Raises
    ------
    RobotError
        If MuJoCo cannot simulate the robot.
    """
    tree = ET.fromstring(robot.urdf_text)
    children = {
        str(child.get("link")): joint for joint in tree.iter("joint") for child in joint.iter("child")
    }
    for link in tree.findall("link"):
        for shape in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(shape)
        joint = children.get(str(link.get("name")))
        _make_inertia_acceptable(robot, link, moving=joint is not None and joint.get("type") != "fixed")
    root = next(str(link.get("name")) for link in tree.findall("link") if link.get("name") not in children)
    ET.SubElement(tree, "link", name=_CARRIER)
    joint = ET.SubElement(tree, "joint", name=_CARRIER, type="fixed")
    ET.SubElement(joint, "parent", link=_CARRIER)
    ET.SubElement(joint, "child", link=root)
    options = {"fusestatic": "false", "balanceinertia": "false", "inertiafromgeom": "false"}
    ET.SubElement(ET.SubElement(tree, "mujoco"), "compiler", options)
    try:
        return mujoco.MjSpec.from_string(ET.tostring(tree, encoding="unicode")), root
    except ValueError as error:
        raise refused(robot, error) from error


def require_readable(robot: Robot) -> None:
    """Refuse a robot whose links and joints MuJoCo does not take.

    Parameters
    ----------
    robot : Robot
        The robot.

    Raises
    ------
    RobotError
        If MuJoCo cannot simulate it.
    """
    description, _ = read_description(robot)
    try:
        description.compile()
    except ValueError as error:
        raise refused(robot, error) from error


def refused(robot: Robot, error: Exception | str) -> RobotError:
    """Make the error of a robot that MuJoCo refuses.

    Parameters
    ----------
    robot : Robot
        The robot.
    error : Exception or str
        What MuJoCo said.

    Returns
    -------
    RobotError
        The same in one line.
    """
    said = " ".join(str(error).split()).removeprefix("Error: ")
    return RobotError(f"{robot.urdf}: not a URDF that MuJoCo can simulate: {said[:200]}")


def add_collision_shapes(scene: MujocoScene, robot: Robot, prefix: str, body: Any) -> dict[str, list[str]]:
    """Add a robot's collision shapes to its links; meshes count as their convex hulls, as everywhere.

    Parameters
    ----------
    scene : MujocoScene
        World with the robot's links.
    robot : Robot
        The robot.
    prefix : str
        What the names of its links in the world begin with.
    body : BodyHandle
        Handle of the robot.

    Returns
    -------
    {str: list of str}
        Names of the shapes of each link.

    Raises
    ------
    RobotError
        If a collision mesh cannot be read.
    """
    try:
        geometry = read_collision_geometry(robot.model, robot.urdf_text)
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


def _make_inertia_acceptable(robot: Robot, link: ET.Element, *, moving: bool) -> None:
    """Give a massless link that moves the least that MuJoCo takes, and mend what rounding made impossible."""
    mass, inertia = link.find("inertial/mass"), link.find("inertial/inertia")
    if mass is None or inertia is None:
        return
    if moving:
        mass.set("value", repr(max(float(mass.get("value", "0")), _LEAST)))
    entries = [float(inertia.get(name, "0")) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]
    xx, yy, zz, xy, xz, yz = entries
    if moving and not any(entries):
        for name in ("ixx", "iyy", "izz"):
            inertia.set(name, repr(_LEAST))
    if xy or xz or yz:
        # The reader of URDFs has written inertias that no rigid body has in their principal axes.
        return
    largest, rest = max(xx, yy, zz), xx + yy + zz - max(xx, yy, zz)
    if largest > (1.0 + _ROUNDING) * rest:
        what = f"link `{link.get('name')}`: moments of inertia {xx:g}, {yy:g} and {zz:g} kg·m²"
        raise refused(robot, f"{what}; allowed: the largest at most the sum of the others, or engine bullet")
    if largest > (1.0 - _SMALLEST_PART) * rest > 0.0:
        name = ("ixx", "iyy", "izz")[(xx, yy, zz).index(largest)]
        inertia.set(name, repr((1.0 - _SMALLEST_PART) * rest))
