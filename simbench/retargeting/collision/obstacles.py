"""Obstacles: named convex shapes in the world, at rest or moving, that a robot has to keep clear of."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RetargetError


@dataclass(frozen=True)
class Obstacle:
    """A convex part of the equipment.

    Parameters
    ----------
    name : str
        Parts of one thing, as the boards of a cabinet, share a name and are reported together.
    shape : coal.ShapeBase
    pose : (4, 4) or (T, 4, 4) array
        Of the shape's middle in the world, at rest or at each sample of a trajectory.
    touching : frozenset of str
        Links that may touch it, as those of a hand that grips.
    """

    name: str
    shape: pin.coal.ShapeBase
    pose: NDArray[np.float64]
    touching: frozenset[str] = frozenset()


def box_obstacle(
    name: str, size: Sequence[float], pose: NDArray[np.float64], touching: Collection[str] = ()
) -> Obstacle:
    """Make a rectangular obstacle.

    Parameters
    ----------
    name : str
    size : (3,) floats
        Edge lengths, m.
    pose : (4, 4) or (T, 4, 4) array
        Of its middle in the world.
    touching : collection of str
        Links that may touch it.

    Returns
    -------
    Obstacle

    Raises
    ------
    RetargetError
        If a length is not positive, or the pose is not one.
    """
    _require_lengths(name, size)
    return Obstacle(name, pin.coal.Box(*map(float, size)), _pose(name, pose), frozenset(touching))


def cylinder_obstacle(
    name: str, radius: float, length: float, pose: NDArray[np.float64], touching: Collection[str] = ()
) -> Obstacle:
    """Make a cylinder about its own z axis.

    Parameters
    ----------
    name : str
    radius, length : float
        m.
    pose : (4, 4) or (T, 4, 4) array
        Of its middle in the world.
    touching : collection of str
        Links that may touch it.

    Returns
    -------
    Obstacle

    Raises
    ------
    RetargetError
        If a length is not positive, or the pose is not one.
    """
    _require_lengths(name, (radius, length))
    return Obstacle(
        name, pin.coal.Cylinder(float(radius), float(length)), _pose(name, pose), frozenset(touching)
    )


def require_obstacles(
    robot_name: str, links: Collection[str], obstacles: Sequence[Obstacle], samples: int
) -> None:
    """Refuse obstacles that do not fit a robot or a trajectory.

    Parameters
    ----------
    robot_name : str
    links : collection of str
        Links of the robot.
    obstacles : sequence of Obstacle
    samples : int
        Of the trajectory.

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
        Is changed.
    obstacles : sequence of Obstacle

    Returns
    -------
    list of int
        Index of each obstacle's shape.
    """
    return [
        geometry.addGeometryObject(
            # Names of shapes are unique; obstacles' need not be.
            pin.GeometryObject(f"obstacle_{number}", 0, 0, _pose_at(obstacle, 0.0), obstacle.shape.clone())
        )
        for number, obstacle in enumerate(obstacles)
    ]


def place_obstacles(
    geometry: pin.GeometryModel, placed: Sequence[int], obstacles: Sequence[Obstacle], sample: float
) -> None:
    """Move the obstacles in a geometry model to where they are at a sample, or along a screw between two.

    Parameters
    ----------
    geometry : pinocchio.GeometryModel
        Is changed.
    placed : sequence of int
        From `add_obstacles`.
    obstacles : sequence of Obstacle
    sample : float
    """
    for index, obstacle in zip(placed, obstacles, strict=True):
        if obstacle.pose.ndim == 3:
            geometry.geometryObjects[index].placement = _pose_at(obstacle, sample)


def _pose_at(obstacle: Obstacle, sample: float) -> pin.SE3:
    if obstacle.pose.ndim == 2:
        return pin.SE3(obstacle.pose)
    before = int(sample)
    if sample == before:
        return pin.SE3(obstacle.pose[before])
    start, end = (pin.SE3(obstacle.pose[at]) for at in (before, before + 1))
    return pin.SE3.Interpolate(start, end, sample - before)


def _require_lengths(name: str, lengths: Sequence[float]) -> None:
    if not all(np.isfinite(length) and length > 0.0 for length in lengths):
        given = ", ".join(f"{length:g}" for length in lengths)
        raise RetargetError(f"obstacle `{name}`: lengths of {given} m; allowed: greater than 0")


def _pose(name: str, pose: NDArray[np.float64]) -> NDArray[np.float64]:
    pose = np.asarray(pose, dtype=np.float64)
    if pose.ndim not in (2, 3) or pose.shape[-2:] != (4, 4) or len(pose) == 0:
        raise RetargetError(f"obstacle `{name}`: pose of shape {pose.shape}; allowed: (4, 4) or (T, 4, 4)")
    turn = pose[..., :3, :3]
    rigid = np.abs(turn @ np.swapaxes(turn, -1, -2) - np.eye(3)).max() < 1e-6
    if not (np.isfinite(pose).all() and rigid and (np.linalg.det(turn) > 0.0).all()):
        raise RetargetError(f"obstacle `{name}`: its pose is not a rotation and a translation")
    return pose
