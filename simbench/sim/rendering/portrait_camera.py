"""Cameras that show all of a robot, as large as their pictures allow."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simbench.sim.rendering.scene_view import Camera, in_front, project, view_matrix

Points = NDArray[np.float64]

FILLED = 0.88
"""Part of the picture's width or height that the robot takes."""
PITCH, FIELD_OF_VIEW = -9.0, 22.0
"""Degrees; from far away, so that the near arm does not look longer than the far one."""
SHEET_WIDTH = 1480
"""Pixels, for all panels of a row."""
LOWEST_PANEL = 420
HIGHEST_PANEL = {4: 840, 2: 580}
"""Pixels, by how many panels are in a row."""
SLENDER = 0.8
"""Four panels fit in one row if the robot's width is less than this part of its height."""


def panel_size(points: NDArray[np.float64]) -> tuple[int, int, int]:
    """Choose how four pictures of a robot are laid out.

    Parameters
    ----------
    points : (N, 3) array
        On the robot's surface, m, world.

    Returns
    -------
    columns, width, height : int
        Panels in a row, and the pixels of each; even numbers.
    """
    breadth, depth, tall = np.ptp(points, axis=0).tolist()
    slenderness = max(breadth, depth) / max(tall, 1e-6)
    columns = 4 if slenderness < SLENDER else 2
    width = SHEET_WIDTH // columns
    height = int(np.clip(width / slenderness, LOWEST_PANEL, HIGHEST_PANEL[columns]))
    return columns, width - width % 2, height - height % 2


def frame_cameras(
    clouds: Sequence[NDArray[np.float64]], yaws: Sequence[float], width: int, height: int
) -> list[Camera]:
    """Place one camera for each picture, so that the robot has one scale and stands on one line in all.

    Parameters
    ----------
    clouds : sequence of (N, 3) arrays
        Points on the robot's surface in each picture, m, world.
    yaws : sequence of float
        Of each camera, degrees.
    width, height : int
        Pixels.

    Returns
    -------
    list of Camera
    """
    everything = np.vstack(clouds)
    x, y, z = (0.5 * (everything.min(axis=0) + everything.max(axis=0))).tolist()
    cameras = [Camera((x, y, z), 1.0, yaw, PITCH, FIELD_OF_VIEW, width, height, fps=1) for yaw in yaws]
    # Perspective moves the outline's middle a little when the distance changes, and the other way round.
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
    """Smallest distance from which the robot fills no more than `FILLED` of the picture."""
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
    if not in_front(camera, everything).all():
        return False
    (left, top), (right, bottom) = _outline(camera, points, everything)
    return bool(right - left <= FILLED * camera.width and bottom - top <= FILLED * camera.height)


def _outline(camera: Camera, points: Points, everything: Points) -> NDArray[np.float64]:
    """Upper left and lower right corner, pixels: the width of one posture and the height of all."""
    own, whole = project(camera, points)[:, 0], project(camera, everything)[:, 1]
    return np.array([[own.min(), whole.min()], [own.max(), whole.max()]])


def _centered(camera: Camera, points: Points, everything: Points) -> Camera:
    """Move the target in the picture's plane until the robot is in its middle."""
    off = _outline(camera, points, everything).mean(axis=0) - 0.5 * np.array([camera.width, camera.height])
    scale = 2.0 * camera.distance_m * np.tan(0.5 * np.radians(camera.fov_deg)) / camera.height
    rotation = view_matrix(camera)[:3, :3]
    right, up = rotation[0], rotation[1]
    x, y, z = (np.array(camera.target_m) + scale * (off[0] * right - off[1] * up)).tolist()
    return replace(camera, target_m=(x, y, z))
