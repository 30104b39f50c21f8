"""Blocks of code that Ctrl-C, SIGTERM and SIGHUP do not interrupt."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from simbench.system.termination import TERMINATING


@contextmanager
def shielded_from_interrupt() -> Iterator[Callable[[], bool]]:
    """Delay Ctrl-C, and other signals that would raise an exception, until the block is done.

    This has no effect outside the main thread, which alone receives signals, and on signals that are ignored,
    as Ctrl-C is in the background of a script. Yields `interrupted`: tells whether a signal has arrived, for
    a block that can end early. Compiled code that is interrupted anywhere may turn the exception into another
    error.
    """
    held: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def hold(number: int, frame: FrameType | None) -> None:
        del frame
        held.append(number)

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, *TERMINATING)}
    previous = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in previous:
        signal.signal(number, hold)
    try:
        yield lambda: bool(held)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
    if held:
        previous[signal.Signals(held[0])](held[0], None)
