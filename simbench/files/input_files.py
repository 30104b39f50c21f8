"""What may be opened for reading: regular files of a bounded size."""

import os
import stat
import sys
from pathlib import Path

from simbench.errors import SimbenchError

MAX_BYTES = 500_000_000
"""Size of the largest file that is read."""

_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def is_regular_file(path: str | Path) -> bool:
    """Return whether there is a regular file of this name.

    `path`: name that a user gave; `Path.is_file` raises an error for one that is too long. Returns false also
    for a name that no file can have.
    """
    return os.path.isfile(path)


def require_regular_file(path: Path, error: type[SimbenchError], max_bytes: int = MAX_BYTES) -> Path:
    """Refuse, before it is opened, what is not a regular file, or too large.

    Opening a pipe waits for a writer, reading a device may never end, and a sparse file that takes no room on
    the disk may be larger than the memory. A name that is not text could not be written into logs or reports.
    `path`: file that will be read; `error`: class of the error that is raised; `max_bytes`: size of the
    largest file that is read. Returns the same path. A file that does not exist is left to whoever opens it.
    Raises SimbenchError of the given class, in one line.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        encoding = sys.getfilesystemencoding()
        raise error(f"{path}: the name is not text in {encoding}; rename it, or set PYTHONUTF8=1") from None
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return path
    except OSError as reason:
        raise error(f"{path}: cannot be read: {reason.strerror}") from None
    except ValueError:
        # Python refuses a null character before the system is asked.
        raise error(f"{str(path)!r}: cannot be read: not the name of a file") from None
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "not a regular file")
        raise error(f"{path}: cannot be read: is {kind}; give a file")
    if found.st_size > max_bytes:
        raise error(f"{path}: larger than {max_bytes / 1e6:g} MB, the largest file that is read here")
    return path
