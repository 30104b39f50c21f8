"""A robot's URDF as MuJoCo reads it: a free or fixed root, every link kept, inertia untouched."""

import xml.etree.ElementTree as ET
from typing import Any, NamedTuple

import mujoco
import numpy as np
import pinocchio as pin

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.collision_geometry import read_collision_geometry
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

    Returns `description`: all links and joints, on a root that is fixed to the world; `root`: name of the
    root link. Raises RobotError if MuJoCo cannot simulate the robot.
    """
    tree = ET.fromstring(robot.urdf_text)
    children = {
        str(child.get("link")): joint for joint in tree.iter("joint") for child in joint.iter("child")
    }
    inertias = {}
    for link in tree.findall("link"):
        joint = children.get(str(link.get("name")))
        moving = joint is not None and joint.get("type") != "fixed"
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
    for name, inertia in inertias.items():
        if inertia is not None:
            _set_inertia(description.body(name), inertia)
    return description, root


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


class _LinkInertia(NamedTuple):
    """Mass (kg), centre of mass in the link's frame (m), principal moments (kg·m²), and axes as columns."""

    mass: float
    centre: Array
    moments: Array
    axes: Array


def _set_inertia(body: Any, inertia: _LinkInertia) -> None:
    """Give a link its inertia. MuJoCo's own reader of URDFs has turned principal axes, until version 4."""
    body.explicitinertial, body.mass = True, inertia.mass
    body.ipos, body.inertia = inertia.centre, inertia.moments
    body.iquat = np.roll(pin.Quaternion(inertia.axes).coeffs(), 1)


def _read_inertia(robot: Robot, link: ET.Element, *, moving: bool) -> _LinkInertia | None:
    """Read mass and inertia of a link; None of one that has neither and does not move by itself.

    A massless link that moves gets the least that MuJoCo takes, and what rounding made impossible is mended.
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
    if moments[2] > (1.0 + _ROUNDING) * (moments[0] + moments[1]):
        what = f"link `{link.get('name')}`: moments of inertia " + ", ".join(f"{each:g}" for each in moments)
        allowed = "the largest at most the sum of the others, or engine bullet"
        raise refused(robot, f"{what} kg·m²; allowed: {allowed}")
    moments[2] = min(moments[2], (1.0 - _SMALLEST_PART) * (moments[0] + moments[1]))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    numbers = [
        np.array([float(value) for value in _attribute(origin, name, "0 0 0").split()])
        for name in ("xyz", "rpy")
    ]
    return _LinkInertia(mass, numbers[0], moments, pin.rpy.rpyToMatrix(numbers[1]) @ axes)


def _attribute(element: ET.Element | None, name: str, default: str) -> str:
    """Read an attribute of an element that may be missing."""
    return default if element is None else element.get(name, default)
