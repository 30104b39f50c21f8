"""Window of the shadow map: the light's view of all bodies."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array

STEP = 0.25
"""Step of the window's size, m: a window that followed the bodies closely would let all shadows flicker."""
MARGIN = 0.02
"""Least distance of the bodies from the window's edge, m."""
SOFTNESS = 0.022
"""Ratio of a penumbra's radius to the distance from what casts the shadow: a lamp 2.5 degrees wide."""


class LightWindow(NamedTuple):
    """What the light sees."""

    clip: Array  # (4, 4): transformation from the world to the light's clip coordinates.
    # (4, 2): corners of a part of the floor that holds all shadows, in the order of a triangle strip, m.
    floor: Array
    # radius of a penumbra in the map per difference of depth there, and the largest difference.
    softness: tuple[float, float]
    # Distance along the normal by which a surface is moved before its shadow is looked up, m: the shadow
    # map's pixels are too coarse for the surface itself.
    offset: float
    # Size and depth of the window, m; shadows of bodies that do not move are the same while it is.
    key: tuple[float, ...]


def light_axes(direction: Array) -> Array:
    """Compute the axes of the light's view.

    `direction` (3,): unit vector to the light, not vertical. Returns (3, 3): rows: right and up in the
    light's picture, and toward the light.
    """
    right = np.cross([0.0, 0.0, 1.0], direction)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(direction, right), direction])


def fit_light_window(axes: Array, points: Array, pixels: int) -> LightWindow:
    """Fit the light's window around points.

    It depends on these points only, so that frames can be drawn in any order; its size grows in steps, and it
    moves by whole pixels. `axes` (3, 3); `points` (N, 3): corners of boxes around all bodies, world frame, m;
    `pixels`: width and height of the shadow map. Returns window that holds all points.
    """
    seen = points @ axes.T
    low, high = seen.min(axis=0) - MARGIN, seen.max(axis=0) + MARGIN
    side = STEP * np.ceil(np.max(high[:2] - low[:2]) / STEP)
    depth = STEP * (np.ceil((high[2] - low[2]) / STEP) + 1.0)
    # One pixel more, for the rounding of the middle.
    side *= 1.0 + 2.0 / pixels
    step = side / pixels
    middle = np.append(step * np.round(0.5 * (low[:2] + high[:2]) / step), STEP * np.floor(low[2] / STEP))
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
    softness = float(SOFTNESS * depth / side), min(longest / float(depth), 1.0)
    return LightWindow(clip, floor[:, :2], softness, 2.0 * step, (float(side), float(depth)))
