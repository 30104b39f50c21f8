"""Finish what must not be left half done, even when Ctrl-C comes in the middle of it."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def shielded_from_interrupt() -> Iterator[None]:
    """Hold back Ctrl-C until the block is done, then let it happen.

    Outside the main thread, which alone receives Ctrl-C, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, frame: FrameType | None) -> None:
        del frame
        held.append(number)

    previous = signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if held:
        raise KeyboardInterrupt
