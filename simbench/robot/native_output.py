"""A way to keep what C++ libraries print off the terminal."""

import contextlib
import fcntl
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def quiet_native_output() -> Iterator[None]:
    """Hide what the C++ of Bullet and Pinocchio prints, which would mix with our own output.

    Nothing in it is news: `read_urdf` and `load_robot` say themselves what is wrong with a robot. Both file
    descriptors lead nowhere meanwhile, for all threads: a picture of a progress bar that is drawn in these
    milliseconds is lost, and drawn again by the next.
    """
    _flush_streams()
    # Copies above the numbers of the standard streams; None of a stream that is closed.
    kept: dict[int, int | None] = dict.fromkeys((1, 2))
    for number in kept:
        with contextlib.suppress(OSError):
            kept[number] = fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 3)
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        for number in kept:
            os.dup2(null, number)
    finally:
        # Where a stream was closed, the lowest free number is its own.
        if null not in kept:
            os.close(null)
    try:
        yield
    finally:
        _flush_streams()
        for number, copy in kept.items():
            if copy is None:
                os.close(number)
            else:
                os.dup2(copy, number)
                os.close(copy)


@contextlib.contextmanager
def hidden_native_stdout() -> Iterator[None]:
    """Hide what C++ prints to the standard output at any time, while Python's own text still comes through.

    For what prints from a thread of its own, as Bullet's window does: `quiet_native_output` hides what is
    printed in a moment.
    """
    _flush_streams()
    try:
        copy = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError:
        # The stream is closed.
        yield
        return
    ours = False
    # A stream may be no file.
    with contextlib.suppress(OSError, ValueError):
        ours = sys.stdout is not None and sys.stdout.fileno() == 1
    with contextlib.ExitStack() as stack:
        own = stack.enter_context(
            open(copy, "w", encoding=getattr(sys.stdout, "encoding", None), errors="backslashreplace")
        )
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.close(null)
        if ours:
            stack.enter_context(contextlib.redirect_stdout(own))
        try:
            yield
        finally:
            own.flush()
            os.dup2(copy, 1)


def _flush_streams() -> None:
    """Write what Python has kept back; a stream that is closed has nothing."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            with contextlib.suppress(OSError):
                stream.flush()
