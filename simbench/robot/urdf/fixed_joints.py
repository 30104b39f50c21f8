"""Joints of a URDF that are fixed, and links that become one with the link that carries them."""

import xml.etree.ElementTree as ET
from collections.abc import Collection, Mapping

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.urdf.elements import INERTIA, parse_numbers

_MOVING = ("revolute", "continuous", "prismatic")
_TINY = 1e-12


def fix_joints(robot: ET.Element, positions: Mapping[str, float], where: str) -> None:
    """Fix joints at given positions, in place, and merge the links that they moved into those before them.

    The merged link has the mass, the centre of gravity, the inertia and the shapes of both; what the merged
    link carried keeps its pose. So the robot is that whose joints are locked, with fewer links. `positions`:
    position of each joint, rad or m; `where`: file and key, for messages.
    """
    for name, position in positions.items():
        joints = {element.get("name", ""): element for element in robot.findall("joint")}
        joint = joints.get(name)
        if joint is None or joint.get("type") not in (*_MOVING, "fixed"):
            moving = sorted(each for each, element in joints.items() if element.get("type") in _MOVING)
            raise RobotError(
                f"{where}.{name}: no joint to fix has this name; allowed: {', '.join(moving)}, "
                "or a fixed joint"
            )
        _require_inside(joint, position, f"{where}.{name}")
        _merge_child(robot, joint, _read_pose(joint) * _displacement(joint, position))


def merge_light_links(robot: ET.Element, most: int, kept: Collection[str]) -> list[str]:
    """Merge links on fixed joints, in place, until a robot has at most so many joints.

    Links that carry nothing and that no one names are merged first, the lightest of them at first. `most`:
    joints that the robot may have, whether they move or not; `kept`: links that stay.
    """
    merged: list[str] = []
    while len(joints := robot.findall("joint")) > most:
        parents = {_end(joint, "parent") for joint in joints}
        fixed = [
            joint for joint in joints if joint.get("type") == "fixed" and _end(joint, "child") not in kept
        ]
        if not fixed:
            break
        links = {element.get("name", ""): element for element in robot.findall("link")}

        def rank(
            joint: ET.Element, parents: set[str] = parents, links: dict[str, ET.Element] = links
        ) -> tuple[bool, float]:
            child = _end(joint, "child")
            return child in parents, _read_inertia(links[child]).mass if child in links else np.inf

        lightest = min(fixed, key=rank)
        if _end(lightest, "child") not in links or _end(lightest, "parent") not in links:
            break
        merged.append(_end(lightest, "child"))
        _merge_child(robot, lightest, _read_pose(lightest))
    return merged


def _require_inside(joint: ET.Element, position: float, where: str) -> None:
    """Refuse a position outside the limits of a joint."""
    limit = joint.find("limit")
    if joint.get("type") == "fixed" and position != 0.0:
        raise RobotError(f"{where}: {position:g}; the joint does not move: allowed: 0")
    if limit is None or joint.get("type") == "continuous":
        return
    low, high = (parse_numbers(limit.get(key, "")) for key in ("lower", "upper"))
    if low and high and low[0] <= high[0] and not low[0] <= position <= high[0]:
        raise RobotError(f"{where}: {position:g} is outside the joint's limits {low[0]:g}..{high[0]:g}")


def _merge_child(robot: ET.Element, joint: ET.Element, pose: pin.SE3) -> None:
    """Merge the child link of a joint, which is at a pose in the parent link, into the parent, in place."""
    links = {element.get("name", ""): element for element in robot.findall("link")}
    parent, child = links.get(_end(joint, "parent")), links.get(_end(joint, "child"))
    if parent is None or child is None:
        # What is wrong with the tree of links is said by those who read it.
        joint.set("type", "fixed")
        return
    whole, added = _read_inertia(parent), _read_inertia(child)
    if added.mass > 0.0:
        _write_inertia(parent, whole + pose.act(added) if whole.mass > 0.0 else pose.act(added))
    for shape in child:
        if shape.tag in ("visual", "collision"):
            _write_pose(shape, pose * _read_pose(shape))
            parent.append(shape)
    for other in robot.findall("joint"):
        end = other.find("parent")
        if end is not None and end.get("link") == child.get("name"):
            end.set("link", parent.get("name", ""))
            _write_pose(other, pose * _read_pose(other))
    robot.remove(joint)
    robot.remove(child)


def _displacement(joint: ET.Element, position: float) -> pin.SE3:
    """Motion of a joint from its zero position."""
    axis = joint.find("axis")
    direction = np.array(parse_numbers("1 0 0" if axis is None else axis.get("xyz", "1 0 0")))
    if joint.get("type") == "fixed" or direction.shape != (3,) or not np.linalg.norm(direction) > _TINY:
        return pin.SE3.Identity()
    direction = direction / np.linalg.norm(direction)
    if joint.get("type") == "prismatic":
        return pin.SE3(np.eye(3), position * direction)
    return pin.SE3(pin.exp3(position * direction), np.zeros(3))


def _end(joint: ET.Element, end: str) -> str:
    """Name of the link at the `parent` or `child` end of a joint."""
    element = joint.find(end)
    return "" if element is None else element.get("link", "")


def _read_pose(element: ET.Element) -> pin.SE3:
    """Read the `<origin>` of an element."""
    origin = element.find("origin")
    xyz, rpy = ((_vector(origin, key) if origin is not None else np.zeros(3)) for key in ("xyz", "rpy"))
    return pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz)


def _vector(element: ET.Element, key: str) -> NDArray[np.float64]:
    """Three numbers of an attribute; zeros where it is missing or wrong."""
    values = np.array(parse_numbers(element.get(key, "0 0 0")))
    return values if values.shape == (3,) else np.zeros(3)


def _write_pose(element: ET.Element, pose: pin.SE3) -> None:
    """Write the `<origin>` of an element."""
    origin = element.find("origin")
    if origin is None:
        origin = ET.Element("origin")
        element.insert(0, origin)
    origin.set("xyz", _text(pose.translation))
    origin.set("rpy", _text(pin.rpy.matrixToRpy(pose.rotation)))


def _read_inertia(link: ET.Element) -> pin.Inertia:
    """Inertia of a link in its frame; zero where there is none."""
    inertial = link.find("inertial")
    mass = _number(None if inertial is None else inertial.find("mass"), "value")
    if inertial is None or not mass > 0.0:
        return pin.Inertia.Zero()
    matrix = inertial.find("inertia")
    xx, yy, zz, xy, xz, yz = (_number(matrix, key) for key in INERTIA)
    about_cog = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return _read_pose(inertial).act(pin.Inertia(mass, np.zeros(3), about_cog))


def _number(element: ET.Element | None, key: str) -> float:
    values = () if element is None else parse_numbers(element.get(key, "0"))
    return values[0] if len(values) == 1 else 0.0


def _write_inertia(link: ET.Element, inertia: pin.Inertia) -> None:
    """Replace the `<inertial>` of a link."""
    for old in link.findall("inertial"):
        link.remove(old)
    element = ET.SubElement(link, "inertial")
    ET.SubElement(element, "origin", xyz=_text(inertia.lever), rpy="0 0 0")
    ET.SubElement(element, "mass", value=repr(float(inertia.mass)))
    i = inertia.inertia
    values = (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
    ET.SubElement(
        element, "inertia", dict(zip(INERTIA, (repr(float(value)) for value in values), strict=True))
    )


def _text(values: NDArray[np.float64]) -> str:
    """Write numbers with sixteen digits."""
    return " ".join(f"{value + 0.0:.16g}" for value in values.tolist())
