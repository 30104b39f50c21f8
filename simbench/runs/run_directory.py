"""A run directory: written beside its final name and renamed when whole."""

import errno
import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from simbench.errors import RunError, SimbenchError

MARKER = "INCOMPLETE"
SUFFIX = ".incomplete"
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


def incomplete_path(final: Path) -> Path:
    """Where a run is written until it is whole."""
    final = Path(os.path.abspath(final))
    return final.with_name(final.name + SUFFIX)


def why_incomplete(folder: Path) -> str | None:
    """Say why a run directory is not whole; None if it is."""
    marker = folder / MARKER
    if marker.is_file():
        return " ".join(marker.read_text(encoding="utf-8", errors="replace").split())
    # A process that was killed could leave no word.
    name = os.path.basename(os.path.abspath(folder))
    return "ended without a word" if name.endswith(SUFFIX) else None


@contextmanager
def run_directory(final: Path, inputs: Mapping[str, str]) -> Iterator[Path]:
    """Make a run directory; on leaving without an exception, give it its final name.

    After an exception or Ctrl-C it stays beside the final name with everything written so far and a file
    `INCOMPLETE` that says why. If bad input or Ctrl-C ended the run before anything but `inputs` was written,
    nothing stays.

    Parameters
    ----------
    final : Path
        Must not exist, or be an empty directory. Its parents are made.
    inputs : mapping of str to str
        File name to content, written at once: `scenario.yaml`, `provenance.json`.

    Yields
    ------
    Path
        The directory to write into.

    Raises
    ------
    RunError
        If the place is taken or cannot be written, or the disk becomes full.
    """
    working = incomplete_path(final)
    _require_free(final, working)
    made = _make_directories(working)
    try:
        for name, content in inputs.items():
            (working / name).write_text(content, encoding="utf-8")
    except OSError as error:
        _remove(working, made)
        raise RunError(f"{final}: cannot write there: {error.strerror}") from None
    try:
        yield working
        os.replace(working, final)
    except SimbenchError as error:
        if {path.name for path in working.iterdir()} <= set(inputs):
            _remove(working, made)
        else:
            _mark(working, str(error))
        raise
    except (OSError, RuntimeError) as error:
        _mark(working, str(error))
        fault = _disk_fault(error)
        if fault is None:
            raise
        raise RunError(f"{final}: cannot write: {fault}; partial run kept in {working}") from None
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        if interrupted and {path.name for path in working.iterdir()} <= set(inputs):
            _remove(working, made)
        else:
            _mark(working, "interrupted" if interrupted else repr(error))
        raise


def write_metrics(folder: Path, metrics: Mapping[str, Any]) -> None:
    """Write `metrics.json`: flat and sorted; NaN and infinity become null."""
    plain = {name: plain_value(value) for name, value in metrics.items()}
    (folder / "metrics.json").write_text(json_text(dict(sorted(plain.items()))), encoding="utf-8")


def json_text(data: Mapping[str, Any]) -> str:
    """Write indented JSON that every parser accepts."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plain_value(value: Any) -> Any:
    """Write a NumPy scalar as Python's, and a number that is not finite as None."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _disk_fault(error: Exception) -> str | None:
    # HDF5 puts the system's words into an error of its own.
    words = (os.strerror(number) for number in _DISK_ERRORS)
    return next((fault for fault in words if fault in str(error)), None)


def _require_free(final: Path, working: Path) -> None:
    try:
        if final.exists() and not final.is_dir():
            raise RunError(f"{final}: is a file; a run needs a new directory")
        if final.is_dir() and any(final.iterdir()):
            raise RunError(f"{final}: exists and is not empty; a run needs a new directory")
        if working.exists():
            raise RunError(f"{working}: left by an interrupted run; move or delete it first")
    except OSError as error:
        raise RunError(f"{final}: cannot write there: {error.strerror}") from None


def _make_directories(working: Path) -> list[Path]:
    """Make `working` and its parents; return those that were made, innermost first."""
    missing = [folder for folder in (working, *working.parents) if not folder.exists()]
    try:
        working.mkdir(parents=True)
    except OSError as error:
        raise RunError(f"{working}: cannot make the run directory: {error.strerror}") from None
    return missing


def _remove(working: Path, made: list[Path]) -> None:
    shutil.rmtree(working, ignore_errors=True)
    for folder in made[1:]:
        with suppress(OSError):
            folder.rmdir()


def _mark(working: Path, reason: str) -> None:
    with suppress(OSError):
        (working / MARKER).write_text(reason + "\n", encoding="utf-8")
