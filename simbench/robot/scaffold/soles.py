"""The soles: the largest flat patch under each foot, and the rectangle that lies in it."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull, QhullError

from simbench.robot.scaffold.tree import Array, RobotTree, link_placement

_STEEPEST = np.cos(np.radians(60.0))
"""Patches whose normal deviates by more from downward, in the zero configuration, are no soles."""
_LEAST_SIDE = 0.03
"""Least side of a sole, as a fraction of the leg's length; feet that are smaller are points."""
_GRID = 81


@dataclass(frozen=True)
class SoleGuess:
    """A sole."""

    frame: str  # Link whose frame is the foot's, if there is one already; else the name for a new one.
    # Pose of the foot's frame in the frame of the foot's body: z normal to the sole, x forward, origin below
    # the ankle.
    placement: pin.SE3
    exists: bool  # Whether the frame is a link of the URDF.
    x: tuple[float, float]  # `x`, `y`: rectangle in the foot's frame, m.
    y: tuple[float, float]
    filled: float  # Area of the rectangle as a fraction of the flat patch's.
    tilt: float  # Angle between sole and floor in the zero configuration, rad.


def find_sole(tree: RobotTree, foot: int, forward: Array, name: str, leg_length: float) -> SoleGuess | None:
    """Find the sole of a foot.

    `foot`: joint that moves the foot; `forward` (3,): forward direction in the root link's frame; `name`:
    name for the foot's frame, if the URDF has none that fits; `leg_length`: length of the leg, m. Returns the
    sole; None if the foot has no shape or no flat patch.
    """
    points = tree.points[foot]
    if len(points) < 4:
        return None
    turned = tree.poses[foot].rotation
    down = turned.T @ np.array([0.0, 0.0, -1.0])
    ahead = turned.T @ forward
    patch = _flat_patch(points, down, 0.001 * leg_length)
    if patch is None:
        return None
    normal, height, flat = patch
    up = -normal
    x_axis = ahead - up * float(ahead @ up)
    x_axis /= np.linalg.norm(x_axis)
    rotation = np.column_stack([x_axis, np.cross(up, x_axis), up])
    placement = pin.SE3(rotation, height * normal)
    exists, name, placement = _fitting_link(tree, foot, placement, name)
    local = (flat - placement.translation) @ placement.rotation[:, :2]
    corners = local[ConvexHull(local).vertices]
    x, y = _inscribed_rectangle(corners)
    if min(x[1] - x[0], y[1] - y[0]) < _LEAST_SIDE * leg_length:
        return None
    area = ConvexHull(local).volume
    return SoleGuess(
        frame=name,
        placement=placement,
        exists=exists,
        x=x,
        y=y,
        filled=(x[1] - x[0]) * (y[1] - y[0]) / area,
        tilt=float(np.arccos(np.clip(normal @ down, -1.0, 1.0))),
    )


def _flat_patch(points: Array, down: Array, thickness: float) -> tuple[Array, float, Array] | None:
    """Find normal, distance and points of the largest flat patch that looks downward, in the body's frame."""
    try:
        hull = ConvexHull(points)
    except QhullError:
        return None
    facing = hull.equations[:, :3] @ down > _STEEPEST
    if not facing.any():
        return None
    corners = points[hull.simplices]
    areas = 0.5 * np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    normals = hull.equations[:, :3]
    best, best_area = -1, 0.0
    for index in np.flatnonzero(facing):
        alike = normals @ normals[index] > np.cos(np.radians(2.0))
        area = float(areas[alike].sum())
        if area > best_area * (1.0 + 1e-9):
            best, best_area = int(index), area
    alike = normals @ normals[best] > np.cos(np.radians(2.0))
    normal = (areas[alike, None] * normals[alike]).sum(axis=0)
    normal /= np.linalg.norm(normal)
    # Rounding of a mesh's coordinates, 0.06 degrees, does not tilt a foot.
    nearest = np.eye(3)[int(np.abs(normal).argmax())] * np.sign(normal[np.abs(normal).argmax()])
    for candidate in (down, nearest):
        if candidate @ normal > np.cos(np.radians(0.3)):
            normal = candidate
            break
    heights = points @ normal
    height = float(heights.max())
    flat = points[heights > height - thickness]
    if len(flat) < 3:
        return None
    spread = np.linalg.svd(flat - flat.mean(axis=0))[1]
    return (normal, height, flat) if spread[1] > 1e-4 else None


def _fitting_link(tree: RobotTree, foot: int, placement: pin.SE3, name: str) -> tuple[bool, str, pin.SE3]:
    """Find a link of the foot whose frame lies in the sole, with x forward; else return the wanted frame."""
    for link in tree.links[foot]:
        own = link_placement(tree, link)
        offset = placement.actInv(own)
        turned = np.arccos(np.clip((np.trace(offset.rotation) - 1.0) / 2.0, -1.0, 1.0))
        if turned < 1e-4 and abs(offset.translation[2]) < 1e-4:
            return True, link, own
    return False, name, placement


def _inscribed_rectangle(corners: Array) -> tuple[tuple[float, float], tuple[float, float]]:
    """Find the largest rectangle along the axes in a convex polygon (N, 2), m."""
    low, high = corners[:, 0].min(), corners[:, 0].max()
    cuts = np.unique(np.concatenate([np.linspace(low, high, _GRID), corners[:, 0]]))
    closed = np.vstack([corners, corners[:1]])
    tops, bottoms = np.full(len(cuts), -np.inf), np.full(len(cuts), np.inf)
    for a, b in pairwise(closed):
        start, end = sorted((a[0], b[0]))
        inside = (cuts >= start - 1e-12) & (cuts <= end + 1e-12)
        if end - start < 1e-12:
            heights = [a[1], b[1]]
            tops[inside] = np.maximum(tops[inside], max(heights))
            bottoms[inside] = np.minimum(bottoms[inside], min(heights))
            continue
        heights = a[1] + (b[1] - a[1]) * (cuts[inside] - a[0]) / (b[0] - a[0])
        tops[inside] = np.maximum(tops[inside], heights)
        bottoms[inside] = np.minimum(bottoms[inside], heights)
    top = np.minimum(tops[:, None], tops[None])
    bottom = np.maximum(bottoms[:, None], bottoms[None])
    area = np.maximum(top - bottom, 0.0) * np.maximum(cuts[None] - cuts[:, None], 0.0)
    i, j = np.unravel_index(int(area.argmax()), area.shape)
    return (float(cuts[i]), float(cuts[j])), (float(bottom[i, j]), float(top[i, j]))
