"""URDF text of Denavit-Hartenberg tables."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping

import pinocchio as pin

from simbench.errors import RobotError
from simbench.robot.dh.dh import BASE, DhTable, HayatiRow, Sigma, row_end, row_placement
from simbench.robot.dh.dh_model import JointLimits, link_name, require_joints

# Colour of all meshes. A mesh without one gets an arbitrary colour from a renderer, and a different one for
# each link from Bullet.
MESH_COLOR = "0.80 0.68 0.60 1"

TYPES = {Sigma.REVOLUTE: "revolute", Sigma.PRISMATIC: "prismatic", Sigma.FIXED: "fixed"}


def table_urdf(
    table: DhTable,
    name: str,
    limits: Mapping[str, JointLimits],
    inertias: Mapping[str, pin.Inertia] | None = None,
    meshes: Mapping[str, str] | None = None,
) -> str:
    """Write a table as URDF text.

    `name`: name of the robot; `limits`: limits by joint name, for every moving joint, as URDF requires;
    `inertias`: inertia of the link with a joint's frame, in that frame, by joint name; other links have no
    mass; `meshes`: file name of the link's mesh in the same frame, relative to the URDF, by joint name.
    Returns the URDF. Its links are named by `link_name`. A `HayatiRow` with a length has an additional link
    on the joint, so that no moving link is without mass only because its frame is at the far end.
    """
    inertias, meshes = inertias or {}, meshes or {}
    names = (BASE, *(joint.name for joint in table.joints))
    for where, given in (("inertias", inertias), ("meshes", meshes)):
        require_joints(given, names, where)
    require_joints(limits, table.moving, "limits")
    missing = [joint for joint in table.moving if joint not in limits]
    if missing:
        raise RobotError(f"limits: none for {', '.join(missing)}; in a URDF every moving joint needs them")

    robot = ET.Element("robot", name=name)
    _add_link(robot, BASE, inertias.get(BASE), pin.SE3.Identity(), meshes.get(BASE))
    for joint in table.joints:
        placement, end = row_placement(joint.row), row_end(joint.row)
        link = link_name(joint.name)
        jointed = f"{joint.name}_joint_link" if isinstance(joint.row, HayatiRow) and joint.row.a else link
        element = _add_joint(
            robot, joint.name, TYPES[joint.sigma], link_name(joint.parent), jointed, placement
        )
        if joint.sigma != Sigma.FIXED:
            ET.SubElement(element, "axis", xyz="0 0 1")
            _add_limit(element, limits[joint.name])
        _add_link(robot, jointed, inertias.get(joint.name), end, meshes.get(joint.name))
        if jointed != link:
            _add_joint(robot, f"{joint.name}_length", "fixed", jointed, link, end)
            _add_link(robot, link, None, pin.SE3.Identity(), None)
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode", xml_declaration=True) + "\n"


def _add_joint(
    robot: ET.Element, name: str, kind: str, parent: str, child: str, placement: pin.SE3
) -> ET.Element:
    """Add a joint with its placement in the parent link."""
    element = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(element, "parent", link=parent)
    ET.SubElement(element, "child", link=child)
    _add_origin(element, placement)
    return element


def _add_limit(element: ET.Element, limits: JointLimits) -> None:
    """Add the limits of a joint."""
    values = {key: _numbers([getattr(limits, key)]) for key in ("lower", "upper", "velocity", "effort")}
    ET.SubElement(element, "limit", values)


def _add_link(
    robot: ET.Element, name: str, inertia: pin.Inertia | None, frame: pin.SE3, mesh: str | None
) -> None:
    """Add a link whose inertia and mesh are given in `frame`, which is placed in the link."""
    element = ET.SubElement(robot, "link", name=name)
    # Zeros are written out, because Bullet gives a link without inertia 1 kg.
    body = pin.Inertia.Zero() if inertia is None else frame.act(inertia)
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = body.inertia.tolist()
    inertial = ET.SubElement(element, "inertial")
    ET.SubElement(inertial, "origin", xyz=_numbers(body.lever), rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=_numbers([body.mass]))
    entries = {"ixx": ixx, "iyy": iyy, "izz": izz, "ixy": ixy, "ixz": ixz, "iyz": iyz}
    ET.SubElement(inertial, "inertia", {key: _numbers([value]) for key, value in entries.items()})
    if mesh is not None:
        visual = ET.SubElement(element, "visual")
        _add_origin(visual, frame)
        ET.SubElement(ET.SubElement(visual, "geometry"), "mesh", filename=mesh)
        ET.SubElement(ET.SubElement(visual, "material", name="mesh"), "color", rgba=MESH_COLOR)


def _add_origin(element: ET.Element, placement: pin.SE3) -> None:
    """Add a placement as `<origin>`."""
    angles = pin.rpy.matrixToRpy(placement.rotation)
    ET.SubElement(element, "origin", xyz=_numbers(placement.translation), rpy=_numbers(angles))


def _numbers(values: Iterable[float]) -> str:
    """Write numbers as the shortest text that reads back as the same doubles."""
    return " ".join(repr(float(value) + 0.0) for value in values)
