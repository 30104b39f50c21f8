"""Conversion of a URDF to a form that Pinocchio and Bullet read in the same way.

The parsers in their C++ print, refuse or crash where something is unexpected. They only get the elements and
attributes that are listed here, with every number in plain notation.
"""

import math
import xml.etree.ElementTree as ET
import zlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pinocchio as pin

from simbench.robot.packages import find_file
from simbench.robot.urdf.elements import (
    INERTIA,
    LARGEST_LENGTH,
    LONGEST_NAME,
    MOVING,
    NUMBER,
    SIZES,
    UrdfJoint,
    UrdfTree,
    inertia_matrix,
    parse_numbers,
    shorten_message,
)
from simbench.robot.urdf.mesh_files import check_mesh

# Position limit of an unlimited joint, rad or m: far beyond any motion, small enough to be exact.
UNLIMITED_TRAVEL = 1e4
UNLIMITED_EFFORT = 1e6  # Limit of an unlimited effort, N·m or N: no motor of a robot reaches it.
UNLIMITED_VELOCITY = 1e4  # Limit of an unlimited speed, rad/s or m/s.
GREY = "0.7 0.7 0.7 1"
NO_TRAVEL = "has no travel limits"
ROUNDING = 1e-3  # A deviation of an axis' length from 1 that is not reported, because it is due to rounding.


LEFT_OUT = {
    ("joint", "dynamics"): "<dynamics> damping and friction are left out",
    ("link", "contact"): "<contact> parameters, which only Bullet knows, are left out",
}
LISTED = 3  # At most this many names are listed in a note.


def normalise_urdf(
    robot: ET.Element, tree: UrdfTree, folder: Path, coupled: Collection[str] = ()
) -> list[str]:
    """Convert in place what simulators read differently or not at all, even if the URDF has errors.

    `tree`: links and joints of the same robot, as they were read; `folder`: folder of the URDF, to which mesh
    paths are relative; `coupled`: names of the joints that others move. Returns what was changed or left out,
    one line each.
    """
    # Of an MJCF: what its conversion to a URDF left out.
    notes = [note.text or "" for note in robot.iterfind("mjcf/note")]
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
    for element in robot.findall("link"):
        normalise_inertial(element)
        notes += normalise_shapes(element, folder)
    for element, joint in zip(robot.findall("joint"), tree.joints, strict=True):
        notes += normalise_joint(element, joint, coupled)
    if robot.find(".//geometry/capsule") is not None:
        # urdfdom prints that older versions of URDF have no capsules.
        robot.set("version", "1.1")
    for (kind, tag), text in LEFT_OUT.items():
        names = []
        for element in robot.findall(kind):
            for part in element.findall(tag):
                element.remove(part)
                if len(part) or any(value.strip("0. ") for value in part.attrib.values()):
                    names.append(f"`{element.get('name')}`")
        if names:
            rest = f"{names[0]} and {len(names) - 1} more"
            notes.append(f"{kind}s {', '.join(names) if len(names) <= LISTED else rest}: {text}")
    notes += [*keep_known_parts(robot), *normalise_names(robot)]
    return list(map(shorten_message, notes))


def find_position_limit_error(joint: UrdfJoint) -> str | None:
    """Find out why the position limits of a moving joint cannot be used as they are.

    Returns the reason; None if they can be used.
    """
    if joint.lower is None and joint.upper is None:
        return NO_TRAVEL
    lower, upper = joint.lower or 0.0, joint.upper or 0.0
    return f"lower limit {lower:g} is above the upper {upper:g}" if lower > upper else None


def normalise_joint(element: ET.Element, joint: UrdfJoint, coupled: Collection[str] = ()) -> list[str]:
    """Give a moving joint a unit axis and complete limits, in place.

    `joint`: the same joint, as it was read; `coupled`: names of the joints that others move. Returns what
    changed, one line each.
    """
    if joint.kind not in MOVING:
        return []
    where, notes = f"joint `{joint.name}`", []
    length = math.hypot(*joint.axis)
    axis, limit, mimic = (element.find(tag) for tag in ("axis", "limit", "mimic"))
    if axis is not None and length > 0 and abs(length - 1) >= 1e-9:
        # Pinocchio normalises the axis, Bullet does not.
        axis.set("xyz", " ".join(f"{value / length:.12g}" for value in joint.axis))
        if abs(length - 1) >= ROUNDING:
            notes.append(f"{where}: axis has length {length:g}; made 1")
    if limit is None:
        limit = ET.SubElement(element, "limit")
    problem = None if joint.kind == "continuous" else find_position_limit_error(joint)
    motor = (("effort", joint.effort, UNLIMITED_EFFORT), ("velocity", joint.velocity, UNLIMITED_VELOCITY))
    missing = ["travel"] if problem == NO_TRAVEL else []
    missing += [attribute for attribute, value, _ in motor if value is None]
    if missing:
        notes.append(f"{where}: no limits of {', '.join(missing)} given; taken as unlimited")
    if joint.kind == "continuous" or problem:
        limit.set("lower", f"{-UNLIMITED_TRAVEL:g}")
        limit.set("upper", f"{UNLIMITED_TRAVEL:g}")
        element.set("type", "revolute" if joint.kind == "continuous" else joint.kind)
        if problem not in (None, NO_TRAVEL):
            notes.append(f"{where}: {problem}; taken as unlimited")
    else:
        for attribute, value in (("lower", joint.lower), ("upper", joint.upper)):
            if value is not None and abs(value) > UNLIMITED_TRAVEL:
                bound = math.copysign(UNLIMITED_TRAVEL, value)
                limit.set(attribute, f"{bound:g}")
                notes.append(f"{where}: {attribute} limit is {value:g}; taken as {bound:g}")
    for attribute, value, unlimited in motor:
        if value is None or not 0 < value <= unlimited:
            limit.set(attribute, f"{unlimited:g}")
            # What is no number is an error of its own.
            if value is not None and not math.isnan(value):
                notes.append(f"{where}: {attribute} limit is {value:g}; taken as unlimited")
    if mimic is not None:
        element.remove(mimic)
        how = "moves with it" if joint.name in coupled else "taken as a joint that moves by itself"
        notes.append(f"{where}: mimics `{joint.mimic}`; {how}")
    return notes


def normalise_inertial(link: ET.Element) -> None:
    """Complete the `<inertial>` of a link, and write an inertia that no rigid body has in its principal axes.

    In place; what is left out is zero: the mass, the products of inertia. The tensor stays the same: if the
    largest moment exceeds the sum of the others, even if only by rounding, Bullet ignores the inertia. It can
    be given the moments afterwards, but not products of inertia.
    """
    inertial = link.find("inertial")
    if inertial is None:
        # Bullet assumes 1 kg for a link without `<inertial>`.
        inertial = ET.Element("inertial")
        link.insert(0, inertial)
        ET.SubElement(inertial, "mass", value="0")
        ET.SubElement(inertial, "inertia", dict.fromkeys(INERTIA, "0"))
    origin, inertia = inertial.find("origin"), inertial.find("inertia")
    if inertia is None:
        return
    for entry in INERTIA[3:]:
        inertia.set(entry, inertia.get(entry, "0"))
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
        form = next(iter(shape.find("geometry") or ()), None)
        sizes = {} if form is None else {key: form.get(key) for key in SIZES.get(form.tag, ())}
        lengths = {key: parse_numbers(text or "") for key, text in sizes.items()}
        flat = [key for key, values in lengths.items() if not all(value > 0.0 for value in values)]
        problem = None
        if form is None:
            problem = "has no geometry"
        elif form.tag not in SIZES:
            problem = f"geometry `{form.tag}` is none of {', '.join(SIZES)}"
        elif flat:
            problem = f'{form.tag}: {flat[0]}="{sizes[flat[0]]}" is not positive'
        elif form.tag == "mesh":
            name = form.get("filename", "")
            path = find_file(name, folder)
            check = None if path is None else check_mesh(path)
            scale = parse_numbers(form.get("scale", "1 1 1"))
            if check is None:
                problem = f"mesh `{name}` not found"
            elif check.error:
                problem = f"mesh `{name}`: {check.error}"
            elif 0.0 in scale:
                problem = f'mesh `{name}`: scale="{form.get("scale")}" makes it flat'
            else:
                reach = check.largest * max(map(abs, scale), default=0.0)
                form.set("filename", str(check.file))
                if reach > LARGEST_LENGTH:
                    problem = f"mesh `{name}`: reaches {reach:g} m; allowed is {LARGEST_LENGTH:g}"
        if problem:
            link.remove(shape)
            notes.append(f"link `{link.get('name')}`: {shape.tag} left out: {problem}")
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
_REPEATED = {"robot": ("material", "link", "joint"), "link": ("visual", "collision")}
# Longest text of numbers that stays as it is, bytes: six of them fit in a line that Bullet reads.
LONGEST_TEXT = 150
_TEXTS = ("name", "filename", "link", "type", "version")


def keep_known_parts(robot: ET.Element) -> list[str]:
    """Remove the elements and attributes that no simulator needs, in place, and write numbers plainly.

    Returns one line for each element that repeats what may be given only once.
    """
    notes = []
    for parent in robot.iter():
        counted, known = Counter(child.tag for child in parent), _KNOWN.get(parent.tag, _NOTHING)[1]
        once = set(known).difference(_REPEATED.get(parent.tag, ()))
        repeated = [tag for tag, count in counted.items() if count > 1 and tag in once]
        if repeated:
            owner = next((each for each in robot if any(part is parent for part in each.iter())), None)
            where = "robot" if owner is None else f"{owner.tag} `{owner.get('name')}`"
            where += "" if owner in (None, parent) else f": {parent.tag}"
            notes += [f"{where}: {counted[tag]} <{tag}>; only the first counts" for tag in repeated]
    kept = [robot]
    for element in kept:
        attributes, known = _KNOWN.get(element.tag, _NOTHING)
        seen: set[str] = set()
        for child in list(element):
            first = child.tag not in seen or child.tag in _REPEATED.get(element.tag, ())
            # Of the geometries of a shape the first one counts, whatever it is.
            if child.tag not in known or not first or (element.tag == "geometry" and seen):
                element.remove(child)
            else:
                seen.add(child.tag)
        kept += element
        for key, value in list(element.attrib.items()):
            if key not in attributes:
                del element.attrib[key]
            elif key not in _TEXTS:
                values, parts = parse_numbers(value), value.split(" ")
                plain = len(value) <= LONGEST_TEXT and all(map(NUMBER.fullmatch, parts))
                if not plain or values != tuple(map(float, parts)):
                    element.set(key, " ".join(map(repr, values)))
        # Blanks between elements stay.
        if element.text and element.text.strip():
            element.text = None
        if element.tail and element.tail.strip():
            element.tail = None
    return notes


def normalise_names(robot: ET.Element) -> list[str]:
    """Replace names that Bullet cannot hold and remove materials that no definition belongs to, in place.

    Pinocchio would refuse a robot with materials that are defined twice or not at all. Returns what was
    changed or left out, one line each.
    """
    notes = []
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
    defined = set()
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
