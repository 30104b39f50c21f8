"""How near a robot's legs come to each other in a planned motion."""

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.retargeting.collision.clearance import convex_shapes, link_of
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES


def leg_distances(robot: Robot, configurations: Array) -> Array:
    """Compute the least distance between a link of the left leg and one of the right.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    configurations : (T, 7 + n) array
        Root pose and joint positions.

    Returns
    -------
    (T,) array
        Distance of the convex hulls of the links, m; negative where they penetrate; infinite without shapes.
    """
    geometry = convex_shapes(robot).copy()
    links = [_links(robot, side) for side in SIDES]
    sides: list[list[int]] = [
        [k for k, shape in enumerate(geometry.geometryObjects) if link_of(shape.name) in of] for of in links
    ]
    geometry.removeAllCollisionPairs()
    for left in sides[0]:
        for right in sides[1]:
            geometry.addCollisionPair(pin.CollisionPair(left, right))
    if not len(geometry.collisionPairs):
        return np.full(len(configurations), np.inf)
    data, placed = robot.model.createData(), geometry.createData()
    least = np.empty(len(configurations))
    for sample, q in enumerate(configurations):
        pin.updateGeometryPlacements(robot.model, data, geometry, placed, q)
        pin.computeDistances(geometry, placed)
        least[sample] = min(result.min_distance for result in placed.distanceResults)
    return least


def _links(robot: Robot, side: str) -> set[str]:
    """Links that the joints of a leg move."""
    model = robot.model
    moved = {model.getJointId(name) for name in robot.groups[f"{side}_leg"]}
    return {
        frame.name
        for frame in model.frames
        if frame.type == pin.FrameType.BODY and moved & set(model.supports[frame.parentJoint])
    }
