"""Processes that draw: started, fed and ended."""

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
from collections.abc import Iterator, Sequence
from typing import IO, Any

from simbench.errors import RunError
from simbench.files.storage import DISK_ERRORS
from simbench.sim.rendering.frame_ring import DRAWN, READY
from simbench.sim.rendering.renderer_choice import RendererUnavailableError

JobInput = tuple[int, int]
"""File descriptors of what a job draws, and of its frames."""

PIPE_BYTES = 1_048_576
"""Size of a pipe for frames: what the system allows everyone."""
EXIT_TIMEOUT = 10.0
"""Time, s, that drawing processes have to end before they are killed."""


MAX_PROCESSES = 4
"""Number of processes that draw a video unless it is given."""


def default_processes() -> int:
    """Choose the number of processes that draw a video. Returns one for each processor, at most four."""
    return min(os.cpu_count() or 1, MAX_PROCESSES)


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
