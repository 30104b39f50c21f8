"""Place cameras so that a robot fills the pictures of its portrait."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simbench.sim.rendering.scene_view import Camera, in_front, project, view_matrix

Points = NDArray[np.float64]

FILLED = 0.88
"""Fraction of the picture's width or height that the robot fills at most."""
PITCH, FIELD_OF_VIEW = -9.0, 22.0
"""Degrees. The field of view is narrow, so that the near arm does not look longer than the far one."""
SHEET_WIDTH = 1480
"""Width of all panels of a row together, pixels."""
MIN_PANEL_HEIGHT = 420
MAX_PANEL_HEIGHT = {4: 840, 2: 580}
"""Pixels, by the number of panels in a row."""
SLENDER = 0.8
"""Four panels are put in one row if the robot's width is less than this fraction of its height."""


def panel_size(points: NDArray[np.float64]) -> tuple[int, int, int]:
    """Choose the layout of four pictures of a robot.

    `points` (N, 3): points on the robot's surface in the world, m. Returns `columns`: number of panels in a
    row; `width`: width of a panel, pixels; even; `height`: height of a panel, pixels; even.
    """
    breadth, depth, tall = np.ptp(points, axis=0).tolist()
    slenderness = max(breadth, depth) / max(tall, 1e-6)
    columns = 4 if slenderness < SLENDER else 2
    width = SHEET_WIDTH // columns
    height = int(np.clip(width / slenderness, MIN_PANEL_HEIGHT, MAX_PANEL_HEIGHT[columns]))
    return columns, width - width % 2, height - height % 2


def frame_cameras(
    clouds: Sequence[NDArray[np.float64]],
    yaws: Sequence[float],
    width: int,
    height: int,
    pitch: float = PITCH,
) -> list[Camera]:
    """Place one camera for each picture, so that all pictures have the same scale and floor line.

    `clouds` sequence of (N, 3) arrays: points on the robot's surface in each picture, in the world, m;
    `yaws`: yaw of each camera, degrees; `width`: width of a picture, pixels; `height`: height of a picture,
    pixels; `pitch`: pitch of all cameras, degrees.
    """
    everything = np.vstack(clouds)
    x, y, z = (0.5 * (everything.min(axis=0) + everything.max(axis=0))).tolist()
    cameras = [Camera((x, y, z), 1.0, yaw, pitch, FIELD_OF_VIEW, width, height, fps=1) for yaw in yaws]
    # With perspective, distance and centre of the outline depend on each other: a few iterations settle both.
    for _ in range(3):
        distance = max(
            _distance(camera, cloud, everything) for camera, cloud in zip(cameras, clouds, strict=True)
        )
        cameras = [
            _centered(replace(camera, distance_m=distance), cloud, everything)
            for camera, cloud in zip(cameras, clouds, strict=True)
        ]
    return cameras


def _distance(camera: Camera, points: Points, everything: Points) -> float:
    """Find by bisection the least distance, m, at which the robot fills at most `FILLED` of the picture."""
    size = float(np.ptp(everything, axis=0).max()) + 1e-3
    near, far = 0.1 * size, 100.0 * size
    for _ in range(24):
        between = float(np.sqrt(near * far))
        if _fits(replace(camera, distance_m=between), points, everything):
            far = between
        else:
            near = between
    return far


def _fits(camera: Camera, points: Points, everything: Points) -> bool:
    """Test whether the robot fills at most `FILLED` of the picture."""
    if not in_front(camera, everything).all():
        return False
    (left, top), (right, bottom) = _outline(camera, points, everything)
    return bool(right - left <= FILLED * camera.width and bottom - top <= FILLED * camera.height)


def _outline(camera: Camera, points: Points, everything: Points) -> NDArray[np.float64]:
    """Compute the upper left and lower right corner, pixels: width of one posture, height of all postures."""
    x, y = project(camera, points)[:, 0], project(camera, everything)[:, 1]
    return np.array([[x.min(), y.min()], [x.max(), y.max()]])


def _centered(camera: Camera, points: Points, everything: Points) -> Camera:
    """Move the target parallel to the picture's plane, so that the robot is in the middle of the picture."""
    off = _outline(camera, points, everything).mean(axis=0) - 0.5 * np.array([camera.width, camera.height])
    scale = 2.0 * camera.distance_m * np.tan(0.5 * np.radians(camera.fov_deg)) / camera.height
    rotation = view_matrix(camera)[:3, :3]
    right, up = rotation[0], rotation[1]
    x, y, z = (np.array(camera.target_m) + scale * (off[0] * right - off[1] * up)).tolist()
    return replace(camera, target_m=(x, y, z))
