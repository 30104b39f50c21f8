"""Finish what must not be left half done, even when Ctrl-C comes in the middle of it."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def shielded_from_interrupt() -> Iterator[Callable[[], bool]]:
    """Hold back Ctrl-C until the block is done, then let it happen.

    Outside the main thread, which alone receives Ctrl-C, and where it is ignored, as in the background of a
    script, this does nothing.

    Yields
    ------
    callable
        Whether Ctrl-C has come, for a block that can end early. Compiled code that is interrupted anywhere
        may make another error of it.
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
