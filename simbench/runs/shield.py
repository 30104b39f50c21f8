"""Blocks of code that Ctrl-C does not interrupt."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def shielded_from_interrupt() -> Iterator[Callable[[], bool]]:
    """Delay Ctrl-C until the block is done.

    This has no effect outside the main thread, which alone receives Ctrl-C, and where Ctrl-C is ignored, as
    in the background of a script.

    Yields
    ------
    interrupted : callable
        Tells whether Ctrl-C was pressed, for a block that can end early. Compiled code that is interrupted
        anywhere may turn Ctrl-C into another error.
    """
    held: list[int] = []
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def hold(number: int, frame: FrameType | None) -> None:
        del frame
        held.append(number)

    previous = signal.signal(signal.SIGINT, hold)
    try:
        yield lambda: bool(held)
    finally:
        signal.signal(signal.SIGINT, previous)
    if held:
        raise KeyboardInterrupt
