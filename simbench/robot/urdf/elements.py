"""The links and joints of a URDF as they are written, even if they are wrong: invalid numbers become NaN."""

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from simbench.errors import RobotError
from simbench.input_files import require_regular_file

INERTIA = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
SIZES = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": (),
}
"""The geometries that Bullet and Pinocchio read, and the attributes with their size."""

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class UrdfShape:
    """A `<visual>` or `<collision>` of a link.

    Parameters
    ----------
    role : str
        `visual` or `collision`.
    kind : str or None
        Kind of geometry, a key of `SIZES` or an unknown tag; None if there is no geometry.
    size : tuple of float
        Values of the attributes that `SIZES` lists, m.
    file_name : str or None
        Mesh file as the URDF names it; None for other geometries.
    scale : tuple of float
        Scale of the mesh along x, y and z.
    xyz, rpy : tuple of float
        Position, m, and roll-pitch-yaw angles, rad, in the link frame.
    """

    role: str
    kind: str | None
    size: Numbers
    file_name: str | None
    scale: Numbers
    xyz: Numbers
    rpy: Numbers


@dataclass(frozen=True)
class UrdfLink:
    """A link.

    Parameters
    ----------
    name : str
        Name of the link.
    mass : float
        Mass, kg.
    cog : tuple of float
        Centre of gravity in the link frame, m.
    rpy : tuple of float
        Roll-pitch-yaw angles of the inertia's axes in the link frame, rad.
    inertia : tuple of float
        Inertia about the centre of gravity, ixx, iyy, izz, ixy, ixz, iyz, kg·m².
    shapes : tuple of UrdfShape
        Visual and collision shapes.
    """

    name: str
    mass: float
    cog: Numbers
    rpy: Numbers
    inertia: Numbers
    shapes: tuple[UrdfShape, ...]


@dataclass(frozen=True)
class UrdfJoint:
    """A joint; limits that `<limit>` does not give are None.

    Parameters
    ----------
    name : str
        Name of the joint.
    kind : str
        Type of the joint, `revolute`, `fixed`, ...
    parent, child : str
        Names of the links that it connects.
    axis : tuple of float
        Direction of the joint axis in the joint frame.
    lower, upper : float or None
        Limits of the position, rad or m.
    velocity : float or None
        Limit of the speed, rad/s or m/s.
    effort : float or None
        Limit of the torque or force, N·m or N.
    mimic : str or None
        Name of the joint that it mimics.
    """

    name: str
    kind: str
    parent: str
    child: str
    axis: Numbers
    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None
    mimic: str | None


@dataclass(frozen=True)
class UrdfTree:
    """All links and joints of a URDF.

    Parameters
    ----------
    name : str
        Name of the robot.
    links : tuple of UrdfLink
        Links in the order of the file.
    joints : tuple of UrdfJoint
        Joints in the order of the file.
    bad_numbers : tuple of str
        One line for each number that is missing or invalid.
    """

    name: str
    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]
    bad_numbers: tuple[str, ...]


def parse_urdf(path: Path) -> ET.Element:
    """Read the XML of a URDF.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    xml.etree.ElementTree.Element
        The element `<robot>`.

    Raises
    ------
    RobotError
        If the file cannot be read, is not XML, is a xacro file, or contains no `<robot>`.
    """
    require_regular_file(path, RobotError)
    try:
        # Other readers accept blanks before the XML declaration and a zero byte at the end.
        robot = ET.fromstring(path.read_bytes().strip(b"\0 \t\r\n"))
    except OSError as error:
        raise RobotError(f"{path}: cannot be read: {error.strerror}") from error
    except (ET.ParseError, LookupError, ValueError) as error:
        raise RobotError(f"{path}: not XML: {error}") from error
    if path.suffix == ".xacro" or any("xacro" in element.tag for element in robot.iter()):
        raise RobotError(f"{path}: a xacro file, not yet a URDF; expand it: xacro {path.name} > robot.urdf")
    if robot.tag != "robot":
        raise RobotError(f"{path}: expected <robot> as the outermost element, found <{robot.tag}>")
    return robot


def read_elements(robot: ET.Element) -> UrdfTree:
    """Read the links and joints of a URDF.

    Parameters
    ----------
    robot : xml.etree.ElementTree.Element
        The element `<robot>`.

    Returns
    -------
    UrdfTree
        The links and joints.
    """
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
    _origin(element, where, bad)
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

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    tuple of float
        The numbers; empty if one of them is not a finite number.
    """
    try:
        values = tuple(float(part) for part in text.split())
    except ValueError:
        return ()
    return values if all(map(math.isfinite, values)) else ()
