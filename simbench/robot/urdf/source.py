"""Any URDF, made ready for Pinocchio and Bullet; everything changed or left out is said."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.urdf.elements import UrdfTree, parse_urdf, read_elements
from simbench.robot.urdf.errors import (
    find_joints_without_inertia,
    find_path_to_heaviest_fixed_link,
    find_root_link,
    find_urdf_errors,
)
from simbench.robot.urdf.joints import normalise_joint
from simbench.robot.urdf.links import (
    align_with_principal_axes,
    fill_inertial,
    normalise_materials,
    normalise_shapes,
)

LEFT_OUT = {
    ("joint", "dynamics"): "<dynamics> damping and friction are left out",
    ("link", "contact"): "<contact> parameters, which only Bullet knows, are left out",
}
LISTED = 3
"""So many names, and the number of the others."""


@dataclass(frozen=True)
class UrdfSource:
    """A URDF that Pinocchio and Bullet both read, wherever it is put.

    Parameters
    ----------
    text : str
        XML, meshes by absolute path.
    notes : tuple of str
        One line, with the element's name, for everything that was changed or left out.
    """

    text: str
    notes: tuple[str, ...]


def read_urdf(path: Path, *, floating: bool) -> UrdfSource:
    """Read a URDF from anywhere and settle what simulators read differently or not at all.

    - Meshes get absolute paths; shapes whose mesh is not found or not readable are left out.
    - `continuous` joints become `revolute` ones that turn 1600 times either way: Pinocchio would describe
      them by two coordinates.
    - A joint without travel limits, or with reversed ones, gets the same travel; effort or velocity that is
      missing or not positive is unlimited.
    - A joint that mimics another moves by itself; joint damping and friction and Bullet's own contact
      parameters are left out.
    - A link without `<inertial>` has no mass (Bullet would give it 1 kg).
    - With a floating base the heaviest link that is fixed to a massless root becomes the root, the links
      between become its children: Bullet would pin a massless root in space.

    Parameters
    ----------
    path : Path
    floating : bool
        Whether the base moves freely.

    Returns
    -------
    UrdfSource

    Raises
    ------
    RobotError
        If the file is not a URDF or describes nothing that can be simulated; one line.
    """
    robot = parse_urdf(path)
    tree = read_elements(robot)
    faults = find_urdf_errors(tree, floating=floating)
    if faults:
        raise RobotError(f"{path}: {faults[0]}{_how_many_more(faults)}")
    notes = normalise_urdf(robot, tree, path.parent)
    if floating:
        notes += move_root_to_mass(robot, tree)
    text = ET.tostring(robot, encoding="unicode")
    try:
        still = find_joints_without_inertia(text)
    except (ValueError, RuntimeError) as error:
        raise RobotError(f"{path}: not a URDF that Pinocchio can read: {error}") from error
    if still:
        raise RobotError(
            f"{path}: joint `{still[0]}`: moves links without mass and inertia only{_how_many_more(still)}"
        )
    return UrdfSource(text, tuple(notes))


def normalise_urdf(robot: ET.Element, tree: UrdfTree, folder: Path) -> list[str]:
    """Change in place what simulators read differently or not at all, whatever is wrong with the rest.

    Parameters
    ----------
    robot : xml.etree.ElementTree.Element
    tree : UrdfTree
        The same robot's elements, as they were read.
    folder : Path
        From which mesh paths start.

    Returns
    -------
    list of str
        What was changed or left out, one line each.
    """
    notes = normalise_materials(robot, folder)
    for element in robot.findall("link"):
        fill_inertial(element)
        align_with_principal_axes(element)
        notes += normalise_shapes(element, folder)
    for element, joint in zip(robot.findall("joint"), tree.joints, strict=True):
        notes += normalise_joint(element, joint)
    if robot.find(".//geometry/capsule") is not None:
        # Older URDFs have no capsules, says urdfdom on the terminal.
        robot.set("version", "1.1")
    return notes + remove_ignored_elements(robot)


def _how_many_more(faults: list[str]) -> str:
    return f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""


def remove_ignored_elements(robot: ET.Element) -> list[str]:
    """Take out joint friction and contact parameters, in place.

    Parameters
    ----------
    robot : xml.etree.ElementTree.Element

    Returns
    -------
    list of str
        One line for each kind, with the names of the elements that had it.
    """
    notes = []
    for (kind, tag), said in LEFT_OUT.items():
        names = []
        for element in robot.findall(kind):
            for part in element.findall(tag):
                element.remove(part)
                if len(part) or any(value.strip("0. ") for value in part.attrib.values()):
                    names.append(f"`{element.get('name')}`")
        if names:
            rest = f"{names[0]} and {len(names) - 1} more"
            notes.append(f"{kind}s {', '.join(names) if len(names) <= LISTED else rest}: {said}")
    return notes


def move_root_to_mass(robot: ET.Element, tree: UrdfTree) -> list[str]:
    """Make a link with mass the root, in place, by turning the fixed joints above it around.

    Bullet holds a root without mass in space without a word. Every link keeps its place.

    Parameters
    ----------
    robot : xml.etree.ElementTree.Element
    tree : UrdfTree
        The same robot, without faults.

    Returns
    -------
    list of str
        What changed, one line, or nothing.
    """
    way = find_path_to_heaviest_fixed_link(tree)
    if not way:
        return []
    elements = {element.get("name"): element for element in robot.findall("joint")}
    for joint in way:
        _reverse_joint(elements[joint.name])
    return [
        f"link `{find_root_link(tree)}`: has no mass; `{way[-1].child}`, which is fixed to it, is the root"
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
    xyz, rpy = (np.array(origin.get(key, "0 0 0").split(), dtype=float) for key in ("xyz", "rpy"))
    inverse = pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz).inverse()
    origin.set("xyz", _text(inverse.translation))
    origin.set("rpy", _text(pin.rpy.matrixToRpy(inverse.rotation)))


def _text(values: NDArray[np.float64]) -> str:
    return " ".join(f"{value + 0.0:.12g}" for value in values.tolist())
