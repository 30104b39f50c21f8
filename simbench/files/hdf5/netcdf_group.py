"""NetCDF-4 written and read with h5py: variables over named dimensions, which HDF5 calls dimension scales.

xarray opens such files with h5netcdf. That takes four to eight times as long for the dozens of variables of a
recording or of a log, most of it to look up the dimensions of each variable again.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import xarray as xr

_ANONYMOUS = "This is a netCDF dimension but not a netCDF variable."
_OF_FORMAT = frozenset(
    (
        "CLASS",
        "NAME",
        "REFERENCE_LIST",
        "DIMENSION_LIST",
        "_Netcdf4Dimid",
        "_Netcdf4Coordinates",
        "_NCProperties",
        "_nc3_strict",
    )
)
"""Attributes with which NetCDF-4 describes dimensions and itself."""


class NetcdfGroup:
    """An HDF5 group whose variables share named dimensions.

    `group`: the group, empty; `scales`: dimensions of the groups that hold this one.
    """

    def __init__(self, group: Any, scales: Mapping[str, Any] | None = None) -> None:
        self.group = group
        self.scales = dict(scales or {})

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
        if dims == (name,):
            variable = self._scale(name, array, name, filters)
        else:
            variable = self.group.create_dataset(name, data=_storable(array), track_times=False, **filters)
            for axis, (dimension, length) in enumerate(zip(dims, array.shape, strict=True)):
                scale = self.scales.get(dimension)
                if scale is None:
                    scale = self._scale(dimension, np.zeros(length, ">f4"), f"{_ANONYMOUS}{length:10d}", {})
                if scale.shape != (length,):
                    raise ValueError(f"{name}: {length} along {dimension}, which has {scale.shape[0]}")
                variable.dims[axis].attach_scale(scale)
        if array.dtype.kind == "b":
            # As xarray marks flags, which NetCDF does not have.
            variable.attrs["dtype"] = "bool"
        variable.attrs.update(attributes)

    def _scale(self, name: str, values: NDArray[Any], label: str, filters: Mapping[str, Any]) -> Any:
        """Write a dimension scale."""
        scale = self.group.create_dataset(name, data=_storable(values), track_times=False, **filters)
        scale.make_scale(label)
        scale.attrs["_Netcdf4Dimid"] = np.int32(len(self.scales))
        self.scales[name] = scale
        return scale


def encode_texts(values: Any) -> NDArray[Any]:
    """Make an array of texts of variable length. Returns array that h5py writes as texts."""
    return np.array(values, dtype=h5py.string_dtype())


def _storable(array: NDArray[Any]) -> NDArray[Any]:
    """Convert texts and flags to types that NetCDF has."""
    if array.dtype.kind in "UO":
        return encode_texts(array.tolist())
    return array.astype(np.int8) if array.dtype.kind == "b" else array


@contextmanager
def writing_in_memory(content: bytearray) -> Iterator[Any]:
    """Open an HDF5 file for writing whose bytes are there when it is closed.

    In memory, because the HDF5 library may abort the process when the disk is full. `content`: extended by
    the bytes of the file.
    """
    # Version 1.8 of the format is what NetCDF-4 needs: compact headers, and the order of creation.
    memory = {"driver": "core", "backing_store": False, "libver": ("v108", "v108"), "track_order": True}
    with h5py.File("memory", "w", **memory) as file:
        yield file
        file.flush()
        content += file.id.get_file_image()


def encode_dataset(dataset: xr.Dataset, level: int) -> bytes:
    """Write a dataset as NetCDF-4, its numbers compressed.

    `dataset`: the dataset; the same one gives the same bytes; `level`: level of gzip, 1 to 9. Returns content
    of the file.
    """
    content = bytearray()
    with writing_in_memory(content) as file:
        group = NetcdfGroup(file)
        # Labels first: other variables refer to the dimensions that these define.
        for name, values in sorted(dataset.variables.items(), key=lambda item: item[1].dims != (item[0],)):
            group.add(str(name), tuple(map(str, values.dims)), values.values, values.attrs, level)
        file.attrs.update(dataset.attrs)
    return bytes(content)


def decode_dataset(group: Any) -> xr.Dataset:
    """Read all variables of an HDF5 group as xarray reads NetCDF-4.

    `group`: group of an open file. Returns variables in memory, with missing values, flags and texts decoded.
    Raises OSError, LookupError, RuntimeError, ValueError, TypeError as h5py and xarray, for a damaged file,
    and for a variable whose dimensions have no names.
    """
    import xarray as xr

    variables = {}
    for name, item in group.items():
        if isinstance(item, h5py.Dataset) and not _is_anonymous(item):
            texts = h5py.check_string_dtype(item.dtype) is not None
            values = item.asstr()[()].astype(str) if texts and item.ndim else item[()]
            variables[name] = (_dimensions(item), values, _attributes(item))
    # Flags, missing values and units of time are decoded as xarray does.
    return xr.decode_cf(xr.Dataset(variables, attrs=_attributes(group)))


def _is_anonymous(item: Any) -> bool:
    """Whether a variable is only the length of a dimension without labels."""
    label = item.attrs.get("NAME", b"")
    return (label.encode() if isinstance(label, str) else bytes(label)).startswith(_ANONYMOUS.encode())


def _dimensions(item: Any) -> tuple[str, ...]:
    """Read the names of a variable's dimensions."""
    if "DIMENSION_LIST" in item.attrs:
        scales = [references[0] for references in item.attrs["DIMENSION_LIST"]]
        names = [h5py.h5r.get_name(scale, item.id) or b"" for scale in scales]
        dims = tuple(posixpath.basename(name.decode()) for name in names)
    else:
        dims = (posixpath.basename(item.name),) if "CLASS" in item.attrs else ()
    if len(dims) != item.ndim:
        raise ValueError(f"{item.name}: {item.ndim} dimensions, but {len(dims)} names for them")
    return dims


def _attributes(item: Any) -> dict[str, Any]:
    """Read attributes, without those of the format; an array of one number is that number."""
    found = {}
    for name, value in item.attrs.items():
        if name not in _OF_FORMAT:
            single = isinstance(value, np.ndarray) and value.shape == (1,)
            found[name] = value[0] if single else value
    return found
