"""Reader of any URDF, which converts it to a form that Pinocchio and Bullet read in the same way.

Notes say everything that was changed or left out.
"""

import os
import xml.etree.ElementTree as ET
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.description import FixedFrame
from simbench.robot.native_output import quiet_native_output
from simbench.robot.urdf.elements import (
    INERTIA,
    UrdfTree,
    add_joint,
    inertia_matrix,
    linked,
    parse_numbers,
    parse_urdf,
    shorten_message,
)
from simbench.robot.urdf.normalise import (
    align_with_principal_axes,
    fill_inertial,
    keep_known_parts,
    normalise_joint,
    normalise_materials,
    normalise_shapes,
)
from simbench.robot.urdf.urdf_errors import (
    MOST_JOINTS,
    MOVING,
    find_joints_without_inertia,
    find_path_to_heaviest_fixed_link,
    find_root_link,
    find_urdf_errors,
)

LEFT_OUT = {
    ("joint", "dynamics"): "<dynamics> damping and friction are left out",
    ("link", "contact"): "<contact> parameters, which only Bullet knows, are left out",
}
LISTED = 3  # At most this many names are listed in a note.
_TINY = 1e-12


def read_urdf(
    path: Path,
    *,
    floating: bool,
    frames: Mapping[str, FixedFrame] | None = None,
    fixed_joints: Mapping[str, float] | None = None,
    kept_links: Collection[str] = (),
    where: str = "",
) -> tuple[str, tuple[str, ...]]:
    """Read a URDF and convert what simulators read differently or not at all.

    - Meshes get absolute paths; shapes whose mesh is not found or not readable are left out.
    - `continuous` joints become `revolute` ones with a range of 1600 revolutions in both directions:
      Pinocchio would describe them by two coordinates.
    - A joint without position limits, or with reversed ones, gets the same range; effort or velocity limits
      that are missing or not positive are replaced by unlimited ones.
    - A joint that mimics another moves independently; joint damping and friction and Bullet's own contact
      parameters are left out.
    - A link without `<inertial>` has no mass (Bullet would give it 1 kg).
    - Joints that the description fixes are fixed, and the links beyond merged into those before them.
    - Of more joints than Bullet allows, fixed ones are removed: their links are merged likewise.
    - With a floating base the heaviest link that is fixed to a massless root becomes the root, and the links
      between become its children: Bullet would fix a massless root in space.

    `path`: the file; `floating`: whether the base moves freely. Of a robot.yaml: `frames`: massless frames by
    name, which are added; `fixed_joints`: joints that are fixed, and their positions, rad or m; `kept_links`:
    links that it names; `where`: its file, for messages. Returns `text`: the URDF as XML, with meshes by
    absolute path, which Pinocchio and Bullet both read, wherever it is put; `notes`: one line, with the
    element's name, for everything that was changed or left out.
    """
    robot, frames = parse_urdf(path), frames or {}
    fix_joints(robot, fixed_joints or {}, f"{where}: fixed_joints")
    add_fixed_frames(robot, frames, f"{where}: fixed_frames")
    merged = merge_light_links(robot, MOST_JOINTS, {*frames, *kept_links})
    tree = UrdfTree(robot)
    errors = find_urdf_errors(tree, floating=floating)
    if errors:
        raise RobotError(f"{path}: {errors[0]}{_how_many_more(errors)}")
    notes = normalise_urdf(robot, tree, path.parent)
    if merged:
        listed = ", ".join(f"`{name}`" for name in merged[:LISTED])
        rest = f" and {len(merged) - LISTED} more" if len(merged) > LISTED else ""
        notes.append(
            f"links {listed}{rest}: on fixed joints; merged into the links that carry them, as Bullet allows "
            f"{MOST_JOINTS} joints"
        )
    if floating:
        notes += move_root_to_mass(robot, tree)
    # Bullet reads at most 1023 bytes of a line, and breaks a longer one in two.
    ET.indent(robot)
    text = ET.tostring(robot, encoding="unicode")
    try:
        without_inertia = find_joints_without_inertia(text)
    except (ValueError, RuntimeError) as error:
        raise RobotError(f"{path}: not a URDF that Pinocchio can read: {error}") from error
    if without_inertia:
        raise RobotError(
            f"{path}: joint `{without_inertia[0]}`: moves links without mass and inertia only"
            f"{_how_many_more(without_inertia)}"
        )
    return text, tuple(notes)


def normalise_urdf(robot: ET.Element, tree: UrdfTree, folder: Path) -> list[str]:
    """Convert in place what simulators read differently or not at all, even if the URDF has errors.

    `tree`: links and joints of the same robot, as they were read; `folder`: folder of the URDF, to which mesh
    paths are relative. Returns what was changed or left out, one line each.
    """
    notes = normalise_materials(robot, folder)
    for element in robot.findall("link"):
        fill_inertial(element)
        align_with_principal_axes(element)
        notes += normalise_shapes(element, folder)
    for element, joint in zip(robot.findall("joint"), tree.joints, strict=True):
        notes += normalise_joint(element, joint)
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
    return list(map(shorten_message, [*notes, *keep_known_parts(robot)]))


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
            frame.name += " (joint)"
    return model


def add_fixed_frames(robot: ET.Element, frames: Mapping[str, FixedFrame], where: str) -> None:
    """Add a link without mass and a fixed joint for each frame, in place.

    `frames`: frames by name; a frame may carry others; `where`: file and key, for messages.
    """
    links = [element.get("name", "") for element in robot.findall("link")]
    joints = {element.get("name", "") for element in robot.findall("joint")}
    for name, frame in frames.items():
        if name in links or f"{name}_joint" in joints:
            raise RobotError(f"{where}.{name}: the URDF has a link or joint of this name; choose another")
        if frame.parent not in links and frame.parent not in frames:
            allowed = ", ".join(sorted({*links, *frames} - {name}))
            raise RobotError(f"{where}.{name}: unknown link `{frame.parent}`; allowed: {allowed}")
    for name, frame in frames.items():
        ET.SubElement(robot, "link", name=name)
        # Written so that they read back as the same doubles.
        xyz, rpy = (" ".join(repr(float(value)) for value in values) for values in (frame.xyz, frame.rpy))
        add_joint(robot, f"{name}_joint", "fixed", frame.parent, name, xyz, rpy)


def fix_joints(robot: ET.Element, positions: Mapping[str, float], where: str) -> None:
    """Fix joints at given positions, in place, and merge the links that they moved into those before them.

    The merged link has the mass, the centre of gravity, the inertia and the shapes of both; what the merged
    link carried keeps its pose. So the robot is that whose joints are locked, with fewer links. `positions`:
    position of each joint, rad or m; `where`: file and key, for messages.
    """
    for name, position in positions.items():
        joints = {element.get("name", ""): element for element in robot.findall("joint")}
        joint = joints.get(name)
        if joint is None or joint.get("type") not in (*MOVING, "fixed"):
            moving = sorted(each for each, element in joints.items() if element.get("type") in MOVING)
            raise RobotError(
                f"{where}.{name}: no joint to fix has this name; allowed: {', '.join(moving)}, "
                "or a fixed joint"
            )
        kind, limit = joint.get("type"), joint.find("limit")
        if kind == "fixed" and position != 0.0:
            raise RobotError(f"{where}.{name}: {position:g}; the joint does not move: allowed: 0")
        if limit is not None and kind != "continuous":
            low, high = (parse_numbers(limit.get(key, "")) for key in ("lower", "upper"))
            if low and high and low[0] <= high[0] and not low[0] <= position <= high[0]:
                raise RobotError(
                    f"{where}.{name}: {position:g} is outside the joint's limits {low[0]:g}..{high[0]:g}"
                )
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


def merge_light_links(robot: ET.Element, most: int, kept: Collection[str]) -> list[str]:
    """Merge links on fixed joints, in place, until a robot has at most so many joints.

    Links that carry nothing and that no one names are merged first, the lightest of them at first. `most`:
    joints that the robot may have, whether they move or not; `kept`: links that stay.
    """
    merged: list[str] = []
    while len(joints := robot.findall("joint")) > most:
        parents = {linked(joint, "parent") for joint in joints}
        links = {element.get("name", ""): element for element in robot.findall("link")}
        fixed = [
            (child in parents, _read_inertia(links[child]).mass if child in links else np.inf, number)
            for number, joint in enumerate(joints)
            if joint.get("type") == "fixed" and (child := linked(joint, "child")) not in kept
        ]
        if not fixed:
            break
        lightest = joints[min(fixed)[2]]
        if linked(lightest, "child") not in links or linked(lightest, "parent") not in links:
            break
        merged.append(linked(lightest, "child"))
        _merge_child(robot, lightest, _read_pose(lightest))
    return merged


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


def move_root_to_mass(robot: ET.Element, tree: UrdfTree) -> list[str]:
    """Make a link with mass the root, in place, by reversing the fixed joints between it and the root.

    Bullet fixes a root without mass in space without a message. Every link keeps its pose. `tree`: links and
    joints of the same robot, without errors. Returns note on what changed, one line; empty if nothing did.
    """
    path = find_path_to_heaviest_fixed_link(tree)
    if not path:
        return []
    elements = {element.get("name"): element for element in robot.findall("joint")}
    for joint in path:
        element = elements[joint.name]
        for tag, link in (("parent", joint.child), ("child", joint.parent)):
            end = element.find(tag)
            assert end is not None
            end.set("link", link)
        if element.find("origin") is not None:
            _write_pose(element, _read_pose(element).inverse(), 12)
    return [
        f"link `{find_root_link(tree)}`: has no mass; `{path[-1].child}`, which is fixed to it, is the root"
    ]


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
