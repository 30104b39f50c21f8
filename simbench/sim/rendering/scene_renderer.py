"""Pictures of a robot and its equipment, from a world of their own in which nothing is simulated."""

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from simbench.robot.robot import Robot
from simbench.sim.fixtures.fixture import Fixture, add_fixture, place_fixture
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.renderer_choice import Renderer, egl_plugin
from simbench.sim.rendering.scene_floor import add_floor
from simbench.sim.rendering.scene_frames import Frames
from simbench.sim.rendering.scene_view import WHOLE, Camera, projection_matrix, view_matrix
from simbench.sim.world import (
    RobotBody,
    World,
    add_robot,
    bullet,
    open_world,
    place_robot,
    quiet_native_output,
)

# The plugin's drawing surface; a larger picture would only be stretched.
EGL_WIDTH, EGL_HEIGHT = 1024, 768
# The plugin does not smooth edges: draw larger and average. Every drawing costs all shadows and triangles
# anew, and at the smaller scale one is enough for a robot as high as five sixths of 720 rows. The sides of
# such a picture have to be multiples of 4.
EGL_SCALE, EGL_SCALE_OF_ANY_SIZE = 1.25, 1.5
LIGHT_HEIGHT = 55.0  # degrees
# As far as the plugin's shadows reach: light and highlights from nearby would change over the floor.
LIGHT_DISTANCE = 200.0  # m
# TinyRenderer's light is set to what the plugin's always is, at this height of the light.
AMBIENT, DIFFUSE = 0.693, 0.35
BACKGROUND = 223
"""Grey level above the horizon: the plain floor's in this light."""
GHOST_COLOUR = (0.25, 0.55, 1.0)
_NOWHERE = np.array([0.0, 0.0, -1e4, 0.0, 0.0, 0.0, 1.0])
"""Pose of what no camera sees."""


@dataclass(frozen=True)
class Scene:
    """A robot and its equipment, for looking only.

    Parameters
    ----------
    world : World
    robot : RobotBody
    fixtures : mapping of str to Fixture
    renderer : `EGL` or `TinyRenderer`
    camera : Camera
    ghost : RobotBody or None
        A second figure of the robot.
    """

    world: World
    robot: RobotBody
    fixtures: Mapping[str, Fixture]
    renderer: Renderer
    camera: Camera
    ghost: RobotBody | None = None


@dataclass(frozen=True)
class Picture:
    """What the camera sees.

    Parameters
    ----------
    rgb : (height, width, 3) array of uint8
    depth : (h, w) array of float32
        Depth buffer, 0..1; its size is the renderer's, not always the picture's.
    """

    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32]


@dataclass(frozen=True)
class Region:
    """A rectangle of the picture, edges in pixels from its upper left corner.

    They are multiples of 4, or the picture's own.
    """

    left: int
    top: int
    right: int
    bottom: int


@contextlib.contextmanager
def open_scene(
    robot: Robot,
    mechanisms: Sequence[Mechanism],
    camera: Camera,
    renderer: Renderer,
    *,
    ghost: bool = False,
    gui: bool = False,
) -> Iterator[Scene]:
    """Build a world to look at.

    Parameters
    ----------
    robot : Robot
    mechanisms : sequence of Mechanism
    camera : Camera
    renderer : `EGL` or `TinyRenderer`
        As `choose_renderer` says.
    ghost : bool
        Whether a second figure of the robot is there, out of sight until it is placed.
    gui : bool
        In Bullet's window, which draws nothing yet.

    Yields
    ------
    Scene
    """
    with open_world(gui=gui) as world:
        if gui:
            # Every call would wait for a picture.
            bullet.configureDebugVisualizer(bullet.COV_ENABLE_RENDERING, 0, physicsClientId=world.client)
        # It has no texture and TinyRenderer paints it blue.
        bullet.removeBody(world.floor, physicsClientId=world.client)
        if renderer == "EGL":
            with quiet_native_output():
                bullet.loadPlugin(egl_plugin(), "_eglRendererPlugin", physicsClientId=world.client)
        add_floor(world, camera.target_m[:2], light_direction(camera))
        origin = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        body = add_robot(world, robot, origin, np.zeros(len(robot.joint_names)))
        fixtures = {mechanism.name: add_fixture(world, mechanism) for mechanism in mechanisms}
        second = _add_ghost(world, robot, 0.5 if gui else 1.0) if ghost else None
        scene = Scene(world, body, fixtures, renderer, camera, second)
        if renderer == "EGL":
            # The plugin's first two pictures have no shadows.
            for _ in range(2):
                _draw(scene, 16, 16, WHOLE)
        yield scene


def hide_ghost(scene: Scene) -> None:
    """Take the second figure, if there is one, out of sight."""
    if scene.ghost is not None:
        place_robot(scene.ghost, _NOWHERE, np.zeros(len(scene.ghost.joints)))


def pose_scene(scene: Scene, frames: Frames, index: int) -> None:
    """Put everything where it is in a frame.

    Parameters
    ----------
    scene : Scene
    frames : Frames
    index : int
    """
    place_robot(scene.robot, frames.base[index], frames.joints[index])
    for name, fixture in scene.fixtures.items():
        stand = frames.stands[name][index] if name in frames.stands else None
        place_fixture(fixture, frames.fixtures[name][index], stand)
    if scene.ghost is not None and frames.ghost is not None:
        place_robot(scene.ghost, frames.ghost.base[index], frames.ghost.joints[index])


def light_direction(camera: Camera) -> NDArray[np.float64]:
    """Direction (3,) to the light: high, over the camera's left shoulder; shadows fall away to the right."""
    yaw, height = np.radians([camera.yaw_deg - 35.0, LIGHT_HEIGHT])
    return LIGHT_DISTANCE * np.array(
        [np.sin(yaw) * np.cos(height), -np.cos(yaw) * np.cos(height), np.sin(height)]
    )


def whole_picture(camera: Camera) -> Region:
    """All of a camera's picture."""
    return Region(0, 0, camera.width, camera.height)


def take_picture(scene: Scene) -> Picture:
    """Draw the scene as it stands."""
    camera = scene.camera
    scale = _scale(scene)
    size = round(scale * camera.height), round(scale * camera.width)
    blank = Picture(np.zeros((camera.height, camera.width, 3), np.uint8), np.ones(size, np.float32))
    return redraw(scene, blank, whole_picture(camera))


def redraw(scene: Scene, before: Picture, region: Region) -> Picture:
    """Draw a part of the scene as it stands, and take the rest from an earlier picture.

    Parameters
    ----------
    scene : Scene
    before : Picture
    region : Region
        What has changed since.

    Returns
    -------
    Picture
    """
    scale = _scale(scene)
    left, top, right, bottom = (round(scale * edge) for edge in astuple(region))
    rgb, depth = before.rgb.copy(), before.depth.copy()
    height, width = depth.shape
    drawn = np.empty((bottom - top, right - left, 3), np.uint8)
    egl = scene.renderer == "EGL"
    columns = _edges(left, right, EGL_WIDTH if egl else width)
    rows = _edges(top, bottom, EGL_HEIGHT if egl else height)
    for upper, lower in pairwise(rows):
        for first, last in pairwise(columns):
            part = (first / width, upper / height, last / width, lower / height)
            image, seen = _draw(scene, last - first, lower - upper, part)
            depth[upper:lower, first:last] = seen
            tile = drawn[upper - top : lower - top, first - left : last - left]
            tile[:] = image[:, :, :3]
            tile[seen >= 1.0] = BACKGROUND
    if drawn.size:
        size = region.right - region.left, region.bottom - region.top
        small = Image.fromarray(drawn).resize(size, Image.Resampling.BOX)
        rgb[region.top : region.bottom, region.left : region.right] = np.asarray(small)
    return Picture(rgb, depth)


def _draw(
    scene: Scene, width: int, height: int, part: tuple[float, float, float, float]
) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Let Bullet draw a part of the picture: colours (height, width, 4) and depth (height, width)."""
    egl = scene.renderer == "EGL"
    image = bullet.getCameraImage(
        width,
        height,
        view_matrix(scene.camera).T.ravel().tolist(),
        projection_matrix(scene.camera, part).T.ravel().tolist(),
        lightDirection=light_direction(scene.camera).tolist(),
        lightAmbientCoeff=AMBIENT,
        lightDiffuseCoeff=DIFFUSE,
        # TinyRenderer's shadows cost three times the picture.
        shadow=int(egl),
        renderer=bullet.ER_BULLET_HARDWARE_OPENGL if egl else bullet.ER_TINY_RENDERER,
        flags=bullet.ER_NO_SEGMENTATION_MASK,
        physicsClientId=scene.world.client,
    )
    # Arrays or, where Bullet was built without NumPy, tuples.
    colors, depth = np.asarray(image[2], np.uint8), np.asarray(image[3], np.float32)
    return colors.reshape(height, width, 4), depth.reshape(height, width)


def _add_ghost(world: World, robot: Robot, opacity: float) -> RobotBody:
    """Add a tinted figure where nobody sees it; only Bullet's window draws it less than opaque."""
    body = add_robot(world, robot, _NOWHERE, np.zeros(len(robot.joint_names)))
    for link in body.links.values():
        bullet.changeVisualShape(
            body.body, link, rgbaColor=[*GHOST_COLOUR, opacity], physicsClientId=world.client
        )
    return body


def _scale(scene: Scene) -> float:
    """Find how much larger than the picture the renderer draws it; a region's edges stay whole numbers."""
    if scene.renderer != "EGL":
        return 1.0
    return EGL_SCALE_OF_ANY_SIZE if (scene.camera.width | scene.camera.height) % 4 else EGL_SCALE


def _edges(low: int, high: int, largest: int) -> list[int]:
    """Split a range of pixels into equal parts of at most `largest`; an empty one has no parts."""
    parts = math.ceil((high - low) / largest)
    return [low + round((high - low) * part / parts) for part in range(parts + 1)] if parts else []
