"""Machine code that numba compiled, kept on disk: what is damaged, outdated or another user's is not used.

Numba's own cache unpickles whatever is in its files. A file that a full disk truncated, or that is of another
version, ends the process there; a damaged one may crash it; and an index that was written before a process
was killed can name outdated machine code.
"""

import hashlib
import os
import pickle
import platform
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from simbench.kinematics.kernel_digest import kernel_digest

_VERSIONS = (numba.__version__, llvmlite.__version__, platform.python_version())
MAX_FILES = 3000
"""Number of files in a folder beyond which the oldest quarter is removed: some 200 MB."""
_DIGEST_SIZE = hashlib.sha256().digest_size
_WRITABLE_BY_OTHERS = 0o002
_NOT_OURS = (
    pickle.UnpicklingError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    TypeError,
    ValueError,
)
"""Errors of an intact file whose classes have another form in these sources."""


class KernelCache(FunctionCache):  # type: ignore[misc]
    """Machine code of one function for the types of its arguments, one file each.

    A file begins with the SHA-256 of the rest, which is the pickled key and machine code. The key has the
    types, the processor, the versions of numba and Python, and the digest of the function with all that it
    uses. A file counts only if it belongs to this user, to the owner of these sources or to root, since
    unpickling can execute anything. `function`: the function that is compiled; `folders`: returns where
    machine code is looked for, in this order; it is kept in the first that can be written.
    """

    kind = "called from Python"

    def __init__(self, function: Callable[..., object], folders: Callable[[], Sequence[Path]]) -> None:
        # Not numba's, which makes a file in each folder for each function to see whether it can.
        self._name = repr(function)
        self._py_func = function
        self._find_folders = folders
        self._enabled = True

    @cached_property
    def _folders(self) -> Sequence[Path]:
        return self._find_folders()

    @cached_property
    def _digest(self) -> str:
        # At the first call, when all that the function uses is defined.
        return kernel_digest(self._py_func)

    @property
    def cache_path(self) -> str:
        """Folder in which machine code is kept."""
        return str(self._folders[0]) if self._folders else ""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Read the machine code for types of arguments.

        `target_context`: processor for which it was compiled. Returns the machine code; None if there is none
        that can be used.
        """
        target_context.refresh()
        if not self._enabled:
            return None
        key = self._key(sig, target_context.codegen())
        for folder in self._folders:
            with suppress(*_NOT_OURS, OSError, RuntimeError):
                found = _read_trusted(folder / self._file_name(key))
                stored, payload = pickle.loads(found)
                if stored == key:
                    return self._rebuild(target_context, payload)
        return None

    def _rebuild(self, target_context: Any, payload: Sequence[Any]) -> Any:
        """Make machine code callable that was read."""
        return CompileResult._rebuild(target_context, *payload)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code for types of arguments, where that is possible."""
        if not self._enabled or data.library.has_dynamic_globals or data.lifted:
            return
        key = self._key(sig, data.codegen)
        body = dumps((key, data._reduce()))
        content = hashlib.sha256(body).digest() + body
        for folder in self._folders:
            if _write_whole(folder / self._file_name(key), content):
                _remove_oldest(folder)
                break

    def flush(self) -> None:
        """Forget nothing: machine code that is compiled anew replaces what is kept."""

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        options = (self.kind, config.OPT, config.LOOP_VECTORIZE, config.SLP_VECTORIZE)
        return (sig, codegen.magic_tuple(), str(options), self._digest, _VERSIONS)

    def _file_name(self, key: tuple[Any, ...]) -> str:
        code = self._py_func.__code__
        # At most 255 bytes are allowed.
        name = f"{Path(code.co_filename).stem}.{code.co_name}"[:80].translate({60: "", 62: ""})
        return f"{name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.nbc"


def _read_trusted(path: Path) -> bytes:
    """Read what a file keeps, if nobody else can have written it and it is whole."""
    with path.open("rb") as file:
        status = os.fstat(file.fileno())
        owners = (0, os.geteuid(), Path(__file__).stat().st_uid)
        if status.st_uid not in owners or status.st_mode & _WRITABLE_BY_OTHERS:
            raise PermissionError(f"{path}: is another user's")
        content = file.read()
    body = content[_DIGEST_SIZE:]
    if hashlib.sha256(body).digest() != content[:_DIGEST_SIZE]:
        raise ValueError(f"{path}: is damaged")
    return body


def _remove_oldest(folder: Path) -> None:
    """Keep a folder bounded: machine code of sources, versions and types that are no longer in use goes."""
    with suppress(OSError):
        files = list(folder.glob("*.nbc"))
        if len(files) > MAX_FILES:
            for path in sorted(files, key=lambda each: each.stat().st_mtime)[: MAX_FILES // 4]:
                path.unlink(missing_ok=True)


def _write_whole(path: Path, content: bytes) -> bool:
    """Write a file under a temporary name and rename it; return whether that was possible."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "xb", opener=_open_for_owner) as file:
            file.write(content)
        os.replace(part, path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        return False
    return True


def _open_for_owner(path: str, flags: int) -> int:
    """Open a file that others may read at most, whatever the process's mask is."""
    return os.open(path, flags, 0o644)
