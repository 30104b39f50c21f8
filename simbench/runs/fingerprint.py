"""Digests of values and of the source code, which identify everything that determines a result."""

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from simbench.errors import StudyError
from simbench.resources import PACKAGE, resource_dir

_DIGITS = 32
_DATA = ("robots", "marker_maps", "samples")


def fingerprint(value: Any) -> str:
    """Digest a value, so that equal values of the same types, and only they, have the same digest.

    `value`: none, bool, number, text, bytes, path, array, function of a module, or a tuple, list, mapping,
    dataclass or pydantic model of such values; a `pinocchio.SE3`. Returns 32 hexadecimal digits. Raises
    StudyError for an object of another kind.
    """
    return hashlib.sha256(_encoded(value)).hexdigest()[:_DIGITS]


def sources_fingerprint() -> str:
    """Digest the code of simbench and the robots, marker maps and samples that it reads.

    Returns 32 hexadecimal digits, the same for a checkout and for a wheel made from it.
    """
    digest = hashlib.sha256()
    named = [(PACKAGE.name, PACKAGE, "*.py"), *((kind, resource_dir(kind), "*") for kind in _DATA)]
    for name, folder, pattern in named:
        for path in sorted(each for each in folder.rglob(pattern) if each.is_file()):
            key = f"{name}/{path.relative_to(folder).as_posix()}"
            digest.update(_encoded((key, path.read_bytes())))
    return digest.hexdigest()[:_DIGITS]


def own_source_fingerprint(function: Callable[..., Any]) -> str:
    """Digest the source file of a user's function.

    `function`: function of a study. Returns digest; empty for a function of simbench, whose sources are
    digested as a whole, and for one without a file.
    """
    while isinstance(function, partial):
        function = function.func
    try:
        path = Path(inspect.getsourcefile(function) or "").resolve()
    except TypeError:
        return ""
    return "" if PACKAGE in path.parents or not path.is_file() else fingerprint(path.read_bytes())


def _encoded(value: Any) -> bytes:
    """Encode a value unambiguously as its kind, its length and its content."""
    value = _plain(value)
    kind, content = type(value).__qualname__, b""
    if value is None or isinstance(value, bool | int | float | str):
        content = repr(value).encode()
    elif isinstance(value, bytes):
        content = value
    elif isinstance(value, Path):
        kind, content = "path", str(value).encode()
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        content = _encoded((value.dtype.str, value.shape, value.tobytes()))
    elif isinstance(value, tuple | list):
        content = b"".join(map(_encoded, value))
    elif isinstance(value, Mapping):
        # The order of keys does not matter.
        content = b"".join(sorted(_encoded(pair) for pair in value.items()))
    elif isinstance(value, BaseModel):
        content = _encoded({name: getattr(value, name) for name in type(value).model_fields})
    elif is_dataclass(value) and not isinstance(value, type):
        content = _encoded({field.name: getattr(value, field.name) for field in fields(value)})
    elif isinstance(value, partial):
        content = _encoded((value.func, value.args, value.keywords))
    elif callable(value) and hasattr(value, "__module__") and "<" not in getattr(value, "__qualname__", "<"):
        kind, content = "function", f"{value.__module__}.{value.__qualname__}".encode()
    else:
        raise StudyError(
            f"{kind}: is no part of a study's work; allowed: plain values, paths, arrays, functions of a "
            "module, and tuples, lists, mappings and dataclasses of these"
        )
    return f"{kind}:{len(content)}:".encode() + content


def _plain(value: Any) -> Any:
    """Replace a NumPy scalar by Python's, and a `pinocchio.SE3` by its matrix."""
    if isinstance(value, np.generic):
        return value.item()
    # By its name: whoever only digests a study need not import Pinocchio.
    return ("SE3", value.homogeneous) if type(value).__name__ == "SE3" else value
