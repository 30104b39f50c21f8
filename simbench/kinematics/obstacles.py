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

_SIDES = 32  # Sides of the prism about a cylinder: it stands out by 0.5 % of the radius at most.


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

    _require_lengths(name, size)
    return _obstacle(name, pin.coal.Box(*map(float, size)), pose, touching)


def cylinder_obstacle(
    name: str, radius: float, length: float, pose: Array, touching: Collection[str] = ()
) -> Obstacle:
    """Make a cylinder about its own z axis, lengths in m; the pose is that of its middle."""
    _require_lengths(name, (radius, length))
    return _obstacle(name, convex_cylinder(radius, length), pose, touching)


def hull_obstacle(name: str, corners: Array, pose: Array, touching: Collection[str] = ()) -> Obstacle:
    """Make a convex polyhedron from its corners (V, 3), m, in its own frame; the pose is that frame's."""
    import pinocchio as pin
    from scipy.spatial import ConvexHull, QhullError

    try:
        ConvexHull(corners)
    except (QhullError, ValueError):  # Coal would end the process.
        raise RetargetError(f"obstacle `{name}`: its corners do not enclose a volume") from None
    points = pin.coal.StdVec_Vec3s()
    points.extend(list(np.asarray(corners, dtype=float)))
    return _obstacle(name, pin.coal.Convex.convexHull(points, True, "Qt"), pose, touching)


def convex_cylinder(radius: float, length: float) -> pin.coal.ShapeBase:
    """Build the prism of 32 sides about a cylinder of a length along its z axis, m.

    Coal's distances of round shapes come from an iteration: the direction of the nearest points, and for
    shapes that penetrate the distance too, would depend on the last digit of a posture.
    """
    import pinocchio as pin

    turn = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
    edge = radius / np.cos(np.pi / _SIDES)
    ring = np.column_stack([edge * np.cos(turn), edge * np.sin(turn), np.full(_SIDES, 0.5 * length)])
    points, triangles = pin.coal.StdVec_Vec3s(), pin.coal.StdVec_Triangle()
    points.extend([*ring, *(ring * [1.0, 1.0, -1.0])])
    for side in range(_SIDES):
        after = (side + 1) % _SIDES
        triangles.extend(
            [
                pin.coal.Triangle(side, _SIDES + side, _SIDES + after),
                pin.coal.Triangle(side, _SIDES + after, after),
            ]
        )
        if 0 < side < _SIDES - 1:
            triangles.extend(
                [pin.coal.Triangle(0, side, after), pin.coal.Triangle(_SIDES, _SIDES + after, _SIDES + side)]
            )
    return pin.coal.Convex(points, triangles)


def _require_lengths(name: str, lengths: Sequence[float]) -> None:
    """Refuse lengths of an obstacle that are not positive."""
    if not all(np.isfinite(length) and length > 0.0 for length in lengths):
        given = ", ".join(f"{length:g}" for length in lengths)
        raise RetargetError(f"obstacle `{name}`: lengths of {given} m; allowed: greater than 0")


def _obstacle(name: str, shape: pin.coal.ShapeBase, pose: Array, touching: Collection[str]) -> Obstacle:
    """Make an obstacle; refuse what is no pose or sequence of poses."""
    pose = np.asarray(pose, dtype=np.float64)
    if pose.ndim not in (2, 3) or pose.shape[-2:] != (4, 4) or len(pose) == 0:
        raise RetargetError(f"obstacle `{name}`: pose of shape {pose.shape}; allowed: (4, 4) or (T, 4, 4)")
    rotation = pose[..., :3, :3]
    rigid = np.abs(rotation @ np.swapaxes(rotation, -1, -2) - np.eye(3)).max() < 1e-6
    if not (np.isfinite(pose).all() and rigid and (np.linalg.det(rotation) > 0.0).all()):
        raise RetargetError(f"obstacle `{name}`: its pose is not a rotation and a translation")
    return Obstacle(name, shape, pose, frozenset(touching))
