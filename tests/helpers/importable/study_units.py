"""Cheap work for studies. Processes of their own import it, as this folder is on the path."""

import os
import time
from pathlib import Path


def square(number: int, folder: str) -> dict[str, float | int | str | None]:
    """Note the call; take ten minutes where it is said to be slow."""
    with (Path(folder) / f"called-{number}").open("a") as file:
        file.write(f"{os.getpid()}\n")
    if number >= 2 and (Path(folder) / "slow").exists():
        time.sleep(600.0)
    time.sleep(0.1)
    return {"square": number**2, "third": number / 3.0, "none": float("nan"), "timing.process": os.getpid()}


def fragile(number: int, folder: str) -> dict[str, float | int | str | None]:
    """Fail for 1 with an error, for 2 with a process that dies while it is said to be ill."""
    if number == 1:
        raise ValueError("one is\nnot wanted")
    if number == 2 and (Path(folder) / "ill").exists():
        os._exit(7)
    return square(number, folder)
