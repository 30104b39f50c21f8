"""Work in processes of their own, some at a time: what ends one, however hard, is no other's end."""

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from multiprocessing.process import BaseProcess
from typing import Any, cast

from simbench.errors import SimbenchError


@dataclass(frozen=True)
class JobResult:
    """What came of one piece of work.

    Parameters
    ----------
    value : object
        What the function returned.
    error : str
        What it raised instead, in one line, or that its process died; empty if neither.
    crashed : bool
        Whether its process died: another try may end otherwise.
    """

    value: Any = None
    error: str = ""
    crashed: bool = False


Execute = Callable[
    [Callable[..., Any], Sequence[tuple[Any, ...]]], Generator[tuple[int, JobResult], None, None]
]
"""Calls a function once for each of its arguments, elsewhere: `run_isolated` given its jobs, or a cluster."""


def run_isolated(
    function: Callable[..., Any],
    work: Sequence[tuple[Any, ...]],
    jobs: int,
) -> Generator[tuple[int, JobResult], None, None]:
    """Call a function once for each of its arguments, each time in a new process with one thread.

    When the iteration is left early, as by Ctrl-C, the processes under way are interrupted and waited for;
    when this process is killed, they end by themselves.

    Parameters
    ----------
    function : callable
        Of a module, so that another process can import it.
    work : sequence of tuple
        Its arguments, each time.
    jobs : int
        At most so many processes at a time.

    Yields
    ------
    index : int
        In `work`.
    answer : JobResult
        As soon as it is there.
    """
    context = multiprocessing.get_context("spawn")
    waiting = list(enumerate(work))[::-1]
    running: dict[Connection, tuple[int, SpawnProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                index, arguments = waiting.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(theirs, function, arguments))
                # A terminal sends Ctrl-C to all: only this process is to act on it, and tell the others.
                before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                try:
                    process.start()
                    running[ours] = (index, process)
                finally:
                    signal.pthread_sigmask(signal.SIG_SETMASK, before)
                theirs.close()
            for ready in cast(list[Connection], wait(list(running))):
                index, process = running[ready]
                try:
                    answer = ready.recv()
                except EOFError:
                    process.join()
                    answer = death(process.exitcode)
                process.join()
                del running[ready]
                yield index, answer
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.join()


def answer_of(function: Callable[..., Any], arguments: tuple[Any, ...]) -> JobResult:
    """Call a function; whatever it raises is its answer."""
    try:
        return JobResult(function(*arguments))
    except SimbenchError as error:
        line = str(error)
    except Exception as error:
        # Whatever ends this piece of work is an outcome of it; the others go on.
        last = traceback.extract_tb(error.__traceback__)[-1]
        line = f"{type(error).__name__}: {error} ({last.filename}:{last.lineno})"
    return JobResult(error=" ".join(line.split()))


def death(status: int | None) -> JobResult:
    """Say that a process ended without an answer."""
    return JobResult(error=f"its process died, exit status {status}", crashed=True)


def end_after(parents_end: Callable[[], object]) -> None:
    """Let this process be interrupted by SIGTERM, and as soon as nobody waits for its answer.

    Parameters
    ----------
    parents_end : callable
        Returns when the process that waits is no more; called in a thread of its own.
    """
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.default_int_handler)

    def watch() -> None:
        parents_end()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def _work(
    answers: Connection,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    parent = cast(BaseProcess, multiprocessing.parent_process())
    end_after(parent.join)
    try:
        answers.send(answer_of(function, arguments))
    except (KeyboardInterrupt, BrokenPipeError):
        # Nobody waits for an answer any more.
        return
