"""The root of a robot that is to move freely: a link with mass."""

import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.urdf.elements import UrdfTree
from simbench.robot.urdf.faults import heaviest_fixed, root_link


def free_root(robot: ET.Element, tree: UrdfTree) -> list[str]:
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
    way = heaviest_fixed(tree)
    if not way:
        return []
    elements = {element.get("name"): element for element in robot.findall("joint")}
    for joint in way:
        _turn_around(elements[joint.name])
    return [f"link `{root_link(tree)}`: has no mass; `{way[-1].child}`, which is fixed to it, is the root"]


def _turn_around(joint: ET.Element) -> None:
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
