"""The links and joints of a URDF as they are written, even if they are wrong: invalid numbers become NaN."""

import math
import re
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from simbench.errors import RobotError
from simbench.files.text import printable
from simbench.robot.xml_reader import read_xml

INERTIA = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
SIZES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": (),
}
"""The geometries that Bullet and Pinocchio read, and the attributes with their size."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_BLANKS = re.compile(r"[ \t\r\n]+")
_LONGEST_MESSAGE = 1000
_SMALLEST = sys.float_info.min

LONGEST_NAME = 255
"""Longest name, bytes. Bullet copies names to buffers of 1024 bytes without a look at their length."""
LARGEST_LENGTH = 1e4
"""Largest distance (m), angle (rad) or scale."""

Numbers = tuple[float, ...]


_OTHER_FORMATS = {"sdf": "SDF", "mujoco": "MJCF (MuJoCo)", "COLLADA": "a mesh", "gazebo": "SDF"}
"""Formats of other files, by their outermost element."""


@dataclass(frozen=True)
class UrdfShape:
    """A `<visual>` or `<collision>` of a link."""

    role: str
    kind: str | None  # Kind of geometry, a key of `SIZES` or an unknown tag; None if there is no geometry.
    size: Numbers  # Values of the attributes that `SIZES` lists, m.
    file_name: str | None  # Mesh file as the URDF names it; None for other geometries.
    scale: Numbers  # Scale of the mesh along x, y and z.
    xyz: Numbers  # `xyz`, `rpy`: position, m, and roll-pitch-yaw angles, rad, in the link frame.
    rpy: Numbers


@dataclass(frozen=True)
class UrdfLink:
    """A link."""

    name: str
    mass: float  # Mass, kg.
    cog: Numbers  # Centre of gravity in the link frame, m.
    rpy: Numbers  # Roll-pitch-yaw angles of the inertia's axes in the link frame, rad.
    inertia: Numbers  # Inertia about the centre of gravity, ixx, iyy, izz, ixy, ixz, iyz, kg·m².
    shapes: tuple[UrdfShape, ...]  # Visual and collision shapes.


@dataclass(frozen=True)
class UrdfJoint:
    """A joint; limits that `<limit>` does not give are None."""

    name: str
    kind: str  # Type of the joint, `revolute`, `fixed`,.
    parent: str  # `parent`, `child`: names of the links that it connects.
    child: str
    # `xyz`, `rpy`: position, m, and roll-pitch-yaw angles, rad, of the joint frame in the parent link's
    # frame.
    xyz: Numbers
    rpy: Numbers
    axis: Numbers  # Direction of the joint axis in the joint frame.
    lower: float | None  # `lower`, `upper`: limits of the position, rad or m.
    upper: float | None
    velocity: float | None  # Limit of the speed, rad/s or m/s.
    effort: float | None  # Limit of the torque or force, N·m or N.
    mimic: str | None  # Name of the joint that it mimics.


@dataclass(frozen=True)
class UrdfTree:
    """All links and joints of a URDF."""

    name: str  # Name of the robot.
    links: tuple[UrdfLink, ...]  # Links in the order of the file.
    joints: tuple[UrdfJoint, ...]  # Joints in the order of the file.
    bad_numbers: tuple[str, ...]  # One line for each number that is missing or invalid.


def parse_urdf(path: Path) -> ET.Element:
    """Read the XML of a URDF. `path`: the file. Returns the element `<robot>`."""
    robot = read_xml(path)
    if path.suffix == ".xacro" or any(map(_is_macro, robot.iter())):
        raise RobotError(f"{path}: a xacro file, not yet a URDF; expand it: xacro {path.name} > robot.urdf")
    if robot.tag != "robot":
        other = _OTHER_FORMATS.get(robot.tag)
        hint = f"; {other} is not read: convert it to a URDF" if other else ""
        raise RobotError(f"{path}: expected <robot> as the outermost element, found <{robot.tag}>{hint}")
    return robot


def _is_macro(element: ET.Element) -> bool:
    """Tell whether an element is one of xacro, or has an expression of it as a value."""
    return "xacro" in element.tag or any("${" in value for value in element.attrib.values())


def read_elements(robot: ET.Element) -> UrdfTree:
    """Read the links and joints of a URDF."""
    bad: list[str] = []
    links = tuple(_link(element, bad) for element in robot.findall("link"))
    joints = tuple(_joint(element, bad) for element in robot.findall("joint"))
    return UrdfTree(robot.get("name", ""), links, joints, tuple(bad))


def _link(element: ET.Element, bad: list[str]) -> UrdfLink:
    """Read a link; messages about bad numbers are appended to `bad`, here and below."""
    name = element.get("name", "")
    where = f"link `{name}`"
    inertial = element.find("inertial")
    shapes = tuple(_shape(shape, where, bad) for shape in element if shape.tag in ("visual", "collision"))
    if inertial is None:
        return UrdfLink(name, 0.0, (0.0,) * 3, (0.0,) * 3, (0.0,) * 6, shapes)
    xyz, rpy = _origin(inertial, f"{where}: inertial", bad)
    (mass,) = _numbers(inertial.find("mass"), "value", 1, None, f"{where}: mass", bad)
    matrix = inertial.find("inertia")
    # Products of inertia may be left out.
    inertia = [
        _numbers(matrix, entry, 1, "0" if entry[1] != entry[2] else None, f"{where}: inertia", bad)[0]
        for entry in INERTIA
    ]
    return UrdfLink(name, mass, xyz, rpy, tuple(inertia), shapes)


def _shape(element: ET.Element, where: str, bad: list[str]) -> UrdfShape:
    """Read a visual or collision shape."""
    where = f"{where}: {element.tag}"
    xyz, rpy = _origin(element, where, bad)
    form = next(iter(element.find("geometry") or ()), None)
    if form is None or form.tag not in SIZES:
        return UrdfShape(element.tag, None if form is None else form.tag, (), None, (1.0,) * 3, xyz, rpy)
    if form.tag == "mesh":
        scale = _numbers(form, "scale", 3, "1 1 1", f"{where}: mesh", bad)
        return UrdfShape(element.tag, "mesh", (), form.get("filename", ""), scale, xyz, rpy)
    size = [
        number
        for attribute in SIZES[form.tag]
        for number in _numbers(form, attribute, 3 if attribute == "size" else 1, None, where, bad)
    ]
    return UrdfShape(element.tag, form.tag, tuple(size), None, (1.0,) * 3, xyz, rpy)


def _joint(element: ET.Element, bad: list[str]) -> UrdfJoint:
    """Read a joint."""
    name = element.get("name", "")
    where = f"joint `{name}`"
    xyz, rpy = _origin(element, where, bad)
    limit = element.find("limit")

    def limit_value(attribute: str) -> float | None:
        if limit is None or attribute not in limit.attrib:
            return None
        return _numbers(limit, attribute, 1, None, f"{where}: limit", bad)[0]

    mimic = element.find("mimic")
    return UrdfJoint(
        name=name,
        kind=element.get("type", ""),
        parent=_named_link(element, "parent"),
        child=_named_link(element, "child"),
        xyz=xyz,
        rpy=rpy,
        axis=_numbers(element.find("axis"), "xyz", 3, "1 0 0", f"{where}: axis", bad),
        lower=limit_value("lower"),
        upper=limit_value("upper"),
        velocity=limit_value("velocity"),
        effort=limit_value("effort"),
        mimic=None if mimic is None else mimic.get("joint", ""),
    )


def _named_link(joint: ET.Element, end: str) -> str:
    """Name of the link at the `parent` or `child` end of a joint."""
    element = joint.find(end)
    return "" if element is None else element.get("link", "")


def _origin(element: ET.Element, where: str, bad: list[str]) -> tuple[Numbers, Numbers]:
    """Read position, m, and roll-pitch-yaw angles, rad, of an `<origin>`."""
    origin = element.find("origin")
    return (
        _numbers(origin, "xyz", 3, "0 0 0", f"{where}: origin", bad),
        _numbers(origin, "rpy", 3, "0 0 0", f"{where}: origin", bad),
    )


def _numbers(
    element: ET.Element | None, attribute: str, count: int, default: str | None, where: str, bad: list[str]
) -> Numbers:
    """Read the numbers of an attribute, which must exist if there is no default."""
    text = default if element is None else element.get(attribute, default)
    if text is None:
        bad.append(f"{where}: `{attribute}` is missing")
        return (math.nan,) * count
    values = parse_numbers(text)
    if len(values) != count:
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        bad.append(f'{where}: {attribute}="{text}" is not {expected}')
        return (math.nan,) * count
    return values


def parse_numbers(text: str) -> Numbers:
    """Read numbers that are separated by blanks.

    Only the notation that every parser reads counts: Python alone would also read `1_000` or `٣`. What is too
    small for a double with all its digits counts as zero, because some parsers refuse it. Returns the
    numbers; empty if one of them is not a finite number.
    """
    parts = _BLANKS.split(text.strip(" \t\r\n"))
    if not all(map(is_plain_number, parts)):
        return ()
    values = tuple(value if abs(value) >= _SMALLEST else 0.0 for value in map(float, parts))
    return values if all(map(math.isfinite, values)) else ()


def is_plain_number(text: str) -> bool:
    """Tell whether a text is a decimal number in the notation that every parser reads."""
    return _NUMBER.fullmatch(text) is not None


def shorten_message(line: str) -> str:
    """Write a message that quotes a file so that it stays one line of limited length on any terminal.

    Returns the message with escapes for characters that cannot be printed; its middle is left out if it is
    longer than a screen.
    """
    text = printable(line).replace("\n", r"\n").replace("\t", r"\t")
    half = _LONGEST_MESSAGE // 2
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:half]} … {text[-half:]}"
