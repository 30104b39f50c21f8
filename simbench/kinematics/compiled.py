"""Compile a function of arrays to machine code, kept on disk between runs where that is possible."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile a function at its first call.

    The machine code is kept beside the source or in the user's cache folder; where neither can be written,
    every process compiles anew.

    Parameters
    ----------
    function : callable
        Of arrays and numbers, as numba understands it.

    Returns
    -------
    callable
        With the same signature.
    """
    try:
        return cast(Function, njit(cache=True, error_model="numpy")(function))
    except RuntimeError:
        return cast(Function, njit(error_model="numpy")(function))
