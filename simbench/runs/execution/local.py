"""Jobs in processes of their own, several at a time: a crash of one does not affect the others."""

import multiprocessing
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.process import BaseProcess
from typing import Any, cast

from simbench.errors import SimbenchError, StorageError
from simbench.files.storage import DISK_ERRORS
from simbench.system.restricted_pickle import parse_pickle
from simbench.system.termination import end_with_parent

_PRELOADED = "simbench.runs.execution.preloaded"
"""Module that the process from which jobs are forked imports when it starts."""
_START = "forkserver" if sys.platform == "linux" else "spawn"
"""How processes are started: on macOS libraries of the system do not survive a fork."""
_ONE_THREAD = {"OMP_NUM_THREADS": "1"}
_LEFT_TO_THE_PARENT = {signal.SIGINT, signal.SIGHUP}
"""A terminal sends these to all processes: only the one that waits handles them and ends the others."""


@dataclass(frozen=True)
class JobResult:
    """Outcome of one job."""

    value: Any = None  # Return value of the function.
    # Exception that it raised instead, in one line, or that its process died; empty if neither.
    error: str = ""
    # Whether its process died, or a disk was full or failed, so that another attempt may succeed.
    crashed: bool = False


Execute = Callable[
    [Callable[..., Any], Sequence[tuple[Any, ...]]], Generator[tuple[int, JobResult], None, None]
]
"""Calls a function once for each tuple of arguments in other processes: `run_isolated` with a number of jobs,
or a cluster."""


def run_isolated(
    function: Callable[..., Any],
    work: Sequence[tuple[Any, ...]],
    jobs: int,
) -> Generator[tuple[int, JobResult], None, None]:
    """Call a function once for each tuple of arguments, each time in a new process with one thread.

    On Linux the processes are forked from one that has imported what a run needs and done nothing else, so
    that each of them begins at once.

    When the iteration is left early, as by Ctrl-C, the running processes are interrupted and waited for; when
    this process is killed, they end by themselves.

    Parameters
    ----------
    function : callable
        Function of a module, so that another process can import it.
    work : sequence of tuple
        Arguments of each call.
    jobs : int
        Maximum number of processes at a time.

    Yields
    ------
    index : int
        In `work`.
    result : JobResult
        Outcome of that call, as soon as it is known.
    """
    context = cast(ForkServerContext, multiprocessing.get_context(_START))
    context.set_forkserver_preload([_PRELOADED])
    waiting = list(enumerate(work))[::-1]
    running: dict[Connection, tuple[int, ForkServerProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                index, arguments = waiting.pop()
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(
                    target=_run_job, args=(sender, dict(os.environ), function, arguments)
                )
                with _started_with_one_thread():
                    process.start()
                    running[receiver] = (index, process)
                sender.close()
            for ready in cast(list[Connection], wait(list(running))):
                index, process = running[ready]
                try:
                    result = read_result(ready.recv_bytes(), (function.__module__,))
                except EOFError:
                    process.join()
                    result = crash_result(process.exitcode)
                process.join()
                del running[ready]
                yield index, result
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.join()


def capture_result(function: Callable[..., Any], arguments: tuple[Any, ...]) -> JobResult:
    """Call a function and return its value, or the exception it raises as one line of text.

    Returns value or error.
    """
    try:
        return JobResult(function(*arguments))
    except StorageError as error:
        return JobResult(error=" ".join(str(error).split()), crashed=True)
    except SimbenchError as error:
        line = str(error)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            return JobResult(error=" ".join(str(error).split()), crashed=True)
        # Any exception is an outcome of this job; the others continue.
        last = traceback.extract_tb(error.__traceback__)[-1]
        line = f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})"
    return JobResult(error=" ".join(line.split()))


def read_result(content: bytes, modules: Collection[str]) -> JobResult:
    """Load the outcome that the process of a job has sent; only data is loaded.

    `content`: pickled outcome; `modules`: names of modules beside those of simbench whose classes an outcome
    may have. Returns the outcome; an error if it holds anything but data.
    """
    try:
        result = parse_pickle(content, modules)
    except (pickle.UnpicklingError, EOFError, ImportError, AttributeError, ValueError, TypeError) as error:
        return JobResult(error=f"its result cannot be read: {error}")
    return result if isinstance(result, JobResult) else JobResult(error="its result is not one of a job")


def crash_result(status: int | None) -> JobResult:
    """Make the outcome of a process that ended without a result.

    `status`: exit status of the process. Returns an error, marked as a crash.
    """
    return JobResult(error=f"its process died, exit status {status}", crashed=True)


@contextmanager
def _started_with_one_thread() -> Iterator[None]:
    """Start a process with one thread that gets no signals of a terminal, like those that it forks."""
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, _LEFT_TO_THE_PARENT)
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(_ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)


def _run_job(
    results: Connection,
    environment: Mapping[str, str],
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    """Call a function in the new process and send its outcome to the parent."""
    # That of the process that forked this one is of the moment when it was started.
    os.environ.clear()
    os.environ.update({**environment, **_ONE_THREAD})
    # Another library may have started that process.
    signal.pthread_sigmask(signal.SIG_BLOCK, _LEFT_TO_THE_PARENT)
    parent = cast(BaseProcess, multiprocessing.parent_process())
    end_with_parent(parent.join)
    try:
        results.send(capture_result(function, arguments))
    except (KeyboardInterrupt, BrokenPipeError):
        # The parent no longer waits for a result.
        return
