"""A process that draws frames: Bullet may print or end the process, and neither may touch the caller's."""

import contextlib
import os
import pickle
import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.robot.robot import Robot
from simbench.sim.fixtures.mechanism import Mechanism
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
from simbench.sim.rendering.scene_view import Camera, floor_depth


@dataclass(frozen=True)
class Job:
    """Which frames to draw of what, and how."""

    robot: Robot
    mechanisms: Sequence[Mechanism]
    frames: Frames
    camera: Camera
    renderer: Renderer
    indices: Sequence[int]


def draw_frames(job: Job) -> Generator[NDArray[np.uint8], None, None]:
    """Draw the frames of a job one after another.

    Parameters
    ----------
    job : Job

    Yields
    ------
    (height, width, 3) array of uint8
    """
    frames, camera = job.frames, job.camera
    ghost = frames.ghost is not None
    with open_scene(job.robot, job.mechanisms, camera, job.renderer, ghost=ghost) as scene:
        region = moving_region(scene, frames, job.indices)
        haunted = take_picture(scene) if ghost else None
        hide_ghost(scene)
        picture = take_picture(scene)
        rows, columns = picture.depth.shape
        floor = floor_depth(camera, columns, rows)
        for index in job.indices:
            pose_scene(scene, frames, index)
            if haunted is not None:
                haunted = redraw(scene, haunted, region)
                hide_ghost(scene)
            picture = redraw(scene, picture, region)
            # Neither renderer is sure to draw what is transparent: the mean of both pictures is.
            shown = picture if haunted is None else Picture(_mean(picture.rgb, haunted.rgb), picture.depth)
            if frames.balance is None:
                yield shown.rgb
            else:
                yield draw_balance(shown, camera, floor, frames.balance, index)


def _mean(first: NDArray[np.uint8], second: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return ((first.astype(np.uint16) + second) // 2).astype(np.uint8)


def main() -> None:
    """Draw pickled jobs from the standard input, each in a fork of its own: what they import is loaded once.

    The arguments are file descriptors; each job's pictures go to one of them as raw RGB.
    """
    outputs = [int(argument) for argument in sys.argv[1:]]
    jobs = pickle.load(sys.stdin.buffer)
    for number, (job, output) in enumerate(zip(jobs, outputs, strict=True)):
        if os.fork() == 0:
            # A reader sees the end of a job when nobody else holds its output.
            for other in outputs[number + 1 :]:
                os.close(other)
            _write_pictures(job, output)
            return
        os.close(output)
    statuses = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in jobs]
    # As a shell says that a signal ended a process.
    sys.exit(max(status if status >= 0 else 128 - status for status in statuses))


def _write_pictures(job: Job, descriptor: int) -> None:
    # When nobody reads any more, writing fails and the scene is closed in order.
    with os.fdopen(descriptor, "wb") as output, contextlib.closing(draw_frames(job)) as pictures:
        for picture in pictures:
            output.write(np.ascontiguousarray(picture).data)
            output.flush()


if __name__ == "__main__":
    main()
