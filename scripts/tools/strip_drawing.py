"""Pictures of a run: moments side by side, or in one picture along the robot's path."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import xarray as xr
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from strip_moments import choose_moments, goes_somewhere

from simbench.robot.robot import Robot
from simbench.runs.log import open_run
from simbench.runs.video import VideoScene, View, load_video_scene
from simbench.sim.fixtures.mechanism import Mechanism, mechanism_obstacles
from simbench.sim.rendering.camera import draw_pictures, draw_views
from simbench.sim.rendering.portrait import frame_cameras, link_hulls, robot_points
from simbench.sim.rendering.scene_view import Camera, Frames, project, view_matrix

RATE = 100.0
"""Frames per second of the run among which moments are chosen, 1/s."""
PANEL = 300, 360
PATH_PANEL = 1200, 420
"""Width and height, pixels: of one picture of a strip, and of the picture of a path."""
ARROW = 0.35
"""Length of the arrow that shows a push, m."""
DIFFERS = 12
"""Difference of a pixel's colour from the background's, of 765, from which it belongs to a figure."""
VIVID, VIVID_COLOURS = 90, 32
"""Difference between the channels of a vivid colour, of 255, and number of such colours in a picture."""
RED, INK = (200, 30, 30), (70, 70, 70)
LARGEST = 130_000
"""Size of a picture's file, bytes."""

Points = NDArray[np.float64]


def draw_run(run: Path, path: Path) -> None:
    """Draw what happens in a run: four moments side by side, or figures along the path of a walk.

    Parameters
    ----------
    run : Path
        Run directory.
    path : Path
        PNG file to write.
    """
    log, scene = open_run(run), load_video_scene(run, View(), RATE)
    times = choose_moments(log, bool(scene.mechanisms))
    indices = [min(round(time * RATE), len(scene.times) - 1) for time in times]
    if goes_somewhere(log):
        save_small(_draw_path(scene, indices), path)
        return
    cameras = frame_run(scene, indices, *PANEL, together=bool(scene.mechanisms))
    strip = Image.new("RGB", (len(times) * PANEL[0], PANEL[1]))
    if scene.mechanisms:
        pictures, _ = draw_pictures(scene.robot, scene.mechanisms, scene.frames, cameras[0], indices)
    else:
        pictures, _ = draw_views(scene.robot, scene.frames, indices, cameras)
    for column, (picture, time, camera) in enumerate(zip(pictures, times, cameras, strict=True)):
        image = Image.fromarray(picture)
        pen = ImageDraw.Draw(image)
        pen.text((8, 6), f"{time:.1f} s", INK, ImageFont.load_default(14))
        _draw_push(pen, camera, log, time)
        strip.paste(image, (column * camera.width, 0))
    save_small(strip, path)


def frame_run(
    scene: VideoScene, indices: list[int], width: int, height: int, *, together: bool
) -> list[Camera]:
    """Place cameras so that robot and equipment fill the pictures of all given moments.

    Parameters
    ----------
    scene : VideoScene
        Scene of the run; the direction of view is that of its camera.
    indices : list of int
        Frames to be shown.
    width : int
        Width of a picture, pixels.
    height : int
        Height of a picture, pixels.
    together : bool
        Whether all frames get the same camera, instead of one each with the robot in the middle.

    Returns
    -------
    list of Camera
        A camera for each frame.
    """
    hulls = link_hulls(scene.robot)
    clouds = [_robot_cloud(scene.robot, hulls, scene.frames, index) for index in indices]
    yaw, pitch = scene.camera.yaw_deg, scene.camera.pitch_deg
    if not together:
        return frame_cameras(clouds, [yaw] * len(indices), width, height, pitch)
    clouds += [_equipment_cloud(each, scene.frames, indices) for each in scene.mechanisms]
    return frame_cameras([np.vstack(clouds)], [yaw], width, height, pitch) * len(indices)


def _draw_path(scene: VideoScene, indices: list[int]) -> Image.Image:
    """Draw the robot at several moments in one picture, the nearer over the farther."""
    hulls = link_hulls(scene.robot)
    cloud = np.vstack([_robot_cloud(scene.robot, hulls, scene.frames, index) for index in indices])
    (camera,) = frame_cameras([cloud], [scene.camera.yaw_deg], *PATH_PANEL, scene.camera.pitch_deg)
    drawn, _ = draw_pictures(scene.robot, scene.mechanisms, scene.frames, camera, indices)
    pictures = np.stack(drawn)
    background = np.median(pictures, axis=0)
    together = background.astype(np.uint8)
    depths = -(scene.frames.base[indices, :3] @ view_matrix(camera)[2, :3])
    for index in np.argsort(-depths):
        figure = np.abs(pictures[index] - background).sum(axis=2) > DIFFERS
        together[figure] = pictures[index][figure]
    return Image.fromarray(together)


def _robot_cloud(robot: Robot, hulls: dict[str, Points], frames: Frames, index: int) -> Points:
    base = pin.XYZQUATToSE3(frames.base[index])
    points = robot_points(robot, hulls, frames.joints[index])
    return np.asarray(points @ base.rotation.T + base.translation)


def _equipment_cloud(mechanism: Mechanism, frames: Frames, indices: list[int]) -> Points:
    """Corners (N, 3) of the boxes about all shapes of a mechanism, in the world, m."""
    corners = []
    for obstacle in mechanism_obstacles(mechanism, frames.fixtures[mechanism.name][indices], ()):
        obstacle.shape.computeLocalAABB()
        half = np.asarray(obstacle.shape.aabb_local.max_)
        signs = np.stack(np.meshgrid(*[(-1.0, 1.0)] * 3), axis=-1).reshape(-1, 3)
        for pose in obstacle.pose.reshape(-1, 4, 4):
            corners.append(signs * half @ pose[:3, :3].T + pose[:3, 3])
    return np.vstack(corners)


def _draw_push(pen: ImageDraw.ImageDraw, camera: Camera, log: xr.Dataset, time: float) -> None:
    """Draw the push that acts at a time as an arrow whose tip is at the root."""
    sample = log.sel(time=time, method="nearest")
    force = sample["push_wrench"].values[:3]
    if not np.any(force):
        return
    tip = sample["base_pose"].values[:3]
    tail = tip - ARROW * force / np.linalg.norm(force)
    (x, y), (x0, y0) = project(camera, np.array([tip, tail]))
    along = np.array([x - x0, y - y0])
    along /= np.linalg.norm(along)
    across = np.array([-along[1], along[0]])
    end = np.array([x, y])
    pen.line([(x0, y0), tuple(end - 8 * along)], RED, 5)
    pen.polygon([tuple(end), *(tuple(end - 16 * along + side * across) for side in (8, -8))], RED)


def save_small(image: Image.Image, path: Path) -> None:
    """Save a picture as a PNG file of 256 colours, an eighth of them for what is vividly coloured.

    Parameters
    ----------
    image : PIL.Image.Image
        The picture, RGB.
    path : Path
        File to write.
    """
    pixels = np.asarray(image).reshape(1, -1, 3)
    vivid = pixels[:, np.ptp(pixels, axis=2)[0] > VIVID]
    palette = _palette(image, 256 - VIVID_COLOURS)
    # Small red and blue points would otherwise be drawn in the colours of the robot.
    palette += _palette(Image.fromarray(vivid), VIVID_COLOURS) if vivid.size else []
    carrier = Image.new("P", (1, 1))
    carrier.putpalette(palette)
    image.quantize(palette=carrier, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        raise SystemExit(f"{path}: {path.stat().st_size} bytes, at most {LARGEST}")


def _palette(image: Image.Image, colours: int) -> list[int]:
    """Red, green and blue of the colours that represent a picture best, one after the other."""
    reduced = image.quantize(colours, Image.Quantize.MEDIANCUT, kmeans=1, dither=Image.Dither.NONE)
    return list(reduced.getpalette() or [])[: 3 * colours]
