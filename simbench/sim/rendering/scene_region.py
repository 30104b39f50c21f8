"""The part of the picture in which anything moves; the rest is drawn once."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.robot.inspection.link_extent import mesh_points
from simbench.sim.rendering.scene_frames import Frames
from simbench.sim.rendering.scene_renderer import Region, Scene, light_direction, pose_scene, whole_picture
from simbench.sim.rendering.scene_view import in_front, project
from simbench.sim.world import World, bullet

STILL = 1e-5
"""What moves less than this over the whole video does not move, m."""
MARGIN = 3
"""Around what moves: edges and shadows are soft, pixels."""


def moving_region(scene: Scene, frames: Frames, indices: Sequence[int]) -> Region:
    """Find the rectangle outside which all frames look the same.

    It holds the bounding boxes of all shapes that move, and their shadows on the floor; a shadow that falls
    on something else lies between the two.

    Parameters
    ----------
    scene : Scene
        Left in the pose of the last frame.
    frames : Frames
    indices : sequence of int
        Frames that are shown.

    Returns
    -------
    Region
    """
    if len(indices) == 1:
        pose_scene(scene, frames, indices[0])
        return Region(0, 0, 0, 0)
    client = scene.world.client
    fixtures = scene.fixtures.values()
    bodies = [scene.robot.body, *(fixture.body for fixture in fixtures)]
    bodies += [fixture.furniture for fixture in fixtures if fixture.furniture is not None]
    try:
        shapes = [_Shapes(scene.world, body, body) for body in bodies]
        if scene.ghost is not None:
            # Of what is loaded twice Bullet forgets the files.
            shapes.append(_Shapes(scene.world, scene.ghost.body, scene.robot.body))
    except _NotMeasurableError:
        return whole_picture(scene.camera)
    corners = []
    for index in indices:
        pose_scene(scene, frames, index)
        corners.append(np.vstack([body.corners(client) for body in shapes]))
    points = np.stack(corners)
    points = points[:, np.ptp(points, axis=0).max(axis=(1, 2)) > STILL].reshape(-1, 3)
    light = light_direction(scene.camera)
    shadows = points - np.maximum(points[:, 2:], 0.0) / light[2] * light
    return _around(scene, np.vstack([points, shadows]))


class _NotMeasurableError(Exception):
    """A mesh that Bullet draws, and that nothing here can read."""


class _Shapes:
    """The bounding boxes of a body's visible shapes, in the frames of their links, which `like` has too."""

    def __init__(self, world: World, body: int, like: int) -> None:
        client = world.client
        data = bullet.getVisualShapeData(like, physicsClientId=client)
        inertial = bullet.getDynamicsInfo(body, -1, physicsClientId=client)[3:5]
        self._body = body
        self._inertial_root = bullet.invertTransform(*inertial)
        self._links = list(range(bullet.getNumJoints(body, physicsClientId=client)))
        # The root is link -1: it comes first.
        self._rows = np.array([1 + shape[1] for shape in data])
        self._local = np.array([_box(shape) for shape in data])

    def corners(self, client: int) -> NDArray[np.float64]:
        """World positions (shapes, 8, 3) of the boxes' corners, m."""
        base = bullet.getBasePositionAndOrientation(self._body, physicsClientId=client)
        poses = [bullet.multiplyTransforms(*base, *self._inertial_root)]
        states = bullet.getLinkStates(
            self._body, self._links, computeForwardKinematics=True, physicsClientId=client
        )
        poses += [state[4:6] for state in states]
        position = np.array([pose[0] for pose in poses])[self._rows]
        turn = Rotation.from_quat([pose[1] for pose in poses]).as_matrix()[self._rows]
        return np.asarray(np.einsum("sij,skj->ski", turn, self._local) + position[:, None])


def _box(shape: tuple) -> NDArray[np.float64]:  # type: ignore[type-arg]
    """Corners (8, 3) of the bounding box of one entry of Bullet's visual shape data, in the link's frame."""
    _, _, kind, dimensions, file_name, position, quaternion, *_ = shape
    size = np.array(dimensions)
    if not size.any():
        raise _NotMeasurableError(file_name)
    if kind == bullet.GEOM_MESH:
        # Not before: where there is no file, Bullet gives any bytes.
        path = Path(file_name.decode())
        points = mesh_points(path)
        if points is None:
            raise _NotMeasurableError(path)
        bounds = np.array([points.min(axis=0), points.max(axis=0)]) * size
    else:
        # Whatever the numbers mean for this shape, none is farther from the middle.
        bounds = np.outer([-1.0, 1.0], np.full(3, size.max()))
    corners = np.stack(np.meshgrid(*bounds.T), axis=-1).reshape(-1, 3)
    return np.asarray(Rotation.from_quat(quaternion).apply(corners) + position)


def _around(scene: Scene, points: NDArray[np.float64]) -> Region:
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
