"""Reader of any URDF, which converts it to a form that Pinocchio and Bullet read in the same way.

Notes say everything that was changed or left out.
"""

import os
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.description import FixedFrame
from simbench.robot.native_output import quiet_native_output
from simbench.robot.urdf.elements import (
    INERTIA,
    LARGEST_LENGTH,
    LONGEST_NAME,
    MOVING,
    UrdfJoint,
    UrdfTree,
    add_joint,
    inertia_matrix,
    linked,
    parse_numbers,
    parse_urdf,
    shorten_message,
)
from simbench.robot.urdf.normalise import LISTED, normalise_urdf
from simbench.system.limits import MOST_JOINTS

_TINY = 1e-12
_JOINT, _LINK = " (joint)", " (link)"  # Ends of the names of frames where joint and link have one name.
UNSUPPORTED = {
    "spherical": "three revolute joints do the same",
    "planar": "two prismatic joints and a revolute one do the same",
    "floating": "leave joint and parent out: a robot with a floating base moves freely without them",
}
RESERVED_NAMES = ("universe", "root_joint")
BULLET_JOINTS = 127  # Bullet's messages have room for the state of so many joints, whether they move or not.
LARGEST_MASS = 1e6  # Largest mass, kg.
LARGEST_INERTIA = 1e9  # Largest moment of inertia, kg·m².
LEAST_INERTIA = 1e-12  # Smallest inertia that a joint must move, kg·m² or kg.


def read_urdf(
    path: Path,
    *,
    floating: bool,
    frames: Mapping[str, FixedFrame] | None = None,
    fixed_joints: Mapping[str, float] | None = None,
    kept_links: Collection[str] = (),
    where: str = "",
    xacro: Mapping[str, str] | None = None,
    coupled: Collection[str] = (),
) -> tuple[str, tuple[str, ...]]:
    """Read a URDF, xacro or MJCF, and convert what simulators read differently or not at all.

    - Meshes get absolute paths; shapes whose mesh is not found or not readable are left out.
    - `continuous` joints become `revolute` ones with a range of 1600 revolutions in both directions:
      Pinocchio would describe them by two coordinates.
    - A joint without position limits, or with reversed ones, gets the same range; effort or velocity limits
      that are missing or not positive are replaced by unlimited ones.
    - A joint that mimics another moves independently here; joint damping and friction and Bullet's own
      contact parameters are left out.
    - A link without `<inertial>` has no mass (Bullet would give it 1 kg).
    - Joints that the description fixes are fixed, and the links beyond merged into those before them.
    - Of more joints than Bullet allows, fixed ones are removed: their links are merged likewise.
    - With a floating base the heaviest link that is fixed to a massless root becomes the root, and the links
      between become its children: Bullet would fix a massless root in space.

    `path`: the file; `floating`: whether the base moves freely. Of a robot.yaml: `frames`: massless frames by
    name, which are added; `fixed_joints`: joints that are fixed, and their positions, rad or m; `kept_links`:
    links that it names; `where`: its file, for messages; `xacro`: arguments of a xacro file; `coupled`:
    joints that others move. Returns `text`: the URDF as XML, with meshes by absolute path, which Pinocchio
    and Bullet both read, wherever it is put; `notes`: one line, with the element's name, for everything that
    was changed or left out.
    """
    robot, frames = parse_urdf(path, xacro), frames or {}
    named = {*frames, *kept_links}
    free = _fix_free_base(robot)
    _apply_description(robot, fixed_joints or {}, frames, where)
    # Of more joints than Bullet allows, links that carry nothing and that no one names are merged first, the
    # lightest of them at first.
    merged: list[str] = []
    links = {element.get("name", ""): element for element in robot.findall("link")}
    masses: dict[str, float] = {}
    while len(joints := robot.findall("joint")) > BULLET_JOINTS:
        parents = {linked(joint, "parent") for joint in joints}
        masses = masses or {name: _read_inertia(link).mass for name, link in links.items()}
        fixed = [
            (child in parents, masses.get(child, np.inf), number)
            for number, joint in enumerate(joints)
            if joint.get("type") == "fixed" and (child := linked(joint, "child")) not in named
        ]
        if not fixed:
            break
        lightest = joints[min(fixed)[2]]
        parent, child = linked(lightest, "parent"), linked(lightest, "child")
        if not {parent, child} <= links.keys() or parent == child:
            break
        merged.append(child)
        _merge_child(robot, lightest, _read_pose(lightest))
        del links[child]
        masses[parent] = _read_inertia(links[parent]).mass
    tree = UrdfTree(robot)
    errors = find_urdf_errors(tree, floating=floating)
    if errors:
        raise RobotError(f"{path}: {errors[0]}{_how_many_more(errors)}")
    notes = [*free, *normalise_urdf(robot, tree, path.parent, coupled)]
    if merged:
        listed = ", ".join(f"`{name}`" for name in merged[:LISTED])
        rest = f" and {len(merged) - LISTED} more" if len(merged) > LISTED else ""
        notes.append(
            f"links {listed}{rest}: on fixed joints; merged into the links that carry them, as Bullet allows "
            f"{BULLET_JOINTS} joints"
        )
    path_to_mass = find_path_to_heaviest_fixed_link(tree) if floating else None
    if path_to_mass:
        # Bullet fixes a root without mass in space without a message: a link with mass becomes the root, by
        # reversing the fixed joints between it and the root. Every link keeps its pose.
        elements = {element.get("name"): element for element in robot.findall("joint")}
        for joint in path_to_mass:
            element = elements[joint.name]
            for tag, link in (("parent", joint.child), ("child", joint.parent)):
                end = element.find(tag)
                assert end is not None
                end.set("link", link)
            if element.find("origin") is not None:
                _write_pose(element, _read_pose(element).inverse(), 12)
        notes.append(
            f"link `{path_to_mass[0].parent}`: has no mass; `{path_to_mass[-1].child}`, which is fixed to "
            "it, is the root"
        )
    text, fixed_notes = fix_massless_joints(robot, path)
    return text, (*notes, *fixed_notes)


def fix_massless_joints(robot: ET.Element, path: Path) -> tuple[str, list[str]]:
    """Fix the joints that move no inertia, in place.

    Any torque would accelerate them without bound. A link without mass is allowed as long as a link with mass
    moves with it. `path`: its file, for messages. Returns the URDF as text, and what was fixed, in a line.
    """
    notes = []
    # Not the zero posture, in which masses may by chance lie on the axis of a joint.
    while True:
        ET.indent(robot)  # Bullet reads at most 1023 bytes of a line, and breaks a longer one in two.
        text = ET.tostring(robot, encoding="unicode")
        model = build_model(text, path)
        posture = pin.integrate(model, pin.neutral(model), np.full(model.nv, 0.37))
        # Pinocchio returns a 1 × 1 matrix as a vector.
        moved = pin.crba(model, model.createData(), posture).reshape(model.nv, model.nv).diagonal()
        without_inertia = {
            name
            for name, joint in zip(model.names[1:], model.joints[1:], strict=True)
            if moved[joint.idx_v] < LEAST_INERTIA
        }
        if not without_inertia:
            break
        for element in robot.findall("joint"):
            if element.get("name") in without_inertia:
                element.set("type", "fixed")
        listed = ", ".join(f"`{name}`" for name in sorted(without_inertia)[:LISTED])
        rest = f" and {len(without_inertia) - LISTED} more" if len(without_inertia) > LISTED else ""
        notes.append(f"joints {listed}{rest}: move links without mass and inertia only; fixed")
    return text, notes


def build_model(text: str, where: str | os.PathLike[str], *, floating: bool = False) -> pin.Model:
    """Build the Pinocchio model of a URDF, whose frames have names of their own.

    A link and a joint may share a name, which two frames then have: the frame of the link keeps it, the other
    becomes `NAME (joint)`. `where`: its file, for the error; `floating`: whether the root link moves freely.
    """
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    try:
        with quiet_native_output():
            model = pin.buildModelFromXML(text, *root)
    except (ValueError, RuntimeError) as error:
        raise RobotError(f"{os.fspath(where)}: not a URDF that Pinocchio can read: {error}") from error
    links = {frame.name for frame in model.frames if frame.type == pin.FrameType.BODY}
    for frame in model.frames:
        if frame.type != pin.FrameType.BODY and frame.name in links:
            frame.name += _JOINT
    return model


def reduce_model(
    model: pin.Model, locked: Sequence[int], reference: NDArray[np.float64], shapes: Sequence[Any] = ()
) -> Any:
    """Lock joints of a model that `build_model` made, in a configuration.

    Pinocchio finds the frame of a joint by the joint's name, which may be a link's: for so long, the link has
    another. `locked`: joints; `reference` (nq,): the configuration; `shapes`: geometry models, reduced with
    it. Returns the model, and with shapes the list of theirs.
    """
    whole = model.copy()
    both = {f.name.removesuffix(_JOINT) for f in whole.frames if f.name.endswith(_JOINT)}
    for frame in whole.frames:
        if frame.name in both:
            frame.name += _LINK
        frame.name = frame.name.removesuffix(_JOINT)
    made = pin.buildReducedModel(whole, *([[*shapes]] if shapes else []), [*locked], reference)
    reduced = made[0] if shapes else made
    for frame in reduced.frames:
        if frame.name in both:
            frame.name += _JOINT
        frame.name = frame.name.removesuffix(_LINK)
    return made


def _fix_free_base(robot: ET.Element) -> list[str]:
    """Fix the joints by which a URDF says that its base moves freely, in place.

    A root without mass and shape carries the robot by a floating joint, or by three that slide and three that
    turn with nothing between them: a base that floats by the robot.yaml needs none of them. Returns what was
    changed, one line each.
    """
    joints = robot.findall("joint")
    children = {linked(joint, "child") for joint in joints}
    roots = [name for link in robot.findall("link") if (name := link.get("name", "")) not in children]
    bare = {
        link.get("name", "")
        for link in robot.findall("link")
        if not _number(link.find("inertial/mass"), "value")
        and link.find("visual") is None
        and link.find("collision") is None
    }
    moving: list[ET.Element] = []
    link = roots[0] if len(roots) == 1 else ""
    while link in bare:
        bare.remove(link)
        below = [joint for joint in joints if linked(joint, "parent") == link]
        if len(below) != 1:
            break
        moving += [] if below[0].get("type") == "fixed" else below
        link = linked(below[0], "child")
    kinds = [joint.get("type", "") for joint in moving]
    slides = kinds.count("prismatic")
    if kinds != ["floating"] and (slides, len(kinds), {*kinds} <= {*MOVING}) != (3, 6, True):
        return []
    for joint in moving:
        joint.set("type", "fixed")
    names = ", ".join(f"`{joint.get('name')}`" for joint in moving)
    return [f"joints {names}: fixed; they let the base move freely, which a floating base does without them"]


def _apply_description(
    robot: ET.Element, fixed_joints: Mapping[str, float], frames: Mapping[str, FixedFrame], where: str
) -> None:
    """Fix joints at given positions and add massless frames, as a robot.yaml says, in place.

    The links that a fixed joint moved are merged into those before it: the merged link has the mass, the
    centre of gravity, the inertia and the shapes of both; what the merged link carried keeps its pose. So the
    robot is that whose joints are locked, with fewer links. Each frame becomes a link without mass on a fixed
    joint; a frame may carry others. `fixed_joints`: position of each joint, rad or m; `frames`: frames by
    name; `where`: the robot.yaml, for messages.
    """
    for name, position in fixed_joints.items():
        at = f"{where}: fixed_joints.{name}"
        joints = {element.get("name", ""): element for element in robot.findall("joint")}
        joint = joints.get(name)
        if joint is None or joint.get("type") not in (*MOVING, "fixed"):
            moving = sorted(each for each, element in joints.items() if element.get("type") in MOVING)
            raise RobotError(
                f"{at}: no joint to fix has this name; allowed: {', '.join(moving)}, or a fixed joint"
            )
        kind, limit = joint.get("type"), joint.find("limit")
        if kind == "fixed" and position != 0.0:
            raise RobotError(f"{at}: {position:g}; the joint does not move: allowed: 0")
        if limit is not None and kind != "continuous":
            low, high = (parse_numbers(limit.get(key, "")) for key in ("lower", "upper"))
            if low and high and low[0] <= high[0] and not low[0] <= position <= high[0]:
                raise RobotError(f"{at}: {position:g} is outside the joint's limits {low[0]:g}..{high[0]:g}")
        axis = joint.find("axis")
        direction = np.array(parse_numbers("1 0 0" if axis is None else axis.get("xyz", "1 0 0")))
        displacement = pin.SE3.Identity()
        if kind != "fixed" and direction.shape == (3,) and np.linalg.norm(direction) > _TINY:
            direction = direction / np.linalg.norm(direction)
            if kind == "prismatic":
                displacement = pin.SE3(np.eye(3), position * direction)
            else:
                displacement = pin.SE3(pin.exp3(position * direction), np.zeros(3))
        _merge_child(robot, joint, _read_pose(joint) * displacement)
    links = [element.get("name", "") for element in robot.findall("link")]
    taken = {element.get("name", "") for element in robot.findall("joint")}
    for name, frame in frames.items():
        at = f"{where}: fixed_frames.{name}"
        if name in links or f"{name}_joint" in taken:
            raise RobotError(f"{at}: the URDF has a link or joint of this name; choose another")
        if frame.parent not in links and frame.parent not in frames:
            allowed = ", ".join(sorted({*links, *frames} - {name}))
            raise RobotError(f"{at}: unknown link `{frame.parent}`; allowed: {allowed}")
    for name, frame in frames.items():
        ET.SubElement(robot, "link", name=name)
        # Written so that they read back as the same doubles.
        xyz, rpy = (" ".join(repr(float(value)) for value in values) for values in (frame.xyz, frame.rpy))
        add_joint(robot, f"{name}_joint", "fixed", frame.parent, name, xyz, rpy)


def _merge_child(robot: ET.Element, joint: ET.Element, pose: pin.SE3) -> None:
    """Merge the child link of a joint, which is at a pose in the parent link, into the parent, in place."""
    links = {element.get("name", ""): element for element in robot.findall("link")}
    parent, child = links.get(linked(joint, "parent")), links.get(linked(joint, "child"))
    if parent is None or child is None:
        # What is wrong with the tree of links is said by those who read it.
        joint.set("type", "fixed")
        return
    whole, added = _read_inertia(parent), _read_inertia(child)
    if added.mass > 0.0:
        total = whole + pose.act(added) if whole.mass > 0.0 else pose.act(added)
        for old in parent.findall("inertial"):
            parent.remove(old)
        inertial = ET.SubElement(parent, "inertial")
        ET.SubElement(inertial, "origin", xyz=_text(total.lever, 16), rpy="0 0 0")
        ET.SubElement(inertial, "mass", value=repr(float(total.mass)))
        i = total.inertia
        values = (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
        texts = (repr(float(value)) for value in values)
        ET.SubElement(inertial, "inertia", dict(zip(INERTIA, texts, strict=True)))
    for shape in child:
        if shape.tag in ("visual", "collision"):
            _write_pose(shape, pose * _read_pose(shape), 16)
            parent.append(shape)
    for other in robot.findall("joint"):
        end = other.find("parent")
        if end is not None and end.get("link") == child.get("name"):
            end.set("link", parent.get("name", ""))
            _write_pose(other, pose * _read_pose(other), 16)
    robot.remove(joint)
    robot.remove(child)


def find_urdf_errors(tree: UrdfTree, *, floating: bool) -> list[str]:
    """Find the errors for which a URDF cannot be simulated.

    `tree`: links and joints of the URDF; `floating`: whether the base moves freely. Returns errors of one
    line each, with the element's name; the most serious first.
    """
    if not tree.links:
        return ["has no <link>"]
    if (moving := sum(joint.kind in MOVING for joint in tree.joints)) > MOST_JOINTS:
        return [f"{moving} joints that move; allowed: {MOST_JOINTS}"]
    errors = [*_name_and_type_errors(tree), *tree.bad_numbers]
    # Masses, inertias and places that nothing has, and that overflow where they are used.
    bounded: list[tuple[str, Iterable[float], float, str]] = []
    for link in tree.links:
        where, far = f"link `{link.name}`", (LARGEST_LENGTH, "m or rad")
        bounded += [
            (f"{where}: mass", [link.mass], LARGEST_MASS, "kg"),
            (f"{where}: inertia", link.inertia, LARGEST_INERTIA, "kg·m²"),
            (f"{where}: inertial: origin", [*link.cog, *link.rpy], *far),
            *((f"{where}: {s.role}", [*s.size, *s.scale, *s.xyz, *s.rpy], *far) for s in link.shapes),
        ]
    for joint in tree.joints:
        place = [*joint.xyz, *joint.rpy, *joint.axis]
        bounded.append((f"joint `{joint.name}`: origin or axis", place, LARGEST_LENGTH, "m or rad"))
    for where, numbers, largest, unit in bounded:
        # NaN is reported elsewhere.
        excess = max((abs(number) for number in numbers if abs(number) > largest), default=None)
        if excess is not None:
            errors.append(f"{where}: {excess:g} {unit} is too large; allowed is {largest:g}")
    errors += [
        f"link `{link.name}`: mass {link.mass:g} kg is negative" for link in tree.links if link.mass < 0
    ]
    # Several parents, several roots, and loops.
    parents: dict[str, list[UrdfJoint]] = {link.name: [] for link in tree.links}
    for joint in tree.joints:
        parents.setdefault(joint.child, []).append(joint)
    for name, joints in parents.items():
        if len(joints) > 1:
            several = ", ".join(joint.name for joint in joints)
            errors.append(
                f"link `{name}`: is the child of several joints ({several}); closed loops are not supported"
            )
    roots = [name for name, joints in parents.items() if not joints]
    if len(roots) > 1:
        errors.append(
            f"links {', '.join(f'`{root}`' for root in roots)}: have no parent; exactly one root is allowed"
        )
    connected = set(roots)
    reached = list(roots)
    for name in reached:
        below = {joint.child for joint in tree.joints if joint.parent == name} - connected
        connected |= below
        reached += sorted(below)
    loose = [name for name in parents if name not in connected]
    if loose:
        errors.append(f"links {', '.join(f'`{name}`' for name in loose)}: form a loop that hangs on no root")
    if floating and not errors and find_path_to_heaviest_fixed_link(tree) is None:
        errors.append(f"root link `{roots[0]}`: has no mass, nor has a link fixed to it: it could not float")
    return list(map(shorten_message, errors))


def _name_and_type_errors(tree: UrdfTree) -> Iterator[str]:
    """Find names that are missing, repeated, or refer to no link, and joints that cannot be simulated."""
    elements = {"link": [each.name for each in tree.links], "joint": [each.name for each in tree.joints]}
    for kind, names in elements.items():
        for name, count in Counter(names).items():
            if not name:
                yield f"{kind}: {count} without a name"
            elif count > 1:
                yield f"{kind} `{name}`: {count} have this name"
            elif (length := len(name.encode(errors="replace"))) > LONGEST_NAME:
                yield f"{kind} `{name[:20]}…`: the name has {length} bytes; allowed are {LONGEST_NAME}"
            elif not name.isprintable():
                yield f"{kind} {name!r}: the name has characters that cannot be printed"
    for joint in tree.joints:
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if not link:
                yield f"joint `{joint.name}`: names no {end} link"
            elif link not in elements["link"]:
                yield f"joint `{joint.name}`: {end} `{link}` is not a link of this file"
    allowed = ", ".join((*MOVING, "fixed"))
    for joint in tree.joints:
        where = f"joint `{joint.name}`"
        if joint.kind not in (*MOVING, "fixed"):
            hint = UNSUPPORTED.get(joint.kind)
            what = f"type `{joint.kind}` is not supported" if hint else f"unknown type `{joint.kind}`"
            yield f"{where}: {what}; allowed: {allowed}{f' ({hint})' if hint else ''}"
        elif joint.kind in MOVING and joint.name in RESERVED_NAMES:
            yield f"{where}: Pinocchio keeps this name for itself; rename the joint"
        elif joint.kind in MOVING and not any(joint.axis):
            yield f"{where}: axis has no length"


def find_path_to_heaviest_fixed_link(tree: UrdfTree) -> tuple[UrdfJoint, ...] | None:
    """Find the path from the root through fixed joints to the link with the largest mass.

    `tree`: links and joints of a URDF without errors. Returns joints along the path; empty if the root itself
    has mass, None if none of these links has mass.
    """
    mass = {link.name: link.mass for link in tree.links}
    children = {joint.child for joint in tree.joints}
    root = next(name for name in mass if name not in children)
    if mass[root] > 0:
        return ()
    paths: list[tuple[UrdfJoint, ...]] = [
        (joint,) for joint in tree.joints if joint.parent == root and joint.kind == "fixed"
    ]
    for path in paths:
        paths += [
            (*path, joint)
            for joint in tree.joints
            if joint.parent == path[-1].child and joint.kind == "fixed"
        ]
    heaviest = max(paths, key=lambda path: mass[path[-1].child], default=None)
    return heaviest if heaviest and mass[heaviest[-1].child] > 0 else None


def turn_root(text: str, rotation: NDArray[np.float64]) -> str:
    """Turn the frame of the root link, so that x points forward and z upward; the robot stays as it is.

    `text`: A URDF that can be simulated; `rotation` (3, 3): rotation from the old frame of the root link to
    the new one. Returns the URDF, in which everything that is fixed to the root link is expressed in the new
    frame.
    """
    robot = ET.fromstring(text)
    children = {child.get("link") for child in robot.findall("joint/child")}
    roots = [link for link in robot.findall("link") if link.get("name") not in children]
    parts = [part for link in roots for part in link if part.tag in ("inertial", "visual", "collision")]
    names = {link.get("name") for link in roots}
    parts += [joint for joint in robot.findall("joint") if linked(joint, "parent") in names]
    turn = pin.SE3(rotation, np.zeros(3))
    for part in parts:
        if part.find("origin") is None:
            ET.SubElement(part, "origin")
        _write_pose(part, turn * _read_pose(part), 12, zero=_TINY)
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode")


def move_root(text: str, link: str) -> str:
    """Make another link the root, by reversing the joints between the root and it.

    Each joint keeps its name, position and limits: its axis is reversed. The frame of a link that was above a
    joint is now at the joint's. `text`: a URDF that can be simulated. Returns the URDF; the robot stays as it
    is.
    """
    robot = ET.fromstring(text)
    above = {linked(joint, "child"): joint for joint in robot.findall("joint")}
    path: list[ET.Element] = []
    while link in above:
        path.insert(0, above[link])
        link = linked(above[link], "parent")
    links = {element.get("name", ""): element for element in robot.findall("link")}
    for joint in path:
        parent, child = linked(joint, "parent"), linked(joint, "child")
        back = _read_pose(joint).inverse()
        carried = [other for other in robot.findall("joint") if linked(other, "parent") == parent]
        shapes = [part for part in links[parent] if part.tag in ("inertial", "visual", "collision")]
        for part in [*shapes, *(other for other in carried if other is not joint)]:
            _write_pose(part, back * _read_pose(part), 12, zero=_TINY)
        _write_pose(joint, pin.SE3.Identity(), 12)
        for tag, name in (("parent", child), ("child", parent)):
            end = joint.find(tag)
            assert end is not None
            end.set("link", name)
        if joint.get("type") != "fixed":
            axis = joint.find("axis")
            if axis is None:
                axis = ET.SubElement(joint, "axis", xyz="1 0 0")
            axis.set("xyz", _text(-np.array(parse_numbers(axis.get("xyz", "1 0 0"))), 12))
    return ET.tostring(robot, encoding="unicode")


def _how_many_more(errors: list[str]) -> str:
    """Say how many errors follow the first."""
    return f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""


def _read_pose(element: ET.Element) -> pin.SE3:
    """Read the `<origin>` of an element; zeros where it is missing or wrong."""
    origin = element.find("origin")
    xyz, rpy = (
        np.array(() if origin is None else parse_numbers(origin.get(key, "0 0 0"))) for key in ("xyz", "rpy")
    )
    xyz, rpy = (values if values.shape == (3,) else np.zeros(3) for values in (xyz, rpy))
    return pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz)


def _write_pose(element: ET.Element, pose: pin.SE3, digits: int, zero: float = 0.0) -> None:
    """Write the `<origin>` of an element; numbers below `zero` are rounding errors."""
    origin = element.find("origin")
    if origin is None:
        origin = ET.Element("origin")
        element.insert(0, origin)
    for key, values in (("xyz", pose.translation), ("rpy", pin.rpy.matrixToRpy(pose.rotation))):
        origin.set(key, _text(np.where(np.abs(values) < zero, 0.0, values), digits))


def _read_inertia(link: ET.Element) -> pin.Inertia:
    """Inertia of a link in its frame; zero where there is none."""
    inertial = link.find("inertial")
    mass = _number(None if inertial is None else inertial.find("mass"), "value")
    if inertial is None or not mass > 0.0:
        return pin.Inertia.Zero()
    matrix = inertial.find("inertia")
    about_cog = inertia_matrix(_number(matrix, key) for key in INERTIA)
    return _read_pose(inertial).act(pin.Inertia(mass, np.zeros(3), about_cog))


def _number(element: ET.Element | None, key: str) -> float:
    values = () if element is None else parse_numbers(element.get(key, "0"))
    return values[0] if len(values) == 1 else 0.0


def _text(values: NDArray[np.float64], digits: int) -> str:
    """Write numbers with a given number of digits."""
    return " ".join(f"{value + 0.0:.{digits}g}" for value in values.tolist())
