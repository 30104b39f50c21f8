"""Videos and pictures of a finished run, drawn from its log in processes of their own."""

import contextlib
import errno
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import IO

import imageio_ffmpeg
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from simbench.errors import RunError
from simbench.files.storage.disk_errors import DISK_ERRORS
from simbench.files.storage.whole_file import whole_file
from simbench.robot.robot import Robot
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.renderer_choice import Renderer, choose_renderer
from simbench.sim.rendering.scene_frames import Balance, Frames, Ghost
from simbench.sim.rendering.scene_view import Camera
from simbench.sim.rendering.scene_worker import Job

__all__ = [
    "Balance",
    "Camera",
    "Frames",
    "Ghost",
    "Renderer",
    "choose_renderer",
    "draw_pictures",
    "draw_views",
    "picture_strip",
    "render_video",
]

OnProgress = Callable[[str, int, int], None]
"""Called with the stage, and how many of how many of its frames are done."""

MAX_PROCESSES = 4
"""Number of processes that draw a video unless it is given."""
EXIT_TIMEOUT = 10.0
"""Time, s, that drawing processes have to end before they are killed."""
ENCODING = ["-crf", "20", "-preset", "veryfast", "-movflags", "+faststart"]


def render_video(
    path: Path,
    robot: Robot,
    mechanisms: Sequence[Mechanism],
    frames: Frames,
    camera: Camera,
    progress: OnProgress,
    *,
    processes: int | None = None,
) -> Renderer:
    """Write an H.264 video of a finished run.

    The file appears under its name when it is complete, and not at all if writing it is interrupted.

    Parameters
    ----------
    path : Path
        File to write; its name ends in `.mp4`.
    robot : Robot
        Robot to draw.
    mechanisms : sequence of Mechanism
        Equipment to draw.
    frames : Frames
        Poses in every frame of the video.
    camera : Camera
        Viewpoint, size in pixels and frame rate of the video.
    progress : callable (stage, done, total)
        Called with the stage `video` after every frame.
    processes : int, optional
        Number of processes that draw at the same time; by default one for each processor, at most four.

    Returns
    -------
    `EGL` or `TinyRenderer`
        Which renderer drew it.

    Raises
    ------
    RunError
        If the file cannot be written.
    """
    renderer = choose_renderer()
    count = len(frames.base)
    if processes is None:
        processes = min(os.cpu_count() or 1, MAX_PROCESSES)
    processes = max(1, min(processes, count))
    jobs = [
        Job(robot, mechanisms, frames, camera, renderer, range(first, count, processes))
        for first in range(processes)
    ]
    try:
        with (
            whole_file(path, keep_suffix=True) as part,
            _drawn(jobs) as pictures,
            _writer(part, camera) as write,
        ):
            for done, picture in enumerate(pictures, start=1):
                write(picture)
                progress("video", done, count)
    except OSError as error:
        reason = error.strerror or str(error).strip().splitlines()[0]
        raise RunError(f"{path}: cannot write the video: {reason}") from error
    return renderer


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

    Parameters
    ----------
    path : Path
        File to write.
    robot : Robot
        Robot to draw.
    mechanisms : sequence of Mechanism
        Equipment to draw.
    frames : Frames
        Poses in every frame.
    camera : Camera
        Viewpoint; its width and height are those of one frame.
    indices : sequence of int
        Indices of the frames to show.
    columns : int
        Number of frames in a row.

    Returns
    -------
    `EGL` or `TinyRenderer`
        Which renderer drew it.
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

    Parameters
    ----------
    robot : Robot
        Robot to draw.
    mechanisms : sequence of Mechanism
        Equipment to draw.
    frames : Frames
        Poses in every frame.
    camera : Camera
        Viewpoint and size of the pictures.
    indices : sequence of int
        Indices of the frames to show.

    Returns
    -------
    list of (height, width, 3) arrays of uint8
        One RGB picture for each index.
    `EGL` or `TinyRenderer`
        Which renderer drew them.
    """
    renderer = choose_renderer()
    with _drawn([Job(robot, mechanisms, frames, camera, renderer, indices)]) as pictures:
        return list(pictures), renderer


def draw_views(
    robot: Robot, frames: Frames, indices: Sequence[int], cameras: Sequence[Camera]
) -> tuple[list[NDArray[np.uint8]], Renderer]:
    """Draw a robot without equipment, each picture with its own camera, all at the same time.

    Parameters
    ----------
    robot : Robot
        Robot to draw.
    frames : Frames
        Poses in every frame.
    indices : sequence of int
        Index of the frame in each picture.
    cameras : sequence of Camera
        Viewpoint and size of each picture.

    Returns
    -------
    list of (height, width, 3) arrays of uint8
        One RGB picture for each camera.
    `EGL` or `TinyRenderer`
        Which renderer drew them.
    """
    renderer = choose_renderer()
    jobs = [
        Job(robot, [], frames, camera, renderer, [index])
        for index, camera in zip(indices, cameras, strict=True)
    ]
    with _drawn(jobs) as pictures:
        return list(pictures), renderer


@contextlib.contextmanager
def _writer(path: Path, camera: Camera) -> Iterator[Callable[[NDArray[np.uint8]], None]]:
    """Yield a function that appends a picture to a video; raise OSError unless the encoder writes it all."""
    even = [] if camera.width % 2 == camera.height % 2 == 0 else ["-vf", "scale=ceil(iw/2)*2:ceil(ih/2)*2"]
    size, rate = f"{camera.width}x{camera.height}", str(Fraction(camera.fps).limit_denominator())
    pictures = ["-f", "rawvideo", "-vcodec", "rawvideo", "-s", size, "-pix_fmt", "rgb24", "-r", rate]
    encoding = ["-an", "-vcodec", "libx264", "-pix_fmt", "yuv420p", *even, "-v", "error", *ENCODING]
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", *pictures, "-i", "-", *encoding, str(path.absolute())]
    with tempfile.TemporaryFile() as errors:
        encoder = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            # A signal from the terminal ends this process, which then ends the encoder.
            start_new_session=True,
        )
        assert encoder.stdin is not None
        try:
            yield lambda picture: _send(encoder, picture)
            with contextlib.suppress(BrokenPipeError):
                encoder.stdin.close()
            failed = encoder.wait() != 0
        except BrokenPipeError:
            failed = True
        finally:
            encoder.kill()
            encoder.wait()
            with contextlib.suppress(BrokenPipeError):
                encoder.stdin.close()
        if failed:
            errors.seek(0)
            raise OSError(_failure_reason(errors.read().decode(errors="replace"), encoder.returncode))


def _send(encoder: subprocess.Popen[bytes], picture: NDArray[np.uint8]) -> None:
    """Send a picture to the encoder."""
    assert encoder.stdin is not None
    encoder.stdin.write(np.ascontiguousarray(picture).data)


def _failure_reason(messages: str, status: int) -> str:
    """Choose the line of a process's messages that tells why it failed."""
    if status == -signal.SIGXFSZ:
        return os.strerror(errno.EFBIG)
    for number in DISK_ERRORS:
        if os.strerror(number) in messages:
            return os.strerror(number)
    lines = [line for line in messages.strip().splitlines() if not line.startswith("BrokenPipeError")]
    return lines[-1] if lines else f"status {status}"


@contextlib.contextmanager
def _drawn(jobs: Sequence[Job]) -> Iterator[Iterator[NDArray[np.uint8]]]:
    """Draw jobs at the same time, and yield an iterator that takes a picture of each in turn."""
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        ends = [os.pipe() for _ in jobs]
        outputs = [stack.enter_context(os.fdopen(reading, "rb")) for reading, _ in ends]
        try:
            process = _start(jobs, [writing for _, writing in ends], errors)
        finally:
            for _, writing in ends:
                os.close(writing)
        stack.callback(_end, process, outputs)

        def pictures() -> Iterator[NDArray[np.uint8]]:
            for k in range(sum(len(job.indices) for job in jobs)):
                camera = jobs[k % len(jobs)].camera
                size = camera.width * camera.height * 3
                data = outputs[k % len(jobs)].read(size)
                if len(data) < size:
                    _end(process, outputs)
                    errors.seek(0)
                    messages = errors.read().decode(errors="replace")
                    raise RunError(f"drawing failed: {_failure_reason(messages, process.returncode)}")
                yield np.frombuffer(data, np.uint8).reshape(camera.height, camera.width, 3)

        yield pictures()


def _start(jobs: Sequence[Job], outputs: Sequence[int], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a process that draws jobs and writes the pictures of each job to its file descriptor."""
    # A worker must be able to import what this process can, whatever its search path comes from.
    importable = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    # Where Mesa draws without a graphics card, more threads than processors only wait for each other.
    threads = (os.cpu_count() or 1) // len(jobs)
    environment = {"LP_NUM_THREADS": str(threads if threads > 1 else 0), "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryFile() as task:
        pickle.dump(jobs, task)
        task.seek(0)
        return subprocess.Popen(
            [sys.executable, "-m", "simbench.sim.rendering.scene_worker", *map(str, outputs)],
            stdin=task,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env={**environment, **os.environ, "PYTHONPATH": importable, "PYTHONSAFEPATH": "1"},
            pass_fds=outputs,
            # Only the caller reacts to Ctrl-C; it then ends its workers.
            start_new_session=True,
        )


def _end(process: subprocess.Popen[bytes], outputs: Sequence[IO[bytes]]) -> None:
    """Wait until a drawing process has ended; kill it if it takes too long."""
    # A worker that can no longer write cleans up and ends.
    for output in outputs:
        output.close()
    try:
        process.wait(EXIT_TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
