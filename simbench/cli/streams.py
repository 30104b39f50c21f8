"""Standard input, output and error that can always be used: closed ones lead to nowhere.

What is printed shows control characters as escapes.
"""

import errno
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TextIO

from simbench.files.text import printable

BROKEN_PIPE = 141  # Exit status that a shell shows for a program that was ended by SIGPIPE, 128 + 13.

_OUTPUT_NAME = "standard output"  # Name of the file in errors of the standard output.


class _Output(io.FileIO):
    """The standard output; its errors say that they are its."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise OSError(error.errno, error.strerror, _OUTPUT_NAME) from None


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


@dataclass(eq=False)
class GuardedStream:
    """Standard output or error that escapes control characters, which only names from files can hold."""

    stream: TextIO  # Stream that gets the text.

    def __getattr__(self, name: str) -> Any:
        """Return whatever else the stream has."""
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write a text; its control characters become escapes. Returns length of the given text."""
        self.stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts one after another."""
        for line in lines:
            self.write(line)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Escape control characters in everything that the body prints.

    Consoles from `make_console` write past the guard, because they move the cursor and set colours; they
    escape what they are given.
    """
    streams = sys.stdout, sys.stderr
    # A process may have been started without one of them.
    sys.stdout, sys.stderr = (stream and GuardedStream(stream) for stream in streams)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


def is_terminal(*, stderr: bool = False) -> bool:
    """Return whether a person reads the output, and not a program or a file.

    `stderr`: ask about the standard error instead of the standard output. Returns whether the stream is a
    terminal.
    """
    return (sys.stderr if stderr else sys.stdout).isatty()


def is_broken_pipe(error: OSError) -> bool:
    """Return whether an error says that nobody reads the standard output any more.

    Returns false for the pipe to another program.
    """
    return error.errno == errno.EPIPE and error.filename == _OUTPUT_NAME


def end_output(status: int, message: str) -> int:
    """Write what the standard output still holds, then a message; leave nothing that Python could fail at.

    `status`: exit status of the command; `message`: line for the standard error; none if empty. Returns the
    same status; 2 if the output cannot be written, or `BROKEN_PIPE` if nobody reads it any more.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        _discard(sys.stdout)
        if is_broken_pipe(error):
            status = status or BROKEN_PIPE
        elif not message:
            status, message = 2, f"error: {error.filename or _OUTPUT_NAME}: {error.strerror}"
    try:
        if message:
            print(message, file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        _discard(sys.stderr)
    return status


def _discard(stream: TextIO) -> None:
    """Lead a stream to nowhere, and what it still holds."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    with suppress(OSError):
        stream.flush()
