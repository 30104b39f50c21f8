"""A way to keep what C and C++ libraries print off the terminal."""

import contextlib
import ctypes
import os
import threading
from collections import Counter
from collections.abc import Iterator

_LOCK = threading.Lock()
# Number of blocks, in all threads, that hide a stream; addresses of streams of C: hidden ones, and nowhere's.
_HIDING: Counter[str] = Counter()
_FILES: dict[str, int | None] = {}
_CPP = {"stdout": "_ZSt4cout", "stderr": "_ZSt4cerr"}
# `std::ios::clear(state)`; a stream in the state `badbit` writes nothing.
_SET_STATE, _BAD_BIT = "_ZNSt9basic_iosIcSt11char_traitsIcEE5clearESt12_Ios_Iostate", 1


class _Functions(ctypes.Structure):
    """Functions that read, write, seek and close a stream of C; none by default."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("read", "write", "seek", "close")]


@contextlib.contextmanager
def quiet_native_output(*streams: str) -> Iterator[None]:
    """Hide what the C++ of Bullet and Pinocchio prints, which would mix with our own output.

    Nothing in it is news: `read_urdf` and `load_robot` say themselves what is wrong with a robot. What Python
    prints comes through, in all threads: the file descriptors stay as they are; the streams of C and C++ lead
    nowhere. Where these are not GNU's, nothing is hidden. `streams`: `stdout`, `stderr`; both by default.
    """
    for name in streams or _CPP:
        _hide(name, 1)
    try:
        yield
    finally:
        for name in streams or _CPP:
            _hide(name, -1)


def _hide(name: str, change: int) -> None:
    """Count a block that begins (1) or ends (-1): the first one hides a stream, the last one shows it."""
    libc = ctypes.CDLL(None)
    with _LOCK:
        _HIDING[name] += change
        # Elsewhere than in GNU's library the streams are constants, or have other names.
        if _HIDING[name] != (change > 0) or not hasattr(libc, "gnu_get_libc_version"):
            return
        if "null" not in _FILES:
            # Without functions a stream discards what is written; it takes no file descriptor.
            libc.fopencookie.restype = ctypes.c_void_p
            _FILES["null"] = libc.fopencookie(None, b"w", _Functions())
        file = ctypes.c_void_p.in_dll(libc, name)
        if change > 0:
            _FILES[name] = file.value
        file.value = _FILES["null" if change > 0 and _FILES["null"] else name]
        # Not loaded where nothing has used it: another one than a library's own must not come before it.
        with contextlib.suppress(OSError):
            library = ctypes.CDLL("libstdc++.so.6", mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
            stream = ctypes.addressof(ctypes.c_char.in_dll(library, _CPP[name]))
            # Where its base `std::ios` is, the table that it begins with says.
            table = ctypes.c_ssize_t.from_address(stream).value
            offset = ctypes.c_ssize_t.from_address(table - 3 * ctypes.sizeof(ctypes.c_ssize_t)).value
            library[_SET_STATE](ctypes.c_void_p(stream + offset), _BAD_BIT if change > 0 else 0)
