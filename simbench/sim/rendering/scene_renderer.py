"""Pictures by the physics engine, where OpenGL does not work or cannot draw a shape; and the engine's window.

Bullet's software renderer (TinyRenderer) is part of PyBullet's wheel: it draws on a machine without libEGL,
where OpenGL cannot be opened. Nothing is simulated in the world that is drawn.
"""

import contextlib
import sys
from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.engine import RobotBody, Stage, UnreadableShapeError, World, open_picture_engine
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering import scene_view as look
from simbench.sim.rendering.drawing_process import run_jobs
from simbench.sim.rendering.scene_view import Balance, Camera, Frames
from simbench.system.restricted_pickle import load_pickle

_OUT_OF_SIGHT = np.array([0.0, 0.0, -1e4, 0.0, 0.0, 0.0, 1.0])  # Pose of a figure that no camera sees.
TEXTURE_PIXELS = 2048
STILL = 1e-5  # Displacement over the whole video below which a corner counts as still, m.
MARGIN = 3  # Margin around the moving shapes, pixels: edges are soft.
# Anti-aliasing: COG, ZMP and support polygon are drawn so many times larger, then averaged.
SUPERSAMPLING = 4
DEPTH_STEP = 2.0**-16  # Resolution of the depth buffer.
_CIRCLE = look.DISC_RADIUS * np.array(
    [[np.cos(a), np.sin(a)] for a in np.linspace(0.0, 2.0 * np.pi, 33)[:-1]]
)

# A rectangle of the picture: left, top, right and bottom edge, pixels; right and bottom are the first beyond
# it.
Region = tuple[int, int, int, int]


class Scene:
    """A robot and its equipment, for pictures only, with all joint positions at zero.

    `stage`: world that holds them; `camera`: camera that looks at them; `ghost`: whether to add a second
    figure of the robot, out of sight until it is placed; `gui`: whether the world has a window.
    """

    def __init__(
        self,
        stage: Stage,
        robot: Robot,
        mechanisms: Sequence[Mechanism],
        camera: Camera,
        *,
        ghost: bool,
        gui: bool,
    ) -> None:
        self.stage, self.camera = stage, camera
        # Vector (3,) to the light in the world, m; it stays where it is when the camera moves.
        self.light = look.light_direction(camera)
        add_floor(stage, camera.target_m[:2], self.light)
        zero = np.zeros(len(robot.joint_names))
        self.robot = stage.add_robot(robot, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), zero)
        self.fixtures = {mechanism.name: stage.add_fixture(mechanism) for mechanism in mechanisms}
        self.ghost: RobotBody | None = None
        if ghost:
            self.ghost = stage.add_robot(robot, _OUT_OF_SIGHT, zero)
            # Only a window draws it less than opaque.
            stage.tint(self.ghost, [*look.GHOST_COLOUR, 0.5 if gui else 1.0])


class Picture(NamedTuple):
    """What the camera sees."""

    rgb: NDArray[np.uint8]  # (height, width, 3) of uint8: colours.
    depth: NDArray[np.float32]  # (height, width) of float32: depth buffer, 0..1.


@contextlib.contextmanager
def open_scene(
    robot: Robot, mechanisms: Sequence[Mechanism], camera: Camera, *, ghost: bool = False, gui: bool = False
) -> Iterator[Scene]:
    """Build a world for pictures of a robot and its equipment.

    `ghost`: whether to add a second figure of the robot; `gui`: whether to open the engine's window, which
    draws nothing yet.
    """
    with open_picture_engine("drawing without OpenGL").open_stage(window=gui) as stage:
        yield Scene(stage, robot, mechanisms, camera, ghost=ghost, gui=gui)


def pose_scene(scene: Scene, frames: Frames, index: int) -> None:
    """Set the poses of the robot, its second figure and the equipment in a frame.

    `scene`: scene to change; `index`: frame to show.
    """
    scene.robot.place(frames.base[index], frames.joints[index])
    for name, fixture in scene.fixtures.items():
        stand = frames.stands[name][index] if name in frames.stands else None
        fixture.place(frames.fixtures[name][index], stand)
    if scene.ghost is not None and frames.ghost is not None:
        base, joints = frames.ghost
        scene.ghost.place(base[index], joints[index])


def take_picture(scene: Scene, before: Picture | None = None, region: Region | None = None) -> Picture:
    """Draw the scene in its present pose.

    `before`, `region`: an earlier picture, and the part that has changed since; by default all is drawn.
    """
    camera = scene.camera
    width, height = camera.width, camera.height
    if before is None:
        before = Picture(np.zeros((height, width, 3), np.uint8), np.ones((height, width), np.float32))
    left, top, right, bottom = (0, 0, width, height) if region is None else region
    rgb, depth = before.rgb.copy(), before.depth.copy()
    if left < right and top < bottom:
        projection = look.projection_matrix(
            camera, (left / width, top / height, right / width, bottom / height)
        )
        image, seen = scene.stage.draw(
            look.view_matrix(camera), projection, scene.light, right - left, bottom - top
        )
        depth[top:bottom, left:right] = seen
        drawn = rgb[top:bottom, left:right]
        drawn[:] = image[:, :, :3]
        drawn[seen >= 1.0] = look.BACKGROUND
    return Picture(rgb, depth)


def draw_frames(
    robot: Robot, mechanisms: Sequence[Mechanism], frames: Frames, camera: Camera, indices: Sequence[int]
) -> Generator[NDArray[np.uint8], None, None]:
    """Draw frames one after another.

    Where the camera stands still, only the region in which something moves is drawn anew. `mechanisms`:
    equipment to draw; `frames`: poses in every frame; `camera`: viewpoint and size of the pictures;
    `indices`: indices of the frames to draw, in order. Yields (height, width, 3) of uint8: RGB pictures.
    """
    path, start = frames.camera_path, camera
    with open_scene(robot, mechanisms, camera, ghost=frames.ghost is not None) as scene:
        picture, ghosted, region = None, None, None
        floor = look.floor_depth(camera)
        if path is None:
            region = moving_region(scene, frames, indices)
            picture, ghosted = _take_both(scene, None, None, None)
        for index in indices:
            if path is not None:
                shift, turn_deg = path
                scene.camera = camera = look.move_camera(start, shift[index], float(turn_deg[index]))
                floor = look.floor_depth(camera)
            pose_scene(scene, frames, index)
            picture, ghosted = _take_both(scene, picture, ghosted, region)
            shown = picture
            if ghosted is not None:
                # The renderer does not draw transparency reliably, but the mean of the pictures with and
                # without the ghost always shows it.
                mean = (picture.rgb.astype(np.uint16) + ghosted.rgb) // 2
                shown = picture._replace(rgb=mean.astype(np.uint8))
            balance = frames.balance
            yield shown.rgb if balance is None else draw_balance(shown, camera, floor, balance, index)


def _take_both(
    scene: Scene, picture: Picture | None, ghosted: Picture | None, region: Region | None
) -> tuple[Picture, Picture | None]:
    """Draw the scene without its ghost, which is then out of sight, and with it, if it has one."""
    if scene.ghost is not None:
        ghosted = take_picture(scene, ghosted, region)
        scene.ghost.place(_OUT_OF_SIGHT, np.zeros(len(scene.ghost.robot.joint_names)))
    return take_picture(scene, picture, region), ghosted


def moving_region(scene: Scene, frames: Frames, indices: Sequence[int]) -> Region:
    """Find the rectangle outside which all frames look the same.

    It holds the bounding boxes of all shapes that move, and their shadows on the floor; a shadow that falls
    on something else lies between the two. `scene`: scene that is drawn; left in the pose of the last frame;
    `indices`: frames that are shown.
    """
    camera, nothing = scene.camera, (0, 0, 0, 0)
    if len(indices) == 1:
        pose_scene(scene, frames, indices[0])
        return nothing
    fixtures = scene.fixtures.values()
    bodies = [scene.robot.handle, *(fixture.handle for fixture in fixtures)]
    bodies += [fixture.furniture for fixture in fixtures if fixture.furniture is not None]
    try:
        boxes = [scene.stage.measure_shapes(body, body) for body in bodies]
        if scene.ghost is not None:
            boxes.append(scene.stage.measure_shapes(scene.ghost.handle, scene.robot.handle))
    except UnreadableShapeError:
        return 0, 0, camera.width, camera.height
    corners = []
    for index in indices:
        pose_scene(scene, frames, index)
        corners.append(np.vstack([body.corners() for body in boxes]))
    points = np.stack(corners)
    points = points[:, np.ptp(points, axis=0).max(axis=(1, 2)) > STILL].reshape(-1, 3)
    light = look.light_direction(camera)
    points = np.vstack([points, points - np.maximum(points[:, 2:], 0.0) / light[2] * light])
    if len(points) == 0:
        return nothing
    if not look.in_front(camera, points).all():
        return 0, 0, camera.width, camera.height
    pixels = look.project(camera, points)
    size = np.array([camera.width, camera.height])
    left, top = np.clip(4 * np.floor(0.25 * (pixels.min(axis=0) - MARGIN)), 0, size).astype(int).tolist()
    right, bottom = np.clip(4 * np.ceil(0.25 * (pixels.max(axis=0) + MARGIN)), 0, size).astype(int).tolist()
    return left, top, right, bottom


def draw_balance(
    picture: Picture, camera: Camera, floor: NDArray[np.float32], balance: Balance, frame: int
) -> NDArray[np.uint8]:
    """Draw COG (blue disc), ZMP (red disc) and support polygon (green) of one frame.

    `floor` (h, w): `floor_depth`: objects in front of the floor hide the drawing; `frame`: index of the
    frame. Returns (height, width, 3) of uint8: RGB picture with the drawing.
    """
    cog, zmp, support = balance
    polygon = support[frame]
    shapes = [(polygon, look.SUPPORT)] if len(polygon) >= 3 else []
    for point, color in ((cog[frame], look.COG), (zmp[frame], look.ZMP)):
        if np.isfinite(point).all():
            shapes.append((point + _CIRCLE, color))
    if not shapes:
        return picture.rgb
    outlines = [
        (look.project(camera, np.column_stack([corners, np.zeros(len(corners))])), color)
        for corners, color in shapes
    ]
    points, margin = np.vstack([outline for outline, _ in outlines]), look.LINE_WIDTH + 1.0
    size = np.array([camera.width, camera.height])
    left, top = np.clip(np.floor(points.min(axis=0) - margin), 0, size).astype(int).tolist()
    right, bottom = np.clip(np.ceil(points.max(axis=0) + margin), 0, size).astype(int).tolist()
    if left >= right or top >= bottom:
        return picture.rgb
    layer = Image.new("RGBA", (SUPERSAMPLING * (right - left), SUPERSAMPLING * (bottom - top)))
    pen = ImageDraw.Draw(layer)
    for outline, color in outlines:
        corners = [(float(x), float(y)) for x, y in SUPERSAMPLING * (outline - (left, top))]
        pen.polygon(corners, fill=(*color, look.FILL if color is look.SUPPORT else look.LINE))
        if color is look.SUPPORT:
            pen.line(
                [*corners, *corners[:2]], (*color, look.LINE), round(SUPERSAMPLING * look.LINE_WIDTH), "curve"
            )
    # The average must not include the colour of transparent pixels: PIL weights by opacity.
    small = np.asarray(layer.resize((right - left, bottom - top), Image.Resampling.BOX), dtype=np.float32)
    area = np.s_[top:bottom, left:right]
    # TinyRenderer samples a pixel's corner, `floor_depth` its centre: they differ by half a row.
    tolerance = DEPTH_STEP + 0.6 * abs(float(floor[-1, 0] - floor[-2, 0]))
    visible = (np.abs(picture.depth[area] - floor[area]) < tolerance).astype(np.float32)
    opacity = small[:, :, 3:] / 255.0 * (look.HIDDEN + (1.0 - look.HIDDEN) * visible[:, :, None])
    rgb = picture.rgb.copy()
    part = rgb[area]
    part[:] = np.rint(part + opacity * (small[:, :, :3] - part))
    return rgb


def add_floor(world: World, center: Sequence[float], light: Array) -> None:
    """Put a floor of pale tiles, which fade into the background, at z = 0; nothing collides with it.

    `center`: point on the ground around which the tiles are seen, world frame, m; the tiles stay aligned with
    the world's origin; `light` (3,): vector from the world's origin to the light, m.
    """
    # Two pale greys with darker joints, in single precision: every process that draws makes them.
    pixels = np.arange(TEXTURE_PIXELS, dtype=np.float32)
    axis = ((pixels + 0.5) / TEXTURE_PIXELS * 2.0 - 1.0) * look.TEXTURE_HALF
    odd = np.floor(axis / look.TILE) % 2
    gap = np.abs(axis / look.TILE - np.round(axis / look.TILE)) * look.TILE
    joint = 0.14 * np.clip((0.009 - gap) / 0.005, 0.0, 1.0)
    level = np.where(odd != odd[:, None], np.float32(0.895), np.float32(0.86))
    level -= np.maximum(joint, joint[:, None])
    # One quarter and its mirror images: the power takes most of the time.
    half = axis[TEXTURE_PIXELS // 2 :]
    fade = np.clip((np.hypot(half, half[:, None]) - 1.2) / (look.TEXTURE_HALF - 1.4), 0.0, 1.0) ** 0.7
    fade = np.pad(fade, ((len(half), 0), (len(half), 0)), mode="symmetric")
    level += fade * (look.PLAIN - level)
    tiles = np.repeat(np.rint(255.0 * level).astype(np.uint8)[:, :, None], 3, axis=2)
    # Uncompressed: packing and unpacking it would take longer than drawing it.
    texture = world.scratch / "floor.bmp"
    Image.fromarray(tiles).save(texture)
    square = look.TEXTURE_HALF * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    rim = np.vstack([square, look.HORIZON_HALF / look.TEXTURE_HALF * square])
    around = [
        triangle
        for k in range(4)
        for triangle in ((k, k + 4, (k + 1) % 4), ((k + 1) % 4, k + 4, (k + 1) % 4 + 4))
    ]
    # Normals that lie in the floor, toward the light.
    toward = light[:2] / np.linalg.norm(light[:2])
    for name, corners, triangles, grey, picture in (
        ("tiles.obj", square, [(0, 1, 2), (0, 2, 3)], 1.0, texture),
        ("horizon.obj", rim, around, look.PLAIN, None),
    ):
        lines = [f"v {x:g} {y:g} 0" for x, y in corners]
        # The picture of the tiles spans the texture's square.
        lines += [f"vt {0.5 + 0.5 * x:g} {0.5 - 0.5 * y:g}" for x, y in corners / look.TEXTURE_HALF]
        lines.append(f"vn {toward[0]:g} {toward[1]:g} 0")
        lines += ["f " + " ".join(f"{k + 1}/{k + 1}/1" for k in triangle) for triangle in triangles]
        path = world.scratch / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        world.add_surface(path, grey, look.floor_middle(center), picture)


@contextlib.contextmanager
def open_window(
    robot: Robot, mechanisms: Sequence[Mechanism], camera: Camera, *, ghost: bool, gui: bool = True
) -> Iterator[Scene]:
    """Open the engine's window on a robot and its equipment.

    `camera`: initial view; the mouse moves it; `ghost`: whether to add a second, half transparent figure of
    the robot; `gui`: false opens the same scene without a window.
    """
    with open_scene(robot, mechanisms, camera, ghost=ghost, gui=gui) as scene:
        angles = camera.yaw_deg, camera.pitch_deg
        scene.stage.show_window(scene.robot, camera.target_m, camera.distance_m, angles)
        yield scene


def show_simulation(world: World, body: RobotBody, camera: Camera) -> None:
    """Show the world of a simulation in the engine's window, as `open_window` shows one without physics.

    `world`: world that was opened with a window, with all of its bodies; `camera`: initial view; the mouse
    moves it.
    """
    add_floor(world, camera.target_m[:2], look.light_direction(camera))
    angles = camera.yaw_deg, camera.pitch_deg
    world.show_window(body, camera.target_m, camera.distance_m, angles)


def pressed_keys(scene: Scene) -> set[str]:
    """Read which keys were pressed since the last call.

    `scene`: scene in the window. Returns among `space`, `left`, `right`, `r`, `l`, `q`; a closed window
    counts as `q`.
    """
    return scene.stage.pressed_keys()


def main() -> None:
    """Draw the frames of jobs in processes of their own, for Bullet may print or end the process.

    The arguments are file descriptors: of the pictures, of the status, and two of each job: the pickled
    arguments of `draw_frames`, and one that is not used.
    """
    output, status, *inputs = (int(argument) for argument in sys.argv[1:])

    def draw(number: int) -> Iterator[Any]:
        with open(inputs[2 * number], "rb", closefd=False) as stream:
            arguments = load_pickle(stream)
        yield None
        with contextlib.closing(draw_frames(*arguments)) as pictures:
            for picture in pictures:
                yield np.ascontiguousarray(picture)

    run_jobs(len(inputs) // 2, draw, output, status)


if __name__ == "__main__":
    main()
