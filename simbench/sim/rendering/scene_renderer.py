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
from simbench.sim.engine import Fixture, RobotBody, Stage
from simbench.sim.engines import open_picture_engine
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.renderer_choice import Renderer
from simbench.sim.rendering.scene_floor import add_floor
from simbench.sim.rendering.scene_frames import Frames
from simbench.sim.rendering.scene_look import BACKGROUND, GHOST_COLOUR, light_direction
from simbench.sim.rendering.scene_view import WHOLE, Camera, projection_matrix, view_matrix

# A renderer that does not smooth edges: draw larger and average. Every drawing costs all shadows and
# triangles anew, and at the smaller scale one of the EGL plugin's largest pictures is enough for a robot as
# high as five sixths of 720 rows. The sides of such a picture have to be multiples of 4.
OVERSAMPLING, OVERSAMPLING_OF_ANY_SIZE = 1.25, 1.5
_OUT_OF_SIGHT = np.array([0.0, 0.0, -1e4, 0.0, 0.0, 0.0, 1.0])
"""Pose of a figure that no camera sees."""


@dataclass(frozen=True)
class Scene:
    """A robot and its equipment, for pictures only."""

    stage: Stage  # World that holds them.
    robot: RobotBody  # Figure of the robot.
    fixtures: Mapping[str, Fixture]  # Equipment by name.
    camera: Camera  # Camera that looks at them.
    # (3,): direction to the light in the world, m; it stays where it is when the camera moves.
    light: NDArray[np.float64]
    ghost: RobotBody | None = None  # Second figure of the robot.


@dataclass(frozen=True)
class Picture:
    """What the camera sees."""

    rgb: NDArray[np.uint8]  # (height, width, 3) of uint8: colours.
    # (h, w) of float32: depth buffer, 0..1; its size is the renderer's, not always the picture's.
    depth: NDArray[np.float32]


@dataclass(frozen=True)
class Region:
    """A rectangle of the picture, edges in pixels from its upper left corner.

    Edges are multiples of 4, or the picture's own.
    """

    # `left`, `top`, `right`, `bottom`: edges, pixels; right and bottom are the first beyond the region.
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
    """Build a world for pictures of a robot and its equipment.

    `robot`: robot to show; `mechanisms`: equipment to show; `camera`: camera that looks at them; `renderer`:
    name that `choose_renderer` gave; `ghost`: whether to add a second figure of the robot, out of sight until
    it is placed; `gui`: whether to open the engine's window, which draws nothing yet. Yields scene with all
    joint positions at zero.
    """
    with open_picture_engine("drawing without OpenGL").open_stage(renderer, window=gui) as stage:
        light = light_direction(camera)
        add_floor(stage, camera.target_m[:2], light)
        origin = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
        body = stage.add_robot(robot, origin, np.zeros(len(robot.joint_names)))
        fixtures = {mechanism.name: stage.add_fixture(mechanism) for mechanism in mechanisms}
        second = _add_ghost(stage, robot, 0.5 if gui else 1.0) if ghost else None
        scene = Scene(stage, body, fixtures, camera, light, second)
        for _ in range(stage.warm_up_pictures):
            _draw(scene, 16, 16, WHOLE)
        yield scene


def hide_ghost(scene: Scene) -> None:
    """Take the second figure, if there is one, out of sight. `scene`: scene to change."""
    if scene.ghost is not None:
        scene.ghost.place(_OUT_OF_SIGHT, np.zeros(len(scene.ghost.robot.joint_names)))


def pose_scene(scene: Scene, frames: Frames, index: int) -> None:
    """Set the poses of the robot, its second figure and the equipment in a frame.

    `scene`: scene to change; `index`: frame to show.
    """
    scene.robot.place(frames.base[index], frames.joints[index])
    for name, fixture in scene.fixtures.items():
        stand = frames.stands[name][index] if name in frames.stands else None
        fixture.place(frames.fixtures[name][index], stand)
    if scene.ghost is not None and frames.ghost is not None:
        scene.ghost.place(frames.ghost.base[index], frames.ghost.joints[index])


def whole_picture(camera: Camera) -> Region:
    """Give the region that is all of a camera's picture. `camera`: camera that takes the picture."""
    return Region(0, 0, camera.width, camera.height)


def take_picture(scene: Scene) -> Picture:
    """Draw the scene in its present pose. Returns picture that the camera takes."""
    camera = scene.camera
    scale = _scale(scene)
    size = round(scale * camera.height), round(scale * camera.width)
    blank = Picture(np.zeros((camera.height, camera.width, 3), np.uint8), np.ones(size, np.float32))
    return redraw(scene, blank, whole_picture(camera))


def redraw(scene: Scene, before: Picture, region: Region) -> Picture:
    """Draw a part of the scene in its present pose, and take the rest from an earlier picture.

    `region`: part that has changed since. Returns picture that the camera takes.
    """
    scale = _scale(scene)
    left, top, right, bottom = (round(scale * edge) for edge in astuple(region))
    rgb, depth = before.rgb.copy(), before.depth.copy()
    height, width = depth.shape
    drawn = np.empty((bottom - top, right - left, 3), np.uint8)
    most_columns, most_rows = scene.stage.largest_picture or (width, height)
    columns = _edges(left, right, most_columns)
    rows = _edges(top, bottom, most_rows)
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
    """Draw a part of the picture: colours (height, width, 4) and depth (height, width)."""
    camera = scene.camera
    view, projection = view_matrix(camera), projection_matrix(camera, part)
    return scene.stage.draw(view, projection, scene.light, width, height)


def _add_ghost(stage: Stage, robot: Robot, opacity: float) -> RobotBody:
    """Add a tinted figure where nobody sees it; only a window draws it less than opaque."""
    body = stage.add_robot(robot, _OUT_OF_SIGHT, np.zeros(len(robot.joint_names)))
    stage.tint(body, [*GHOST_COLOUR, opacity])
    return body


def _scale(scene: Scene) -> float:
    """Find how much larger than the picture the renderer draws it; a region's edges stay whole numbers."""
    if not scene.stage.oversampled:
        return 1.0
    any_size = (scene.camera.width | scene.camera.height) % 4
    return OVERSAMPLING_OF_ANY_SIZE if any_size else OVERSAMPLING


def _edges(low: int, high: int, largest: int) -> list[int]:
    """Split a range of pixels into equal parts of at most `largest`; an empty one has no parts."""
    parts = math.ceil((high - low) / largest)
    return [low + round((high - low) * part / parts) for part in range(parts + 1)] if parts else []
