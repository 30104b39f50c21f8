"""Files that appear under their name only when they are whole."""

import errno
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from simbench.files.storage.locks import is_at, is_old, try_lock

_LONGEST_STEM = 180
"""Bytes of a name that are kept in the name of its part file, which must not exceed 255."""


@contextmanager
def whole_file(path: str | Path, *, keep_suffix: bool = False) -> Iterator[Path]:
    """Write a file under a temporary name in its folder, and rename it when it is whole.

    It is whole when the body ends without an exception; until then, a file of that name stays as it is. After
    an exception the part file is removed. The part file of a process that was killed is removed by the next
    that writes the same file; locks tell it from that of a process that is still writing. The content reaches
    the disk before the name does, so that the file is whole after a power cut, too. `path`: file to write;
    where it is a symbolic link, the file that it names; `keep_suffix`: whether the temporary name ends as the
    path does, for libraries that choose a format by it. Yields name to write to, of an empty file. Raises
    OSError if the file cannot be written, or the path is something else than a regular file.
    """
    path = _target(Path(path))
    remove_abandoned_parts(path)
    part, descriptor = _make_part(path, path.suffix if keep_suffix else "")
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
    return re.fullmatch(_pattern(final), name) is not None


def remove_abandoned_parts(path: Path) -> None:
    """Remove the part files of a file that no living process writes."""
    with suppress(OSError), os.scandir(path.parent) as entries:
        for name in [entry.name for entry in entries if is_part_of(entry.name, path.name)]:
            with suppress(OSError):
                _remove_if_abandoned(path.with_name(name))


def _target(path: Path) -> Path:
    """Follow a symbolic link; refuse what is not a regular file."""
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return target
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        # As root, a rename would replace the device for everybody.
        raise FileExistsError(errno.EEXIST, "Not a regular file", str(path))
    return target


def _stem(name: str) -> str:
    """Return the beginning of the names of a file's part files."""
    encoded = os.fsencode(name)
    return name if len(encoded) <= _LONGEST_STEM else hashlib.sha256(encoded).hexdigest()[:32]


def _pattern(name: str) -> str:
    suffix = Path(name).suffix
    return rf"\.{re.escape(_stem(name))}\.[0-9a-f]{{8}}\.part({re.escape(suffix)})?"


def _make_part(path: Path, suffix: str) -> tuple[Path, int]:
    """Make a part file and lock it while its descriptor is open."""
    while True:
        part = path.with_name(f".{_stem(path.name)}.{secrets.token_hex(4)}.part{suffix}")
        try:
            descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            continue
        # Before it was locked, another process may have removed it as abandoned.
        if try_lock(descriptor) is not False and is_at(descriptor, part):
            return part, descriptor
        os.close(descriptor)


def _remove_if_abandoned(part: Path) -> None:
    descriptor = os.open(part, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
            return
        locked = try_lock(descriptor)
        if (locked or (locked is None and is_old(status))) and is_at(descriptor, part):
            part.unlink()
    finally:
        os.close(descriptor)
