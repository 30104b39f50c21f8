"""Compile a function of arrays to machine code, kept on disk between runs where that is possible."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, cast

import numba
from numba.core import config, event
from numba.core.dispatcher import Dispatcher

from simbench.kinematics.kernel_dispatcher import Kernel
from simbench.resources import user_cache_dir

Function = TypeVar("Function", bound=Callable[..., object])


def kernel_folders() -> list[Path]:
    """Find where machine code is kept.

    Returns where machine code is looked for, and kept in the first that can be written: below
    `NUMBA_CACHE_DIR`, the user's folder of caches, which all installations share, and the package's
    `__pycache__`.
    """
    named, cache = os.environ.get("NUMBA_CACHE_DIR"), user_cache_dir()
    parents = [Path(named)] if named else []
    parents += [*([cache / "simbench"] if cache else []), Path(__file__).resolve().parents[1] / "__pycache__"]
    return [parent / "kernels" for parent in parents]


def compiled(function: Function) -> Function:
    """Compile a function at its first call.

    The machine code is kept in one of the folders of `kernel_folders`; where none can be written, every
    process compiles anew. `function`: function of arrays and numbers, in the subset of Python that numba
    compiles. Returns compiled function with the same signature.
    """
    return _compile(function)


def compiled_into_callers(function: Function) -> Function:
    """Compile a function into the functions that call it.

    A call that hands over many arrays in NamedTuples costs time of its own: 5 % of a bounded least-squares
    iteration on a humanoid's arms. Only for what is called in few places: each has a copy. `function`:
    function of arrays and numbers, in the subset of Python that numba compiles. Returns compiled function
    with the same signature.
    """
    return _compile(function, forceinline=True)


def _compile(function: Function, *, forceinline: bool = False) -> Function:
    """Compile with numba, and keep the machine code on disk where that is possible."""
    if config.DISABLE_JIT:
        return function
    return cast(Function, Kernel(function, kernel_folders, forceinline=forceinline))


def compile_for(function: Function, *arguments: object) -> Function:
    """Compile a function for the types of given arguments, and leave out the look-up of types at its calls.

    The look-up takes longer in a NamedTuple than beside one: with 31 arrays in NamedTuples a call takes
    4.9 µs more than without it. In exchange the arguments of all calls have to be of these types: an array of
    another memory layout is not noticed. Arrays that are made once and written in place are safe.

    `function`: function that `compiled` returned; `*arguments`: examples of the arguments: all calls have to
    have the same types and memory layouts. Returns compiled function with the same signature.
    """
    if not isinstance(function, Dispatcher):
        return function
    types = tuple(numba.typeof(argument) for argument in arguments)
    return cast(Function, function.compile(types))


@contextmanager
def compile_timer() -> Iterator[Callable[[], float]]:
    """Measure for how long functions are compiled, or read from disk, at their first calls.

    Yields returns the time since the context was entered, s.
    """
    timing = event.TimingListener()
    with event.install_listener("numba:compiler_lock", timing) as listener:
        yield lambda: float(listener.duration) if listener.done else 0.0
