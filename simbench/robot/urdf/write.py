"""Writer of a URDF and its meshes from a robot description."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
import trimesh

from simbench.errors import RobotError
from simbench.robot.description import Description, FixedFrame, JointDescription, LinkDescription
from simbench.robot.dh.dh import row_placement
from simbench.robot.meshes.meshes import LinkShapes, build_link_shapes, write_obj
from simbench.robot.mirror import add_mirrored_entries, mirror_frame, mirror_joint, mirror_link
from simbench.robot.shapes import CollisionShape

AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
MESHES = "meshes"


def write_urdf(description: Description, folder: Path) -> list[Path]:
    """Write a robot's URDF and `meshes/*.obj`.

    `description`: description with the sections from which a URDF is built (`root`, `links`, `joints`, ...);
    `folder`: existing folder, to which the files are written. Returns the files that were written.
    """
    prefixes = description.mirror
    joints = add_mirrored_entries(description.joints, prefixes, lambda joint: mirror_joint(joint, prefixes))
    links = subtract_carved_links(
        add_mirrored_entries(description.links, prefixes, lambda link: mirror_link(link, prefixes)), joints
    )
    frames = add_mirrored_entries(
        description.fixed_frames, prefixes, lambda frame: mirror_frame(frame, prefixes)
    )
    shapes = build_link_shapes(description.visual, description.collision, prefixes)

    robot = ET.Element("robot", name=description.name)
    for name, color in description.colors.items():
        material = ET.SubElement(robot, "material", name=name)
        ET.SubElement(material, "color", rgba=_numbers((*color, 1.0)))
    meshes: dict[str, trimesh.Trimesh] = {}
    for name, link in links.items():
        element = ET.SubElement(robot, "link", name=name)
        _add_inertial(element, link.mass, link.cog, link.inertia)
        if name in shapes:
            meshes |= _add_shapes(element, name, shapes[name])
    for name, joint in joints.items():
        _add_joint(robot, name, joint)
    for name, frame in frames.items():
        _add_inertial(ET.SubElement(robot, "link", name=name), 0.0, (0.0,) * 3, (0.0,) * 6)
        element = ET.SubElement(robot, "joint", name=f"{name}_joint", type="fixed")
        _add_placement(element, frame, name)

    for file_name in (description.urdf, *meshes):
        if not (folder / file_name).resolve().is_relative_to(folder.resolve()):
            raise RobotError(
                f"{description.name}: {file_name} must lie in {folder}, where the robot is written"
            )
    (folder / MESHES).mkdir(exist_ok=True)
    for file_name, mesh in meshes.items():
        write_obj(mesh, folder / file_name)
    path = folder / description.urdf
    ET.indent(robot)
    text = ET.tostring(robot, encoding="unicode", xml_declaration=True)
    path.write_text(text + "\n", encoding="utf-8")
    return [path, *(folder / file_name for file_name in meshes)]


def subtract_carved_links(
    links: Mapping[str, LinkDescription], joints: Mapping[str, JointDescription]
) -> dict[str, LinkDescription]:
    """Subtract each link with `carved_from` from the link whose published mass properties include it.

    `links`: all links by name; `joints`: all joints by name. Returns all links, with reduced mass properties
    where a part was subtracted.
    """
    result = dict(links)
    for name, part in links.items():
        if part.carved_from is None:
            continue
        joint = next(joint for joint in joints.values() if joint.child == name)
        at = _placement(joint)
        placement = pin.SE3(pin.rpy.rpyToMatrix(*at.rpy), np.array(at.xyz))
        rest = _inertia(result[part.carved_from]) - placement.act(_inertia(part))
        x, y, z = (round(float(value), 9) for value in rest.lever)
        (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = np.round(rest.inertia, 12).tolist()
        result[part.carved_from] = LinkDescription(
            mass=round(rest.mass, 9), cog=(x, y, z), inertia=(ixx, iyy, izz, ixy, ixz, iyz)
        )
    return result


def _inertia(link: LinkDescription) -> pin.Inertia:
    """Inertia of a link in its frame."""
    ixx, iyy, izz, ixy, ixz, iyz = link.inertia
    matrix = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    return pin.Inertia(link.mass, np.array(link.cog), matrix)


def _numbers(values: Iterable[float], digits: int = 9) -> str:
    """Write numbers with a given number of digits."""
    return " ".join(f"{value + 0.0:.{digits}g}" for value in values)


def _add_inertial(element: ET.Element, mass: float, cog: Sequence[float], inertia: Sequence[float]) -> None:
    """Add the mass properties of a link."""
    inertial = ET.SubElement(element, "inertial")
    ET.SubElement(inertial, "origin", xyz=_numbers(cog), rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=_numbers([mass]))
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    entries = {name: _numbers([value]) for name, value in zip(names, inertia, strict=True)}
    ET.SubElement(inertial, "inertia", entries)


def _add_placement(element: ET.Element, frame: FixedFrame, child: str) -> None:
    """Add parent, child and placement of a joint."""
    ET.SubElement(element, "parent", link=frame.parent)
    ET.SubElement(element, "child", link=child)
    # Twelve digits, because a right angle with an error of 1e-9 is visible in comparisons with closed forms.
    ET.SubElement(element, "origin", xyz=_numbers(frame.xyz, 12), rpy=_numbers(frame.rpy, 12))


def _placement(joint: JointDescription) -> FixedFrame:
    """Placement of a joint, from its Denavit-Hartenberg row if it has one."""
    if joint.dh is None:
        return joint
    placement = row_placement(joint.dh)
    x, y, z = placement.translation.tolist()
    roll, pitch, yaw = pin.rpy.matrixToRpy(placement.rotation).tolist()
    return FixedFrame(parent=joint.parent, xyz=(x, y, z), rpy=(roll, pitch, yaw))


def _add_joint(robot: ET.Element, name: str, joint: JointDescription) -> None:
    """Add a revolute joint with axis and limits."""
    element = ET.SubElement(robot, "joint", name=name, type="revolute")
    _add_placement(element, _placement(joint), joint.child)
    ET.SubElement(element, "axis", xyz=AXES[joint.axis])
    ET.SubElement(
        element,
        "limit",
        lower=_numbers([joint.limits[0]]),
        upper=_numbers([joint.limits[1]]),
        velocity=_numbers([joint.velocity]),
        effort=_numbers([joint.effort]),
    )


def _add_shapes(element: ET.Element, link: str, shapes: LinkShapes) -> dict[str, trimesh.Trimesh]:
    """Add a link's visual and collision elements; return the meshes they refer to by file name."""
    meshes = {}
    for color, mesh in shapes.visual.items():
        file_name = f"{MESHES}/{link}_{color}.obj"
        meshes[file_name] = mesh
        visual = ET.SubElement(element, "visual")
        _add_geometry(visual, file_name)
        ET.SubElement(visual, "material", name=color)
    for number, shape in enumerate(shapes.collision):
        collision = ET.SubElement(element, "collision")
        if isinstance(shape, CollisionShape):
            _add_geometry(collision, shape)
        else:
            file_name = f"{MESHES}/{link}_collision{number}.obj"
            meshes[file_name] = shape
            _add_geometry(collision, file_name)
    return meshes


def _add_geometry(element: ET.Element, shape: CollisionShape | str) -> None:
    """Add origin and geometry: a primitive, or the mesh in the file named."""
    at = (0.0, 0.0, 0.0) if isinstance(shape, str) else shape.at
    ET.SubElement(element, "origin", xyz=_numbers(at), rpy="0 0 0")
    geometry = ET.SubElement(element, "geometry")
    if isinstance(shape, str):
        ET.SubElement(geometry, "mesh", filename=shape)
    elif shape.box:
        ET.SubElement(geometry, "box", size=_numbers(shape.box))
    elif shape.sphere:
        ET.SubElement(geometry, "sphere", radius=_numbers([shape.sphere]))
