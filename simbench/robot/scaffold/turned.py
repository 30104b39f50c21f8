"""A URDF with its root link turned, so that x points forward and z upward."""

import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.urdf.elements import parse_numbers


def turn_root(text: str, rotation: NDArray[np.float64]) -> str:
    """Turn the frame of the root link; the robot itself stays as it is.

    `text`: A URDF that can be simulated; `rotation` (3, 3): rotation from the old frame of the root link to
    the new one. Returns the URDF, in which everything that is fixed to the root link is expressed in the new
    frame.
    """
    robot = ET.fromstring(text)
    children = {child.get("link") for child in robot.findall("joint/child")}
    roots = [link for link in robot.findall("link") if link.get("name") not in children]
    parts = [part for link in roots for part in link if part.tag in ("inertial", "visual", "collision")]
    names = {link.get("name") for link in roots}
    for joint in robot.findall("joint"):
        parent = joint.find("parent")
        if parent is not None and parent.get("link") in names:
            parts.append(joint)
    turn = pin.SE3(rotation, np.zeros(3))
    for part in parts:
        origin = part.find("origin")
        if origin is None:
            origin = ET.SubElement(part, "origin")
        xyz, rpy = (np.array(parse_numbers(origin.get(key, "0 0 0"))) for key in ("xyz", "rpy"))
        placed = turn * pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz)
        origin.set("xyz", _text(placed.translation))
        origin.set("rpy", _text(pin.rpy.matrixToRpy(placed.rotation)))
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode")


def _text(values: NDArray[np.float64]) -> str:
    """Write numbers with twelve digits, rounding errors of a turn as zero."""
    return " ".join(f"{value + 0.0:.12g}" for value in np.where(np.abs(values) < 1e-12, 0.0, values).tolist())
