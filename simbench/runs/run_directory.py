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
    """Return the directory in which a run is written until it is complete.

    Parameters
    ----------
    final : Path
        Run directory.

    Returns
    -------
    Path
        The name with `.incomplete` added.
    """
    final = Path(os.path.abspath(final))
    return final.with_name(final.name + SUFFIX)


def incomplete_reason(folder: Path) -> str | None:
    """Return why a run directory is incomplete.

    Parameters
    ----------
    folder : Path
        Run directory.

    Returns
    -------
    str or None
        The reason in one line; None if the run is complete.
    """
    marker = folder / MARKER
    if marker.is_file():
        return " ".join(marker.read_text(encoding="utf-8", errors="replace").split())
    # A process that was killed could not write a reason.
    name = os.path.basename(os.path.abspath(folder))
    return "ended without a word" if name.endswith(SUFFIX) else None


@contextmanager
def run_directory(final: Path, inputs: Mapping[str, str]) -> Iterator[Path]:
    """Make a run directory and give it its final name when the body ends without an exception.

    After an exception or Ctrl-C it stays beside the final name with everything written so far and a file
    `INCOMPLETE` that says why. If bad input or Ctrl-C ended the run before anything but `inputs` was written,
    the directory is removed.

    Parameters
    ----------
    final : Path
        Final name, which must not exist or be an empty directory. Its parents are made.
    inputs : mapping of str to str
        Content of files that are written at once, by name: `scenario.yaml`, `provenance.json`.

    Yields
    ------
    Path
        The directory to write into.

    Raises
    ------
    RunError
        If the name is taken or cannot be written, or the disk becomes full.
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
        cause = _disk_error(error)
        if cause is None:
            raise
        raise RunError(f"{final}: cannot write: {cause}; partial run kept in {working}") from None
    except BaseException as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        if interrupted and {path.name for path in working.iterdir()} <= set(inputs):
            _remove(working, made)
        else:
            _mark(working, "interrupted" if interrupted else repr(error))
        raise


def write_metrics(folder: Path, metrics: Mapping[str, Any]) -> None:
    """Write `metrics.json`, sorted by name; NaN and infinity become null.

    Parameters
    ----------
    folder : Path
        Run directory.
    metrics : mapping of str to value
        Metrics by name.
    """
    plain = {name: plain_value(value) for name, value in metrics.items()}
    (folder / "metrics.json").write_text(json_text(dict(sorted(plain.items()))), encoding="utf-8")


def json_text(data: Mapping[str, Any]) -> str:
    """Write indented JSON that every parser accepts.

    Parameters
    ----------
    data : mapping of str to value
        Data without NaN or infinity.

    Returns
    -------
    str
        The text, ending in a line break.
    """
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plain_value(value: Any) -> Any:
    """Convert a NumPy scalar to Python's, and a number that is not finite to None.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    object
        The plain value.
    """
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _disk_error(error: Exception) -> str | None:
    """Find the operating system's message about a full or failing disk in an error."""
    # HDF5 wraps the system's message in an error of its own.
    messages = (os.strerror(number) for number in _DISK_ERRORS)
    return next((message for message in messages if message in str(error)), None)


def _require_free(final: Path, working: Path) -> None:
    """Refuse a run directory that exists already, or is left from an interrupted run."""
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
    """Remove a run directory and the parents that were made for it."""
    shutil.rmtree(working, ignore_errors=True)
    for folder in made[1:]:
        with suppress(OSError):
            folder.rmdir()


def _mark(working: Path, reason: str) -> None:
    """Write why a run is incomplete into its directory."""
    with suppress(OSError):
        (working / MARKER).write_text(reason + "\n", encoding="utf-8")
