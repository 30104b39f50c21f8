"""The part of the picture in which anything moves; the rest is drawn once."""

from collections.abc import Sequence

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.sim.engine import UnreadableShapeError
from simbench.sim.rendering.scene_frames import Frames
from simbench.sim.rendering.scene_look import light_direction
from simbench.sim.rendering.scene_renderer import Region, Scene, pose_scene, whole_picture
from simbench.sim.rendering.scene_view import in_front, project

STILL = 1e-5
"""Displacement over the whole video below which a corner counts as still, m."""
MARGIN = 3
"""Margin around the moving shapes, pixels: edges and shadows are soft."""


def moving_region(scene: Scene, frames: Frames, indices: Sequence[int]) -> Region:
    """Find the rectangle outside which all frames look the same.

    It holds the bounding boxes of all shapes that move, and their shadows on the floor; a shadow that falls
    on something else lies between the two. `scene`: scene that is drawn; left in the pose of the last frame;
    `frames`: poses of the robot and the equipment in every frame; `indices`: frames that are shown.
    """
    if len(indices) == 1:
        pose_scene(scene, frames, indices[0])
        return Region(0, 0, 0, 0)
    fixtures = scene.fixtures.values()
    bodies = [scene.robot.handle, *(fixture.handle for fixture in fixtures)]
    bodies += [fixture.furniture for fixture in fixtures if fixture.furniture is not None]
    try:
        boxes = [scene.stage.measure_shapes(body, body) for body in bodies]
        if scene.ghost is not None:
            boxes.append(scene.stage.measure_shapes(scene.ghost.handle, scene.robot.handle))
    except UnreadableShapeError:
        return whole_picture(scene.camera)
    corners = []
    for index in indices:
        pose_scene(scene, frames, index)
        corners.append(np.vstack([body.corners() for body in boxes]))
    points = np.stack(corners)
    points = points[:, np.ptp(points, axis=0).max(axis=(1, 2)) > STILL].reshape(-1, 3)
    light = light_direction(scene.camera)
    shadows = points - np.maximum(points[:, 2:], 0.0) / light[2] * light
    return _around(scene, np.vstack([points, shadows]))


def _around(scene: Scene, points: Array) -> Region:
    """Find the rectangle of the picture that holds points (N, 3), world frame, with a margin."""
    camera = scene.camera
    if len(points) == 0:
        return Region(0, 0, 0, 0)
    if not in_front(camera, points).all():
        return whole_picture(camera)
    pixels = project(camera, points)
    size = np.array([camera.width, camera.height])
    # Multiples of 4 are whole pixels of the larger picture that the renderer draws.
    low = np.clip(4 * np.floor(0.25 * (pixels.min(axis=0) - MARGIN)), 0, size).astype(int).tolist()
    high = np.clip(4 * np.ceil(0.25 * (pixels.max(axis=0) + MARGIN)), 0, size).astype(int).tolist()
    return Region(*low, *high)
