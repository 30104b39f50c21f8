"""Cheap work for studies. Processes of their own import it, as this folder is on the path."""

import errno
import os
import sys
import time
from pathlib import Path

from simbench.errors import StorageError


def square(number: int, folder: str) -> dict[str, float | int | str | None]:
    """Square a number; note call and end, and for 2 and more wait until there is no file `slow` beside."""
    with (Path(folder) / f"called-{number}").open("a") as file:
        file.write(f"{os.getpid()}\n")
    # An end, for a process that is left over.
    for _ in range(30_000):
        if number < 2 or not (Path(folder) / "slow").exists():
            break
        time.sleep(0.02)
    time.sleep(0.1)
    (Path(folder) / f"done-{number}").touch()
    return {"square": number**2, "third": number / 3.0, "none": float("nan"), "timing.process": os.getpid()}


def fragile(number: int, folder: str) -> dict[str, float | int | str | None]:
    """Square a number; fail for 1 with an error, and for 2 beside a file `ill` with a process that dies."""
    if number == 1:
        raise ValueError("one is\nnot wanted")
    if number == 2 and (Path(folder) / "ill").exists():
        os._exit(7)
    return square(number, folder)


def crowded(number: int, folder: str) -> dict[str, float | int | str | None]:
    """Square a number; the first call beside a file `full` meets a full disk."""
    full = Path(folder) / "full"
    if full.exists():
        how = full.read_text(encoding="utf-8")
        full.unlink()
        if how == "system":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        raise StorageError("a: cannot write: No space left on device")
    return square(number, folder)


def is_imported(name):
    """Whether this process has imported a module."""
    return name in sys.modules
