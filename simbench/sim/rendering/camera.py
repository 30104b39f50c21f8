"""Videos and pictures of a robot and its equipment, drawn in processes of their own."""

import contextlib
import importlib.util
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from simbench.errors import RunError
from simbench.files.storage import whole_file
from simbench.robot.robot import Robot
from simbench.sim.engine import open_picture_engine
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.drawing_process import (
    OPENGL_WORKER,
    RendererUnavailableError,
    default_processes,
    job_files,
    open_encoder,
    start_drawing,
)
from simbench.sim.rendering.scene_view import Camera, Frames, UndrawableShapeError, fits_video

# Called with the stage, and how many of how many of its frames are done.
OnProgress = Callable[[str, int, int], None]
Renderer = str  # Name of a renderer, as it appears in outputs.
# Our own renderer, and the physics engine's, which draws where ours does not work or cannot draw a shape.
OPENGL, TINY_RENDERER = "OpenGL", "TinyRenderer"
# Module of the processes that draw by the engine's renderer.
ENGINE_WORKER = "simbench.sim.rendering.scene_renderer"
Shot = tuple[Camera, Sequence[int]]  # A camera, and the indices of the frames that one process draws with it.

Made = TypeVar("Made")


def choose_renderer() -> Renderer:
    """Choose the renderer to try first: our own where its library is installed."""
    return TINY_RENDERER if importlib.util.find_spec("moderngl") is None else OPENGL


def render_video(
    path: Path,
    robot: Robot,
    mechanisms: Sequence[Mechanism],
    frames: Frames,
    camera: Camera,
    progress: OnProgress,
    *,
    processes: int | None = None,
    shadows: bool = True,
) -> Renderer:
    """Write a video of a finished run.

    The file appears under its name when it is complete, and not at all if writing it is interrupted. `path`:
    file to write; its suffix is one of `SUFFIXES`; `robot`: robot to draw; `mechanisms`: equipment to draw;
    `frames`: poses in every frame of the video; `camera`: viewpoint, size in pixels and frame rate of the
    video; `progress`: called with the stage `video` after every frame; `processes`: number of processes that
    draw at the same time; by default one for each processor, at most four; `shadows`: whether bodies cast
    shadows, where the renderer leaves the choice. Returns which renderer drew it: `OpenGL` or `TinyRenderer`.
    """
    count = len(frames.base)
    shots = _share(camera, count, processes)

    def draw(renderer: Renderer) -> None:
        planes = renderer == OPENGL and fits_video(camera)
        jobs = _jobs(renderer, robot, mechanisms, frames, shots, planes=planes, shadows=shadows)
        with (
            whole_file(path, keep_suffix=True) as part,
            open_encoder(part, camera, "nv12" if planes else "rgb24") as encoder,
            job_files(*jobs) as files,
            start_drawing(_worker(renderer), files, encoder.input) as drawing,
        ):
            drawing.wait_until_ready()
            shown = 0
            for done in drawing.drawn_frames():
                for number in range(shown, done):
                    progress("video", number + 1, count)
                shown = done

    with _writing(path):
        return _with_best_renderer(draw)[1]


def write_pictures(path: Path, pictures: Iterable[NDArray[np.uint8]], camera: Camera) -> None:
    """Write finished pictures as a video.

    `path`: file to write; its suffix is one of `SUFFIXES`; `pictures` iterable of (height, width, 3) array of
    uint8: RGB pictures; `camera`: gives their size and rate.
    """
    with (
        _writing(path),
        whole_file(path, keep_suffix=True) as part,
        open_encoder(part, camera, "rgb24") as encoder,
    ):
        for picture in pictures:
            data = memoryview(np.ascontiguousarray(picture).tobytes())
            while data:
                data = data[os.write(encoder.input, data) :]


@contextlib.contextmanager
def open_pictures(
    robot: Robot,
    mechanisms: Sequence[Mechanism],
    frames: Frames,
    camera: Camera,
    *,
    shadows: bool = True,
    processes: int | None = None,
) -> Iterator[tuple[Iterator[NDArray[np.uint8]], Renderer]]:
    """Draw the frames of a video one after another, for those who change them before they are written.

    `mechanisms`: equipment to draw; `frames`: poses in every frame; `camera`: viewpoint and size of the
    pictures; `shadows`: whether bodies cast shadows, where the renderer leaves the choice; `processes`:
    number of processes that draw at the same time; by default one for each processor, at most four. Yields
    iterator of (height, width, 3) array of uint8: RGB pictures of all frames; which renderer draws them.
    """
    shots = _share(camera, len(frames.base), processes)
    with contextlib.ExitStack() as stack:

        def start(renderer: Renderer) -> Iterator[NDArray[np.uint8]]:
            with contextlib.ExitStack() as attempt:
                jobs = _jobs(renderer, robot, mechanisms, frames, shots, simplified=True, shadows=shadows)
                pictures = _start_pictures(attempt, renderer, jobs, shots)
                stack.push(attempt.pop_all())
            return pictures

        yield _with_best_renderer(start)


def picture_strip(
    path: Path,
    robot: Robot,
    mechanisms: Sequence[Mechanism],
    frames: Frames,
    camera: Camera,
    indices: Sequence[int],
    columns: int,
) -> Renderer:
    """Write selected frames side by side as one PNG.

    `path`: file to write; `robot`: robot to draw; `mechanisms`: equipment to draw; `frames`: poses in every
    frame; `camera`: viewpoint; its width and height are those of one frame; `indices`: indices of the frames
    to show; `columns`: number of frames in a row. Returns which renderer drew it.
    """
    pictures, renderer = draw_pictures(robot, mechanisms, frames, camera, indices)
    rows = -(-len(indices) // columns)
    strip = Image.new("RGB", (columns * camera.width, rows * camera.height), "white")
    for position, picture in enumerate(pictures):
        row, column = divmod(position, columns)
        strip.paste(Image.fromarray(picture), (column * camera.width, row * camera.height))
    with whole_file(path) as part:
        strip.save(part, format="PNG")
    return renderer


def draw_pictures(
    robot: Robot, mechanisms: Sequence[Mechanism], frames: Frames, camera: Camera, indices: Sequence[int]
) -> tuple[list[NDArray[np.uint8]], Renderer]:
    """Draw selected frames.

    `mechanisms`: equipment to draw; `frames`: poses in every frame; `camera`: viewpoint and size of the
    pictures; `indices`: indices of the frames to show. Returns list of (height, width, 3) arrays of uint8:
    one RGB picture for each index; which renderer drew them.
    """
    return _draw(robot, mechanisms, frames, [(camera, indices)], shadows=True)


def draw_views(
    robot: Robot, frames: Frames, indices: Sequence[int], cameras: Sequence[Camera], *, shadows: bool = True
) -> tuple[list[NDArray[np.uint8]], Renderer]:
    """Draw a robot without equipment, each picture with its own camera, all at the same time.

    `frames`: poses in every frame; `indices`: index of the frame in each picture; `cameras`: viewpoint and
    size of each picture; `shadows`: whether the robot casts a shadow, where the renderer leaves the choice.
    Returns list of (height, width, 3) arrays of uint8: one RGB picture for each camera; which renderer drew
    them.
    """
    shots = [(camera, [index]) for index, camera in zip(indices, cameras, strict=True)]
    return _draw(robot, [], frames, shots, shadows=shadows)


def _share(camera: Camera, count: int, processes: int | None) -> list[Shot]:
    """Share the frames of a video among processes, which take turns."""
    processes = max(1, min(processes or default_processes(), count))
    return [(camera, range(first, count, processes)) for first in range(processes)]


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Say in one line why a video cannot be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error).strip().splitlines()[0]
        raise RunError(f"{path}: cannot write the video: {reason}") from error


def _draw(
    robot: Robot, mechanisms: Sequence[Mechanism], frames: Frames, shots: Sequence[Shot], *, shadows: bool
) -> tuple[list[NDArray[np.uint8]], Renderer]:
    """Draw selected frames, those of each shot in a process; return pictures shot by shot in turn."""

    def draw(renderer: Renderer) -> list[NDArray[np.uint8]]:
        jobs = _jobs(renderer, robot, mechanisms, frames, shots, shadows=shadows)
        with contextlib.ExitStack() as stack:
            return list(_start_pictures(stack, renderer, jobs, shots))

    return _with_best_renderer(draw)


def _start_pictures(
    stack: contextlib.ExitStack,
    renderer: Renderer,
    jobs: tuple[list[Any], list[bytes]],
    shots: Sequence[Shot],
) -> Iterator[NDArray[np.uint8]]:
    """Start processes, which end with the stack; read pictures as they are drawn, in turn of the shots."""
    reading, writing = os.pipe()
    output = stack.enter_context(os.fdopen(reading, "rb"))
    try:
        files = stack.enter_context(job_files(*jobs))
        drawing = stack.enter_context(start_drawing(_worker(renderer), files, writing))
    finally:
        os.close(writing)
    drawing.wait_until_ready()

    def pictures() -> Iterator[NDArray[np.uint8]]:
        for k in range(sum(len(indices) for _, indices in shots)):
            camera = shots[k % len(shots)][0]
            shape = camera.height, camera.width, 3
            data = output.read(math.prod(shape))
            if len(data) < math.prod(shape):
                break
            drawing.skim()
            yield np.frombuffer(data, np.uint8).reshape(shape)
        for _ in drawing.drawn_frames():
            pass

    return pictures()


def _worker(renderer: Renderer) -> str:
    """Name the module of the processes that draw by a renderer."""
    return OPENGL_WORKER if renderer == OPENGL else ENGINE_WORKER


def _jobs(
    renderer: Renderer,
    robot: Robot,
    mechanisms: Sequence[Mechanism],
    frames: Frames,
    shots: Sequence[Shot],
    *,
    shadows: bool,
    planes: bool = False,
    simplified: bool = False,
) -> tuple[list[Any], list[bytes]]:
    """Make what each process draws, and the records of its frames."""
    if renderer != OPENGL:
        if frames.figure is not None:
            raise RunError("a figure beside the robot needs the renderer OpenGL, which does not work here")
        jobs = [(robot, mechanisms, frames, camera, indices) for camera, indices in shots]
        return jobs, [b""] * len(jobs)
    # Meshes take half a second to import, which only those need wait for who draw.
    from simbench.sim.rendering.painting import Cast, make_records

    cast = Cast(
        robot,
        mechanisms,
        shots[0][0],
        ghost=frames.ghost is not None,
        video=planes or simplified,
        shadows=shadows,
        figure=frames.figure,
    )
    records = make_records(cast, frames)
    return (
        [replace(cast.content, camera=camera, video=planes) for camera, _ in shots],
        [records[list(indices)].tobytes() for _, indices in shots],
    )


def _with_best_renderer(draw: Callable[[Renderer], Made]) -> tuple[Made, Renderer]:
    """Draw with our own renderer or, where it does not work, with the engine's; return which."""
    renderer = choose_renderer()
    if renderer == OPENGL:
        try:
            return draw(renderer), renderer
        except (RendererUnavailableError, UndrawableShapeError, RunError):
            renderer = TINY_RENDERER
    # Refused here, in one line, and not in a process that draws.
    open_picture_engine("drawing without OpenGL")
    return draw(renderer), renderer
