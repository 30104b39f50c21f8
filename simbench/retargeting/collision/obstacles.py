"""Obstacles: named convex shapes in the world, at rest or moving, that a robot must keep clear of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.robot.hand_shapes import hand_links
from simbench.robot.robot import Robot

# Fixtures make obstacles, and scenarios are read without the time that Pinocchio's import takes.
if TYPE_CHECKING:
    import pinocchio as pin

# Distance from a handle's point, m, up to which a shape is what the hand holds.
_HELD_DISTANCE = 0.005
# Sizes of a cylinder, to a micrometre, that tell a knob from the rim that it stands on.
_SIZES = ("radius", "halfLength")


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
    grasped_beside : bool
        Whether it is part of what hands hold: fingers near it are closed.
    """

    name: str
    shape: pin.coal.ShapeBase
    pose: Array
    touching: frozenset[str] = frozenset()
    grasped_beside: bool = False


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


def beside_hands(
    robot: Robot,
    obstacles: Sequence[Obstacle],
    contact: Mapping[str, NDArray[np.bool_]],
    palms: Mapping[str, Array],
) -> list[Obstacle]:
    """Find what hands must keep clear of in the parts that they hold: all but what is in them.

    A hand holds the shape at its handle's point, and others of that kind and size, such as the segments of a
    rim. Obstacles let hands touch all of a part with handles; those returned are for the links of hands
    only. `contact` (T,) and `palms` (T, 4, 4) say when each side holds, and where.
    """
    import pinocchio as pin

    kinds = [
        (each.name, type(each.shape).__name__, *(round(getattr(each.shape, size, 0.0), 6) for size in _SIZES))
        for each in obstacles
    ]
    held = set()
    for side in (side for side, touching in contact.items() if touching.any()):
        sample = int(np.flatnonzero(contact[side])[0])
        point = pin.coal.Transform3s(np.eye(3), palms[side][sample, :3, 3])
        for each, kind in zip(obstacles, kinds, strict=True):
            pose = each.pose if each.pose.ndim == 2 else each.pose[sample]
            there = pin.coal.Transform3s(pose[:3, :3], pose[:3, 3])
            request, result = pin.coal.DistanceRequest(), pin.coal.DistanceResult()
            ball = pin.coal.Sphere(1e-4)
            if pin.coal.distance(each.shape, there, ball, point, request, result) < _HELD_DISTANCE:
                held.add(kind)
    links = {frame.name for frame in robot.model.frames if frame.type == pin.FrameType.BODY}
    of_hands = {link for role in robot.hands for link in hand_links(robot, role)}
    others = frozenset(links - of_hands)
    return [
        replace(each, touching=others, grasped_beside=True)
        for each, kind in zip(obstacles, kinds, strict=True)
        if each.touching & of_hands and kind not in held
    ]
