"""Conversion of a URDF to a form that Pinocchio and Bullet read in the same way.

The parsers in their C++ print, refuse or crash where something is unexpected. They only get the elements and
attributes that are listed here, with every number in plain notation.
"""

import math
import xml.etree.ElementTree as ET
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pinocchio as pin

from simbench.robot.packages import find_file
from simbench.robot.urdf.elements import (
    INERTIA,
    LARGEST_LENGTH,
    LONGEST_NAME,
    SIZES,
    UrdfJoint,
    inertia_matrix,
    is_plain_number,
    parse_numbers,
)
from simbench.robot.urdf.mesh_files import check_mesh, find_mesh_format_error
from simbench.robot.urdf.urdf_errors import MOVING

# Position limit of an unlimited joint, rad or m: far beyond any motion, small enough to be exact.
UNLIMITED_TRAVEL = 1e4
UNLIMITED_EFFORT = 1e6  # Limit of an unlimited effort, N·m or N: no motor of a robot reaches it.
UNLIMITED_VELOCITY = 1e4  # Limit of an unlimited speed, rad/s or m/s.
NO_TRAVEL = "has no travel limits"
ROUNDING = 1e-3  # A deviation of an axis' length from 1 that is not reported, because it is due to rounding.


def normalise_joint(element: ET.Element, joint: UrdfJoint) -> list[str]:
    """Give a moving joint a unit axis and complete limits, in place.

    `joint`: the same joint, as it was read. Returns what changed, one line each.
    """
    if joint.kind not in MOVING:
        return []
    notes = []
    length = math.hypot(*joint.axis)
    axis = element.find("axis")
    if axis is not None and length > 0 and abs(length - 1) >= 1e-9:
        # Pinocchio normalises the axis, Bullet does not.
        axis.set("xyz", " ".join(f"{value / length:.12g}" for value in joint.axis))
        if abs(length - 1) >= ROUNDING:
            notes.append(f"joint `{joint.name}`: axis has length {length:g}; made 1")
    notes += _complete_limits(element, joint)
    mimic = element.find("mimic")
    if mimic is not None:
        element.remove(mimic)
        notes.append(f"joint `{joint.name}`: mimics `{joint.mimic}`; taken as a joint that moves by itself")
    return notes


def find_position_limit_error(joint: UrdfJoint) -> str | None:
    """Find out why the position limits of a moving joint cannot be used as they are.

    Returns the reason; None if they can be used.
    """
    if joint.lower is None and joint.upper is None:
        return NO_TRAVEL
    lower, upper = joint.lower or 0.0, joint.upper or 0.0
    return f"lower limit {lower:g} is above the upper {upper:g}" if lower > upper else None


def _complete_limits(element: ET.Element, joint: UrdfJoint) -> list[str]:
    """Write limits of position, effort and velocity where the URDF gives none that can be used."""
    where, missing, notes = f"joint `{joint.name}`", [], []
    limit = element.find("limit")
    if limit is None:
        limit = ET.SubElement(element, "limit")
    problem = None if joint.kind == "continuous" else find_position_limit_error(joint)
    if joint.kind == "continuous" or problem:
        limit.set("lower", f"{-UNLIMITED_TRAVEL:g}")
        limit.set("upper", f"{UNLIMITED_TRAVEL:g}")
        element.set("type", "revolute" if joint.kind == "continuous" else joint.kind)
    else:
        for attribute, value in (("lower", joint.lower), ("upper", joint.upper)):
            if value is not None and abs(value) > UNLIMITED_TRAVEL:
                bound = math.copysign(UNLIMITED_TRAVEL, value)
                limit.set(attribute, f"{bound:g}")
                notes.append(f"{where}: {attribute} limit is {value:g}; taken as {bound:g}")
    if problem == NO_TRAVEL:
        missing.append("travel")
    elif problem:
        notes.append(f"{where}: {problem}; taken as unlimited")
    for attribute, value, unlimited in (
        ("effort", joint.effort, UNLIMITED_EFFORT),
        ("velocity", joint.velocity, UNLIMITED_VELOCITY),
    ):
        if value is None or not 0 < value <= unlimited:
            limit.set(attribute, f"{unlimited:g}")
        if value is None:
            missing.append(attribute)
        elif not (math.isnan(value) or 0 < value <= unlimited):
            # What is no number is an error of its own.
            notes.append(f"{where}: {attribute} limit is {value:g}; taken as unlimited")
    if missing:
        notes.insert(0, f"{where}: no limits of {', '.join(missing)} given; taken as unlimited")
    return notes


GREY = "0.7 0.7 0.7 1"


def fill_inertial(link: ET.Element) -> None:
    """Write the values of `<inertial>` that are left out, in place: zero mass, zero products of inertia."""
    inertial = link.find("inertial")
    if inertial is None:
        # Bullet assumes 1 kg for a link without `<inertial>`.
        inertial = ET.Element("inertial")
        link.insert(0, inertial)
        ET.SubElement(inertial, "mass", value="0")
        ET.SubElement(inertial, "inertia", dict.fromkeys(INERTIA, "0"))
    matrix = inertial.find("inertia")
    if matrix is not None:
        for entry in INERTIA[3:]:
            matrix.set(entry, matrix.get(entry, "0"))


def align_with_principal_axes(link: ET.Element) -> None:
    """Write an inertia that no rigid body has in its principal axes, in place; the tensor stays the same.

    If the largest moment exceeds the sum of the others, even if only by rounding, Bullet ignores the inertia.
    It can be given the moments afterwards, but not products of inertia. `link`: the element `<link>`, with
    all values of its `<inertial>`.
    """
    origin, inertia = link.find("inertial/origin"), link.find("inertial/inertia")
    if inertia is None:
        return
    position, angles = (
        parse_numbers("0 0 0" if origin is None else origin.get(key, "0 0 0")) for key in ("xyz", "rpy")
    )
    entries = [value for entry in INERTIA for value in parse_numbers(inertia.get(entry, "nan"))]
    if [len(entries), len(position), len(angles)] != [6, 3, 3] or not np.isfinite([*entries, *angles]).all():
        return
    moments, axes = np.linalg.eigh(inertia_matrix(entries))
    if moments[0] <= 0.0 or moments[2] < (1.0 - 1e-6) * (moments[0] + moments[1]):
        return
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    rotation = pin.rpy.rpyToMatrix(*angles) @ axes
    inertial = link.find("inertial")
    assert inertial is not None
    if origin is not None:
        inertial.remove(origin)
    # Texts that read back as the same doubles.
    placed = {"xyz": position, "rpy": pin.rpy.matrixToRpy(rotation).tolist()}
    texts = {key: " ".join(repr(float(value)) for value in values) for key, values in placed.items()}
    inertial.insert(0, ET.Element("origin", texts))
    for entry, value in zip(INERTIA, [*moments.tolist(), 0.0, 0.0, 0.0], strict=True):
        inertia.set(entry, repr(value))


def normalise_shapes(link: ET.Element, folder: Path) -> list[str]:
    """Write mesh paths as absolute paths and remove the shapes that cannot be read, in place.

    `folder`: folder of the URDF, to which mesh paths are relative. Returns what was removed, one line each.
    """
    notes = []
    for shape in [element for element in link if element.tag in ("visual", "collision")]:
        problem = _normalise_shape(shape, folder)
        if problem:
            link.remove(shape)
            notes.append(f"link `{link.get('name')}`: {shape.tag} left out: {problem}")
    return notes


def find_mesh_error(file_name: str, folder: Path) -> str | None:
    """Find out why a mesh cannot be used.

    `file_name`: file name as the URDF gives it; `folder`: folder of the URDF, to which mesh paths are
    relative. Returns the reason; None if the mesh can be used.
    """
    path = find_file(file_name, folder)
    if path is None:
        return f"mesh `{file_name}` not found"
    reason = find_mesh_format_error(path)
    return reason and f"mesh `{file_name}`: {reason}"


def _normalise_shape(shape: ET.Element, folder: Path) -> str | None:
    """Write the path of a mesh as an absolute path; or return the reason why the shape cannot be read."""
    form = next(iter(shape.find("geometry") or ()), None)
    if form is None:
        return "has no geometry"
    if form.tag not in SIZES:
        return f"geometry `{form.tag}` is none of {', '.join(SIZES)}"
    for attribute in SIZES[form.tag]:
        if not all(size > 0.0 for size in parse_numbers(form.get(attribute, ""))):
            return f'{form.tag}: {attribute}="{form.get(attribute)}" is not positive'
    if form.tag != "mesh":
        return None
    name = form.get("filename", "")
    problem, path = find_mesh_error(name, folder), find_file(name, folder)
    if problem or path is None:
        return problem
    scale = parse_numbers(form.get("scale", "1 1 1"))
    if 0.0 in scale:
        return f'mesh `{name}`: scale="{form.get("scale")}" makes it flat'
    check = check_mesh(path)
    reach = check.largest * max(map(abs, scale), default=0.0)
    if reach > LARGEST_LENGTH:
        return f"mesh `{name}`: reaches {reach:g} m; allowed is {LARGEST_LENGTH:g}"
    form.set("filename", str(check.file))
    return None


def normalise_materials(robot: ET.Element, folder: Path) -> list[str]:
    """Write texture paths of materials as absolute paths and replace invalid colours by grey, in place.

    `folder`: folder of the URDF, to which texture paths are relative. Returns what was changed or left out,
    one line each.
    """
    notes = []
    for number, material in enumerate(robot.iter("material")):
        # Bullet refuses a link with a material that has no name.
        material.set("name", material.get("name") or f"unnamed {number}")
        where = f"material `{material.get('name')}`"
        for texture in material.findall("texture"):
            name = texture.get("filename", "")
            path = find_file(name, folder)
            if path is None:
                material.remove(texture)
                notes.append(f"{where}: texture `{name}` not found; left out")
            else:
                texture.set("filename", str(path))
        for color in material.findall("color"):
            rgba = color.get("rgba", "")
            values = parse_numbers(rgba)
            if len(values) != 4 or not all(0.0 <= value <= 1.0 for value in values):
                color.set("rgba", GREY)
                problem = "4 finite numbers" if len(values) != 4 else "4 numbers from 0 to 1"
                notes.append(f'{where}: rgba="{rgba}" is not {problem}; made grey')
    return notes


# Attributes of each element that are read, and elements in it.
_KNOWN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "robot": (("name", "version"), ("material", "link", "joint")),
    "material": (("name",), ("color", "texture")),
    "color": (("rgba",), ()),
    "texture": (("filename",), ()),
    "link": (("name",), ("inertial", "visual", "collision")),
    "mass": (("value",), ()),
    "inertia": (INERTIA, ()),
    "origin": (("xyz", "rpy"), ()),
    "visual": (("name",), ("origin", "geometry", "material")),
    "collision": (("name",), ("origin", "geometry")),
    "box": (("size",), ()),
    "sphere": (("radius",), ()),
    "cylinder": (("radius", "length"), ()),
    "capsule": (("radius", "length"), ()),
    "mesh": (("filename", "scale"), ()),
    "joint": (("name", "type"), ("origin", "parent", "child", "axis", "limit")),
    "parent": (("link",), ()),
    "child": (("link",), ()),
    "axis": (("xyz",), ()),
    "limit": (("lower", "upper", "effort", "velocity"), ()),
    "inertial": ((), ("origin", "mass", "inertia")),
    "geometry": ((), ("box", "sphere", "cylinder", "capsule", "mesh")),
}
_NOTHING: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
# Elements that their parents may contain several times.
_REPEATED = ("material", "link", "joint", "visual", "collision")
# Longest text of numbers that stays as it is, bytes: six of them fit in a line that Bullet reads.
LONGEST_TEXT = 150
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
            if count > 1 and tag in _KNOWN.get(parent.tag, _NOTHING)[1] and not _may_repeat(parent, tag)
        ]
        if repeated:
            owner = next((each for each in robot if any(part is parent for part in each.iter())), None)
            where = "robot" if owner is None else f"{owner.tag} `{owner.get('name')}`"
            where += "" if owner in (None, parent) else f": {parent.tag}"
            notes += [f"{where}: {counted[tag]} <{tag}>; only the first counts" for tag in repeated]
    _reduce(robot)
    if not robot.get("name"):
        robot.set("name", "robot")
        notes.append("robot: has no name; called `robot`")
    for element in robot.iter():
        # Names of links and joints are checked before: others refer to them.
        if element.tag in ("robot", "material", "visual", "collision"):
            name = element.get("name", "")
            coded = name.encode(errors="replace")
            if not name.isprintable() or len(coded) > LONGEST_NAME:
                # Too long for Bullet, or it cannot be printed.
                name = f"{element.tag} {zlib.crc32(coded):08x}"
            if name:
                element.set("name", name)
            else:
                element.attrib.pop("name", None)
    notes += _resolve_materials(robot)
    return notes


def _may_repeat(parent: ET.Element, tag: str) -> bool:
    """Tell whether an element may occur several times in its parent."""
    return tag in _REPEATED and parent.tag in ("robot", "link")


def _reduce(element: ET.Element) -> None:
    """Remove everything unknown in and below an element, and write numbers plainly; blanks between stay."""
    attributes, known = _KNOWN.get(element.tag, _NOTHING)
    seen = set()
    for child in list(element):
        if child.tag not in known or (child.tag in seen and not _may_repeat(element, child.tag)):
            element.remove(child)
            continue
        seen.add(child.tag)
        _reduce(child)
    if element.tag == "geometry":
        for child in list(element)[1:]:
            element.remove(child)
    for key in [key for key in element.attrib if key not in attributes]:
        del element.attrib[key]
    for key, value in element.attrib.items():
        if key not in _TEXTS:
            values, parts = parse_numbers(value), value.split(" ")
            plain = len(value) <= LONGEST_TEXT and all(map(is_plain_number, parts))
            if not plain or values != tuple(map(float, parts)):
                element.set(key, " ".join(map(repr, values)))
    if element.text and element.text.strip():
        element.text = None
    if element.tail and element.tail.strip():
        element.tail = None


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
    used = [(s, material) for s in robot.findall("link/visual") for material in s.findall("material")]
    for shape, material in used:
        name = material.get("name", "")
        if len(material):
            defined.add(name)
        elif name not in defined:
            shape.remove(material)
            notes.append(f"material `{name}`: is not defined; left out")
    return notes
