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
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

_VERSIONS = (numba.__version__, llvmlite.__version__, platform.python_version())
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


class KernelCache(FunctionCache):
    """Machine code of one function for the types of its arguments, one file each.

    A file begins with the SHA-256 of the rest, which is the pickled key and machine code. The key has the
    types, the processor, the versions of numba and Python, and the digest of the function's source file.
    A file counts only if it belongs to this user, to the owner of these sources or to root, since unpickling
    can execute anything.

    Parameters
    ----------
    function : callable
        The function that is compiled.
    folders : sequence of Path
        Where machine code is looked for, in this order, and kept in the first that can be written.
    """

    def __init__(self, function: Callable[..., object], folders: Sequence[Path]) -> None:
        # Not numba's, which makes a file in each folder for each function to see whether it can.
        self._name = repr(function)
        self._py_func = function
        self._folders = folders
        self._cache_path = str(folders[0]) if folders else ""
        source = Path(function.__code__.co_filename)
        self._source = hashlib.sha256(source.read_bytes()).hexdigest() if source.is_file() else None
        self._enabled = self._source is not None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Read the machine code for types of arguments.

        Parameters
        ----------
        sig : numba.core.typing.templates.Signature
            Types of the arguments.
        target_context : numba.core.base.BaseContext
            Processor for which it was compiled.

        Returns
        -------
        numba.core.compiler.CompileResult or None
            The machine code; None if there is none that can be used.
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
                    return CompileResult._rebuild(target_context, *payload)  # type: ignore[no-untyped-call]
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code for types of arguments, where that is possible.

        Parameters
        ----------
        sig : numba.core.typing.templates.Signature
            Types of the arguments.
        data : numba.core.compiler.CompileResult
            The machine code.
        """
        if not self._enabled or data.library.has_dynamic_globals or data.lifted:
            return
        key = self._key(sig, data.codegen)
        body = dumps((key, data._reduce()))  # type: ignore[no-untyped-call]
        content = hashlib.sha256(body).digest() + body
        any(_write_whole(folder / self._file_name(key), content) for folder in self._folders)

    def flush(self) -> None:
        """Forget nothing: machine code that is compiled anew replaces what is kept."""

    def _key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        types_and_code = self._index_key(sig, codegen)  # type: ignore[no-untyped-call]
        return (*types_and_code, self._source, _VERSIONS)

    def _file_name(self, key: tuple[Any, ...]) -> str:
        code = self._py_func.__code__
        # At most 255 bytes are allowed.
        name = f"{Path(code.co_filename).stem}.{code.co_name}"[:80].translate({60: "", 62: ""})
        return f"{name}-{code.co_firstlineno}.{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.nbc"


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
