"""Where the camera is, and what of the world it maps to which pixel."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NEAR, FAR = 0.2, 40.0
"""Nearest and farthest distance that is drawn, in distances of the camera from its target. The depth buffer
may have 16 bits only, and resolves 0.2 mm at 2 m with these."""

WHOLE = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class Camera:
    """A camera that does not move.

    Parameters
    ----------
    target_m : (3,) floats
        Point in the middle of the picture, world.
    distance_m : float
        From the target.
    yaw_deg : float
        0 looks along the world's y, 90 along -x.
    pitch_deg : float
        Negative looks down.
    fov_deg : float
        Vertical angle of view.
    width, height : int
        Pixels.
    fps : int
        Pictures a second.
    """

    target_m: tuple[float, float, float]
    distance_m: float
    yaw_deg: float
    pitch_deg: float
    fov_deg: float
    width: int
    height: int
    fps: int


def view_matrix(camera: Camera) -> NDArray[np.float64]:
    """Transform (4, 4) from the world to the camera's axes: x right, y up, -z along the view."""
    yaw, pitch = np.radians([camera.yaw_deg, camera.pitch_deg])
    forward = np.array([-np.sin(yaw) * np.cos(pitch), np.cos(yaw) * np.cos(pitch), np.sin(pitch)])
    right = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    rotation = np.array([right, np.cross(right, forward), -forward])
    eye = np.array(camera.target_m) - camera.distance_m * forward
    view = np.eye(4)
    view[:3, :3], view[:3, 3] = rotation, -rotation @ eye
    return view


def projection_matrix(camera: Camera, part: tuple[float, float, float, float] = WHOLE) -> NDArray[np.float64]:
    """OpenGL's perspective matrix (4, 4).

    Parameters
    ----------
    camera : Camera
    part : (left, top, right, bottom)
        Rectangle of the picture to show, as fractions of its width and height.
    """
    slope_x, slope_y = _slopes(camera)
    left, right = (2.0 * part[0] - 1.0) * slope_x, (2.0 * part[2] - 1.0) * slope_x
    top, bottom = (1.0 - 2.0 * part[1]) * slope_y, (1.0 - 2.0 * part[3]) * slope_y
    near, far = NEAR * camera.distance_m, FAR * camera.distance_m
    return np.array(
        [
            [2.0 / (right - left), 0.0, (right + left) / (right - left), 0.0],
            [0.0, 2.0 / (top - bottom), (top + bottom) / (top - bottom), 0.0],
            [0.0, 0.0, -(far + near) / (far - near), -2.0 * far * near / (far - near)],
            [0.0, 0.0, -1.0, 0.0],
        ]
    )


def project(camera: Camera, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pixels where world points appear.

    Parameters
    ----------
    camera : Camera
    points : (N, 3) array
        m, in front of the camera.

    Returns
    -------
    (N, 2) array
        x to the right and y down from the picture's upper left corner, pixels.
    """
    view = view_matrix(camera)
    local = points @ view[:3, :3].T + view[:3, 3]
    slopes = np.array(_slopes(camera))
    fraction = 0.5 + 0.5 * np.array([1.0, -1.0]) * local[:, :2] / (-local[:, 2:] * slopes)
    return np.asarray(fraction * np.array([camera.width, camera.height]))


def in_front(camera: Camera, points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which world points (N, 3) are far enough before the camera to be drawn."""
    view = view_matrix(camera)
    return np.asarray(-(points @ view[2, :3] + view[2, 3]) > NEAR * camera.distance_m)


def floor_depth(camera: Camera, width: int, height: int) -> NDArray[np.float32]:
    """Value (height, width) of the depth buffer, 0..1, where nothing stands between camera and floor."""
    view = view_matrix(camera)
    slope_x, slope_y = _slopes(camera)
    x = ((2.0 * np.arange(width) + 1.0) / width - 1.0) * slope_x
    y = (1.0 - (2.0 * np.arange(height) + 1.0) / height) * slope_y
    # World height of a point at distance 1 along the view, relative to the eye; x is horizontal.
    fall = (view[1, 2] * y - view[2, 2])[:, None] + view[0, 2] * x[None, :]
    eye_height = -(view[:3, :3].T @ view[:3, 3])[2]
    with np.errstate(divide="ignore"):
        distance = np.where(fall < 0.0, -eye_height / fall, np.inf)
    near, far = NEAR * camera.distance_m, FAR * camera.distance_m
    return np.minimum(far / (far - near) * (1.0 - near / distance), 1.0).astype(np.float32)


def _slopes(camera: Camera) -> tuple[float, float]:
    """Half width and half height of the picture at distance 1."""
    slope = float(np.tan(0.5 * np.radians(camera.fov_deg)))
    return slope * camera.width / camera.height, slope
