"""A clip of the moments around a divergence: the run on the left, its baseline on the right."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from simbench.errors import RunError
from simbench.files.storage import whole_file
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.runs.traces.comparison import TraceComparison
from simbench.runs.traces.signals import POSE
from simbench.runs.traces.trace import Trace
from simbench.runs.video import View, load_video_scene
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.camera import Frames, draw_pictures
from simbench.sim.rendering.encoder import open_encoder

LENGTH = 3.0
"""Length of the clip, s."""
_BEFORE = 1.5
"""Part of it before the divergence, s."""
RATE = 25
"""Frames per second."""
WIDTH = 640
"""Width of one panel, pixels."""
_BAR = 28
_PAPER, _INK, _ALARM = (255, 255, 255), (40, 40, 40), (208, 16, 16)


def write_clip(run: Path, comparison: TraceComparison, moment: float, path: Path) -> tuple[float, float]:
    """Draw a run and its baseline side by side around a moment.

    The baseline is posed from its trace, linearly between its samples. `run`: run directory; `comparison`:
    the run compared with its trace; `moment`: time in the middle of the clip, s; `path`: file to write,
    ending in `.mp4`. Returns `start`, `end`: part of the run that it shows, s. Raises RunError, ScenarioError
    if the run has nothing to draw, or the clip cannot be written. Raises RendererUnavailableError if there is
    no renderer.
    """
    end = min(float(comparison.run.time[-1]), max(moment - _BEFORE, 0.0) + LENGTH)
    start = max(0.0, end - LENGTH)
    scene = load_video_scene(run, View(start=start, end=end), RATE)
    height = 2 * round(0.5 * WIDTH * scene.camera.height / scene.camera.width)
    camera = replace(scene.camera, width=WIDTH, height=height, fps=RATE)
    mine = replace(scene.frames, balance=None)
    theirs = pose_trace(comparison.trace, scene.robot, scene.mechanisms, scene.times)
    count = range(len(scene.times))
    left, _ = draw_pictures(scene.robot, scene.mechanisms, mine, camera, count)
    right, _ = draw_pictures(scene.robot, scene.mechanisms, theirs, camera, count)
    canvas = replace(camera, width=2 * WIDTH, height=height + _BAR)
    try:
        with (
            whole_file(path, keep_suffix=True) as part,
            open_encoder(part, canvas, "rgb24") as encoder,
            os.fdopen(os.dup(encoder.input), "wb") as stream,
        ):
            for time, panels in zip(scene.times, zip(left, right, strict=True), strict=True):
                stream.write(_compose(panels, float(time), moment).tobytes())
    except OSError as error:
        raise RunError(f"{path}: cannot write the clip: {error.strerror or error}") from error
    return start, end


def pose_trace(trace: Trace, robot: Robot, mechanisms: list[Mechanism], times: Array) -> Frames:
    """Pose robot and equipment as the baseline had them. `times` (F,): times of the frames, s."""
    column = {channel.name: index for index, channel in enumerate(trace.channels)}

    def curves(*names: str) -> Array:
        for name in names:
            if name not in column:
                raise RunError(f"the trace of the baseline has no {name}, which is needed to draw it")
        values = [np.interp(times, trace.time, trace.values[:, column[name]]) for name in names]
        return np.stack(values, axis=1) if values else np.empty((len(times), 0))

    def pose(signal: str) -> Array:
        found = curves(*(f"{signal}.{label}" for label in POSE))
        found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1, keepdims=True)
        return found

    return Frames(
        pose("base"),
        curves(*(f"joint_position.{name}" for name in robot.joint_names)),
        {each.name: curves(*(f"{each.name}_{joint.name}" for joint in each.joints)) for each in mechanisms},
        None,
        {each.name: pose(f"{each.name}_stand") for each in mechanisms if each.standing},
    )


def _compose(panels: tuple[NDArray[np.uint8], NDArray[np.uint8]], time: float, moment: float) -> Image.Image:
    """Put two pictures side by side under a bar that names them and shows the time."""
    left, right = panels
    sheet = Image.new("RGB", (2 * WIDTH, left.shape[0] + _BAR), _PAPER)
    for number, picture in enumerate((left, right)):
        sheet.paste(Image.fromarray(picture), (number * WIDTH, _BAR))
    drawing = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(16)
    late = time >= moment
    words = f"run  {time:.2f} s" + (f"  diverged at {moment:.2f} s" if late else "")
    drawing.text((8, 5), words, fill=_ALARM if late else _INK, font=font)
    drawing.text((WIDTH + 8, 5), f"baseline  {time:.2f} s", fill=_INK, font=font)
    drawing.line([(WIDTH, 0), (WIDTH, sheet.height)], fill=_INK, width=2)
    return sheet
