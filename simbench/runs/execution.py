"""Jobs in processes of their own, here or on a Dask cluster: a crash of one does not affect the others."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.process import BaseProcess
from typing import Any, cast

from simbench.errors import SimbenchError, StorageError, StudyError
from simbench.files.storage import DISK_ERRORS
from simbench.system.restricted_pickle import parse_pickle
from simbench.system.termination import end_with_parent

# Module that the process from which jobs are forked imports when it starts.
_PRELOADED = "simbench.runs.preloaded"
# How processes are started: on macOS libraries of the system do not survive a fork.
_START = "forkserver" if sys.platform == "linux" else "spawn"
_ONE_THREAD = {"OMP_NUM_THREADS": "1"}
# A terminal sends these to all processes: only the one that waits handles them and ends the others.
_LEFT_TO_THE_PARENT = {signal.SIGINT, signal.SIGHUP}
_CONNECT_TIMEOUT = 10.0  # Time in which the scheduler must answer, s.
# Time in which the result of a job that has finished must arrive, s; it is a few lines of text.
_LONGEST_TRANSFER = 60.0


@dataclass(frozen=True)
class JobResult:
    """Outcome of one job."""

    value: Any = None  # Return value of the function.
    # Exception that it raised instead, in one line, or that its process died; empty if neither.
    error: str = ""
    # Whether its process died, or a disk was full or failed, so that another attempt may succeed.
    crashed: bool = False


# Calls a function once for each tuple of arguments in other processes: `run_isolated` with a number of jobs,
# or a cluster.
Execute = Callable[
    [Callable[..., Any], Sequence[tuple[Any, ...]]], Generator[tuple[int, JobResult], None, None]
]


def run_isolated(
    function: Callable[..., Any],
    work: Sequence[tuple[Any, ...]],
    jobs: int,
    variables: Sequence[Mapping[str, str]] = (),
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
    variables : sequence of mapping of str to str
        Environment variables of each call, if any have their own: libraries look at some when they are
        loaded, so that its process is not forked but starts from nothing, which takes two seconds.

    Yields
    ------
    index : int
        In `work`.
    result : JobResult
        Outcome of that call, as soon as it is known.
    """
    context = cast(ForkServerContext, multiprocessing.get_context(_START))
    fresh = cast(ForkServerContext, multiprocessing.get_context("spawn"))
    context.set_forkserver_preload([_PRELOADED])
    if _START == "forkserver" and work:
        # First, as it unblocks signals when it starts. The imports of the process that forks take a while:
        # Ctrl-C does not wait for them, and it says nothing.
        resource_tracker.ensure_running()
        with _started_with(_ONE_THREAD):
            forkserver.ensure_running()
    waiting = list(enumerate(work))[::-1]
    running: dict[Connection, tuple[int, ForkServerProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                index, arguments = waiting.pop()
                own = variables[index] if variables else {}
                receiver, sender = context.Pipe(duplex=False)
                process = (fresh if own else context).Process(
                    target=_run_job, args=(sender, {**os.environ, **_ONE_THREAD, **own}, function, arguments)
                )
                forked = _START == "forkserver" and not own
                with nullcontext() if forked else _started_with({**_ONE_THREAD, **own}):
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
def _started_with(variables: Mapping[str, str]) -> Iterator[None]:
    """Start a process with environment variables that gets no signals of a terminal, nor those it forks."""
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, _LEFT_TO_THE_PARENT)
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
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
    os.environ.update(environment)
    # Another library may have started that process.
    signal.pthread_sigmask(signal.SIG_BLOCK, _LEFT_TO_THE_PARENT)
    parent = cast(BaseProcess, multiprocessing.parent_process())
    try:
        end_with_parent(parent.join)
        results.send(capture_result(function, arguments))
    except (KeyboardInterrupt, BrokenPipeError):
        # The parent no longer waits for a result.
        return
    finally:
        # What is left is over in no time, and ends without a word.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def dask_cluster(address: str) -> Iterator[Execute]:
    """Connect to a running Dask cluster.

    Jobs of a lost worker are run again on another. When the iteration is left early, as by Ctrl-C, no more
    jobs are started, and the results of those that run are discarded. `address`: address of the scheduler,
    such as `tcp://10.0.0.1:8786`. Workers need simbench from the same sources and access to the files that
    the jobs name. Yields runs jobs as `run_isolated` does, with as many processes at a time as the workers
    have threads.
    """
    try:
        from distributed import Client
    except ImportError:
        raise StudyError("--dask: needs dask.distributed: pip install 'dask[distributed]'") from None
    try:
        client = Client(address, timeout=_CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise StudyError(f"--dask {address}: no Dask scheduler answers: {error}") from None
    with client:
        yield partial(_run, client, address)


def _run(
    client: Any, address: str, function: Callable[..., Any], work: Sequence[tuple[Any, ...]]
) -> Generator[tuple[int, JobResult], None, None]:
    import cloudpickle
    from distributed import TimeoutError as DaskTimeoutError
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    def submit(index: int) -> Any:
        # Pickled by value where the function belongs to a script, which workers cannot import.
        return client.submit(run_in_subprocess, cloudpickle.dumps((function, work[index])), pure=False)

    futures = {submit(index): index for index in range(len(work))}
    try:
        completed = as_completed(futures, loop=client.loop)
        for future in completed:
            if future.status in ("lost", "pending"):
                # It had finished when its worker was lost: it is computed again.
                completed.add(future)
                continue
            index = futures.pop(future)
            if future.status == "finished":
                try:
                    result = future.result(timeout=_LONGEST_TRANSFER)
                except DaskTimeoutError:
                    # Its worker was lost after it had finished, and the scheduler has forgotten it.
                    again = submit(index)
                    futures[again] = index
                    completed.add(again)
                    continue
            elif future.status != "error":
                raise StudyError(f"--dask {address}: the cluster is gone; what is finished is kept")
            elif isinstance(error := future.exception(), KilledWorker):
                result = JobResult(error="every worker that ran it died", crashed=True)
            else:
                text = " ".join(f"{type(error).__name__}: {error}".split())
                result = JobResult(error=text, crashed=True)
            # A lost worker loses its results: this one, released, is not computed again.
            future.release()
            yield index, result
    finally:
        client.cancel(list(futures))


def run_in_subprocess(work: bytes) -> JobResult:
    """Call a function in a new process with one thread.

    The new process ends by itself when this one is killed. `work`: pickled function and tuple of its
    arguments. Returns value or error of the call.
    """
    # The new process must find the module where this one found it.
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import _serve_pipe; _serve_pipe()"
    output = b""
    with (
        suppress(BrokenPipeError),
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        ) as process,
    ):
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process without pipes")
        process.stdin.write(work)
        # The pipe stays open: when it closes, the new process knows that this one has ended.
        process.stdin.flush()
        output = process.stdout.read()
    return read_result(output, ()) if output and process.returncode == 0 else crash_result(process.returncode)


def _serve_pipe() -> None:
    """Read a job from the standard input and write its outcome to the standard output."""
    results = os.fdopen(os.dup(1), "wb")
    # What the job prints must not mix with its outcome.
    os.dup2(2, 1)
    try:
        # Code by design: the function of the script that asks for the job. Who may send jobs to a cluster may
        # run anything on it.
        function, arguments = pickle.load(sys.stdin.buffer)
        end_with_parent(lambda: os.read(0, 1))
        result = capture_result(function, arguments)
        # From here on the pipe closes because the outcome has been received.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with results:
            pickle.dump(result, results)
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(1)
