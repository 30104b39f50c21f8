"""Pinhole camera: its pose, its projection to pixels, and the depth of the floor."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

NEAR, FAR = 0.2, 40.0
"""Near and far clipping plane, as multiples of the camera's distance from its target. The depth buffer may
have only 16 bits, and resolves 0.2 mm at 2 m with these values."""

WHOLE = (0.0, 0.0, 1.0, 1.0)
"""The whole picture: left, top, right, bottom as fractions of its width and height."""


@dataclass(frozen=True)
class Camera:
    """A camera at one moment."""

    target_m: tuple[float, float, float]  # (3,): point in the middle of the picture, in the world, m.
    distance_m: float  # Distance from the target, m.
    yaw_deg: float  # Direction of view about the vertical, degrees: 0 along the world's y axis, 90 along -x.
    pitch_deg: float  # Elevation of the direction of view, degrees; negative looks down.
    fov_deg: float  # Vertical field of view, degrees.
    width: int  # Width of the picture, pixels.
    height: int  # Height of the picture, pixels.
    fps: int  # Frames per second.


def move_camera(camera: Camera, shift: NDArray[np.float64], turn_deg: float) -> Camera:
    """Move a camera with its target, and turn it about the vertical through the target.

    `shift` (3,): displacement in the world, m; `turn_deg`: rotation, degrees; positive turns it
    counter-clockwise seen from above. Returns the camera in its new place.
    """
    x, y, z = (np.array(camera.target_m) + shift).tolist()
    return replace(camera, target_m=(x, y, z), yaw_deg=camera.yaw_deg + float(turn_deg))


def fits_video(camera: Camera) -> bool:
    """Tell whether frames of a camera can be drawn in planes of luma and chroma.

    Returns whether width and height are even.
    """
    return camera.width % 2 == camera.height % 2 == 0


def view_matrix(camera: Camera) -> NDArray[np.float64]:
    """Compute the transformation from the world to the camera's frame.

    `camera`: camera with its pose. Returns (4, 4): homogeneous transformation, m; the camera's axes are x
    right, y up, and -z along the direction of view.
    """
    yaw, pitch = np.radians([camera.yaw_deg, camera.pitch_deg])
    forward = np.array([-np.sin(yaw) * np.cos(pitch), np.cos(yaw) * np.cos(pitch), np.sin(pitch)])
    right = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    rotation = np.array([right, np.cross(right, forward), -forward])
    eye = np.array(camera.target_m) - camera.distance_m * forward
    view = np.eye(4)
    view[:3, :3], view[:3, 3] = rotation, -rotation @ eye
    return view


def projection_matrix(camera: Camera, part: tuple[float, float, float, float] = WHOLE) -> NDArray[np.float64]:
    """Compute OpenGL's perspective projection matrix of a part of the picture.

    `camera`: camera with its field of view; `part`: rectangle of the picture to show, as fractions of its
    width and height. Returns (4, 4): transformation from the camera's frame to clip coordinates.
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
    """Project points in the world to pixels.

    `camera`: camera that takes the picture; `points` (N, 3): points in the world in front of the camera, m.
    Returns (N, 2): x to the right and y down from the picture's upper left corner, pixels.
    """
    view = view_matrix(camera)
    local = points @ view[:3, :3].T + view[:3, 3]
    slopes = np.array(_slopes(camera))
    fraction = 0.5 + 0.5 * np.array([1.0, -1.0]) * local[:, :2] / (-local[:, 2:] * slopes)
    return np.asarray(fraction * np.array([camera.width, camera.height]))


def in_front(camera: Camera, points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Test which points lie beyond the camera's near clipping plane.

    `camera`: camera that takes the picture; `points` (N, 3): points in the world, m. Returns (N,) of bool:
    whether each point can be drawn.
    """
    view = view_matrix(camera)
    return np.asarray(-(points @ view[2, :3] + view[2, 3]) > NEAR * camera.distance_m)


def floor_depth(camera: Camera, width: int, height: int) -> NDArray[np.float32]:
    """Compute the depth buffer of a scene in which nothing stands on the floor.

    `camera`: camera that takes the picture; `width`: width of the depth buffer, pixels; `height`: height of
    the depth buffer, pixels. Returns (height, width): openGL's depth of the floor, 0..1; 1 where the floor is
    not visible.
    """
    view = view_matrix(camera)
    slope_x, slope_y = _slopes(camera)
    x = ((2.0 * np.arange(width) + 1.0) / width - 1.0) * slope_x
    y = (1.0 - (2.0 * np.arange(height) + 1.0) / height) * slope_y
    # Height of a point at distance 1 along the view, relative to the eye; the camera's x axis is horizontal.
    rise = (view[1, 2] * y - view[2, 2])[:, None] + view[0, 2] * x[None, :]
    eye_height = -(view[:3, :3].T @ view[:3, 3])[2]
    with np.errstate(divide="ignore"):
        distance = np.where(rise < 0.0, -eye_height / rise, np.inf)
    near, far = NEAR * camera.distance_m, FAR * camera.distance_m
    return np.minimum(far / (far - near) * (1.0 - near / distance), 1.0).astype(np.float32)


def _slopes(camera: Camera) -> tuple[float, float]:
    """Compute half the width and half the height of the picture at distance 1."""
    slope = float(np.tan(0.5 * np.radians(camera.fov_deg)))
    return slope * camera.width / camera.height, slope
