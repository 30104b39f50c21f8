"""Legs that move under an upper body: obstacles for the arms, where the planned motion has them."""

from dataclasses import replace

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.retargeting.collision.clearance import BodyShapes, convex_shapes, link_of
from simbench.retargeting.collision.obstacles import Obstacle
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES


def release_legs(
    robot: Robot, shapes: BodyShapes, base: Array, joints: Array
) -> tuple[BodyShapes, tuple[Obstacle, ...]]:
    """Take the legs out of a robot's self-collision pairs, and make them obstacles that move.

    `BodyShapes` has the legs in one posture. They bend as the COG sways: a hip moves by centimetres, more
    than hands that hang beside it may have to spare.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    shapes : BodyShapes
        Collision shapes of its upper body, with its own self-collision pairs.
    base : (T, 7) array
        Pose of the root link in the world frame: position, m, and quaternion.
    joints : (T, n) array
        Positions of all joints, rad.

    Returns
    -------
    shapes : BodyShapes
        The same without the pairs of a leg's link and one that trunk or arms move.
    obstacles : tuple of Obstacle
        The legs' links of those pairs, with a pose at each of the T samples; other links may touch them.
    """
    geometry = shapes.geometry.copy()
    legs = _leg_links(robot)
    names = [link_of(shape.name) for shape in geometry.geometryObjects]
    partners: dict[str, set[str]] = {}
    for pair in [pin.CollisionPair(pair.first, pair.second) for pair in geometry.collisionPairs]:
        ends = names[pair.first], names[pair.second]
        if (ends[0] in legs) == (ends[1] in legs):
            continue
        leg, other = ends if ends[0] in legs else ends[::-1]
        partners.setdefault(leg, set()).add(other)
        geometry.removeCollisionPair(pair)
    return replace(shapes, geometry=geometry), _obstacles(robot, set(names), partners, base, joints)


def _leg_links(robot: Robot) -> set[str]:
    """Links that the joints of the legs move."""
    model = robot.model
    moved = {model.getJointId(name) for side in SIDES for name in robot.groups[f"{side}_leg"]}
    return {
        frame.name
        for frame in model.frames
        if frame.type == pin.FrameType.BODY and moved & set(model.supports[frame.parentJoint])
    }


def _obstacles(
    robot: Robot, links: set[str], partners: dict[str, set[str]], base: Array, joints: Array
) -> tuple[Obstacle, ...]:
    """Shapes of the links that have partners, at their poses in a motion."""
    whole = convex_shapes(robot)
    chosen = [k for k, shape in enumerate(whole.geometryObjects) if link_of(shape.name) in partners]
    data, placed = robot.model.createData(), whole.createData()
    poses = np.empty((len(chosen), len(joints), 4, 4))
    for sample, q in enumerate(np.hstack([base, joints])):
        pin.updateGeometryPlacements(robot.model, data, whole, placed, q)
        for row, index in enumerate(chosen):
            poses[row, sample] = placed.oMg[index].homogeneous
    return tuple(
        Obstacle(
            link_of(whole.geometryObjects[index].name),
            whole.geometryObjects[index].geometry,
            poses[row],
            frozenset(links - partners[link_of(whole.geometryObjects[index].name)]),
        )
        for row, index in enumerate(chosen)
    )
