"""Where bodies, marks and shadows are in the picture, and which part has changed since the frame before."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.sim.rendering.scene_view import DISC_RADIUS, NEAR, Camera, projection_matrix, view_matrix

# Step of the window's size, m: a window that followed the bodies closely would let all shadows flicker.
WINDOW_STEP = 0.25
WINDOW_MARGIN = 0.02  # Least distance of the bodies from the window's edge, m.
# Ratio of a penumbra's radius to the distance from what casts the shadow: a lamp 2.5 degrees wide.
SOFTNESS = 0.022


def light_axes(direction: Array) -> Array:
    """Compute the axes of the light's view.

    `direction` (3,): unit vector to the light, not vertical. Returns (3, 3): rows: right and up in the
    light's picture, and toward the light.
    """
    right = np.cross([0.0, 0.0, 1.0], direction)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(direction, right), direction])


class LightWindow:
    """What the light sees: a window around points.

    It depends on these points only, so that frames can be drawn in any order; its size grows in steps, and it
    moves by whole pixels. `axes` (3, 3): from `light_axes`; `points` (N, 3): corners of boxes around all
    bodies, world frame, m; `pixels`: width and height of the shadow map.
    """

    def __init__(self, axes: Array, points: Array, pixels: int) -> None:
        seen = points @ axes.T
        low, high = seen.min(axis=0) - WINDOW_MARGIN, seen.max(axis=0) + WINDOW_MARGIN
        side = WINDOW_STEP * np.ceil(np.max(high[:2] - low[:2]) / WINDOW_STEP)
        depth = WINDOW_STEP * (np.ceil((high[2] - low[2]) / WINDOW_STEP) + 1.0)
        # One pixel more, for the rounding of the middle.
        side *= 1.0 + 2.0 / pixels
        step = side / pixels
        middle = np.append(
            step * np.round(0.5 * (low[:2] + high[:2]) / step), WINDOW_STEP * np.floor(low[2] / WINDOW_STEP)
        )
        clip = np.eye(4)
        scale = np.array([2.0 / side, 2.0 / side, -2.0 / depth])
        clip[:3, :3] = scale[:, None] * axes
        clip[:3, 3] = -scale * middle
        clip[2, 3] += 1.0
        # From the highest point along the light to the floor.
        longest = max(0.0, float(points[:, 2].max()) / axes[2, 2])
        wide = SOFTNESS * longest
        corners = np.array(
            [(x, y) for y in (low[1] - wide, high[1] + wide) for x in (low[0] - wide, high[0] + wide)]
        )
        flat = corners @ axes[:2]
        floor = flat - (flat[:, 2:] / axes[2, 2]) * axes[2]
        self.clip = clip  # (4, 4): transformation from the world to the light's clip coordinates.
        # (4, 2): corners of a part of the floor that holds all shadows, in a triangle strip's order, m.
        self.floor = floor[:, :2]
        # Radius of a penumbra in the map per difference of depth there, and the largest difference.
        self.softness = float(SOFTNESS * depth / side), min(longest / float(depth), 1.0)
        # The shadow map's pixels are too coarse for the surface itself.
        # Distance along the normal by which a surface is moved before its shadow is looked up, m.
        self.offset = 2.0 * step
        # Size and depth of the window, m; shadows of bodies that do not move are the same while it is.
        self.key = float(side), float(depth)


SEARCH = 8  # Pixels along an edge within which the smoothing of edges looks for its end.
MARGIN = 3  # Margin around what has changed, pixels: edges and shadows are soft.
_DISC_CORNERS = DISC_RADIUS * np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)])
_WAYS = np.array([(-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 1.0, 0.0), (-1.0, 1.0, 0.0)])
_SOFT_EDGE = 0.03  # Distance beyond a body and its shadow within which the shadow map's pixels may show, m.
# Margin on the floor around marks, m: half of an outline is several pixels from afar, but never more.
_MARK_MARGIN = 0.05


class Rectangle(NamedTuple):
    """A rectangle of pixels."""

    left: int  # `left`, `top`, `right`, `bottom`: edges, pixels; right and bottom are the first beyond it.
    top: int
    right: int
    bottom: int

    @property
    def viewport(self) -> tuple[int, int, int, int]:
        """Left and top edge, width and height, as OpenGL takes them."""
        return self.left, self.top, self.right - self.left, self.bottom - self.top


class View(NamedTuple):
    """A camera as matrices."""

    clip: Array  # (4, 4): transformation from the world to clip coordinates, y up.
    size: Array  # (2,): width and height of the picture, pixels.
    near: float  # Distance of the near clipping plane, m.
    eye: Array  # (3,): position of the camera, world frame, m.


# COG, ZMP and support polygon of a frame, on the floor: COG and ZMP, world frame, m, far away if there is
# none, (2, 2); vertices of the support polygon, world frame, m, (N, 2); corners of a rectangle of the floor
# that holds them, in the order of a triangle strip, m, (4, 2), and in the picture, pixels, (4, 2).
Marks = tuple[Array, Array, Array, Array]


def make_view(camera: Camera, scale: int) -> View:
    """Compute the matrices of a camera.

    `scale`: ratio of the drawing surface's size to the picture's. Returns matrices and size.
    """
    view = view_matrix(camera)
    size = np.array([scale * camera.width, scale * camera.height])
    eye = -view[:3, :3].T @ view[:3, 3]
    return View(projection_matrix(camera) @ view, size, NEAR * camera.distance_m, eye)


def to_pixels(view: View, points: Array) -> Array:
    """Project points.

    `view`: the camera; `points` (..., 3): points, world frame, m. Returns (..., 2): x to the right and y
    down, pixels; NaN in front of the near clipping plane.
    """
    homogeneous = points @ view.clip[[0, 1, 3], :3].T + view.clip[[0, 1, 3], 3]
    distance = homogeneous[..., 2:]
    fraction = homogeneous[..., :2] / np.where(distance > view.near, distance, np.nan)
    return np.asarray((0.5 + np.array([0.5, -0.5]) * fraction) * view.size)


class Boxes:
    """Rectangles of bodies in the picture, and of them with their shadows, pixels.

    They are the whole picture for bodies part of which are not in front of the camera. `corners` (B, 8, 3):
    corners of the bodies' bounding boxes, world frame, m; `light` (3,): direction to the light.
    """

    def __init__(self, view: View, corners: Array, light: Array) -> None:
        distance = np.maximum(corners[..., 2:], 0.0) / light[2]
        shadows = corners - distance * light
        # Penumbras widen with the distance; on bodies, shadows are as soft as the map is coarse.
        outward = corners - corners.mean(axis=1, keepdims=True)
        outward /= np.maximum(np.linalg.norm(outward, axis=2, keepdims=True), 1e-9)
        soft = [shadows + (SOFTNESS * distance + _SOFT_EDGE) * way for way in _WAYS]
        pixels = to_pixels(view, np.concatenate([corners, corners + _SOFT_EDGE * outward, *soft], axis=1))
        own = pixels[:, :8]
        nowhere, everywhere = np.zeros(2), view.size
        limits = []
        for seen in (own, pixels):
            low, high = seen.min(axis=1), seen.max(axis=1)
            known = np.isfinite(low) & np.isfinite(high)
            limits += [np.where(known, low, nowhere), np.where(known, high, everywhere)]
        # Upper left and lower right corners (B, 2) of the bodies; the same with shadows on the floor.
        self.low, self.high, self.low_reach, self.high_reach = limits


def find_marks(view: View, cog: Array, zmp: Array, support: Array) -> Marks | None:
    """Find where the marks on the floor are.

    `view`: the camera; `cog`, `zmp` (2,): points on the floor, world frame, m; NaN where there are none;
    `support` (N, 2): vertices of the support polygon, world frame, m; NaN beyond the last. Returns the marks;
    None if there are none, or not all are in front of the camera.
    """
    polygon = support[np.isfinite(support).all(axis=1)]
    polygon = polygon if len(polygon) >= 3 else polygon[:0]
    discs = [point + _DISC_CORNERS for point in (cog, zmp) if np.isfinite(point).all()]
    extent = np.vstack([polygon, *discs])
    if len(extent) == 0:
        return None
    low, high = extent.min(axis=0) - _MARK_MARGIN, extent.max(axis=0) + _MARK_MARGIN
    floor = np.array([(x, y) for y in (low[1], high[1]) for x in (low[0], high[0])])
    pixels = to_pixels(view, np.column_stack([floor, np.zeros(4)]))
    if not np.isfinite(pixels).all():
        return None
    points = np.where(np.isfinite([cog, zmp]), [cog, zmp], 1e6)
    return points, polygon, floor, pixels


def changed_region(
    view: View, moved: NDArray[np.bool_], boxes: tuple[Boxes, Boxes], marks: tuple[Marks | None, Marks | None]
) -> Rectangle | None:
    """Find the rectangle in which two frames differ.

    `view`: the camera; `moved` (B,) of bool: bodies whose pose has changed; `boxes`: rectangles of the bodies
    in each frame. Returns the rectangle; None if the frames are equal, or
    nothing of it is in the picture.
    """
    lows = [each.low_reach[moved] for each in boxes]
    highs = [each.high_reach[moved] for each in boxes]
    first, second = marks
    same = first is second
    if first is not None and second is not None:
        same = np.array_equal(first[0], second[0]) and np.array_equal(first[1], second[1])
    if not same:
        lows += [pixels.min(axis=0)[None] for *_, pixels in filter(None, marks)]
        highs += [pixels.max(axis=0)[None] for *_, pixels in filter(None, marks)]
    low, high = np.vstack(lows), np.vstack(highs)
    if not len(low):
        return None
    # Rounded outward to even pixels, within the picture.
    low = np.clip(low.min(axis=0) - MARGIN, 0, view.size)
    high = np.clip(high.max(axis=0) + MARGIN, 0, view.size)
    left, top = (2 * np.floor(0.5 * low)).astype(int).tolist()
    right, bottom = np.minimum(2 * np.ceil(0.5 * high), view.size).astype(int).tolist()
    return Rectangle(left, top, right, bottom) if left < right and top < bottom else None


def grow(view: View, region: Rectangle, pixels: int) -> Rectangle:
    """Make a rectangle larger on all sides, within the picture.

    `view`: the camera; `pixels`: even number of pixels.
    """
    width, height = view.size.astype(int).tolist()
    return Rectangle(
        max(0, region.left - pixels),
        max(0, region.top - pixels),
        min(width, region.right + pixels),
        min(height, region.bottom + pixels),
    )


def overlapping(low: Array, high: Array, region: Rectangle) -> NDArray[np.bool_]:
    """Find the rectangles that overlap another.

    `low`, `high` (B, 2): upper left and lower right corners, pixels; `region`: the other rectangle. Returns
    (B,) of bool: whether each overlaps it.
    """
    inside = np.hstack([high >= region[:2], low <= region[2:]])
    return np.asarray(inside.all(axis=1))
