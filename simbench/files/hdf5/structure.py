"""Check of what an HDF5 file declares, before anything in it is read."""

import math
from collections.abc import Iterator
from typing import Any

import h5py

LEAST_LIMIT = 256 << 20
"""Bytes that the variables of any file may declare together."""
LIMIT_PER_BYTE = 40
"""Bytes that variables may declare for each byte of a file; logs and recordings declare 2 to 10."""
MOST_OBJECTS = 10_000
"""Largest number of groups, variables and attributes."""
MOST_TEXTS = 1_000_000
"""Largest number of texts in a file: each becomes an object in memory."""
MOST_DIMENSIONS = 8
"""Largest number of dimensions of a variable."""
LARGEST_ATTRIBUTE = 64 << 10
"""Largest size of an attribute in bytes; a compact attribute of HDF5 cannot be larger."""
FILTERS = {
    h5py.h5z.FILTER_DEFLATE: "gzip",
    h5py.h5z.FILTER_SHUFFLE: "shuffle",
    h5py.h5z.FILTER_FLETCHER32: "",
}
"""Filters that the HDF5 library itself applies; others would be loaded as plugins."""


class UnsafeFileError(ValueError):
    """A file declares what must not be read: links out of it, more data than it can hold, unknown filters."""


def check_structure(file: Any, size: int) -> int:
    """Refuse a file that refers to other files, or declares more than it can hold.

    `file`: open file; `size`: size of the file in bytes. Returns bytes that all variables declare together.
    Raises OSError, KeyError, RuntimeError, ValueError, TypeError as h5py, for a damaged file.
    """
    limit = max(LEAST_LIMIT, LIMIT_PER_BYTE * size)
    total = texts = objects = 0
    for name, item in _walk(file):
        objects += 1 + _check_attributes(name, item)
        if objects > MOST_OBJECTS:
            raise UnsafeFileError(f"more than {MOST_OBJECTS} groups, variables and attributes")
        if isinstance(item, h5py.Dataset):
            declared = _check_dataset(name, item, limit)
            total += declared
            texts += declared // item.dtype.itemsize if item.dtype.kind in "SO" else 0
    if total > limit:
        raise UnsafeFileError(f"its variables declare {total} bytes, which {size} bytes cannot hold")
    if texts > MOST_TEXTS:
        raise UnsafeFileError(f"its variables declare {texts} texts; at most {MOST_TEXTS} are read")
    return total


def _walk(file: Any) -> Iterator[tuple[str, Any]]:
    """Yield every group and variable once, with its path; refuse links out of the file."""
    yield "/", file
    waiting, seen = [file], {h5py.h5o.get_info(file.id).addr}
    while waiting:
        group = waiting.pop()
        if len(group) > MOST_OBJECTS:
            raise UnsafeFileError(f"more than {MOST_OBJECTS} groups, variables and attributes")
        for key in group:
            path = f"{group.name.rstrip('/')}/{key}"
            if not isinstance(group.get(key, getlink=True), h5py.HardLink):
                raise UnsafeFileError(
                    f"{path}: is a link to another file or place; only its own data is read"
                )
            item = group[key]
            address = h5py.h5o.get_info(item.id).addr
            if address in seen:
                raise UnsafeFileError(f"{path}: is a second link to the same data")
            seen.add(address)
            if isinstance(item, h5py.Group):
                waiting.append(item)
            elif not isinstance(item, h5py.Dataset):
                raise UnsafeFileError(f"{path}: is neither a group nor a variable")
            yield path, item


def _check_attributes(name: str, item: Any) -> int:
    """Refuse attributes that are too large to be read; return their number."""
    count = h5py.h5a.get_num_attrs(item.id)
    if count > MOST_OBJECTS:
        raise UnsafeFileError(f"more than {MOST_OBJECTS} groups, variables and attributes")
    for index in range(count):
        attribute = h5py.h5a.open(item.id, index=index)
        if math.prod(attribute.shape) * attribute.get_type().get_size() > LARGEST_ATTRIBUTE:
            raise UnsafeFileError(f"{name}: an attribute is larger than {LARGEST_ATTRIBUTE} bytes")
    return int(count)


def _check_dataset(name: str, dataset: Any, limit: int) -> int:
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
