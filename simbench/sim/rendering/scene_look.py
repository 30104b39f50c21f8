"""Light, colours and measures that all renderers share, so that their pictures look alike."""

from collections.abc import Sequence

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.sim.rendering.scene_view import Camera

LIGHT_HEIGHT = 55.0  # degrees
# As far as the shadows of Bullet's plugin reach: light from nearby would change over the floor.
LIGHT_DISTANCE = 200.0  # m
BACKGROUND = 223
"""Grey level above the horizon: the plain floor's in this light."""
GHOST_COLOUR = (0.25, 0.55, 1.0)
FIGURE_COLOUR, FIGURE_BAR_COLOUR = (0.85, 0.42, 0.14), (0.93, 0.62, 0.32)
"""Colours of the balls and of the bars of a figure beside the robot, such as the recorded person."""

TILE = 0.5  # m
TEXTURE_HALF = 4.0
"""Half of the tiled square's side; the floor is plain beyond, m."""
HORIZON_HALF = 40.0  # m
PLAIN = 0.98
"""Grey level of the floor beyond the tiles, 0..1."""

SUPPORT, COG, ZMP = (20, 160, 80), (30, 100, 235), (225, 35, 35)
FILL, LINE = 70, 255
"""Opacity of the polygon's area, and of outlines and discs, 0..255."""
HIDDEN = 0.25
"""Factor on the opacity behind the robot or a table: feet often cover the ZMP."""
DISC_RADIUS = 0.016  # m
LINE_WIDTH = 2.0  # pixels


def light_direction(camera: Camera) -> Array:
    """Compute the direction to the light: high, over the camera's left shoulder.

    Shadows fall away to the right. `camera`: camera that the light stands behind. Returns (3,): vector from
    the world's origin to the light, m.
    """
    yaw, height = np.radians([camera.yaw_deg - 35.0, LIGHT_HEIGHT])
    return LIGHT_DISTANCE * np.array(
        [np.sin(yaw) * np.cos(height), -np.cos(yaw) * np.cos(height), np.sin(height)]
    )


def floor_middle(target: Sequence[float]) -> tuple[float, float]:
    """Find the point around which the tiles of the floor are seen.

    `target`: point that the camera looks at, world frame, m. Returns corner of tiles nearest to the target,
    world frame, m: the tiles stay aligned with the world's origin.
    """
    x, y = (2.0 * TILE * round(value / (2.0 * TILE)) for value in target)
    return x, y
