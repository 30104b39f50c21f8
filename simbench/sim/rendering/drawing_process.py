"""Processes that draw and encode frames: started, fed and ended."""

import contextlib
import errno
import fcntl
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import IO, Any

from simbench.errors import RunError
from simbench.files.storage import DISK_ERRORS
from simbench.sim.rendering.scene_view import Camera

READY, DRAWN = b"r", b"d"  # What a process writes to the status when it can draw, and after each frame.

OPENGL_WORKER = "simbench.sim.rendering.painter"  # Module of the processes that draw by our own renderer.

# Draws the frames of a job with that number: yields None when it can draw, then buffers.
DrawJob = Callable[[int], Iterator[Any]]


def run_jobs(count: int, draw: DrawJob, output: int, status: int) -> None:
    """Draw jobs at the same time, each in a process of its own, and end this process.

    `count`: number of jobs; `draw`: draws the frames of a job; `output`: file descriptor to which all frames
    go; `status`: file descriptor to which `READY` and `DRAWN` go.
    """
    ring = [os.pipe() for _ in range(count)]
    os.write(ring[0][1], b"t")
    if count == 1:
        _draw_in_turn(draw(0), ring[0][0], ring[0][1], output, status)
        return
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            _draw_in_turn(draw(number), ring[number][0], ring[(number + 1) % count][1], output, status)
            # Not `sys.exit`: what this process inherited is not its own to clean up.
            sys.stderr.flush()
            os._exit(0)
        children.append(child)
    os.close(output)
    os.close(status)
    for ends in ring:
        os.close(ends[0])
        os.close(ends[1])
    sys.exit(_wait(children))


def _draw_in_turn(frames: Iterator[Any], turn: int, next_turn: int, output: int, status: int) -> None:
    """Write the frames of a job, each when its turn has come."""
    with contextlib.closing(frames):  # type: ignore[type-var]
        for frame in frames:
            if frame is None:
                os.write(status, READY)
                continue
            os.read(turn, 1)
            data = memoryview(frame).cast("B")
            while data:
                data = data[os.write(output, data) :]
            os.write(next_turn, b"t")
            os.write(status, DRAWN)


def _wait(children: list[int]) -> int:
    """Wait for processes; when one has failed, end the others, which would wait for its frames."""
    failed = 0
    running = set(children)
    while running:
        child, state = os.wait()
        running.discard(child)
        code = os.waitstatus_to_exitcode(state)
        if code != 0 and not failed:
            # A process ended by a signal has the exit status that a shell gives it.
            failed = code if code > 0 else 128 - code
            for other in running:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(other, 15)
    return failed


JobInput = tuple[int, int]  # File descriptors of what a job draws, and of its frames.

PIPE_BYTES = 1_048_576  # Size of a pipe for frames: what the system allows everyone.
EXIT_TIMEOUT = 10.0  # Time, s, that drawing processes have to end before they are killed.


MAX_PROCESSES = 4  # Number of processes that draw a video unless it is given.


def default_processes() -> int:
    """Choose the number of processes that draw a video. Returns one for each processor, at most four."""
    return min(os.cpu_count() or 1, MAX_PROCESSES)


class RendererUnavailableError(Exception):
    """A renderer that does not work on this machine, with the reason."""


class Drawing:
    """Processes that draw.

    `process`: process that started those which draw; `status`: file descriptor from which their progress is
    read; `errors`: what they have written to the standard error; `jobs`: number of processes that draw.
    """

    def __init__(self, process: subprocess.Popen[bytes], status: int, errors: IO[bytes], jobs: int) -> None:
        self._process, self._status, self._errors, self._jobs = process, status, errors, jobs
        self._early = 0

    def wait_until_ready(self) -> None:
        """Wait until all processes can draw."""
        ready = 0
        while ready < self._jobs:
            # They draw as soon as they can, so that frames may come between.
            data = os.read(self._status, 1)
            if not data:
                raise RendererUnavailableError(self.failure())
            ready += data == READY
            self._early += data == DRAWN

    def drawn_frames(self) -> Iterator[int]:
        """Wait for frames. Yields number of frames that are drawn and written, whenever it has grown."""
        done = self._early
        if done:
            yield done
        while data := os.read(self._status, 4096):
            done += data.count(DRAWN)
            yield done
        if self.end() != 0:
            if "BrokenPipeError" in self._messages():
                raise BrokenPipeError
            raise RunError(f"drawing failed: {self.failure()}")

    def skim(self) -> None:
        """Take what the processes have said of their progress, so that they never wait for who reads it."""
        while select.select([self._status], [], [], 0.0)[0]:
            data = os.read(self._status, 4096)
            self._early += data.count(DRAWN)
            if not data:
                break

    def end(self) -> int:
        """Wait until all processes have ended; kill them if they take too long.

        Returns exit status; negative if a signal ended it.
        """
        try:
            self._process.wait(EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
        return self._process.returncode

    def kill(self) -> None:
        """End all processes at once."""
        # Once it has been waited for, its number may be another process's.
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def failure(self) -> str:
        """Tell why drawing has failed, in one line. Returns the reason."""
        status = self.end()
        return failure_reason(self._messages(), status)

    def _messages(self) -> str:
        """Read what the processes have written to the standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")


@contextlib.contextmanager
def start_drawing(module: str, inputs: Sequence[JobInput], output: int) -> Iterator[Drawing]:
    """Start processes that draw jobs, and end them on leaving.

    `module`: module to run. `inputs`: file descriptors of what each job draws, and of its frames. The caller
    closes them. `output`: file descriptor to which the frames go. The caller closes it.
    """
    # A worker must be able to import what this process can, whatever its search path comes from.
    importable = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    # Where Mesa draws without a graphics card: its threads would wait for each other longer than they draw.
    environment = {"LP_NUM_THREADS": "0", "OPENBLAS_NUM_THREADS": "1"}
    descriptors = [descriptor for pair in inputs for descriptor in pair]
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        status, writing = os.pipe()
        stack.callback(os.close, status)
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *map(str, (output, writing, *descriptors))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**environment, **os.environ, "PYTHONPATH": importable, "PYTHONSAFEPATH": "1"},
                pass_fds=(output, writing, *descriptors),
                # Only the caller reacts to Ctrl-C; it then ends its workers.
                start_new_session=True,
            )
        finally:
            os.close(writing)
        drawing = Drawing(process, status, errors, len(inputs))
        stack.callback(drawing.kill)
        yield drawing


@contextlib.contextmanager
def job_files(contents: Sequence[Any], frames: Sequence[bytes]) -> Iterator[list[JobInput]]:
    """Write the input of jobs to temporary files.

    `contents`: what is pickled for each job; `frames`: records of the frames of each job. Yields file
    descriptors, at the beginning of each file.
    """
    with contextlib.ExitStack() as stack:
        inputs = []
        for content, records in zip(contents, frames, strict=True):
            pair = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(2)]
            pickle.dump(content, pair[0])
            pair[1].write(records)
            for file in pair:
                file.flush()
                os.lseek(file.fileno(), 0, os.SEEK_SET)
            inputs.append((pair[0].fileno(), pair[1].fileno()))
        yield inputs


@contextlib.contextmanager
def job_pipes(contents: Sequence[Any]) -> Iterator[tuple[list[JobInput], list[int]]]:
    """Write what jobs draw to temporary files, and make pipes for their frames.

    `contents`: what is pickled for each job. Yields file descriptors of each job; the caller closes the
    second when the processes have them; file descriptors to which the records of each job's frames are
    written; closed on leaving, or by the caller, who then puts -1 in its place.
    """
    with contextlib.ExitStack() as stack:
        inputs: list[JobInput] = []
        writing: list[int] = []

        def close() -> None:
            for descriptor in writing:
                if descriptor >= 0:
                    os.close(descriptor)

        stack.callback(close)
        for content in contents:
            file = stack.enter_context(tempfile.TemporaryFile())
            pickle.dump(content, file)
            file.flush()
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            reading, end = os.pipe()
            writing.append(end)
            # So that who simulates need not wait for who draws.
            with contextlib.suppress(OSError, AttributeError):
                fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
            inputs.append((file.fileno(), reading))
        yield inputs, writing


def failure_reason(messages: str, status: int) -> str:
    """Choose the line of a process's messages that tells why it failed.

    `messages`: what it wrote to the standard error; `status`: its exit status; negative if a signal ended it.
    """
    if status == -signal.SIGXFSZ:
        return os.strerror(errno.EFBIG)
    for number in DISK_ERRORS:
        if os.strerror(number) in messages:
            return os.strerror(number)
    lines = [line for line in messages.strip().splitlines() if not line.startswith("BrokenPipeError")]
    return lines[-1] if lines else f"status {status}"


# A quarter less time than `veryfast`, and as good: what else that does is for motion that fills the picture.
QUALITY = ["-crf", "20", "-preset", "superfast", "-x264-params", "mbtree=1:rc-lookahead=10"]
# What `LUMA_CHROMA` of the renderer and ffmpeg's conversion from RGB both write.
COLOURS = [
    "-colorspace",
    "smpte170m",
    "-color_primaries",
    "bt709",
    "-color_trc",
    "bt709",
    "-color_range",
    "tv",
]
SUFFIXES = (".mp4", ".gif", ".webp")  # Endings of the names of files that can be written.
# One palette for all frames; an ordered dither compresses better than a diffused one.
_GIF_FILTER = (
    "split[a][b];[a]palettegen=stats_mode=full[p];"
    "[b][p]paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle"
)


class Encoder:
    """A process that encodes. `process`: the process; frames go to its standard input."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        self._process, self._input = process, process.stdin

    @property
    def input(self) -> int:
        """File descriptor to which frames go, one after another."""
        return self._input.fileno()

    def finish(self) -> int:
        """Tell the encoder that there are no more frames, and wait for it. Returns its exit status."""
        self._input.close()
        return self._process.wait()


@contextlib.contextmanager
def open_encoder(path: Path, camera: Camera, layout: str) -> Iterator[Encoder]:
    """Start an encoder, and end it on leaving.

    `path`: file to write; its suffix, one of `SUFFIXES`, says how; `camera`: size and rate of the frames;
    `layout`: ffmpeg's name of their layout: `nv12` or `rgb24`.
    """
    # Not in every process that draws.
    import imageio_ffmpeg

    size, rate = f"{camera.width}x{camera.height}", str(Fraction(camera.fps).limit_denominator())
    frames = ["-f", "rawvideo", "-vcodec", "rawvideo", "-s", size, "-pix_fmt", layout, "-r", rate]
    if path.suffix == ".gif":
        options = ["-filter_complex", _GIF_FILTER, "-f", "gif", "-loop", "0"]
    elif path.suffix == ".webp":
        options = ["-vcodec", "libwebp_anim", "-lossless", "0", "-q:v", "80", "-f", "webp", "-loop", "0"]
    else:
        even = camera.width % 2 == camera.height % 2 == 0
        size_filter = [] if even else ["-vf", "scale=ceil(iw/2)*2:ceil(ih/2)*2"]
        pixels = layout if layout == "nv12" else "yuv420p"
        coded = ["-vcodec", "libx264", "-pix_fmt", pixels, *size_filter]
        options = [*coded, *COLOURS, *QUALITY, "-movflags", "+faststart"]
    encoding = ["-an", "-v", "error", *options]
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", *frames, "-i", "-", *encoding]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*command, str(path.absolute())],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            # A signal from the terminal ends this process, which then ends the encoder.
            start_new_session=True,
        )
        encoder = Encoder(process)
        failed = True
        try:
            yield encoder
            failed = encoder.finish() != 0
        except BrokenPipeError:
            pass
        finally:
            process.kill()
            status = encoder.finish()
        if failed:
            errors.seek(0)
            raise OSError(failure_reason(errors.read().decode(errors="replace"), status))
