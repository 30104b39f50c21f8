"""The pedestal under a robot whose fixed base is above the floor."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simbench.robot.base_height import ROUNDING, root_corners
from simbench.robot.robot import Robot
from simbench.robot.urdf.model import build_model

PEDESTAL = "base_pedestal"
"""Link of the pedestal."""

_RADII = (0.05, 0.25)
"""Least and largest radius of a pedestal, m."""
_FLOOR_GAP = 0.001
"""Distance of the pedestal from the floor, m, so that they are not in contact."""
_COLOR = "0.33 0.34 0.36 1"


def on_pedestal(robot: Robot, height: float) -> Robot:
    """Put a pedestal under a robot with a fixed base, if there is a gap between it and the floor.

    The pedestal is a column, fixed to the root link. Every link that can hit the root link can hit it.
    `height`: height of its root link above the floor, m. Returns the robot with the link `base_pedestal`; as
    it was if it floats or stands on the floor.
    """
    if robot.floating or height <= 0.0 or robot.model.existBodyName(PEDESTAL):
        return robot
    low, high = _root_box(robot.urdf_text)
    length = height + float(low[2])
    if length < ROUNDING:
        return robot
    radius = float(np.clip(0.5 * (high - low)[:2].min(), *_RADII))
    root = robot.model.frames[1].name if robot.model.nframes > 1 else ""
    text = _with_column(robot.urdf_text, root, length, radius, float(low[2]))
    model = build_model(text, robot.urdf)
    model.armature = robot.model.armature.copy()
    fixed = {frame.name for frame in robot.model.frames if frame.parentJoint == 0}
    hitting = dict.fromkeys(
        link
        for pair in robot.self_collision_pairs
        for link, other in (pair, pair[::-1])
        if other in fixed and link not in fixed
    )
    pairs = (*robot.self_collision_pairs, *((link, PEDESTAL) for link in hitting))
    return replace(robot, model=model, urdf_text=text, self_collision_pairs=pairs)


@lru_cache(maxsize=8)
def _root_box(urdf_text: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lowest and highest corner (3,) of the shapes that no joint moves, m."""
    model = build_model(urdf_text, "robot on a fixed base")
    corners = root_corners(model, urdf_text)
    return corners.min(axis=0, initial=0.0), corners.max(axis=0, initial=0.0)


def _with_column(urdf_text: str, root: str, length: float, radius: float, top: float) -> str:
    """Add a column to a URDF, whose upper end is at `top` in the root link."""
    urdf = ET.fromstring(urdf_text)
    link = ET.SubElement(urdf, "link", name=PEDESTAL)
    for tag in ("visual", "collision"):
        shape = ET.SubElement(link, tag)
        ET.SubElement(shape, "origin", xyz=f"0 0 {top - 0.5 * length:.9g}", rpy="0 0 0")
        geometry = ET.SubElement(shape, "geometry")
        column = length - 2.0 * _FLOOR_GAP
        ET.SubElement(geometry, "cylinder", radius=f"{radius:.9g}", length=f"{column:.9g}")
        if tag == "visual":
            material = ET.SubElement(shape, "material", name=PEDESTAL)
            ET.SubElement(material, "color", rgba=_COLOR)
    inertial = ET.SubElement(link, "inertial")
    ET.SubElement(inertial, "origin", xyz=f"0 0 {top - 0.5 * length:.9g}", rpy="0 0 0")
    ET.SubElement(inertial, "mass", value="1")
    ET.SubElement(inertial, "inertia", ixx="1", iyy="1", izz="1", ixy="0", ixz="0", iyz="0")
    joint = ET.SubElement(urdf, "joint", name=f"{PEDESTAL}_joint", type="fixed")
    ET.SubElement(joint, "parent", link=root)
    ET.SubElement(joint, "child", link=PEDESTAL)
    ET.SubElement(joint, "origin", xyz="0 0 0", rpy="0 0 0")
    ET.indent(urdf)
    return ET.tostring(urdf, encoding="unicode")
