"""NetCDF-4 files: written with h5py, with a checksum, checked before anything is read, and read with xarray.

`NetcdfGroup` writes groups into one file; it takes 72 ms for the 51 variables of a log, where xarray takes
179 ms. To read them takes xarray 245 ms.
"""

from __future__ import annotations

import hashlib
import math
import os
import resource
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from simbench.errors import SimbenchError

if TYPE_CHECKING:
    import xarray as xr

_ANONYMOUS = "This is a netCDF dimension but not a netCDF variable."
LEAST_LIMIT = 256 << 20  # Bytes that the variables of any file may declare together.
# Bytes that variables may declare for each byte of a file; logs and recordings declare 2 to 10.
LIMIT_PER_BYTE = 40
MOST_OBJECTS = 10_000  # Largest number of groups, variables and attributes.
MOST_TEXTS = 1_000_000  # Largest number of texts in a file: each becomes an object in memory.
MOST_DIMENSIONS = 8  # Largest number of dimensions of a variable.
# Largest size of an attribute in bytes; a compact attribute of HDF5 cannot be larger.
LARGEST_ATTRIBUTE = 64 << 10
# Filters that the HDF5 library itself applies; others would be loaded as plugins.
FILTERS = (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32)
# Everything that h5py and xarray raise for damaged files, measured on 4000 of them.
READ_ERRORS = (
    *(OSError, LookupError, RuntimeError, ValueError, TypeError, AttributeError),
    *(ArithmeticError, MemoryError, EOFError),
)
MEMORY = 512 << 20  # Bytes that reading may take beside twice what the file declares.
# Processor time that reading may take, s, beside a second for every `BYTES_PER_SECOND` declared.
PROCESSOR_TIME = 10
BYTES_PER_SECOND = 20 << 20
_REFUSED = 3  # Exit status of a trial that says why the file cannot be read.
# Separator between the HDF5 file, whose own header says where it ends, and the checksum of its bytes.
SEAL = b"simbench checksum "
_DIGITS = 64  # Hexadecimal digits of a checksum.
_BLOCK = 1 << 20  # Bytes that are read at a time.


class UnsafeFileError(ValueError):
    """A file declares what must not be read: links out of it, more data than it can hold, unknown filters."""


@dataclass(eq=False)
class NetcdfGroup:
    """An HDF5 group whose variables share named dimensions."""

    group: Any  # The group, empty.
    scales: dict[str, Any] = field(default_factory=dict)  # Dimensions of the groups that hold this one.

    def add(
        self,
        name: str,
        dims: tuple[str, ...],
        values: ArrayLike,
        attributes: Mapping[str, Any],
        level: int = 0,
    ) -> None:
        """Write a variable, and those of its dimensions that no earlier variable has.

        `name`: name; that of its only dimension for the labels along it. `dims`: name of each dimension.
        `values`: numbers, flags or texts. `attributes`: attributes, such as `units`. `level`: level at which
        gzip compresses numbers, 1 to 9; texts are not compressed. 0: nothing is.
        """
        array = np.asarray(values)
        if array.ndim != len(dims):
            raise ValueError(f"{name}: {array.ndim} dimensions, but {len(dims)} names for them: {dims}")
        filters: dict[str, Any] = {}
        if level and array.size and array.ndim and array.dtype.kind in "fiub":
            filters = {"compression": "gzip", "compression_opts": level, "shuffle": True}
        # Texts of variable length, and flags, which NetCDF does not have.
        stored = array.astype(np.int8) if array.dtype.kind == "b" else array
        if array.dtype.kind in "UO":
            stored = np.array(array.tolist(), dtype=h5py.string_dtype())
        if dims == (name,):
            variable = self._scale(name, stored, name, filters)
        else:
            variable = self.group.create_dataset(name, data=stored, track_times=False, **filters)
            for axis, (dimension, length) in enumerate(zip(dims, array.shape, strict=True)):
                scale = self.scales.get(dimension)
                if scale is None:
                    scale = self._scale(dimension, np.zeros(length, ">f4"), f"{_ANONYMOUS}{length:10d}", {})
                if scale.shape != (length,):
                    raise ValueError(f"{name}: {length} along {dimension}, which has {scale.shape[0]}")
                variable.dims[axis].attach_scale(scale)
        if array.dtype.kind == "b":
            # As xarray marks flags.
            variable.attrs["dtype"] = "bool"
        variable.attrs.update(attributes)

    def _scale(self, name: str, values: NDArray[Any], label: str, filters: Mapping[str, Any]) -> Any:
        """Write a dimension scale."""
        scale = self.group.create_dataset(name, data=values, track_times=False, **filters)
        scale.make_scale(label)
        scale.attrs["_Netcdf4Dimid"] = np.int32(len(self.scales))
        self.scales[name] = scale
        return scale


@contextmanager
def writing_in_memory(content: bytearray) -> Iterator[Any]:
    """Open an HDF5 file for writing whose bytes, and their checksum, are there when it is closed.

    In memory, because the HDF5 library may abort the process when the disk is full. HDF5 ignores bytes after
    the end that its header declares, and cuts them off when it changes the file. `content`: empty; extended
    by the bytes of the file, and by SHA-256 of them in hexadecimal digits.
    """
    # Version 1.8 of the format is what NetCDF-4 needs: compact headers, and the order of creation.
    memory = {"driver": "core", "backing_store": False, "libver": ("v108", "v108"), "track_order": True}
    with h5py.File("memory", "w", **memory) as file:
        yield file
        file.flush()
        content += file.id.get_file_image()
    content += SEAL + hashlib.sha256(content).hexdigest().encode()


def encode_dataset(dataset: xr.Dataset, level: int) -> bytes:
    """Write a dataset as NetCDF-4, its numbers compressed.

    `dataset`: the dataset; the same one gives the same bytes; `level`: level of gzip, 1 to 9. Returns content
    of the file, with its checksum.
    """
    content = bytearray()
    with writing_in_memory(content) as file:
        group = NetcdfGroup(file)
        # Labels first: other variables refer to the dimensions that these define.
        for name, values in sorted(dataset.variables.items(), key=lambda item: item[1].dims != (item[0],)):
            group.add(str(name), tuple(map(str, values.dims)), values.values, values.attrs, level)
        file.attrs.update(dataset.attrs)
    return bytes(content)


class SealState(Enum):
    """State of the checksum at the end of a file.

    `ABSENT` is a file of an older version, of another program, or one that was cut off; `BROKEN` one whose
    bytes have changed since they were written.
    """

    INTACT = "intact"
    ABSENT = "absent"
    BROKEN = "broken"


def inspect_seal(path: Path) -> SealState:
    """Compare the bytes of a file with the checksum at its end.

    `path`: HDF5 file. Returns whether there is a checksum, and whether it fits. Raises OSError if the file
    cannot be read.
    """
    length = path.stat().st_size - len(SEAL) - _DIGITS
    if length < 0:
        return SealState.ABSENT
    digest = hashlib.sha256()
    with path.open("rb") as file:
        file.seek(length)
        tail = file.read()
        if not tail.startswith(SEAL):
            return SealState.ABSENT
        file.seek(0)
        while length > 0 and (block := file.read(min(_BLOCK, length))):
            digest.update(block)
            length -= len(block)
    intact = tail[len(SEAL) :] == digest.hexdigest().encode()
    return SealState.INTACT if intact else SealState.BROKEN


def check_structure(file: Any, size: int) -> int:
    """Refuse a file that refers to other files, or declares more than it can hold.

    `file`: open file; `size`: size of the file in bytes. Returns bytes that all variables declare together.
    Raises OSError, KeyError, RuntimeError, ValueError, TypeError as h5py, for a damaged file.
    """
    limit = max(LEAST_LIMIT, LIMIT_PER_BYTE * size)
    total = texts = objects = 0
    waiting, seen = [("/", file)], {h5py.h5o.get_info(file.id).addr}
    while waiting:
        name, item = waiting.pop()
        count = h5py.h5a.get_num_attrs(item.id)
        children = len(item) if isinstance(item, h5py.Group) else 0
        objects += 1 + count
        if max(objects, children) > MOST_OBJECTS:
            raise UnsafeFileError(f"more than {MOST_OBJECTS} groups, variables and attributes")
        for index in range(count):
            attribute = h5py.h5a.open(item.id, index=index)
            if math.prod(attribute.shape) * attribute.get_type().get_size() > LARGEST_ATTRIBUTE:
                raise UnsafeFileError(f"{name}: an attribute is larger than {LARGEST_ATTRIBUTE} bytes")
        if isinstance(item, h5py.Dataset):
            declared = _check_variable(name, item, limit)
            total += declared
            texts += declared // item.dtype.itemsize if item.dtype.kind in "SO" else 0
        for key in item if children else ():
            path = f"{name.rstrip('/')}/{key}"
            if not isinstance(item.get(key, getlink=True), h5py.HardLink):
                raise UnsafeFileError(
                    f"{path}: is a link to another file or place; only its own data is read"
                )
            child = item[key]
            address = h5py.h5o.get_info(child.id).addr
            if address in seen:
                raise UnsafeFileError(f"{path}: is a second link to the same data")
            seen.add(address)
            if not isinstance(child, h5py.Group | h5py.Dataset):
                raise UnsafeFileError(f"{path}: is neither a group nor a variable")
            waiting.append((path, child))
    if total > limit:
        raise UnsafeFileError(f"its variables declare {total} bytes, which {size} bytes cannot hold")
    if texts > MOST_TEXTS:
        raise UnsafeFileError(f"its variables declare {texts} texts; at most {MOST_TEXTS} are read")
    return total


def _check_variable(name: str, dataset: Any, limit: int) -> int:
    """Refuse a variable that cannot be read safely; return how many bytes it declares."""
    kind = dataset.dtype.kind
    if kind not in "fiubS" and h5py.check_string_dtype(dataset.dtype) is None:
        raise UnsafeFileError(f"{name}: holds {dataset.dtype}; allowed: numbers and texts")
    creation = dataset.id.get_create_plist()
    if creation.get_layout() == h5py.h5d.VIRTUAL or creation.get_external_count():
        raise UnsafeFileError(f"{name}: its data lies in another file; only its own data is read")
    filters = [creation.get_filter(index) for index in range(creation.get_nfilters())]
    for code, *_ in filters:
        if code not in FILTERS:
            raise UnsafeFileError(
                f"{name}: is compressed by filter {code}; allowed: gzip, shuffle, fletcher32"
            )
    if len(filters) > len(FILTERS):
        raise UnsafeFileError(f"{name}: is compressed {len(filters)} times")
    if len(dataset.shape) > MOST_DIMENSIONS:
        raise UnsafeFileError(f"{name}: has {len(dataset.shape)} dimensions; at most {MOST_DIMENSIONS}")
    declared = math.prod(dataset.shape) * dataset.dtype.itemsize
    chunk = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    if max(declared, chunk) > limit:
        raise UnsafeFileError(f"{name}: declares {max(declared, chunk)} bytes, which the file cannot hold")
    return declared


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
    import xarray as xr

    with h5py.File(path, "r") as file:
        check_structure(file, path.stat().st_size)
    dataset = xr.load_dataset(path, engine="h5netcdf", group=group, phony_dims="sort")
    for name, variable in dataset.variables.items():
        if any(str(dimension).startswith("phony_dim_") for dimension in variable.dims):
            raise ValueError(f"{name}: {variable.ndim} dimensions, but not as many names for them")
    return dataset


def describe_error(error: BaseException) -> str:
    """Write an error of a library as one line. Returns its message, or its kind if it has none."""
    message = error.args[0] if isinstance(error, KeyError) and error.args else error
    return " ".join(str(message).split()) or type(error).__name__


def probe_file(path: Path) -> str:
    """Read a NetCDF file in a process with limited memory and processor time.

    Returns why it cannot be read, in one line; empty if it can.
    """
    # The new process must find the module where this one found it.
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, os.fspath(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # A thread's stack counts as memory.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        check=False,
    )
    if done.returncode == 0:
        return ""
    if done.returncode == _REFUSED:
        return done.stdout.decode(errors="replace")
    return "the HDF5 library crashes, or takes too long, reading it"


def main() -> None:
    """Read the file that is the first argument; print why it cannot be read, if it cannot."""
    path = Path(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _limit(0)
        with h5py.File(path, "r") as file:
            _limit(check_structure(file, path.stat().st_size))
        load_dataset(path)
    except READ_ERRORS as error:
        sys.stdout.buffer.write(describe_error(error).encode(errors="replace"))
        sys.stdout.flush()
        # Closing what is damaged may crash.
        os._exit(_REFUSED)
    os._exit(0)


def _limit(declared: int) -> None:
    """Limit memory and processor time of this process to what reading so many bytes takes."""
    seconds = PROCESSOR_TIME + declared // BYTES_PER_SECOND
    used = resource.getrusage(resource.RUSAGE_SELF)
    _set_soft_limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + seconds)
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        # Only Linux tells how much is mapped.
        return
    _set_soft_limit(resource.RLIMIT_AS, pages * resource.getpagesize() + MEMORY + 2 * declared)


def _set_soft_limit(which: int, value: int) -> None:
    """Lower or raise a soft limit, up to the hard one."""
    _, hard = resource.getrlimit(which)
    resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
