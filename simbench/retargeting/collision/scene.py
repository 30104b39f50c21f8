"""The pairs of shapes that can come near each other while a robot moves among obstacles, sample by sample."""

from collections.abc import Sequence
from dataclasses import dataclass

import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.retargeting.collision.clearance import BodyShapes, clearance_rows, link_of
from simbench.retargeting.collision.obstacles import (
    MovingObstacles,
    Obstacle,
    add_obstacles,
    find_moving_obstacles,
    place_obstacles,
    require_obstacles,
)
from simbench.retargeting.collision.pair_distances import PairWorkspace, pair_workspace


@dataclass(frozen=True)
class ClearanceScene:
    """Pairs that can come near each other, and poses of root and obstacles at each of T samples.

    Parameters
    ----------
    workspace : PairWorkspace
        Shapes of the robot and of the obstacles, with their pairs.
    base : (T, 7) array
        Pose of the root link in the world frame: position, m, and quaternion x, y, z, w.
    moving : MovingObstacles
        Obstacles that move.
    """

    workspace: PairWorkspace
    base: Array
    moving: MovingObstacles

    def rows(self, sample: int, joints: Array, margin: float) -> tuple[Array, Array]:
        """Compute the clearance deficits at a sample, as `clearance_rows` does.

        Parameters
        ----------
        sample : int
            The sample, which says where root and obstacles are.
        joints : (n,) array
            Positions of trunk and arms, rad.
        margin : float
            Least distance of a pair, m.

        Returns
        -------
        jacobian : (k, n) array
            Derivative of the distance of each pair nearer than the margin, m/rad.
        missing : (k,) array
            Deficit of each of these pairs, m.
        """
        place_obstacles(self.moving, sample)
        return clearance_rows(self.workspace, joints, margin, self.base[sample])


def clearance_scene(shapes: BodyShapes, base: Array, obstacles: Sequence[Obstacle] = ()) -> ClearanceScene:
    """Pair the links that trunk and arms move with obstacles; legs and pelvis stay as they are.

    Parameters
    ----------
    shapes : BodyShapes
        Collision shapes of the upper body, with the robot's own pairs.
    base : (T, 7) array
        Pose of the root link in the world frame: position, m, and quaternion x, y, z, w.
    obstacles : sequence of Obstacle
        Obstacles at rest, or with a pose at each of the T samples.

    Returns
    -------
    ClearanceScene
        The scene.

    Raises
    ------
    RetargetError
        If an obstacle does not fit the robot or the samples.
    """
    links = [frame.name for frame in shapes.model.frames if frame.type == pin.FrameType.BODY]
    require_obstacles("the robot", links, obstacles, len(base))
    geometry = shapes.geometry.copy()
    moved = [
        (index, link_of(shape.name))
        for index, shape in enumerate(geometry.geometryObjects)
        if shape.parentJoint > 1
    ]
    placed = tuple(add_obstacles(geometry, obstacles))
    for obstacle, index in zip(obstacles, placed, strict=True):
        for shape, link in moved:
            if link not in obstacle.touching:
                geometry.addCollisionPair(pin.CollisionPair(shape, index))
    return ClearanceScene(
        pair_workspace(shapes.model, geometry), base, find_moving_obstacles(geometry, placed, obstacles)
    )
