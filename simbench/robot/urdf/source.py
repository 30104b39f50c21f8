"""Any URDF, made ready for Pinocchio and Bullet; everything changed or left out is said."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from simbench.errors import RobotError
from simbench.robot.urdf.elements import UrdfTree, parse_urdf, read_elements
from simbench.robot.urdf.faults import find_faults, joints_without_inertia
from simbench.robot.urdf.joints import settle_joint
from simbench.robot.urdf.left_out import leave_out
from simbench.robot.urdf.links import fill_inertial, settle_materials, settle_shapes, turn_to_principal_axes
from simbench.robot.urdf.root import free_root


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
    faults = find_faults(tree, floating=floating)
    if faults:
        raise RobotError(f"{path}: {faults[0]}{_how_many_more(faults)}")
    notes = settle(robot, tree, path.parent)
    if floating:
        notes += free_root(robot, tree)
    text = ET.tostring(robot, encoding="unicode")
    try:
        still = joints_without_inertia(text)
    except (ValueError, RuntimeError) as error:
        raise RobotError(f"{path}: not a URDF that Pinocchio can read: {error}") from error
    if still:
        raise RobotError(
            f"{path}: joint `{still[0]}`: moves links without mass and inertia only{_how_many_more(still)}"
        )
    return UrdfSource(text, tuple(notes))


def settle(robot: ET.Element, tree: UrdfTree, folder: Path) -> list[str]:
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
    notes = settle_materials(robot, folder)
    for element in robot.findall("link"):
        fill_inertial(element)
        turn_to_principal_axes(element)
        notes += settle_shapes(element, folder)
    for element, joint in zip(robot.findall("joint"), tree.joints, strict=True):
        notes += settle_joint(element, joint)
    if robot.find(".//geometry/capsule") is not None:
        # Older URDFs have no capsules, says urdfdom on the terminal.
        robot.set("version", "1.1")
    return notes + leave_out(robot)


def _how_many_more(faults: list[str]) -> str:
    return f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
