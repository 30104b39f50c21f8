"""Advisory locks that end with the process that holds them, however it ends."""

import fcntl
import os
import time
from pathlib import Path

ABANDONED_AGE = 86400.0
"""Age, s, from which a temporary file or folder counts as abandoned where no lock can tell."""


def try_lock(descriptor: int) -> bool | None:
    """Lock an open file or folder for this process.

    `descriptor`: its file descriptor; the lock ends when it is closed. Returns true if it is locked now;
    False if another process holds the lock; None if the file system has none.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file or folder still has a name.

    Returns false if there is nothing of this name any more, or something else.
    """
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(found, os.fstat(descriptor))


def is_old(status: os.stat_result) -> bool:
    """Return whether a file or folder has not changed for `ABANDONED_AGE`. Returns true if it is so old."""
    return time.time() - status.st_mtime > ABANDONED_AGE
