"""Obstacles: named convex shapes in the world, at rest or moving, that a robot must keep clear of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array

# Fixtures make obstacles, and scenarios are read without the time that Pinocchio's import takes.
if TYPE_CHECKING:
    import pinocchio as pin


@dataclass(frozen=True)
class Obstacle:
    """A convex part of the equipment."""

    name: str  # Parts of one thing, as the boards of a cabinet, share a name and are reported together.
    shape: pin.coal.ShapeBase  # Convex shape about its own middle, m.
    # (4, 4) or (T, 4, 4) array: pose of the shape's middle in the world frame, m, at rest or at each sample
    # of a trajectory.
    pose: Array
    touching: frozenset[str] = frozenset()  # Links that may touch it, as those of a hand that grips.
    grasped_beside: bool = False  # Whether it is part of what hands hold: fingers near it are closed.


def box_obstacle(name: str, size: Sequence[float], pose: Array, touching: Collection[str] = ()) -> Obstacle:
    """Make a rectangular obstacle with edges of these lengths, m; the pose is that of its middle."""
    import pinocchio as pin

    return _obstacle(name, pin.coal.Box(*map(float, size)), pose, touching, size)


def cylinder_obstacle(
    name: str, radius: float, length: float, pose: Array, touching: Collection[str] = ()
) -> Obstacle:
    """Make a cylinder about its own z axis, lengths in m; the pose is that of its middle."""
    import pinocchio as pin

    shape = pin.coal.Cylinder(float(radius), float(length))
    return _obstacle(name, shape, pose, touching, (radius, length))


def hull_obstacle(name: str, corners: Array, pose: Array, touching: Collection[str] = ()) -> Obstacle:
    """Make a convex polyhedron from its corners (V, 3), m, in its own frame; the pose is that frame's."""
    import pinocchio as pin

    points = pin.coal.StdVec_Vec3s()
    points.extend(list(np.asarray(corners, dtype=float)))
    return _obstacle(name, pin.coal.Convex.convexHull(points, True, "Qt"), pose, touching)


def _obstacle(
    name: str,
    shape: pin.coal.ShapeBase,
    pose: Array,
    touching: Collection[str],
    lengths: Sequence[float] = (),
) -> Obstacle:
    """Make an obstacle; refuse lengths that are not positive, and what is no pose or sequence of poses."""
    pose = np.asarray(pose, dtype=np.float64)
    if not all(np.isfinite(length) and length > 0.0 for length in lengths):
        given = ", ".join(f"{length:g}" for length in lengths)
        raise RetargetError(f"obstacle `{name}`: lengths of {given} m; allowed: greater than 0")
    if pose.ndim not in (2, 3) or pose.shape[-2:] != (4, 4) or len(pose) == 0:
        raise RetargetError(f"obstacle `{name}`: pose of shape {pose.shape}; allowed: (4, 4) or (T, 4, 4)")
    rotation = pose[..., :3, :3]
    rigid = np.abs(rotation @ np.swapaxes(rotation, -1, -2) - np.eye(3)).max() < 1e-6
    if not (np.isfinite(pose).all() and rigid and (np.linalg.det(rotation) > 0.0).all()):
        raise RetargetError(f"obstacle `{name}`: its pose is not a rotation and a translation")
    return Obstacle(name, shape, pose, frozenset(touching))
