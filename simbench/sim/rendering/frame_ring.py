"""Processes that draw frames in turn and write them, in order, to one file descriptor.

Frame k is drawn by process k modulo their number. A token that goes round says whose frame is next, so that
the encoder of a video reads from all of them as if they were one, and no other process copies the frames.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

READY, DRAWN = b"r", b"d"
"""What a process writes to the status when it can draw, and after each frame."""

DrawJob = Callable[[int], Iterator[Any]]
"""Draws the frames of a job with that number: yields None when it can draw, then buffers."""


def run_jobs(count: int, draw: DrawJob, output: int, status: int) -> None:
    """Draw jobs at the same time, each in a process of its own, and end this process.

    `count`: number of jobs; `draw`: draws the frames of a job; `output`: file descriptor to which all frames
    go; `status`: file descriptor to which `READY` and `DRAWN` go.
    """
    ring = [os.pipe() for _ in range(count)]
    os.write(ring[0][1], b"t")
    if count == 1:
        _draw_in_turn(draw(0), ring[0][0], ring[0][1], output, status)
        return
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            _draw_in_turn(draw(number), ring[number][0], ring[(number + 1) % count][1], output, status)
            # Not `sys.exit`: what this process inherited is not its own to clean up.
            sys.stderr.flush()
            os._exit(0)
        children.append(child)
    os.close(output)
    os.close(status)
    for ends in ring:
        os.close(ends[0])
        os.close(ends[1])
    sys.exit(_wait(children))


def _draw_in_turn(frames: Iterator[Any], turn: int, next_turn: int, output: int, status: int) -> None:
    """Write the frames of a job, each when its turn has come."""
    with contextlib.closing(frames):  # type: ignore[type-var]
        for frame in frames:
            if frame is None:
                os.write(status, READY)
                continue
            os.read(turn, 1)
            _write_all(output, memoryview(frame).cast("B"))
            os.write(next_turn, b"t")
            os.write(status, DRAWN)


def _write_all(descriptor: int, data: memoryview) -> None:
    """Write all bytes."""
    while data:
        data = data[os.write(descriptor, data) :]


def _wait(children: list[int]) -> int:
    """Wait for processes; when one has failed, end the others, which would wait for its frames."""
    failed = 0
    running = set(children)
    while running:
        child, state = os.wait()
        running.discard(child)
        code = os.waitstatus_to_exitcode(state)
        if code != 0 and not failed:
            # A process ended by a signal has the exit status that a shell gives it.
            failed = code if code > 0 else 128 - code
            for other in running:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(other, 15)
    return failed
