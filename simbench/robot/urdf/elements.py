"""The links and joints of a URDF as they are written, even if they are wrong: invalid numbers become NaN."""

import math
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.files.text import printable
from simbench.files.xml_document import read_xml
from simbench.robot.mjcf.kept_conversion import convert_kept
from simbench.robot.urdf.xacro_files import expand_xacro, is_xacro
from simbench.system.limits import MOST_ELEMENTS, require_at_most

MOVING = ("revolute", "continuous", "prismatic")
INERTIA = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
# The geometries that Bullet and Pinocchio read, and the attributes with their size.
SIZES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": (),
}

# A decimal number in the notation that every parser reads.
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_BLANKS = re.compile(r"[ \t\r\n]+")
_LONGEST_MESSAGE = 1000
_SMALLEST = sys.float_info.min

# Longest name, bytes. Bullet copies names to buffers of 1024 bytes without a look at their length.
LONGEST_NAME = 255
LARGEST_LENGTH = 1e4  # Largest distance (m), angle (rad) or scale.

Numbers = tuple[float, ...]


# Formats of other files, by their outermost element.
_OTHER_FORMATS = {"sdf": "SDF", "COLLADA": "a mesh", "gazebo": "SDF", "mujocoinclude": "a part of an MJCF"}
USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


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
    multiplier: float  # Its position is multiplier · that of the joint it mimics + offset, rad or m.
    offset: float


def parse_urdf(path: Path, xacro: Mapping[str, str] | None = None) -> ET.Element:
    """Read the XML of a robot's file: a URDF, a xacro file, which is expanded, or MJCF, which is converted.

    `path`: the file; `xacro`: arguments of a xacro file by name. Returns the element `<robot>`; that of an
    MJCF has an element `<mjcf>` with what a URDF has no words for.
    """
    if path.suffix.lower() in USD_SUFFIXES:
        raise RobotError(
            f"{path}: a USD file; USD is not read: convert it to a URDF (pip install nvidia-srl-usd-to-urdf, "
            "or Isaac Sim: File > Export to URDF), or take the URDF or MJCF that it was made from"
        )
    robot = read_xml(path, RobotError)
    if robot.tag == "robot" and is_xacro(path, robot):
        robot = expand_xacro(path, xacro or {})
    elif xacro:
        raise RobotError(f"{path}: no xacro file; arguments of xacro are allowed for a .xacro file only")
    if robot.tag == "mujoco":
        robot = read_xml(convert_kept(path), RobotError)
    if robot.tag != "robot":
        other = _OTHER_FORMATS.get(robot.tag)
        hint = f"; {other} is not read: convert it to a URDF" if other else ""
        raise RobotError(
            f"{path}: expected <robot> or <mujoco> as the outermost element, found <{robot.tag}>{hint}"
        )
    count = sum(element.tag in ("link", "joint", "visual", "collision") for element in robot.iter())
    require_at_most(count, MOST_ELEMENTS, f"{path}: links, joints and shapes", RobotError)
    return robot


class UrdfTree:
    """The links and joints of a URDF, in the order of the file.

    `robot`: the element `<robot>`. `bad_numbers` has one line for each number that is missing or invalid.
    """

    def __init__(self, robot: ET.Element) -> None:
        self.name = robot.get("name", "")
        bad: list[str] = []
        links, joints = [], []
        for element in robot.findall("link"):
            where = f"link `{element.get('name', '')}`"
            shapes = []
            for part in element:
                if part.tag not in ("visual", "collision"):
                    continue
                inside = f"{where}: {part.tag}"
                xyz, rpy = (
                    _numbers(part.find("origin"), key, 3, "0 0 0", f"{inside}: origin", bad)
                    for key in ("xyz", "rpy")
                )
                form = next(iter(part.find("geometry") or ()), None)
                kind = None if form is None else form.tag
                size: Numbers = ()
                file_name: str | None = None
                scale: Numbers = (1.0,) * 3
                if form is not None and kind == "mesh":
                    file_name = form.get("filename", "")
                    scale = _numbers(form, "scale", 3, "1 1 1", f"{inside}: mesh", bad)
                for key in SIZES.get(kind or "", ()):
                    size += _numbers(form, key, 3 if key == "size" else 1, None, inside, bad)
                shapes.append(UrdfShape(part.tag, kind, size, file_name, scale, xyz, rpy))
            inertial = element.find("inertial")
            inertia: Numbers = (0.0,) * 6
            mass, xyz, rpy = 0.0, inertia[:3], inertia[:3]
            if inertial is not None:
                xyz, rpy = (
                    _numbers(inertial.find("origin"), key, 3, "0 0 0", f"{where}: inertial: origin", bad)
                    for key in ("xyz", "rpy")
                )
                (mass,) = _numbers(inertial.find("mass"), "value", 1, None, f"{where}: mass", bad)
                matrix = inertial.find("inertia")
                # Products of inertia may be left out.
                inertia = tuple(
                    _numbers(matrix, key, 1, "0" if key[1] != key[2] else None, f"{where}: inertia", bad)[0]
                    for key in INERTIA
                )
            links.append(UrdfLink(element.get("name", ""), mass, xyz, rpy, inertia, tuple(shapes)))
        for element in robot.findall("joint"):
            where = f"joint `{element.get('name', '')}`"
            xyz, rpy = (
                _numbers(element.find("origin"), key, 3, "0 0 0", f"{where}: origin", bad)
                for key in ("xyz", "rpy")
            )
            axis = _numbers(element.find("axis"), "xyz", 3, "1 0 0", f"{where}: axis", bad)
            limit, mimic = element.find("limit"), element.find("mimic")
            given = {} if limit is None else limit.attrib
            limits = {
                key: _numbers(limit, key, 1, None, f"{where}: limit", bad)[0] if key in given else None
                for key in ("lower", "upper", "velocity", "effort")
            }
            joints.append(
                UrdfJoint(
                    name=element.get("name", ""),
                    kind=element.get("type", ""),
                    parent=linked(element, "parent"),
                    child=linked(element, "child"),
                    xyz=xyz,
                    rpy=rpy,
                    axis=axis,
                    mimic=None if mimic is None else mimic.get("joint", ""),
                    multiplier=_numbers(mimic, "multiplier", 1, "1", f"{where}: mimic", bad)[0],
                    offset=_numbers(mimic, "offset", 1, "0", f"{where}: mimic", bad)[0],
                    **limits,
                )
            )
        self.links, self.joints, self.bad_numbers = tuple(links), tuple(joints), tuple(bad)


def find_couplings(tree: UrdfTree) -> dict[str, tuple[str, float, float]]:
    """Find the joints that mimic others: of each the joint that moves it, multiplier and offset, rad or m.

    One that mimics a joint that mimics a third follows the third. Those that follow themselves, or nothing
    that moves, are left out.
    """
    moving = {joint.name: joint for joint in tree.joints if joint.kind in MOVING}
    found: dict[str, tuple[str, float, float]] = {}
    for name, joint in moving.items():
        multiplier, offset, leader, seen = 1.0, 0.0, joint, {name}
        while leader.mimic in moving and leader.mimic not in seen:
            multiplier, offset = multiplier * leader.multiplier, offset + multiplier * leader.offset
            leader = moving[leader.mimic]
            seen.add(leader.name)
        if leader.name != name and not leader.mimic and multiplier:
            found[name] = leader.name, multiplier, offset
    return found


def linked(joint: ET.Element, end: str) -> str:
    """Name of the link at the `parent` or `child` end of a joint; empty where it names none."""
    element = joint.find(end)
    return "" if element is None else element.get("link", "")


def add_joint(
    robot: ET.Element, name: str, kind: str, parent: str, child: str, xyz: str, rpy: str
) -> ET.Element:
    """Add a joint with its placement in the parent link."""
    joint = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)
    ET.SubElement(joint, "origin", xyz=xyz, rpy=rpy)
    return joint


def add_inertial(
    link: ET.Element,
    mass: float,
    cog: Iterable[float],
    inertia: Iterable[float],
    write: Callable[[Iterable[float]], str],
) -> None:
    """Add the mass properties of a link, with a function that writes numbers."""
    inertial = ET.SubElement(link, "inertial")
    ET.SubElement(inertial, "origin", xyz=write(cog), rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=write([mass]))
    entries = {key: write([value]) for key, value in zip(INERTIA, inertia, strict=True)}
    ET.SubElement(inertial, "inertia", entries)


def inertia_matrix(entries: Iterable[float]) -> NDArray[np.float64]:
    """Build the matrix (3, 3) of the entries of an inertia, in the order of `INERTIA`."""
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


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
    if not all(map(NUMBER.fullmatch, parts)):
        return ()
    values = tuple(value if abs(value) >= _SMALLEST else 0.0 for value in map(float, parts))
    return values if all(map(math.isfinite, values)) else ()


def shorten_message(line: str) -> str:
    """Write a message that quotes a file so that it stays one line of limited length on any terminal.

    Returns the message with escapes for characters that cannot be printed; its middle is left out if it is
    longer than a screen.
    """
    text = printable(line).replace("\n", r"\n").replace("\t", r"\t")
    half = _LONGEST_MESSAGE // 2
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:half]} … {text[-half:]}"
