"""Process that draws frames: Bullet may print or end the process, and neither must affect the caller."""

import contextlib
import sys
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simbench.robot.robot import Robot
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.frame_ring import run_jobs
from simbench.sim.rendering.overlay import draw_balance
from simbench.sim.rendering.renderer_choice import Renderer
from simbench.sim.rendering.scene_frames import Frames
from simbench.sim.rendering.scene_region import moving_region
from simbench.sim.rendering.scene_renderer import (
    Picture,
    hide_ghost,
    open_scene,
    pose_scene,
    redraw,
    take_picture,
)
from simbench.sim.rendering.scene_view import Camera, floor_depth, move_camera
from simbench.system.restricted_pickle import load_pickle


@dataclass(frozen=True)
class Job:
    """Frames to draw, with their content and the renderer."""

    robot: Robot
    mechanisms: Sequence[Mechanism]  # Equipment to draw.
    frames: Frames  # Poses in every frame.
    camera: Camera  # Viewpoint and size of the pictures.
    renderer: Renderer
    indices: Sequence[int]  # Indices of the frames to draw, in order.


def draw_frames(job: Job) -> Generator[NDArray[np.uint8], None, None]:
    """Draw the frames of a job one after another.

    Yields (height, width, 3) of uint8: RGB picture of each frame.
    """
    frames, camera = job.frames, job.camera
    if frames.camera_path is not None:
        yield from _draw_moving(job)
        return
    ghost = frames.ghost is not None
    with open_scene(job.robot, job.mechanisms, camera, job.renderer, ghost=ghost) as scene:
        region = moving_region(scene, frames, job.indices)
        ghosted = take_picture(scene) if ghost else None
        hide_ghost(scene)
        picture = take_picture(scene)
        rows, columns = picture.depth.shape
        floor = floor_depth(camera, columns, rows)
        for index in job.indices:
            pose_scene(scene, frames, index)
            if ghosted is not None:
                ghosted = redraw(scene, ghosted, region)
                hide_ghost(scene)
            picture = redraw(scene, picture, region)
            yield _finish(job, camera, floor, index, (picture, ghosted))


def _draw_moving(job: Job) -> Iterator[NDArray[np.uint8]]:
    """Draw all of each picture: the camera moves."""
    frames = job.frames
    path, ghost = frames.camera_path, frames.ghost is not None
    assert path is not None
    with open_scene(job.robot, job.mechanisms, job.camera, job.renderer, ghost=ghost) as opened:
        for index in job.indices:
            camera = move_camera(job.camera, path.shift[index], float(path.turn_deg[index]))
            scene = replace(opened, camera=camera)
            pose_scene(scene, frames, index)
            ghosted = take_picture(scene) if ghost else None
            hide_ghost(scene)
            picture = take_picture(scene)
            rows, columns = picture.depth.shape
            yield _finish(job, camera, floor_depth(camera, columns, rows), index, (picture, ghosted))


def _finish(
    job: Job,
    camera: Camera,
    floor: NDArray[np.float32],
    index: int,
    pictures: tuple[Picture, Picture | None],
) -> NDArray[np.uint8]:
    """Put a picture without the ghost and one with it together, and draw the balance over them."""
    picture, ghosted = pictures
    # Neither renderer draws transparency reliably, but
    # the mean of the pictures with and without the ghost always shows it.
    shown = picture if ghosted is None else Picture(_mean(picture.rgb, ghosted.rgb), picture.depth)
    balance = job.frames.balance
    return shown.rgb if balance is None else draw_balance(shown, camera, floor, balance, index)


def _mean(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Average two pictures."""
    return ((first.astype(np.uint16) + second) // 2).astype(np.uint8)


def main() -> None:
    """Draw the frames of jobs, each in its own fork, so that imports are done once.

    The arguments are file descriptors: of the pictures, of the status, and two of each job: a pickled `Job`,
    and one that is not used.
    """
    output, status, *inputs = (int(argument) for argument in sys.argv[1:])
    run_jobs(len(inputs) // 2, lambda number: _draw(inputs[2 * number]), output, status)


def _draw(descriptor: int) -> Iterator[Any]:
    """Draw the frames of a job; yield None first."""
    with open(descriptor, "rb", closefd=False) as stream:
        job = load_pickle(stream)
    yield None
    with contextlib.closing(draw_frames(job)) as pictures:
        for picture in pictures:
            yield np.ascontiguousarray(picture)


if __name__ == "__main__":
    main()
