"""Reader of any URDF, which converts it to a form that Pinocchio and Bullet read in the same path.

Notes say everything that was changed or left out.
"""

import xml.etree.ElementTree as ET
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.description import FixedFrame
from simbench.robot.urdf.elements import UrdfTree, parse_numbers, parse_urdf, read_elements, shorten_message
from simbench.robot.urdf.errors import (
    MOST_JOINTS,
    find_joints_without_inertia,
    find_path_to_heaviest_fixed_link,
    find_root_link,
    find_urdf_errors,
)
from simbench.robot.urdf.fixed_frames import add_fixed_frames
from simbench.robot.urdf.fixed_joints import fix_joints, merge_light_links
from simbench.robot.urdf.joints import normalise_joint
from simbench.robot.urdf.links import (
    align_with_principal_axes,
    fill_inertial,
    normalise_materials,
    normalise_shapes,
)
from simbench.robot.urdf.rebuild import keep_known_parts

LEFT_OUT = {
    ("joint", "dynamics"): "<dynamics> damping and friction are left out",
    ("link", "contact"): "<contact> parameters, which only Bullet knows, are left out",
}
LISTED = 3
"""At most this many names are listed in a note."""


@dataclass(frozen=True)
class UrdfSource:
    """A URDF that Pinocchio and Bullet both read, wherever it is put."""

    text: str  # The URDF as XML, with meshes by absolute path.
    notes: tuple[str, ...]  # One line, with the element's name, for everything that was changed or left out.


@dataclass(frozen=True)
class UrdfChanges:
    """What a description changes in a URDF that comes from elsewhere."""

    # Massless frames by name, which are added.
    frames: Mapping[str, FixedFrame] = field(default_factory=dict)
    # Joints that are fixed, and their positions, rad or m.
    fixed_joints: Mapping[str, float] = field(default_factory=dict)
    kept_links: Collection[str] = ()  # Links that the description names.
    where: str = ""  # File of the description, for messages.


def read_urdf(path: Path, *, floating: bool, changes: UrdfChanges = UrdfChanges()) -> UrdfSource:
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

    `path`: the file; `floating`: whether the base moves freely; `changes`: frames that are added, and joints
    that are fixed. Returns the converted URDF, and notes on what was changed or left out.
    """
    robot = parse_urdf(path)
    fix_joints(robot, changes.fixed_joints, f"{changes.where}: fixed_joints")
    if changes.frames:
        add_fixed_frames(robot, changes.frames, f"{changes.where}: fixed_frames")
    merged = merge_light_links(robot, MOST_JOINTS, {*changes.frames, *changes.kept_links})
    tree = read_elements(robot)
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
    return UrdfSource(text, tuple(notes))


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
    notes += [*remove_ignored_elements(robot), *keep_known_parts(robot)]
    return list(map(shorten_message, notes))


def _how_many_more(errors: list[str]) -> str:
    """Say how many errors follow the first."""
    return f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""


def remove_ignored_elements(robot: ET.Element) -> list[str]:
    """Remove joint friction and contact parameters, in place.

    Returns one line for each kind, with the names of the elements that had it.
    """
    notes = []
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
    return notes


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
        _reverse_joint(elements[joint.name])
    return [
        f"link `{find_root_link(tree)}`: has no mass; `{path[-1].child}`, which is fixed to it, is the root"
    ]


def _reverse_joint(joint: ET.Element) -> None:
    """Swap parent and child of a fixed joint."""
    parent, child = joint.find("parent"), joint.find("child")
    assert parent is not None
    assert child is not None
    above, below = parent.get("link", ""), child.get("link", "")
    parent.set("link", below)
    child.set("link", above)
    origin = joint.find("origin")
    if origin is None:
        return
    xyz, rpy = (np.array(parse_numbers(origin.get(key, "0 0 0"))) for key in ("xyz", "rpy"))
    inverse = pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz).inverse()
    origin.set("xyz", _text(inverse.translation))
    origin.set("rpy", _text(pin.rpy.matrixToRpy(inverse.rotation)))


def _text(values: NDArray[np.float64]) -> str:
    """Write numbers with twelve digits."""
    return " ".join(f"{value + 0.0:.12g}" for value in values.tolist())
