"""Whether the collision shapes of the feet are where the soles are."""

import xml.etree.ElementTree as ET

from simbench.errors import RobotError
from simbench.robot.hand_shapes import links_with_collision_shape
from simbench.robot.robot import Robot
from simbench.robot.urdf.elements import read_elements


def sole_gaps(robot: Robot) -> dict[str, float | None]:
    """Measure how far the collision shapes of each foot are above or below its sole.

    Returns by role of the foot: height of the lowest point of its shapes above the sole's plane, m, negative
    below; None for a foot without collision shapes.
    """
    # It imports trimesh, which takes a third of a second.
    from simbench.robot.link_extent import shape_points

    model = robot.model
    links = read_elements(ET.fromstring(robot.urdf_text)).links
    gaps: dict[str, float | None] = {}
    for role in robot.soles:
        sole = model.frames[model.getFrameId(robot.frames[role])]
        heights = []
        for link in links:
            frame = model.frames[model.getFrameId(link.name)]
            if frame.parentJoint != sole.parentJoint:
                continue
            placed = sole.placement.actInv(frame.placement)
            for shape in link.shapes:
                points = shape_points(shape, robot.urdf.parent) if shape.role == "collision" else None
                if points is not None:
                    heights.append(float((points @ placed.rotation[2] + placed.translation[2]).min()))
        gaps[role] = min(heights) if heights else None
    return gaps


def require_foot_shapes(robot: Robot) -> None:
    """Refuse a robot whose feet would fall through the floor. `robot`: robot that is to stand."""
    model, shaped = robot.model, links_with_collision_shape(robot)
    carriers = {model.frames[model.getFrameId(link)].parentJoint for link in shaped}
    for role in robot.feet:
        if model.frames[model.getFrameId(robot.frames[role])].parentJoint not in carriers:
            raise RobotError(
                f"{robot.name}: frames.{role}: no link of the foot has a collision shape, so that it would "
                "fall through the floor; add <collision> to the URDF"
            )
