"""Obstacles: named convex shapes in the world, at rest or moving, that a robot must keep clear of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array

if TYPE_CHECKING:
    import pinocchio as pin


@dataclass(frozen=True)
class Obstacle:
    """A convex part of the equipment.

    Parameters
    ----------
    name : str
        Parts of one thing, as the boards of a cabinet, share a name and are reported together.
    shape : coal.ShapeBase
        Convex shape about its own middle, m.
    pose : (4, 4) or (T, 4, 4) array
        Pose of the shape's middle in the world frame, m, at rest or at each sample of a trajectory.
    touching : frozenset of str
        Links that may touch it, as those of a hand that grips.
    """

    name: str
    shape: pin.coal.ShapeBase
    pose: Array
    touching: frozenset[str] = frozenset()


def box_obstacle(name: str, size: Sequence[float], pose: Array, touching: Collection[str] = ()) -> Obstacle:
    """Make a rectangular obstacle.

    Parameters
    ----------
    name : str
        Name for reports.
    size : (3,) floats
        Edge lengths, m.
    pose : (4, 4) or (T, 4, 4) array
        Pose of its middle in the world frame, m, at rest or at each sample of a trajectory.
    touching : collection of str
        Links that may touch it.

    Returns
    -------
    Obstacle
        Obstacle of this shape and pose.

    Raises
    ------
    RetargetError
        If a length is not positive, or the pose is not one.
    """
    import pinocchio as pin

    _require_lengths(name, size)
    return Obstacle(name, pin.coal.Box(*map(float, size)), _require_pose(name, pose), frozenset(touching))


def cylinder_obstacle(
    name: str, radius: float, length: float, pose: Array, touching: Collection[str] = ()
) -> Obstacle:
    """Make a cylinder about its own z axis.

    Parameters
    ----------
    name : str
        Name for reports.
    radius : float
        Radius, m.
    length : float
        Length along its own z axis, m.
    pose : (4, 4) or (T, 4, 4) array
        Pose of its middle in the world frame, m, at rest or at each sample of a trajectory.
    touching : collection of str
        Links that may touch it.

    Returns
    -------
    Obstacle
        Obstacle of this shape and pose.

    Raises
    ------
    RetargetError
        If a length is not positive, or the pose is not one.
    """
    import pinocchio as pin

    _require_lengths(name, (radius, length))
    return Obstacle(
        name, pin.coal.Cylinder(float(radius), float(length)), _require_pose(name, pose), frozenset(touching)
    )


def hull_obstacle(name: str, corners: Array, pose: Array, touching: Collection[str] = ()) -> Obstacle:
    """Make a convex polyhedron.

    Parameters
    ----------
    name : str
        Name for reports.
    corners : (V, 3) array
        Its corners in its own frame, m.
    pose : (4, 4) or (T, 4, 4) array
        Pose of that frame in the world frame, m, at rest or at each sample of a trajectory.
    touching : collection of str
        Links that may touch it.

    Returns
    -------
    Obstacle
        Obstacle of this shape and pose.

    Raises
    ------
    RetargetError
        If the pose is not one.
    """
    import pinocchio as pin

    points = pin.coal.StdVec_Vec3s()
    points.extend(list(np.asarray(corners, dtype=float)))
    hull = pin.coal.Convex.convexHull(points, True, "Qt")
    return Obstacle(name, hull, _require_pose(name, pose), frozenset(touching))


def require_obstacles(
    robot_name: str, links: Collection[str], obstacles: Sequence[Obstacle], samples: int
) -> None:
    """Refuse obstacles that do not fit a robot or a trajectory.

    Parameters
    ----------
    robot_name : str
        Name of the robot, for the error message.
    links : collection of str
        Links of the robot.
    obstacles : sequence of Obstacle
        Obstacles to check.
    samples : int
        Number of samples of the trajectory.

    Raises
    ------
    RetargetError
        If a moving obstacle has another number of poses than the trajectory samples, or a link that may touch
        it is not the robot's.
    """
    for obstacle in obstacles:
        if obstacle.pose.ndim == 3 and len(obstacle.pose) != samples:
            raise RetargetError(
                f"obstacle `{obstacle.name}`: {len(obstacle.pose)} poses for a trajectory of {samples} "
                "samples; allowed: one pose, or one a sample"
            )
        unknown = sorted(obstacle.touching - set(links))
        if unknown:
            raise RetargetError(
                f"obstacle `{obstacle.name}`: {robot_name} has no link `{unknown[0]}` that could touch it"
            )


def add_obstacles(geometry: pin.GeometryModel, obstacles: Sequence[Obstacle]) -> list[int]:
    """Append obstacles to a geometry model, fixed to the world; without pairs.

    Parameters
    ----------
    geometry : pinocchio.GeometryModel
        Geometry model, which is changed.
    obstacles : sequence of Obstacle
        Obstacles to append.

    Returns
    -------
    list of int
        Index of each obstacle's shape.
    """
    import pinocchio as pin

    return [
        geometry.addGeometryObject(
            # Names of shapes are unique; obstacles' need not be.
            pin.GeometryObject(f"obstacle_{number}", 0, 0, _pose_at(obstacle, 0.0), obstacle.shape.clone())
        )
        for number, obstacle in enumerate(obstacles)
    ]


@dataclass(frozen=True)
class MovingObstacles:
    """Obstacles in a geometry model that do not rest, and their poses at samples already asked for.

    Parameters
    ----------
    shapes : tuple of pinocchio.GeometryObject
        Their shapes, as references into the model: nothing may be added to it any more.
    obstacles : tuple of Obstacle
        The same obstacles.
    poses : dict of int to list of pinocchio.SE3
        Poses of all of them at a sample.
    """

    shapes: tuple[pin.GeometryObject, ...]
    obstacles: tuple[Obstacle, ...]
    poses: dict[int, list[pin.SE3]]


def find_moving_obstacles(
    geometry: pin.GeometryModel, placed: Sequence[int], obstacles: Sequence[Obstacle]
) -> MovingObstacles:
    """Find the obstacles in a geometry model that do not rest.

    Parameters
    ----------
    geometry : pinocchio.GeometryModel
        Geometry model with all its shapes.
    placed : sequence of int
        Index of each obstacle's shape, from `add_obstacles`.
    obstacles : sequence of Obstacle
        The same obstacles.

    Returns
    -------
    MovingObstacles
        For `place_obstacles`.
    """
    moving = [
        (geometry.geometryObjects[index], obstacle)
        for index, obstacle in zip(placed, obstacles, strict=True)
        if obstacle.pose.ndim == 3
    ]
    return MovingObstacles(tuple(shape for shape, _ in moving), tuple(obstacle for _, obstacle in moving), {})


def place_obstacles(moving: MovingObstacles, sample: float) -> None:
    """Move the obstacles in a geometry model to where they are at a sample, or along a screw between two.

    Parameters
    ----------
    moving : MovingObstacles
        Obstacles, whose shapes are moved.
    sample : float
        Index of a sample, or between two.
    """
    if not moving.shapes:
        return
    # A wheel's rim is made of many parts, and avoidance asks for the same samples again and again.
    poses = moving.poses.get(int(sample)) if sample == int(sample) else None
    if poses is None:
        poses = [_pose_at(obstacle, sample) for obstacle in moving.obstacles]
        if sample == int(sample):
            moving.poses[int(sample)] = poses
    for shape, pose in zip(moving.shapes, poses, strict=True):
        shape.placement = pose


def _pose_at(obstacle: Obstacle, sample: float) -> pin.SE3:
    """Pose of an obstacle at a sample, or along a screw between two."""
    import pinocchio as pin

    if obstacle.pose.ndim == 2:
        return pin.SE3(obstacle.pose)
    before = int(sample)
    if sample == before:
        return pin.SE3(obstacle.pose[before])
    start, end = (pin.SE3(obstacle.pose[at]) for at in (before, before + 1))
    return pin.SE3.Interpolate(start, end, sample - before)


def _require_lengths(name: str, lengths: Sequence[float]) -> None:
    """Refuse lengths that are not positive."""
    if not all(np.isfinite(length) and length > 0.0 for length in lengths):
        given = ", ".join(f"{length:g}" for length in lengths)
        raise RetargetError(f"obstacle `{name}`: lengths of {given} m; allowed: greater than 0")


def _require_pose(name: str, pose: Array) -> Array:
    """Refuse an array that is no pose, and no sequence of poses."""
    pose = np.asarray(pose, dtype=np.float64)
    if pose.ndim not in (2, 3) or pose.shape[-2:] != (4, 4) or len(pose) == 0:
        raise RetargetError(f"obstacle `{name}`: pose of shape {pose.shape}; allowed: (4, 4) or (T, 4, 4)")
    rotation = pose[..., :3, :3]
    rigid = np.abs(rotation @ np.swapaxes(rotation, -1, -2) - np.eye(3)).max() < 1e-6
    if not (np.isfinite(pose).all() and rigid and (np.linalg.det(rotation) > 0.0).all()):
        raise RetargetError(f"obstacle `{name}`: its pose is not a rotation and a translation")
    return pose
