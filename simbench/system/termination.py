"""SIGTERM and SIGHUP end a command in good order, as Ctrl-C does."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

TERMINATING = (signal.SIGTERM, signal.SIGHUP)

# Time, s, in which another signal repeats the same request: a terminal that closes sends SIGHUP twice, by the
# kernel and by the shell, and the second must not interrupt what the first one lets end in good order.
_REPETITION = 2.0


class Terminated(KeyboardInterrupt):
    """A signal asks this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(describe_signal(number))
        self.number = number


def describe_signal(number: int) -> str:
    """Say what ended a command. Returns `interrupted` for Ctrl-C, else `ended by` and the signal's name."""
    return "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"


@contextmanager
def orderly_termination() -> Iterator[list[int]]:
    """Raise `Terminated` in the main thread when SIGTERM or SIGHUP arrives while the body runs.

    Signals that are ignored, as SIGHUP under `nohup`, or have a handler already, are left as they are. This
    has no effect outside the main thread. Yields numbers of the signals that have arrived so far. Compiled
    code that is interrupted may turn the exception into another error; this tells what the reason was.
    """
    arrived: list[int] = []
    last = -float("inf")

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal last
        del frame
        arrived.append(number)
        if time.monotonic() - last > _REPETITION:
            last = time.monotonic()
            raise Terminated(number)

    if threading.current_thread() is not threading.main_thread():
        yield arrived
        return
    replaced = [number for number in TERMINATING if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in replaced:
            signal.signal(number, end)
        yield arrived
    finally:
        for number in replaced:
            signal.signal(number, signal.SIG_DFL)


def end_with_parent(parents_end: Callable[[], object]) -> None:
    """Let SIGTERM interrupt this process, and send it one as soon as the process that waits for it ends.

    `parents_end`: function that returns when the waiting process has ended; it is called in a thread of its
    own.
    """
    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, signal.default_int_handler)

    def watch() -> None:
        parents_end()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def exit_with_parent() -> None:
    """End this process of `multiprocessing` as soon as the process that started it ends."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
