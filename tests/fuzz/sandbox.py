"""One case in a process and a folder of its own: what it printed, how it ended, what it left."""

import faulthandler
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

TRACEBACK_STATUS = 70
"""Exit status of a case that ended in an exception which the command line did not turn into a message."""
_ADDRESS_SPACE = 16 * 2**30
_FILE_SIZE = 2**30
_WALL_FACTOR = 30
"""A case that waits for something uses no processor time: it ends after this many times its limit of that."""


class Case(NamedTuple):
    """What is given to simbench.

    Parameters
    ----------
    files : mapping of str to bytes
        Files of the working directory.
    arguments : tuple of str
        Arguments of the command line, or of the function that `call` names.
    call : str
        Name of a function of the public interface; empty for the command line.
    links : mapping of str to str
        Symbolic links of the working directory, and where they lead; `OUTSIDE` is a file that somebody else
        keeps, `OUTSIDE_FOLDER` a folder.
    """

    files: Mapping[str, bytes]
    arguments: tuple[str, ...]
    call: str = ""
    links: Mapping[str, str] = MappingProxyType({})


OUTSIDE, OUTSIDE_FOLDER = "outside/kept", "outside/folder"
EXECUTED = ".executed"
"""Suffix of the file that code in a case's files leaves when it is executed."""


class Outcome(NamedTuple):
    """What a case did.

    Parameters
    ----------
    status : int
        Exit status, `TRACEBACK_STATUS` after an exception.
    signal : int
        Number of the signal that ended it, 0 if none.
    out, err : str
        What it printed.
    left : tuple of str
        Files and folders that were not there before.
    changed : tuple of str
        Given files that are gone or differ.
    cpu : float
        Processor time, s.
    memory : int
        Greatest resident memory, bytes.
    """

    status: int
    signal: int
    out: str
    err: str
    left: tuple[str, ...]
    changed: tuple[str, ...]
    cpu: float
    memory: int


def run_case(case: Case, folder: Path, calls: Mapping[str, Callable[..., int]], cpu_limit: int) -> Outcome:
    """Fork, let the child work in `folder`, and say how it ended.

    Parameters
    ----------
    case : Case
        Files and arguments.
    folder : Path
        New folder; left in place.
    calls : mapping of str to callable
        Functions by name; each takes texts and returns an exit status. The empty name is the command line.
    cpu_limit : int
        Processor time after which the case counts as hanging, s.

    Returns
    -------
    Outcome
        How it ended.
    """
    work, scratch = folder / "work", folder / "tmp"
    for each in (work, scratch):
        each.mkdir(parents=True)
    for name, content in case.files.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / OUTSIDE_FOLDER).mkdir(parents=True)
    (folder / OUTSIDE).write_bytes(b"kept")
    for name, target in case.links.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(folder / target)
    before = _listing(folder) | {"out", "err"}
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _child(case, folder, calls, cpu_limit)
    _, status, usage = os.wait4(pid, 0)
    # A worker that outlived its parent.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    after = _listing(folder)
    changed = tuple(
        name
        for name, content in case.files.items()
        if not (work / name).is_file() or (work / name).read_bytes() != content
    )
    if (folder / OUTSIDE).is_symlink() or (folder / OUTSIDE).read_bytes() != b"kept":
        changed += (OUTSIDE,)
    return Outcome(
        os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1,
        os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0,
        *((folder / name).read_text("utf-8", "replace") for name in ("out", "err")),
        tuple(sorted(after - before)),
        changed,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss * 1024,
    )


def clear(folder: Path) -> None:
    """Remove a case's folder, whatever its permissions have become."""
    shutil.rmtree(folder, ignore_errors=True)


def _listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _show_warnings() -> None:
    """Print every warning that a user would see once, also in a test, which collects them."""

    def show(message, category, filename, lineno, file=None, line=None):  # type: ignore[no-untyped-def]
        del file, line
        print(warnings.formatwarning(message, category, filename, lineno), file=sys.stderr)

    warnings.showwarning = show
    warnings.simplefilter("always")
    for unseen in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", unseen)


def _child(case: Case, folder: Path, calls: Mapping[str, Callable[..., int]], cpu_limit: int) -> None:
    """Run a case and end this process."""
    os.setsid()
    os.chdir(folder / "work")
    os.environ["TMPDIR"] = str(folder / "tmp")
    tempfile.tempdir = None
    streams = [os.open(os.devnull, os.O_RDONLY)]
    streams += [os.open(folder / name, os.O_WRONLY | os.O_CREAT, 0o600) for name in ("out", "err")]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    faulthandler.disable()
    _show_warnings()
    for kind, limit in (
        (resource.RLIMIT_CPU, cpu_limit),
        (resource.RLIMIT_AS, _ADDRESS_SPACE),
        (resource.RLIMIT_FSIZE, _FILE_SIZE),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (limit, limit + 5 if kind == resource.RLIMIT_CPU else limit))
    signal.alarm(_WALL_FACTOR * cpu_limit)
    status = TRACEBACK_STATUS
    try:
        status = calls[case.call](*case.arguments)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (OSError, ValueError):
                status = TRACEBACK_STATUS
        os._exit(status)
