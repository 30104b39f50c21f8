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
from simbench.sim.fixtures import Design
from simbench.sim.overlay import draw_balance
from simbench.sim.renderer_choice import Renderer
from simbench.sim.scene_frames import Frames
from simbench.sim.scene_region import moving_region
from simbench.sim.scene_renderer import open_scene, pose_scene, redraw, take_picture
from simbench.sim.scene_view import Camera, floor_depth


@dataclass(frozen=True)
class Job:
    """Which frames to draw of what, and how."""

    robot: Robot
    designs: Sequence[Design]
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
    with open_scene(job.robot, job.designs, camera, job.renderer) as scene:
        region = moving_region(scene, frames, job.indices)
        picture = take_picture(scene)
        rows, columns = picture.depth.shape
        floor = floor_depth(camera, columns, rows)
        for index in job.indices:
            pose_scene(scene, frames, index)
            picture = redraw(scene, picture, region)
            if frames.balance is None:
                yield picture.rgb
            else:
                yield draw_balance(picture, camera, floor, frames.balance, index)


def main() -> None:
    """Read a pickled `Job` from the standard input and write its pictures as raw RGB to the output."""
    with os.fdopen(os.dup(1), "wb") as output:
        # What Bullet prints goes to the errors' place.
        os.dup2(2, 1)
        job = pickle.load(sys.stdin.buffer)
        # When nobody reads any more, writing fails and the scene is closed in order.
        with contextlib.closing(draw_frames(job)) as pictures:
            for picture in pictures:
                output.write(np.ascontiguousarray(picture).data)
                output.flush()


if __name__ == "__main__":
    main()
