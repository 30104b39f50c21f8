"""Reading of NetCDF files, with one error for everything that can be wrong with them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import h5py

from simbench.errors import SimbenchError
from simbench.files.hdf5.netcdf_group import decode_dataset
from simbench.files.hdf5.structure import check_structure

if TYPE_CHECKING:
    import xarray as xr

READ_ERRORS = (
    OSError,
    LookupError,
    RuntimeError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    MemoryError,
    EOFError,
)
"""Everything that h5py and xarray raise for damaged files, measured on 4000 of them."""


@contextmanager
def reading(path: Path, error: type[SimbenchError]) -> Iterator[None]:
    """Turn what h5py and xarray raise in the body into one error of simbench.

    `path`: file that the body reads, for the message; `error`: error to raise instead. Raises SimbenchError
    of the given type, if the body raises one of `READ_ERRORS`.
    """
    try:
        with warnings.catch_warnings():
            # They tell of what is odd in the file; what matters of it is checked after reading.
            warnings.simplefilter("ignore")
            yield
    except READ_ERRORS as cause:
        raise error(f"{path}: cannot be read: {describe_error(cause)}") from cause


def load_dataset(path: Path, group: str | None = None) -> xr.Dataset:
    """Check the structure of a NetCDF file and read it whole.

    `group`: group to read; by default the root. Returns all variables, loaded. Raises UnsafeFileError as
    `check_structure`. Raises OSError, LookupError, RuntimeError, ValueError, TypeError, AttributeError,
    ArithmeticError, MemoryError as h5py and xarray for a damaged file.
    """
    with h5py.File(path, "r") as file:
        check_structure(file, path.stat().st_size)
        return decode_dataset(file if group is None else file[group])


def describe_error(error: BaseException) -> str:
    """Write an error of a library as one line. Returns its message, or its kind if it has none."""
    message = error.args[0] if isinstance(error, KeyError) and error.args else error
    return " ".join(str(message).split()) or type(error).__name__
