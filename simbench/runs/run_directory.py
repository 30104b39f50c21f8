"""A run directory: written beside its final name, renamed when whole, read back with its values checked."""

from __future__ import annotations

import json
import math
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from itertools import count
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from simbench.errors import RunError, SimbenchError, StorageError
from simbench.files.json_document import read_json_object
from simbench.files.storage import (
    DISK_ERRORS,
    FolderInUseError,
    ForeignFolderError,
    claim_folder,
    is_claimed,
    is_part_of,
    refuse_link,
    remove_claimed,
    sync,
    write_whole,
)
from simbench.plugins.declarations import call_plugin
from simbench.system.termination import TERMINATING

if TYPE_CHECKING:
    from simbench.runs.metric_catalogue import Metric

MARKER = "INCOMPLETE"
SUFFIX = ".incomplete"
LOG_PARTS = "log.parts"  # Folder of the log as far as it has been written while the simulation goes on.
PROVENANCE = "provenance.json"
_INPUTS = ("scenario.yaml", PROVENANCE)
_CONTENT = (*_INPUTS, "metrics.json", "log.nc", "video.mp4", "report.html", "plots", MARKER, LOG_PARTS)
# What is allowed in the entries of `provenance.json` that are read.
_PROVENANCE = {
    **dict.fromkeys(("simbench", "git_commit", "date", "python", "platform", "processor"), "text or null"),
    **dict.fromkeys(("seed", "cores"), "a whole number or null"),
    "command": "a list of text",
    "packages": "an object of text",
    "doubts": "a list of text",
}
_OPTIONAL = ("doubts",)  # Entries that not every run has.


@contextmanager
def shielded_from_interrupt() -> Iterator[Callable[[], bool]]:
    """Delay Ctrl-C, and other signals that would raise an exception, until the block is done.

    This has no effect outside the main thread, which alone receives signals, and on signals that are ignored,
    as Ctrl-C is in the background of a script. Yields `interrupted`: tells whether a signal has arrived, for
    a block that can end early. Compiled code that is interrupted anywhere may turn the exception into another
    error. Plug-ins and policies, which may never return, are interrupted at once.
    """
    held: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def hold(number: int, frame: FrameType | None) -> None:
        held.append(number)
        while frame is not None and frame.f_code is not call_plugin.__code__:
            frame = frame.f_back
        if frame is not None:
            previous[signal.Signals(number)](number, frame)

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, *TERMINATING)}
    previous = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in previous:
        signal.signal(number, hold)
    try:
        yield lambda: bool(held)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        # Also where the block ends by an error: it was to end.
        if held:
            previous[signal.Signals(held[0])](held[0], None)


def incomplete_path(final: Path) -> Path:
    """Return the directory in which a run is written until it is complete.

    Returns the name with `.incomplete` added.
    """
    final = Path(os.path.abspath(final))
    return final.with_name(final.name + SUFFIX)


def incomplete_reason(folder: Path) -> str | None:
    """Return why a run directory is incomplete.

    Returns the reason in one line; None if the run is complete.
    """
    marker = folder / MARKER
    if marker.is_file():
        return " ".join(marker.read_text(encoding="utf-8", errors="replace").split())
    # A process that was killed could not write a reason.
    name = os.path.basename(os.path.abspath(folder))
    return "ended without a word" if name.endswith(SUFFIX) else None


def unused_run_path(name: str) -> Path:
    """Find a directory for a run that has none given: `runs/NAME-TIME`, below the current directory.

    `name`: name of the scenario. Returns the directory, with a number if there is or will be such a run
    already.
    """
    stem = f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
    names = (stem if number == 1 else f"{stem}-{number}" for number in count(1))
    folders = (refuse_link(Path("runs")) / each for each in names)
    return next(folder for folder in folders if not folder.exists() and not incomplete_path(folder).exists())


def require_new_directory(final: Path | None, what: str = "a run") -> None:
    """Refuse a directory that is to be made, if any, where there is something. `what`: what it is for."""
    try:
        if final is not None and final.exists() and not final.is_dir():
            raise RunError(f"{final}: is a file; {what} needs a new directory")
        if final is not None and final.is_dir() and any(final.iterdir()):
            raise DirectoryTaken(f"{final}: exists and is not empty; {what} needs a new directory")
    except OSError as error:
        raise RunError(f"{final}: cannot write there: {error.strerror}") from None


class DirectoryTaken(RunError):
    """There is a run of this name, or another process is writing one."""


@contextmanager
def run_directory(final: Path, inputs: Mapping[str, str]) -> Iterator[Path]:
    """Make a run directory and give it its final name when the body ends without an exception.

    After an exception or Ctrl-C it stays beside the final name with everything written so far and a file
    `INCOMPLETE` that says why. If bad input or Ctrl-C ended the run before anything but `inputs` was written,
    the directory is removed. The directory of a run that ended early is replaced by the next run of the same
    name, unless a process is still writing it, or it holds anything that is not a run's. `final`: final name,
    which must not exist or be an empty directory. Its parents are made. `inputs`: content of files that are
    written at once, by name: `scenario.yaml`, `provenance.json`. Yields the directory to write into.
    """
    working = incomplete_path(final)
    require_new_directory(final)
    with ExitStack() as stack:
        try:
            made = stack.enter_context(claim_folder(working, holds_only_a_run))
        except FolderInUseError:
            raise DirectoryTaken(f"{working}: another process is writing this run") from None
        except ForeignFolderError:
            raise RunError(
                f"{working}: holds more than an interrupted run; move or delete it first"
            ) from None
        except OSError as error:
            raise StorageError(f"{working}: cannot make the run directory: {error.strerror}") from None
        try:
            for name, content in inputs.items():
                (working / name).write_text(content, encoding="utf-8")
        except OSError as error:
            remove_claimed(made, working)
            raise StorageError(f"{final}: cannot write there: {error.strerror}") from None
        try:
            yield working
            with shielded_from_interrupt():
                # Its content is on the disk first, which a power cut cannot undo.
                for path in (*working.iterdir(), working):
                    sync(path)
                os.replace(working, final)
                sync(working.parent)
        except (SimbenchError, KeyboardInterrupt) as error:
            _keep_or_remove(working, made, inputs, str(error) or "interrupted")
            raise
        except (OSError, RuntimeError) as error:
            cause = _disk_error(error, working)
            if cause is None:
                _keep_or_remove(working, made, inputs, str(error))
                raise
            _mark(working, str(error))
            if not working.is_dir():
                raise StorageError(f"{final}: cannot write: {cause}") from None
            raise StorageError(f"{final}: cannot write: {cause}; partial run kept in {working}") from None
        except BaseException as error:
            _mark(working, repr(error))
            raise


@contextmanager
def runs_directory(final: Path) -> Iterator[Path]:
    """Make a directory for several runs, and give it its final name when the body ends without an exception.

    After an exception it stays beside the final name with the runs so far; the next call replaces it, as
    `run_directory` does. `final`: final name, which must not exist or be an empty directory. Its parents are
    made. Yields the directory to write into.
    """
    working = incomplete_path(final)
    require_new_directory(final, "a check")
    try:
        with claim_folder(working, _holds_only_runs) as made:
            try:
                yield working
                with shielded_from_interrupt():
                    os.replace(working, final)
                    sync(working.parent)
            finally:
                if not _names(working):
                    remove_claimed(made, working)
    except OSError as error:
        raise StorageError(f"{error.filename or final}: cannot write: {error.strerror}") from None


def holds_only_a_run(folder: Path) -> bool:
    """Return whether a directory contains nothing but what a run, its report and its video write.

    Returns false if there is anything else, which must not be deleted with it.
    """
    return all(
        name in _CONTENT or any(is_part_of(name, each) for each in _CONTENT) for name in _names(folder)
    )


def _holds_only_runs(folder: Path) -> bool:
    """Return whether a directory contains nothing but run directories."""
    with os.scandir(folder) as entries:
        return all(
            entry.is_dir(follow_symlinks=False) and holds_only_a_run(Path(entry.path)) for entry in entries
        )


def replaced_run(final: Path) -> str | None:
    """Tell which interrupted run a new run of the same name will replace.

    Returns one line for the user; None if there is none, or it will not be replaced.
    """
    working = incomplete_path(final)
    if not working.is_dir() or is_claimed(working) or not holds_only_a_run(working):
        return None
    return f"{working}: left by a run that did not finish ({incomplete_reason(working)}); it is replaced"


def write_metrics(folder: Path, metrics: Mapping[str, Any]) -> None:
    """Write `metrics.json`, sorted by name; NaN and infinity become null. `folder`: run directory."""
    plain = {name: plain_value(value) for name, value in sorted(metrics.items())}
    write_whole(folder / "metrics.json", json_text(plain))


def json_text(data: Mapping[str, Any]) -> str:
    """Write indented JSON that every parser accepts.

    `data`: data without NaN or infinity. Returns the text, ending in a line break.
    """
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def plain_value(value: Any) -> Any:
    """Convert a NumPy scalar to Python's, and a number that is not finite to None. `value`: any value."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _disk_error(error: Exception, working: Path) -> str | None:
    """Find the operating system's message about a full, failing or vanished disk in an error."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        concerned = Path(os.path.abspath(os.fsdecode(error.filename)))
        if concerned == working or working in concerned.parents:
            return error.strerror
    # HDF5 wraps the system's message in an error of its own.
    messages = (os.strerror(number) for number in DISK_ERRORS)
    return next((message for message in messages if message in str(error)), None)


def _names(folder: Path) -> set[str]:
    """List a directory; nothing if it has vanished."""
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()


def _keep_or_remove(working: Path, made: list[Path], inputs: Mapping[str, str], reason: str) -> None:
    """Mark a run as incomplete; remove it if nothing but its inputs has been written."""
    if _names(working) <= set(inputs):
        remove_claimed(made, working)
    else:
        _mark(working, reason)


def _mark(working: Path, reason: str) -> None:
    """Write why a run is incomplete into its directory."""
    with suppress(OSError):
        (working / MARKER).write_text(reason + "\n", encoding="utf-8")


def read_metrics(folder: Path) -> dict[str, Metric]:
    """Read the metrics of a complete run.

    `folder`: run directory. Returns metrics by name; None where a number was not finite.
    """
    content = _read(folder, "metrics.json")
    for name, value in content.items():
        if not (value is None or isinstance(value, bool | int | float | str)):
            raise RunError(f"{folder / 'metrics.json'}: {name}: must be a number, true, false, text or null")
    return content


def read_provenance(folder: Path) -> dict[str, Any]:
    """Read the provenance of a run.

    `folder`: run directory. Returns entries by name, as `collect_provenance` makes them.
    """
    content = _read(folder, PROVENANCE)
    for name, allowed in _PROVENANCE.items():
        if name not in content and name in _OPTIONAL:
            continue
        if name not in content:
            raise RunError(f"{folder / PROVENANCE}: {name} is missing")
        value = content[name]
        if allowed == "text or null":
            holds = value is None or isinstance(value, str)
        elif allowed == "a whole number or null":
            holds = value is None or (isinstance(value, int) and not isinstance(value, bool))
        else:
            texts = value.values() if isinstance(value, dict) else value
            holds = isinstance(value, list if allowed == "a list of text" else dict)
            holds = holds and all(isinstance(each, str) for each in texts)
        if not holds:
            raise RunError(f"{folder / PROVENANCE}: {name}: must be {allowed}")
    return content


def _read(folder: Path, name: str) -> dict[str, Any]:
    if not (folder / name).is_file():
        raise RunError(f"{folder}: is not a whole run directory: it has no {name}")
    return read_json_object(folder / name, RunError)
