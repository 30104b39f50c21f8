"""Processes that draw: started, fed and ended."""

import contextlib
import errno
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Any

from simbench.errors import RunError
from simbench.files.storage.disk_errors import DISK_ERRORS
from simbench.sim.rendering.frame_ring import DRAWN, READY

EXIT_TIMEOUT = 10.0
"""Time, s, that drawing processes have to end before they are killed."""


class RendererUnavailableError(Exception):
    """A renderer that does not work on this machine, with the reason."""


class Drawing:
    """Processes that draw.

    Parameters
    ----------
    process : subprocess.Popen
        Process that started those which draw.
    status : int
        File descriptor from which their progress is read.
    errors : file object
        What they have written to the standard error.
    jobs : int
        Number of processes that draw.
    """

    def __init__(self, process: subprocess.Popen[bytes], status: int, errors: IO[bytes], jobs: int) -> None:
        self._process, self._status, self._errors, self._jobs = process, status, errors, jobs
        self._early = 0

    def wait_until_ready(self) -> None:
        """Wait until all processes can draw.

        Raises
        ------
        RendererUnavailableError
            If one cannot.
        """
        ready = 0
        while ready < self._jobs:
            # They draw as soon as they can, so that frames may come between.
            data = os.read(self._status, 1)
            if not data:
                raise RendererUnavailableError(self.failure())
            ready += data == READY
            self._early += data == DRAWN

    def drawn_frames(self) -> Iterator[int]:
        """Wait for frames.

        Yields
        ------
        int
            Number of frames that are drawn and written, whenever it has grown.

        Raises
        ------
        RunError
            If drawing fails.
        BrokenPipeError
            If nobody reads the frames any more.
        """
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

    def end(self) -> int:
        """Wait until all processes have ended; kill them if they take too long.

        Returns
        -------
        int
            Exit status; negative if a signal ended it.
        """
        try:
            self._process.wait(EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
        return self._process.returncode

    def kill(self) -> None:
        """End all processes at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def failure(self) -> str:
        """Tell why drawing has failed, in one line.

        Returns
        -------
        str
            The reason.
        """
        status = self.end()
        return failure_reason(self._messages(), status)

    def _messages(self) -> str:
        """What the processes have written to the standard error."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")


@contextlib.contextmanager
def start_drawing(module: str, inputs: Sequence[int], output: int) -> Iterator[Drawing]:
    """Start processes that draw jobs, and end them on leaving.

    Parameters
    ----------
    module : str
        Module to run.
    inputs : sequence of int
        File descriptor of each job's input. The caller closes them.
    output : int
        File descriptor to which the frames go. The caller closes it.

    Yields
    ------
    Drawing
        The processes.
    """
    # A worker must be able to import what this process can, whatever its search path comes from.
    importable = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    # Where Mesa draws without a graphics card: its threads would wait for each other longer than they draw.
    environment = {"LP_NUM_THREADS": "0", "OPENBLAS_NUM_THREADS": "1"}
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        status, writing = os.pipe()
        stack.callback(os.close, status)
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *map(str, (output, writing, *inputs))],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={**environment, **os.environ, "PYTHONPATH": importable, "PYTHONSAFEPATH": "1"},
                pass_fds=(output, writing, *inputs),
                # Only the caller reacts to Ctrl-C; it then ends its workers.
                start_new_session=True,
            )
        finally:
            os.close(writing)
        drawing = Drawing(process, status, errors, len(inputs))
        stack.callback(drawing.kill)
        yield drawing


@contextlib.contextmanager
def job_files(jobs: Sequence[tuple[Any, bytes | memoryview]]) -> Iterator[list[int]]:
    """Write the input of jobs to temporary files.

    Parameters
    ----------
    jobs : sequence of (object, bytes)
        What is pickled for each job, and what follows it.

    Yields
    ------
    list of int
        File descriptors, at the beginning of each file.
    """
    with contextlib.ExitStack() as stack:
        descriptors = []
        for content, data in jobs:
            file = stack.enter_context(tempfile.TemporaryFile())
            pickle.dump(content, file)
            file.write(data)
            file.flush()
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            descriptors.append(file.fileno())
        yield descriptors


def failure_reason(messages: str, status: int) -> str:
    """Choose the line of a process's messages that tells why it failed.

    Parameters
    ----------
    messages : str
        What it wrote to the standard error.
    status : int
        Its exit status; negative if a signal ended it.

    Returns
    -------
    str
        The reason, in one line.
    """
    if status == -signal.SIGXFSZ:
        return os.strerror(errno.EFBIG)
    for number in DISK_ERRORS:
        if os.strerror(number) in messages:
            return os.strerror(number)
    lines = [line for line in messages.strip().splitlines() if not line.startswith("BrokenPipeError")]
    return lines[-1] if lines else f"status {status}"
