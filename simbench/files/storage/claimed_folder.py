"""Folders that one process at a time fills, and that are taken over from a process that was killed."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from simbench.files.storage.locks import is_at, try_lock


class FolderInUseError(FileExistsError):
    """Another process is filling the folder."""


class ForeignFolderError(FileExistsError):
    """The folder holds what must not be deleted."""


@contextmanager
def claim_folder(folder: Path, is_replaceable: Callable[[Path], bool]) -> Iterator[list[Path]]:
    """Make a folder and lock it while the body runs; what a process that was killed left in it is removed.

    The lock is that of the folder itself: it stays with it when it is renamed, and ends with this process.
    `folder`: folder to make; its parents are made; `is_replaceable`: asked about a folder that exists and
    that no living process has locked: whether it may be emptied. Yields folders that were made, innermost
    first, for `remove_claimed`. Raises OSError if the folder cannot be made; `FolderInUseError` or
    `ForeignFolderError` if it must not be replaced.
    """
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        with suppress(FileExistsError):
            folder.mkdir(parents=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        _remove_empty(made)
        raise
    try:
        locked = try_lock(descriptor)
        # Another process may have finished it, and renamed it, in between.
        if locked is False or not is_at(descriptor, folder):
            raise FolderInUseError(errno.EEXIST, "another process is writing it", str(folder))
        if folder not in made and not (locked and is_replaceable(folder)):
            raise ForeignFolderError(errno.EEXIST, "holds other files; move or delete it first", str(folder))
        _empty(folder)
        yield made
    finally:
        os.close(descriptor)


def remove_claimed(made: list[Path], folder: Path) -> None:
    """Remove a folder with its content, and the parents that were made for it.

    `made`: what `claim_folder` yielded.
    """
    shutil.rmtree(folder, ignore_errors=True)
    _remove_empty(made)


def is_claimed(folder: Path) -> bool:
    """Return whether a living process is filling a folder. Returns true if it is locked."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        return try_lock(descriptor) is False
    finally:
        os.close(descriptor)


def _remove_empty(made: list[Path]) -> None:
    for folder in made:
        with suppress(OSError):
            folder.rmdir()


def _empty(folder: Path) -> None:
    with os.scandir(folder) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
