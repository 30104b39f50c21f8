"""Reduction of a URDF to the elements, attributes and numbers that every reader understands alike.

The parsers in the C++ of Pinocchio and Bullet print, refuse or crash where something is unexpected. They only
get what is listed here, with every number in plain notation.
"""

import xml.etree.ElementTree as ET
import zlib
from collections import Counter
from collections.abc import Iterator

from simbench.robot.urdf.elements import INERTIA, LONGEST_NAME, is_plain_number, parse_numbers

_ORIGIN = ("xyz", "rpy")
_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "robot": ("name", "version"),
    "material": ("name",),
    "color": ("rgba",),
    "texture": ("filename",),
    "link": ("name",),
    "mass": ("value",),
    "inertia": INERTIA,
    "origin": _ORIGIN,
    "visual": ("name",),
    "collision": ("name",),
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": ("filename", "scale"),
    "joint": ("name", "type"),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "effort", "velocity"),
}
"""Attributes of each element that are read."""
_CHILDREN: dict[str, tuple[str, ...]] = {
    "robot": ("material", "link", "joint"),
    "material": ("color", "texture"),
    "link": ("inertial", "visual", "collision"),
    "inertial": ("origin", "mass", "inertia"),
    "visual": ("origin", "geometry", "material"),
    "collision": ("origin", "geometry"),
    "geometry": ("box", "sphere", "cylinder", "capsule", "mesh"),
    "joint": ("origin", "parent", "child", "axis", "limit"),
}
"""Elements in each element that are read."""
_REPEATED = ("material", "link", "joint", "visual", "collision")
"""Elements that their parents may contain several times."""
LONGEST_TEXT = 150
"""Longest text of numbers that stays as it is, bytes: six of them fit in a line that Bullet reads."""
_TEXTS = ("name", "filename", "link", "type", "version")


def keep_known_parts(robot: ET.Element) -> list[str]:
    """Remove the elements and attributes that no simulator needs, in place, and write numbers plainly.

    Returns one line for each element that repeats what may be given only once.
    """
    notes = []
    for parent in robot.iter():
        counted = Counter(child.tag for child in parent)
        repeated = [
            tag
            for tag, count in counted.items()
            if count > 1 and tag in _CHILDREN.get(parent.tag, ()) and not _may_repeat(parent, tag)
        ]
        notes += [
            f"{_where(robot, parent)}: {counted[tag]} <{tag}>; only the first counts" for tag in repeated
        ]
    _reduce(robot)
    if not robot.get("name"):
        robot.set("name", "robot")
        notes.append("robot: has no name; called `robot`")
    for element in robot.iter():
        # Names of links and joints are checked before: others refer to them.
        if element.tag in ("robot", "material", "visual", "collision"):
            element.set("name", _short_name(element.get("name", ""), element.tag))
            if not element.get("name"):
                del element.attrib["name"]
    notes += _resolve_materials(robot)
    return notes


def _short_name(name: str, kind: str) -> str:
    """Replace a name that is too long for Bullet, or cannot be printed, by one that stands for it."""
    if name.isprintable() and len(name.encode(errors="replace")) <= LONGEST_NAME:
        return name
    return f"{kind} {zlib.crc32(name.encode(errors='replace')):08x}"


def _may_repeat(parent: ET.Element, tag: str) -> bool:
    """Tell whether an element may occur several times in its parent."""
    return tag in _REPEATED and parent.tag in ("robot", "link")


def _where(robot: ET.Element, part: ET.Element) -> str:
    """Name the link, joint or material that a part belongs to, for a note."""
    for element in robot:
        if any(each is part for each in element.iter()):
            inside = "" if element is part else f": {part.tag}"
            return f"{element.tag} `{element.get('name')}`{inside}"
    return "robot"


def _reduce(element: ET.Element) -> None:
    """Remove everything unknown in and below an element; blanks between elements stay."""
    known, seen = _CHILDREN.get(element.tag, ()), set()
    for child in list(element):
        if child.tag not in known or (child.tag in seen and not _may_repeat(element, child.tag)):
            element.remove(child)
            continue
        seen.add(child.tag)
        _reduce(child)
    if element.tag == "geometry":
        for child in list(element)[1:]:
            element.remove(child)
    for key in [key for key in element.attrib if key not in _ATTRIBUTES.get(element.tag, ())]:
        del element.attrib[key]
    for key, value in element.attrib.items():
        if key not in _TEXTS:
            element.set(key, _plain(value))
    if element.text and element.text.strip():
        element.text = None
    if element.tail and element.tail.strip():
        element.tail = None


def _plain(text: str) -> str:
    """Write numbers in a notation that every parser reads; text that is in it already stays."""
    values, parts = parse_numbers(text), text.split(" ")
    if len(text) <= LONGEST_TEXT and all(map(is_plain_number, parts)) and values == tuple(map(float, parts)):
        return text
    return " ".join(repr(value) for value in values)


def _resolve_materials(robot: ET.Element) -> list[str]:
    """Remove materials that are defined twice or not at all, in place: Pinocchio would refuse the robot."""
    notes, defined = [], set()
    for material in robot.findall("material"):
        name = material.get("name", "")
        if name in defined:
            notes.append(f"material `{name}`: defined several times; only the first definition counts")
        elif not len(material):
            notes.append(f"material `{name}`: has no colour and no texture; left out")
        if name in defined or not len(material):
            robot.remove(material)
        else:
            defined.add(name)
    # A definition in a shape also counts for the shapes after it.
    for shape, material in list(_shape_materials(robot)):
        name = material.get("name", "")
        if len(material):
            defined.add(name)
        elif name not in defined:
            shape.remove(material)
            notes.append(f"material `{name}`: is not defined; left out")
    return notes


def _shape_materials(robot: ET.Element) -> Iterator[tuple[ET.Element, ET.Element]]:
    """Visual shapes of all links with their materials."""
    for shape in robot.findall("link/visual"):
        for material in shape.findall("material"):
            yield shape, material
