"""Massless frames of a robot.yaml, added to a URDF that comes from elsewhere."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping

from simbench.errors import RobotError
from simbench.robot.description import FixedFrame


def add_fixed_frames(robot: ET.Element, frames: Mapping[str, FixedFrame], where: str) -> None:
    """Add a link without mass and a fixed joint for each frame, in place.

    `frames`: frames by name; a frame may carry others; `where`: file and key, for messages.
    """
    links = [element.get("name", "") for element in robot.findall("link")]
    joints = {element.get("name", "") for element in robot.findall("joint")}
    for name, frame in frames.items():
        if name in links or joint_name(name) in joints:
            raise RobotError(f"{where}.{name}: the URDF has a link or joint of this name; choose another")
        if frame.parent not in links and frame.parent not in frames:
            allowed = ", ".join(sorted({*links, *frames} - {name}))
            raise RobotError(f"{where}.{name}: unknown link `{frame.parent}`; allowed: {allowed}")
    for name, frame in frames.items():
        ET.SubElement(robot, "link", name=name)
        joint = ET.SubElement(robot, "joint", name=joint_name(name), type="fixed")
        ET.SubElement(joint, "parent", link=frame.parent)
        ET.SubElement(joint, "child", link=name)
        ET.SubElement(joint, "origin", xyz=_numbers(frame.xyz), rpy=_numbers(frame.rpy))


def joint_name(frame: str) -> str:
    """Name the fixed joint of a frame."""
    return f"{frame}_joint"


def _numbers(values: tuple[float, ...]) -> str:
    """Write numbers so that they read back as the same doubles."""
    return " ".join(repr(float(value)) for value in values)
