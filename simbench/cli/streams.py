"""Standard input, output and error that can always be used: closed ones lead to nowhere."""

import errno
import io
import os
import sys
from contextlib import suppress
from typing import Any

BROKEN_PIPE = 141
"""Exit status that a shell shows for a program that was ended by SIGPIPE, 128 + 13."""

OUTPUT = "standard output"
"""Name of the file in errors of the standard output."""


class _Output(io.FileIO):
    """The standard output; its errors say that they are its."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, OUTPUT) from None


def open_standard_streams() -> None:
    """Open standard streams that the caller closed, and replace characters that they cannot write.

    The next file that is opened gets the lowest free descriptor: without this a log could become the standard
    error, and a library's messages would be written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free descriptor is this one.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    # A test may capture the output.
    if sys.stdout is None or sys.stdout is sys.__stdout__:
        encoding = getattr(sys.stdout, "encoding", "utf-8")
        raw = io.BufferedWriter(_Output(1, "wb", closefd=False))
        sys.stdout = io.TextIOWrapper(raw, encoding, line_buffering=os.isatty(1))
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Unicode shows `?` for `✓`.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def flush_output(status: int) -> int:
    """Write what the standard output still holds, and leave nothing for the interpreter to fail at.

    Parameters
    ----------
    status : int
        Exit status of the command.

    Returns
    -------
    int
        The same; 2 if the output cannot be written, with a line that says so, or `BROKEN_PIPE` if nobody
        reads it any more.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        discard_output()
        status = BROKEN_PIPE if error.errno == errno.EPIPE else print_error(f"{error.filename}: {error.strerror}")
    try:
        sys.stderr.flush()
    except OSError:
        _discard(2)
    return status


def discard_output() -> None:
    """Lead the standard output to nowhere, once it cannot be written."""
    _discard(1)


def print_error(message: str) -> int:
    """Print an error as one line, if the standard error can be written, and return its exit status.

    Parameters
    ----------
    message : str
        What is wrong, where, and what is allowed.

    Returns
    -------
    int
        2.
    """
    try:
        print("error:", " ".join(message.split()), file=sys.stderr, flush=True)
    except OSError:
        _discard(2)
    return 2


def _discard(number: int) -> None:
    """Lead a descriptor to nowhere, so that what its stream still holds can be flushed."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
    stream = sys.stdout if number == 1 else sys.stderr
    with suppress(OSError):
        stream.flush()
