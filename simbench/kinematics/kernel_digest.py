"""What the machine code of a function depends on: its own code, and all that it uses from its module."""

import enum
import hashlib
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher


def kernel_digest(function: Callable[..., object]) -> str:
    """Compute a digest of a function with every function and constant that its machine code contains.

    It does not depend on the place of the source file nor on comments, so that machine code serves all
    installations of the same sources. `function`: Python function that is to be compiled. Returns SHA-256 in
    hexadecimal digits.
    """
    digest = hashlib.sha256()
    for part in _describe(function, set()):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def _describe(value: Any, seen: set[int]) -> Iterator[str]:
    """Yield what tells a value that a kernel uses from every other."""
    if isinstance(value, Dispatcher):
        yield f"compiled with {sorted(value.targetoptions.items())}"
        value = value.py_func
    if isinstance(value, FunctionType):
        yield from _describe_function(value, seen)
    elif isinstance(value, tuple | list):
        yield f"{type(value).__qualname__} of {len(value)}"
        for each in value:
            yield from _describe(each, seen)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype!r} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
        if issubclass(value, enum.Enum):
            yield repr([(each.name, each.value) for each in value])
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif callable(value):
        yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"
    else:
        yield repr(value)


def _describe_function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    """Yield the code of a function and of all that it uses; once, since functions may call each other."""
    if id(function) in seen:
        return
    seen.add(id(function))
    yield f"{function.__module__}.{function.__qualname__} {function.__defaults__}"
    names: set[str] = set()
    yield from _describe_code(function.__code__, names)
    for cell in function.__closure__ or ():
        yield from _describe(cell.cell_contents, seen)
    modules = []
    for name in sorted(names & function.__globals__.keys()):
        value = function.__globals__[name]
        yield name
        yield from _describe(value, seen)
        if isinstance(value, ModuleType):
            modules.append(value)
    for module in modules:
        for name in sorted(names & vars(module).keys()):
            yield from _describe(vars(module)[name], seen)


def _describe_code(code: CodeType, names: set[str]) -> Iterator[str]:
    """Yield the instructions and constants of a function, and collect the names that it looks up."""
    names.update(code.co_names)
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _describe_code(constant, names)
        else:
            yield repr(constant)
