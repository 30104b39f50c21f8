"""Pictures by Bullet's renderers, and its window: a world in which nothing is simulated."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.robot.urdf.mesh_files import mesh_points
from simbench.sim.bullet.client import bullet, quiet_native_output
from simbench.sim.bullet.renderer_choice import egl_plugin
from simbench.sim.bullet.world import BulletWorld, connect_world
from simbench.sim.engine import BodyHandle, RobotBody, UnreadableShapeError

# The plugin's drawing surface; a larger picture would only be stretched.
EGL_WIDTH, EGL_HEIGHT = 1024, 768
# TinyRenderer's light is set to what the plugin's always is, at the height of our light.
AMBIENT, DIFFUSE = 0.693, 0.35

_KEYS = {
    "space": ord(" "),
    "left": bullet.B3G_LEFT_ARROW,
    "right": bullet.B3G_RIGHT_ARROW,
    "r": ord("r"),
    "l": ord("l"),
    "q": ord("q"),
}


@dataclass(frozen=True)
class BulletStage(BulletWorld):
    """A world for pictures, without a floor.

    `client`: PyBullet's client id; `timestep`: duration of a step, s; `floor`: body id of the floor, which is
    no longer there; `scratch`: directory for files that Bullet must read, removed with the world.
    """

    renderer: str  # Renderer that draws.

    @property
    def largest_picture(self) -> tuple[int, int] | None:
        """Columns and rows of the largest picture that is drawn at once; None if any size is."""
        return (EGL_WIDTH, EGL_HEIGHT) if self.renderer == "EGL" else None

    @property
    def oversampled(self) -> bool:
        """Whether pictures are drawn larger than needed and averaged: the plugin does not smooth edges."""
        return self.renderer == "EGL"

    @property
    def warm_up_pictures(self) -> int:
        """Number of pictures to draw and throw away: the plugin's first two have no shadows."""
        return 2 if self.renderer == "EGL" else 0

    def tint(self, body: RobotBody, colour: Sequence[float]) -> None:
        """Give all links of a robot one colour.

        `body`: robot in this world; `colour`: red, green, blue and opacity, 0..1; only Bullet's window draws
        it less than opaque.
        """
        for link in body.links.values():
            bullet.changeVisualShape(body.handle, link, rgbaColor=colour, physicsClientId=self.client)

    def measure_shapes(self, body: BodyHandle, like: BodyHandle) -> "BulletShapeBoxes":
        """Measure the visible shapes of a body.

        `body`: body whose pose the boxes follow; `like`: body loaded from the same files, whose shapes are
        measured: Bullet forgets the files of what is loaded a second time. Returns boxes that follow the
        body. Raises UnreadableShapeError if a shape cannot be measured.
        """
        return BulletShapeBoxes(self.client, body, like)

    def draw(
        self, view: Array, projection: Array, light: Array, width: int, height: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Draw the world.

        `view` (4, 4): transform from the world to the camera's axes: x right, y up, -z along the view;
        `projection` (4, 4): openGL's perspective matrix; `light` (3,): vector from the world's origin to the
        light, m; `width`, `height`: size of the picture, pixels; at most `largest_picture`. Returns `colours`
        (height, width, 4) of uint8: red, green, blue and alpha; `depth` (height, width) of float32: depth
        buffer, 0..1.
        """
        egl = self.renderer == "EGL"
        image = bullet.getCameraImage(
            width,
            height,
            view.T.ravel().tolist(),
            projection.T.ravel().tolist(),
            lightDirection=light.tolist(),
            lightAmbientCoeff=AMBIENT,
            lightDiffuseCoeff=DIFFUSE,
            # TinyRenderer's shadows cost three times the picture.
            shadow=int(egl),
            renderer=bullet.ER_BULLET_HARDWARE_OPENGL if egl else bullet.ER_TINY_RENDERER,
            flags=bullet.ER_NO_SEGMENTATION_MASK,
            physicsClientId=self.client,
        )
        # Arrays or, where Bullet was built without NumPy, tuples.
        colours, depth = np.asarray(image[2], np.uint8), np.asarray(image[3], np.float32)
        return colours.reshape(height, width, 4), depth.reshape(height, width)

    def pressed_keys(self) -> set[str]:
        """Read which keys were pressed in the window since the last call.

        Returns among `space`, `left`, `right`, `r`, `l`, `q`; a closed window counts as `q`.
        """
        if not bullet.isConnected(self.client):
            return {"q"}
        with quiet_native_output():
            try:
                events = bullet.getKeyboardEvents(physicsClientId=self.client)
            except bullet.error:
                return {"q"}
        return {name for name, code in _KEYS.items() if events.get(code, 0) & bullet.KEY_WAS_TRIGGERED}


class BulletShapeBoxes:
    """Bounding boxes of the visible shapes of a body, fixed in the frames of their links.

    `client`: PyBullet's client id; `body`: body whose pose the boxes follow; `like`: body loaded from the
    same files, whose shapes are measured.
    """

    def __init__(self, client: int, body: BodyHandle, like: BodyHandle) -> None:
        data = bullet.getVisualShapeData(like, physicsClientId=client)
        inertial = bullet.getDynamicsInfo(body, -1, physicsClientId=client)[3:5]
        self._client, self._body = client, body
        self._inertial_root = bullet.invertTransform(*inertial)
        self._links = list(range(bullet.getNumJoints(body, physicsClientId=client)))
        # The root is link -1: it comes first.
        self._rows = np.array([1 + shape[1] for shape in data])
        self._local = np.array([_box(shape) for shape in data])

    def corners(self) -> Array:
        """Compute where the boxes are for the present pose of the body.

        Returns (S, 8, 3): corners of the box of each shape, world frame, m.
        """
        base = bullet.getBasePositionAndOrientation(self._body, physicsClientId=self._client)
        poses = [bullet.multiplyTransforms(*base, *self._inertial_root)]
        states = bullet.getLinkStates(
            self._body, self._links, computeForwardKinematics=True, physicsClientId=self._client
        )
        poses += [state[4:6] for state in states]
        position = np.array([pose[0] for pose in poses])[self._rows]
        rotation = Rotation.from_quat([pose[1] for pose in poses]).as_matrix()[self._rows]
        return np.asarray(np.einsum("sij,skj->ski", rotation, self._local) + position[:, None])


def _box(shape: tuple[Any, ...]) -> Array:
    """Corners (8, 3) of the bounding box of one entry of Bullet's visual shape data, in the link's frame."""
    _, _, kind, dimensions, file_name, position, quaternion, *_ = shape
    size = np.array(dimensions)
    if not size.any():
        raise UnreadableShapeError(file_name)
    if kind == bullet.GEOM_MESH:
        # Not before: where there is no file, Bullet gives any bytes.
        path = Path(file_name.decode())
        points = mesh_points(path)
        if points is None:
            raise UnreadableShapeError(path)
        bounds = np.array([points.min(axis=0), points.max(axis=0)]) * size
    else:
        # Whatever the numbers mean for this shape, none is farther from the middle.
        bounds = np.outer([-1.0, 1.0], np.full(3, size.max()))
    corners = np.stack(np.meshgrid(*bounds.T), axis=-1).reshape(-1, 3)
    return np.asarray(Rotation.from_quat(quaternion).apply(corners) + position)


@contextlib.contextmanager
def connect_stage(renderer: str, *, window: bool) -> Iterator[BulletStage]:
    """Open a world for pictures, without a floor, and close it on leaving.

    `renderer`: renderer that draws; `window`: whether to open Bullet's window, which shows nothing until
    `BulletStage.show_window`.
    """
    with connect_world(0.001, floor_friction=0.8, gui=window) as world:
        client = world.client
        # It has no texture and TinyRenderer paints it blue.
        bullet.removeBody(world.floor, physicsClientId=client)
        if renderer == "EGL":
            # Before any body.
            with quiet_native_output():
                bullet.loadPlugin(egl_plugin(), "_eglRendererPlugin", physicsClientId=client)
        yield BulletStage(client, world.timestep, world.floor, world.scratch, renderer)
