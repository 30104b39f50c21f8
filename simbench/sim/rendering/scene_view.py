"""What a picture shows: camera, light and colours, poses in every frame, and surfaces of bodies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array

# Near and far clipping plane, as multiples of the camera's distance from its target. The depth buffer may
# have only 16 bits, and resolves 0.2 mm at 2 m with these values.
NEAR, FAR = 0.2, 40.0

# The whole picture: left, top, right, bottom as fractions of its width and height.
WHOLE = (0.0, 0.0, 1.0, 1.0)


class UndrawableShapeError(Exception):
    """A shape that our own renderer cannot draw, with the reason."""


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


def floor_depth(camera: Camera) -> NDArray[np.float32]:
    """Compute the depth buffer of a scene in which nothing stands on the floor.

    Returns (height, width): OpenGL's depth of the floor, 0..1; 1 where the floor is not visible.
    """
    width, height = camera.width, camera.height
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


LIGHT_HEIGHT = 55.0  # degrees
# As far as the shadows of Bullet's plugin reach: light from nearby would change over the floor.
LIGHT_DISTANCE = 200.0  # m
BACKGROUND = 223  # Grey level above the horizon: the plain floor's in this light.
GHOST_COLOUR = (0.25, 0.55, 1.0)
# Colours of the balls and of the bars of a figure beside the robot, such as the recorded person.
FIGURE_COLOUR, FIGURE_BAR_COLOUR = (0.85, 0.42, 0.14), (0.93, 0.62, 0.32)

TILE = 0.5  # m
TEXTURE_HALF = 4.0  # Half of the tiled square's side; the floor is plain beyond, m.
HORIZON_HALF = 40.0  # m
PLAIN = 0.98  # Grey level of the floor beyond the tiles, 0..1.

SUPPORT, COG, ZMP = (20, 160, 80), (30, 100, 235), (225, 35, 35)
FILL, LINE = 70, 255  # Opacity of the polygon's area, and of outlines and discs, 0..255.
HIDDEN = 0.25  # Factor on the opacity behind the robot or a table: feet often cover the ZMP.
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


# COG, ZMP and support polygon over time, drawn on the floor: projection of the centre of gravity on the floor
# in the world, m, (F, 2); zero-moment point in the world, m, NaN where it does not exist, (F, 2); vertices of
# the support polygon in order, in the world, m, F arrays (M, 2): with fewer than three there is none.
Balance = tuple[NDArray[np.float64], NDArray[np.float64], tuple[NDArray[np.float64], ...]]


class Figure(NamedTuple):
    """A figure of balls and of bars between them, such as the recorded person."""

    points: NDArray[np.float64]  # (F, N, 3): centres of the balls in the world, m.
    bars: tuple[tuple[int, int], ...]  # Balls that each bar connects.
    radii: tuple[float, ...]  # radius of each ball, then of each bar, m.


@dataclass(frozen=True)
class Frames:
    """Poses of robot and equipment in each frame of a video."""

    # (F, 7): pose of the robot's root link in the world: position, m, and quaternion x, y, z, w.
    base: NDArray[np.float64]
    joints: NDArray[np.float64]  # (F, n): joint positions in the order of `robot.joint_names`, rad.
    # Mapping of str to (F, J) array: joint positions of each fixture by its name, m or rad.
    fixtures: Mapping[str, NDArray[np.float64]]
    balance: Balance | None  # Overlay on the floor, if any.
    # Mapping of str to (F, 7) array: pose in the world of the frame of each fixture that stands freely, by
    # its name: position, m, and quaternion x, y, z, w.
    stands: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    # Base and joints, as above, of the reference, drawn as a second, half transparent figure, if any.
    ghost: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
    figure: Figure | None = None  # Figure beside the robot, if any.
    # Motion of the camera relative to where its section puts it; None if it stands still: displacement of the
    # target in the world, m, (F, 3), and rotation about the vertical through the target, degrees, (F,).
    camera_path: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


MOST_CORNERS = 32  # Largest number of vertices of a support polygon that is drawn.


class Solid(NamedTuple):
    """Visible surface of a rigid body, in the body's frame."""

    points: NDArray[np.float32]  # (V, 3) of float32: vertices, m.
    normals: NDArray[np.float32]  # (V, 3) of float32: unit normals of the surface at the vertices, outward.
    colours: NDArray[np.uint8]  # (V, 3) of uint8: red, green and blue at the vertices.
    # (T, 3) of int32: vertices of each triangle, counter-clockwise seen from outside.
    triangles: NDArray[np.int32]


@dataclass(frozen=True)
class Content:
    """What stays the same in all pictures of a drawing process."""

    solids: tuple[Solid, ...]  # Surface of each body.
    casters: tuple[Solid, ...]  # Surface that casts the shadow of each body, which may be simpler.
    ghosts: int  # Number of bodies, the last ones, that are drawn half transparent.
    camera: Camera  # Viewpoint and size of the pictures.
    video: bool  # Whether pictures are frames of a video, in planes of luma and chroma; else they are RGB.
    # Whether bodies cast shadows. A video without them is a preview, whose edges are smoothed in a cheaper
    # way.
    shadows: bool


def record_type(bodies: int) -> np.dtype[np.void]:
    """Describe the record of one frame.

    `bodies`: number of bodies. Returns fields `poses`, first three rows of each body's transformation to the
    world, m; `shift`, by which the camera is displaced, m, and `turn_deg`, by which it is turned, degrees;
    `cog` and `zmp`, points on the floor, m, NaN where there are none; `support`, vertices of the support
    polygon on the floor, m, NaN beyond the last.
    """
    return np.dtype(
        [
            ("poses", np.float32, (bodies, 3, 4)),
            ("shift", np.float64, (3,)),
            ("turn_deg", np.float64),
            ("cog", np.float64, (2,)),
            ("zmp", np.float64, (2,)),
            ("support", np.float64, (MOST_CORNERS, 2)),
        ]
    )
