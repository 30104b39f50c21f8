"""Files and folders that are whole or absent, and scratch folders that do not outlive their process."""

import errno
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

# Age, s, from which a temporary file or folder counts as abandoned where no lock can tell.
ABANDONED_AGE = 86400.0


def try_lock(descriptor: int, path: Path | None = None) -> bool | None:
    """Lock an open file or folder for this process.

    `descriptor`: its file descriptor; the lock ends when it is closed; `path`: name that it must still have.
    Returns true if it is locked now; False if another process holds the lock, or there is nothing of this
    name any more, or something else; None if the file system has no locks.
    """
    locked: bool | None = True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        locked = None
    if path is not None:
        try:
            found = os.stat(path, follow_symlinks=False)
        except OSError:
            return False
        if not os.path.samestat(found, os.fstat(descriptor)):
            return False
    return locked


def refuse_link(path: Path) -> Path:
    """Return a path that is to be written; raise OSError if it is a link.

    In a folder of somebody else, a link of a name that simbench writes may lead to any file of the user.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "is a link, and nothing is written through links; delete it", str(path))
    return path


def make_folder(folder: Path) -> Path:
    """Make a folder and its parents, and return it; raise OSError if it is a link, or cannot be made."""
    refuse_link(folder).mkdir(parents=True, exist_ok=True)
    return folder


def typed_output(path: str | Path) -> Path:
    """Resolve a file or folder to write that the user has named, which alone may be a link.

    Returns what the link names; the path itself if it is none, or names a device, which is refused later.
    """
    path, real = Path(path), Path(os.path.realpath(path))
    return real if path.is_symlink() and (real.is_file() or real.is_dir() or not path.exists()) else path


# Numbers of errors of a disk that is full, read-only or failing.
DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


_LONGEST_STEM = 180  # Bytes of a name that are kept in the name of its part file, which must not exceed 255.


@contextmanager
def whole_file(path: str | Path, *, keep_suffix: bool = False) -> Iterator[Path]:
    """Write a file under a temporary name in its folder, and rename it when it is whole.

    It is whole when the body ends without an exception; until then, a file of that name stays as it is. After
    an exception the part file is removed. The part file of a process that was killed is removed by the next
    that writes the same file; locks tell it from that of a process that is still writing. The content reaches
    the disk before the name does, so that the file is whole after a power cut, too. `path`: file to write;
    `keep_suffix`: whether the temporary name ends as the path does, for libraries that choose a format by it.
    Yields name to write to, of an empty file. Raises OSError if the file cannot be written, or the path is
    something else than a regular file: a link, too (`typed_output`).
    """
    path = refuse_link(Path(path))
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            # As root, a rename would replace the device for everybody.
            raise FileExistsError(errno.EEXIST, "Not a regular file", str(path))
    for left in _abandoned(path.parent, partial(is_part_of, final=path.name), os.O_RDWR | os.O_NONBLOCK):
        if left.is_file():
            with suppress(OSError):
                left.unlink()
    suffix = path.suffix if keep_suffix else ""
    while True:
        part = path.with_name(f".{_stem(path.name)}.{secrets.token_hex(4)}.part{suffix}")
        with suppress(FileExistsError):
            descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
            # Before it was locked, another process may have removed it as abandoned.
            if try_lock(descriptor, part) is not False:
                break
            os.close(descriptor)
    try:
        yield part
        sync(part)
        os.replace(part, path)
        sync(path.parent)
    finally:
        os.close(descriptor)
        with suppress(OSError):
            part.unlink()


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Write a file whole or not at all, as `whole_file` does.

    `content`: content; text is written as UTF-8. Raises OSError if it cannot be written.
    """
    with whole_file(path) as part:
        # A path may hold bytes that are not text.
        part.write_bytes(content.encode(errors="replace") if isinstance(content, str) else content)


def sync(path: Path) -> None:
    """Force a file's content or a folder's names to the disk. Raises OSError if the disk fails."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some file systems cannot do it for a folder.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def is_part_of(name: str, final: str) -> bool:
    """Return whether a file is the part file of another.

    `final`: name of the other file. Returns true if `whole_file` writes `final` under such a name.
    """
    pattern = rf"\.{re.escape(_stem(final))}\.[0-9a-f]{{8}}\.part({re.escape(Path(final).suffix)})?"
    return re.fullmatch(pattern, name) is not None


def _abandoned(parent: Path, is_named: Callable[[str], bool], flags: int) -> Iterator[Path]:
    """Yield what processes of this user that have ended left in a folder; locked while it is looked at.

    Where the file system has no locks, its age tells.
    """
    with suppress(OSError):
        for path in [parent / name for name in os.listdir(parent) if is_named(name)]:
            with suppress(OSError):
                descriptor = os.open(path, flags | os.O_NOFOLLOW)
                try:
                    status = os.fstat(descriptor)
                    locked = status.st_uid == os.geteuid() and try_lock(descriptor, path)
                    if locked is None:
                        locked = time.time() - status.st_mtime > ABANDONED_AGE
                    if locked:
                        yield path
                finally:
                    os.close(descriptor)


def _stem(name: str) -> str:
    """Return the beginning of the names of a file's part files."""
    encoded = os.fsencode(name)
    return name if len(encoded) <= _LONGEST_STEM else hashlib.sha256(encoded).hexdigest()[:32]


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
        locked = try_lock(descriptor, folder)
        # Another process may have finished it, and renamed it, in between.
        if locked is False:
            raise FolderInUseError(errno.EEXIST, "another process is writing it", str(folder))
        if folder not in made and not (locked and is_replaceable(folder)):
            raise ForeignFolderError(errno.EEXIST, "holds other files; move or delete it first", str(folder))
        for entry in list(folder.iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
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


PREFIX = "simbench-scratch-"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder for temporary files that only this user can read, and remove it on leaving.

    Folders that killed processes of this user left are removed first: those that nobody has locked. Raises
    OSError if the temporary directory cannot be written.
    """
    parent = Path(tempfile.gettempdir())
    for left in _abandoned(parent, lambda name: name.startswith(PREFIX), os.O_RDONLY | os.O_DIRECTORY):
        # In the temporary directory anybody can make anything of this name: only our own folders are touched,
        # and only those into which nobody else can have put a link.
        if not stat.S_IMODE(left.stat().st_mode) & 0o077:
            shutil.rmtree(left, ignore_errors=True)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        # Before it is locked, another process may remove it as abandoned.
        with suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            if try_lock(descriptor, folder) is not False:
                break
            os.close(descriptor)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)
