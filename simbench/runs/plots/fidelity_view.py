"""What the picture of a robot beside the person shows: moments, and both seen from the same side."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.body_errors import path_without_heading
from simbench.robot.robot import Robot
from simbench.sim.rendering.camera import draw_views
from simbench.sim.rendering.portrait import frame_cameras, link_hulls
from simbench.sim.rendering.portrait import robot_points as surface_points
from simbench.sim.rendering.scene_view import Camera, Frames, project

YAW = 130.0
"""Direction of view, degrees: from the front, 40° to the left, where neither arm hides the other."""
_PITCH = -9.0
"""Elevation of the direction of view, degrees."""
_SPREAD = 0.5
"""Distance that the whole duration counts for among moments, as metres for each point of the body: of a
motion that repeats, moments of different repetitions are shown."""
_AROUND = 0.12
"""Half the width of the cube about each point of a stick figure that its picture holds, m: hands and head."""


def choose_moments(points: Mapping[str, Array], time: Array, count: int) -> NDArray[np.int64]:
    """Choose moments at which the person's postures differ most, by farthest-point sampling.

    `points` {str: (T, 3) array}: points of the person's body over time, m; `time` (T,); `count`: number of
    moments. Returns (K,) int: samples in order, at most `count`.
    """
    body = np.stack(list(points.values()), axis=1)
    posture = (body - body.mean(axis=1, keepdims=True)).reshape(len(time), -1)
    share = (time - time[0]) / (time[-1] - time[0])
    features = np.column_stack([posture, _SPREAD * np.sqrt(body.shape[1]) * share])
    chosen = [int(np.linalg.norm(posture - posture.mean(axis=0), axis=1).argmax())]
    nearest = np.full(len(time), np.inf)
    while len(chosen) < min(count, len(time)):
        nearest = np.minimum(nearest, np.linalg.norm(features - features[chosen[-1]], axis=1))
        chosen.append(int(nearest.argmax()))
    return np.unique(chosen)


def centre_points(points: Mapping[str, Array]) -> dict[str, Array]:
    """Move a body to the origin at every moment, so that one that walks is always at the same distance.

    `points` {str: (T, 3) array}: points of the body over time, m; NaN where they are not known. Returns {str:
    (T, 3) array}: the same points, moved horizontally so that the middle of those that are known is at x = y
    = 0.
    """
    body = np.stack(list(points.values()), axis=1)
    known = np.isfinite(body).all(axis=2, keepdims=True)
    count = np.maximum(known.sum(axis=1), 1)
    middle = np.where(known, body, 0.0).sum(axis=1) / count
    middle[:, 2] = 0.0
    return {name: values - middle for name, values in points.items()}


def frame_points(
    points: Mapping[str, Array], moments: NDArray[np.int64], size: tuple[int, int]
) -> list[Camera]:
    """Place a camera for each moment, so that a stick figure fills its picture.

    `points` {str: (T, 3) array}: points of a body over time, m, at least one; those that are NaN at a moment
    are left out; `moments` (K,) int: samples to show; `size`: width and height of a picture, pixels. Returns
    K cameras with the same scale and line of the floor.
    """
    corners = _AROUND * np.stack(np.meshgrid(*[(-1.0, 1.0)] * 3), axis=-1).reshape(-1, 3)
    clouds = []
    for moment in moments:
        found = np.array([values[moment] for values in points.values()])
        found = found[np.isfinite(found).all(axis=1)]
        # A picture of nothing needs a camera too.
        found = found if len(found) else np.zeros((1, 3))
        clouds.append((found[:, None] + corners).reshape(-1, 3))
    return frame_cameras(clouds, [YAW] * len(moments), *size, _PITCH)


def project_line(camera: Camera, points: Array) -> Array:
    """Project a line of a stick figure to pixels.

    `camera`: camera that sees it; `points` (N, 3): points of the line, m; those that are NaN are left out.
    Returns (M, 2): x to the right and y down from the picture's upper left corner, pixels.
    """
    return project(camera, points[np.isfinite(points).all(axis=1)])


def draw_robot(
    robot: Robot,
    trajectory: JointTrajectory,
    heading: float,
    moments: NDArray[np.int64],
    size: tuple[int, int],
) -> list[NDArray[np.uint8]] | None:
    """Draw a robot at some moments of its motion, seen as the person is.

    `trajectory`: its motion; one without a base is drawn with its root link at the origin; `heading`:
    direction of the robot's x axis in the world frame, rad about z, by which it is turned back; `moments`
    (K,) int: samples to show; `size`: width and height of a picture, pixels. Returns list of (height, width,
    3) uint8 arrays or None: pictures; None if the robot has no shape, or no renderer works.
    """
    hulls = link_hulls(robot)
    if not hulls:
        return None
    base = path_without_heading(trajectory, heading)[moments, :7]
    # A robot that walks is always at the same distance.
    base[:, :2] = 0.0
    joints = trajectory.q[moments]
    turns = Rotation.from_quat(base[:, 3:])
    clouds = [
        turn.apply(surface_points(robot, hulls, posture)) + pose[:3]
        for turn, posture, pose in zip(turns, joints, base, strict=True)
    ]
    if trajectory.base is None:
        # What stands on the floor is not known here: the lowest point does.
        lowest = min(cloud[:, 2].min() for cloud in clouds)
        base[:, 2] -= lowest
        clouds = [cloud - np.array([0.0, 0.0, lowest]) for cloud in clouds]
    cameras = frame_cameras(clouds, [YAW] * len(moments), *size, _PITCH)
    try:
        pictures, _ = draw_views(robot, Frames(base, joints, {}, None), range(len(moments)), cameras)
    except RunError:
        return None
    return pictures
