"""Pickles between the processes of simbench, from which nothing but data is loaded."""

import importlib
import io
import pickle
from collections.abc import Collection
from typing import Any, BinaryIO

# Classes and functions that make data and do nothing else.
_NAMED = {
    ("builtins", "bytearray"),
    ("builtins", "complex"),
    ("builtins", "frozenset"),
    ("builtins", "range"),
    ("builtins", "set"),
    ("builtins", "slice"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("pathlib", "Path"),
    ("pathlib", "PosixPath"),
    ("pathlib", "PurePosixPath"),
    ("pinocchio.pinocchio_pywrap_default", "Model"),
    ("pinocchio.pinocchio_pywrap_default", "SE3"),
}


class _Unpickler(pickle.Unpickler):
    """Unpickler that makes data, and instances of classes of simbench."""

    def __init__(self, stream: BinaryIO, modules: Collection[str]) -> None:
        super().__init__(stream)
        self.modules = modules

    def find_class(self, module: str, name: str) -> Any:
        """Return a class that is allowed; refuse every function, and classes from elsewhere."""
        if (module, name) in _NAMED:
            return super().find_class(module, name)
        # A dotted name leads through a module to what it imports.
        if "." not in name and (module.startswith("simbench.") or module in self.modules):
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type) and found.__module__ == module:
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not data; allowed: arrays and classes of simbench")


def load_pickle(stream: BinaryIO, modules: Collection[str] = ()) -> Any:
    """Load a pickle that another process of simbench wrote.

    `stream`: stream to read, in binary mode; `modules`: names of further modules whose classes are allowed.
    Raises pickle.UnpicklingError if the pickle is damaged, or names a function, or a class from elsewhere.
    """
    return _Unpickler(stream, modules).load()


def parse_pickle(content: bytes, modules: Collection[str] = ()) -> Any:
    """Load a pickle from bytes; see `load_pickle`.

    `modules`: names of further modules whose classes are allowed. Raises pickle.UnpicklingError as
    `load_pickle`.
    """
    return load_pickle(io.BytesIO(content), modules)
