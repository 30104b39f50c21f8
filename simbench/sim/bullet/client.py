"""The import of PyBullet, and a way to keep what its C++ prints off the terminal."""

import contextlib
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def quiet_native_output() -> Iterator[None]:
    """Hide what Bullet's C++ prints (build time, renderer banner), which would mix with our own output."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    with open(os.devnull, "wb") as null:
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)


with quiet_native_output():
    import pybullet as bullet

__all__ = ["bullet", "quiet_native_output"]
