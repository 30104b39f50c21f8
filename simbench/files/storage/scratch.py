"""Scratch folders in the temporary directory, which the next process removes where one was killed."""

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from simbench.files.storage.locks import is_at, is_old, try_lock

PREFIX = "simbench-scratch-"
_UNLOCKED_PREFIX = "simbench-"
"""Prefix of the folders of earlier versions, which were not locked."""


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder for temporary files that only this user can read, and remove it on leaving.

    Folders that killed processes of this user left are removed first: those that nobody has locked; those of
    earlier versions, which did not lock them, when they are older than a day. Raises OSError if the temporary
    directory cannot be written.
    """
    parent = Path(tempfile.gettempdir())
    remove_abandoned_folders(parent)
    folder, descriptor = _make(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def remove_abandoned_folders(parent: Path) -> None:
    """Remove the scratch folders of processes that have ended. `parent`: directory of the scratch folders."""
    with suppress(OSError), os.scandir(parent) as entries:
        for name in [entry.name for entry in entries if entry.name.startswith(_UNLOCKED_PREFIX)]:
            with suppress(OSError):
                _remove_if_abandoned(parent / name)


def _make(parent: Path) -> tuple[Path, int]:
    """Make a folder that is locked while its descriptor is open."""
    while True:
        folder = parent / f"{PREFIX}{secrets.token_hex(6)}"
        # Before it is locked, another process may remove it as abandoned.
        with suppress(FileExistsError, FileNotFoundError):
            folder.mkdir(mode=0o700)
            descriptor = _open(folder)
            if try_lock(descriptor) is not False and is_at(descriptor, folder):
                return folder, descriptor
            os.close(descriptor)
        if not parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(parent))


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _remove_if_abandoned(folder: Path) -> None:
    # In the temporary directory anybody can make anything of this name: only our own folders are touched,
    # and only those into which nobody else can have put a link.
    descriptor = _open(folder)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
            return
        locked = try_lock(descriptor)
        if locked is None or not folder.name.startswith(PREFIX):
            locked = locked is not False and is_old(status)
        if locked and is_at(descriptor, folder):
            shutil.rmtree(folder)
    finally:
        os.close(descriptor)
