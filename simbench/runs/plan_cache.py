"""Plans on disk, each under the digest of everything that it depends on; the least recently used go first."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from simbench.errors import RunError
from simbench.files.storage import try_lock, write_whole
from simbench.resources import user_cache_dir

PLAN_REUSED = "timing.plan_reused"  # Metric of a run with a recording: whether its plan came from the cache.
# Environment variables: folder of the cache, and its largest size in 10⁶ bytes; 0 keeps nothing.
FOLDER_VARIABLE, SIZE_VARIABLE = "SIMBENCH_CACHE_DIR", "SIMBENCH_CACHE_MB"
DEFAULT_MEGABYTES = 1000.0
MOST_PLANS = 500  # Number of plans that are kept at most.
_SUFFIX, _LOCK_SUFFIX = ".plan", ".lock"
_POLL = 0.1  # Time between two looks at a lock that another process holds, s.

_log = logging.getLogger(__name__)


def cache_place() -> tuple[Path | None, int]:
    """Find the folder of the plans, and how large it may become.

    Returns `plans` in `SIMBENCH_CACHE_DIR`, else in `simbench` in the user's folder of caches, None if there
    is none; and the size, bytes; 0 keeps nothing.
    """
    named, user = os.environ.get(FOLDER_VARIABLE), user_cache_dir()
    folder = Path(named) / "plans" if named else user / "simbench" / "plans" if user else None
    text = os.environ.get(SIZE_VARIABLE, "").strip()
    try:
        megabytes = float(text) if text else DEFAULT_MEGABYTES
        if not 0.0 <= megabytes < 1e9:
            raise ValueError
    except ValueError:
        raise RunError(f"{SIZE_VARIABLE}={text:.40}: must be a number from 0, in MB") from None
    return folder, int(megabytes * 1e6)


def read_cached(folder: Path, key: str) -> bytes | None:
    """Read what is kept under a key, and count it as used now.

    `folder`: folder of the plans; `key`: digest of the plan's inputs. Returns the content; None if there is
    none, or it is another user's.
    """
    path = folder / f"{key}{_SUFFIX}"
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_uid not in (0, os.geteuid()):
                return None
            content = file.read()
    except OSError:
        return None
    with suppress(OSError):
        os.utime(path)
    return content


def discard(folder: Path, key: str, reason: str) -> None:
    """Remove a damaged plan, and log one line.

    `key`: digest of the plan's inputs; `reason`: what is wrong with it.
    """
    path = folder / f"{key}{_SUFFIX}"
    _log.warning("%s: a cached plan is %s; it is made anew", path, " ".join(reason.split()))
    with suppress(OSError):
        path.unlink()


def keep(folder: Path, key: str, content: bytes, limit: int) -> bool:
    """Keep a plan, and remove the least recently used ones that are too many.

    `folder`: folder of the plans; it is made if it is missing; `key`: digest of the plan's inputs; `limit`:
    largest size of all plans, bytes. Returns false if it is larger than the limit, or the folder cannot be
    written.
    """
    if len(content) > limit:
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{key}{_SUFFIX}", content)
    except OSError as error:
        _log.warning("%s: a plan cannot be kept: %s", folder, error.strerror)
        return False
    found = _plans(folder)
    size = sum(each for _, each, _ in found)
    while found and (size > limit or len(found) > MOST_PLANS):
        _, removed, path = found.pop(0)
        size -= removed
        with suppress(OSError):
            path.unlink()
    return True


@contextmanager
def claimed(folder: Path, key: str, on_wait: Callable[[], None]) -> Iterator[None]:
    """Let one process at a time make a plan; the lock of a process that was killed ends with it.

    Where locks or the folder cannot be used, nobody waits: the same plan may then be made twice. `key`:
    digest of the plan's inputs; `on_wait`: called again and again while another process makes the plan.
    """
    path = folder / f"{key}{_LOCK_SUFFIX}"
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:
            yield
            return
        if try_lock(descriptor, path) is not False:
            break
        os.close(descriptor)
        on_wait()
        time.sleep(_POLL)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)


def cache_state() -> tuple[Path | None, int, int, int]:
    """Tell what the cache holds.

    Returns the folder of the plans, None if the user has no folder for caches; the number of plans; their
    size and the largest size that they may have, bytes.
    """
    folder, limit = cache_place()
    found = _plans(folder) if folder else []
    return folder, len(found), sum(size for _, size, _ in found), limit


def clear_cache() -> tuple[int, int]:
    """Remove all plans. Returns their number and size, bytes."""
    folder, count, size, _ = cache_state()
    for _, _, path in _plans(folder) if folder else ():
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise RunError(f"{path}: cannot be removed: {error.strerror}") from None
    return count, size


def _plans(folder: Path) -> list[tuple[float, int, Path]]:
    """List the plans: when each was used last, its size, its file."""
    found = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    found.append((status.st_mtime, status.st_size, Path(entry.path)))
    return sorted(found)
