"""Writer of NetCDF files: a complete recording, bit for bit, with dimensions, units and descriptions.

The files are written with h5py, whose dimension scales are NetCDF-4's dimensions: xarray and h5netcdf open
the file, but would take eight times as long to write the hundreds of recordings of a session.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from simbench.errors import MotionError
from simbench.files.hdf5.seal import seal
from simbench.files.storage.whole_file import write_whole
from simbench.motion.handles import HandlePath
from simbench.motion.human_motion import Actor, HumanMotion

FORMAT = "simbench human motion 1"
# Name of each property of the actor in the file and in `Actor`.
ACTOR_ATTRIBUTES = {
    "actor_name": "name",
    "actor_height_m": "height",
    "actor_mass_kg": "mass",
    "actor_sex": "sex",
    "actor_age_years": "age",
}

Truth = Mapping[str, tuple[tuple[str, ...], ArrayLike, str]]
"""Dimensions, values and unit of each variable of the ground truth."""


def write_netcdf(
    motion: HumanMotion,
    path: Path,
    truth: Truth | None = None,
    truth_attributes: Mapping[str, str | float] | None = None,
) -> None:
    """Write a recording, and optionally the ground truth of how a virtual actor performed it.

    The same recording gives the same bytes. The file appears under its name only when it is complete.

    Parameters
    ----------
    motion : HumanMotion
        The motion to write.
    path : Path
        File to write.
    truth : mapping of str to (dims, values, unit), optional
        Arrays for the group `truth`; the dimensions of the recording (`time`, `joint`, `segment`, `marker`,
        `xyz`) keep their meaning there. A variable with the name of its dimension holds the labels along it.
    truth_attributes : mapping of str to str or number, optional
        Attributes of that group.

    Raises
    ------
    MotionError
        Two arrays of the ground truth disagree about the length of a dimension.
    OSError
        If the file cannot be written.
    """
    # In memory, because the HDF5 library aborts the process when the disk is full.
    with h5py.File(path.name, "w", driver="core", backing_store=False) as file:
        group = _Group(file, {})
        _write_motion(motion, group)
        file.attrs["format"] = FORMAT
        file.attrs["source"] = motion.source
        for name in ("notes", "missing"):
            if values := getattr(motion, name):
                file.attrs[name] = _strings(values)
        if motion.actor is not None:
            _write_actor(motion.actor, file)
        if truth is not None:
            inner = _Group(file.create_group("truth"), dict(group.scales))
            # Variables with labels come before the variables that they label.
            for name, (dims, values, unit) in sorted(
                truth.items(), key=lambda item: item[1][0] != (item[0],)
            ):
                inner.add(name, dims, values, unit)
            inner.group.attrs.update(truth_attributes or {})
        file.flush()
        content = file.id.get_file_image()
    write_whole(path, seal(content))


class _Group:
    """An HDF5 group whose variables share named dimensions."""

    def __init__(self, group: Any, scales: dict[str, Any]) -> None:
        self.group = group
        self.scales = scales

    def add(self, name: str, dims: tuple[str, ...], values: ArrayLike, unit: str, text: str = "") -> None:
        """Write a variable, and those of its dimensions that no earlier variable has."""
        array = np.asarray(values)
        if array.ndim != len(dims):
            raise MotionError(f"{name}: {array.ndim} dimensions, but {len(dims)} names for them: {dims}")
        if dims == (name,):
            variable = self._scale(name, array, name)
        else:
            variable = self.group.create_dataset(name, data=_storable(array))
            for axis, (dimension, length) in enumerate(zip(dims, array.shape, strict=True)):
                scale = self.scales.get(dimension)
                if scale is None:
                    anonymous = f"This is a netCDF dimension but not a netCDF variable.{length:10d}"
                    scale = self._scale(dimension, np.zeros(length, ">f4"), anonymous)
                if scale.shape != (length,):
                    raise MotionError(f"{name}: {length} along {dimension}, which has {scale.shape[0]}")
                variable.dims[axis].attach_scale(scale)
        variable.attrs["units"] = unit
        if text:
            variable.attrs["description"] = text

    def _scale(self, name: str, values: NDArray[Any], label: str) -> Any:
        """Write a dimension scale."""
        scale = self.group.create_dataset(name, data=_storable(values))
        scale.make_scale(label)
        scale.attrs["_Netcdf4Dimid"] = np.int32(len(self.scales))
        self.scales[name] = scale
        return scale


def _storable(array: NDArray[Any]) -> NDArray[Any]:
    """Convert texts and booleans to types that NetCDF has."""
    if array.dtype.kind == "U":
        return _strings(array.tolist())
    return array.astype(np.int8) if array.dtype.kind == "b" else array


def _strings(values: Any) -> NDArray[Any]:
    """Array of texts of variable length."""
    return np.array(values, dtype=h5py.string_dtype())


def _write_actor(actor: Actor, file: Any) -> None:
    """Write the known properties of the actor as attributes."""
    for name, field in ACTOR_ATTRIBUTES.items():
        value = getattr(actor, field)
        if value is not None:
            file.attrs[name] = value


def _write_motion(motion: HumanMotion, group: _Group) -> None:
    """Write all arrays of a recording."""
    world = "world frame: x forward, y left, z up"
    group.add("time", ("time",), motion.time, "s", "of the samples")
    group.add("xyz", ("xyz",), ["x", "y", "z"], "", world)
    group.add("joint", ("joint",), list(motion.joints), "", "joint centres")
    group.add("segment", ("segment",), list(motion.segments), "", "body segments with a marker frame")
    joints = np.stack(list(motion.joints.values()), axis=1)
    group.add("joint_position", ("time", "joint", "xyz"), joints, "m", world)
    _add_frames(group, "segment", ("time", "segment"), np.stack(list(motion.segments.values()), axis=1))
    if motion.markers:
        markers = np.stack(list(motion.markers.values()), axis=1)
        group.add("marker", ("marker",), list(motion.markers), "", "markers")
        group.add("marker_position", ("time", "marker", "xyz"), markers, "m", f"{world}; gaps are filled")
    initial = motion.initial
    text = "of the initial posture, arms forward and palms down"
    group.add("initial_joint", ("initial_joint",), list(initial.joints), "", f"joints {text}")
    group.add("initial_segment", ("initial_segment",), list(initial.segments), "", f"segments {text}")
    joints = np.stack(list(initial.joints.values()))
    group.add("initial_joint_position", ("initial_joint", "xyz"), joints, "m", world)
    frames = np.stack(list(initial.segments.values()))
    _add_frames(group, "initial_segment", ("initial_segment",), frames)
    if motion.strokes is not None:
        text = "first and last sample of each repetition"
        group.add("stroke", ("repetition", "end"), motion.strokes.reshape(-1, 2), "", text)
    if motion.filled:
        text = "of gaps that were filled"
        group.add("gap_marker", ("gap",), [gap.marker for gap in motion.filled], "", f"markers {text}")
        group.add("gap_first", ("gap",), [gap.first for gap in motion.filled], "", f"first samples {text}")
        group.add("gap_last", ("gap",), [gap.last for gap in motion.filled], "", f"last samples {text}")
    for side, handle in motion.handles.items():
        _write_handle(handle, f"{side}_handle", group)


def _write_handle(handle: HandlePath, name: str, group: _Group) -> None:
    """Write the poses of a handle, and its axis if it has one."""
    _add_frames(group, name, (name,), handle.poses)
    if handle.turn_axis is not None:
        text = "axis about which the hand may turn on the handle, in the palm's axes"
        group.add(f"{name}_turn_axis", ("xyz",), handle.turn_axis, "1", text)


def _add_frames(group: _Group, name: str, dims: tuple[str, ...], frames: NDArray[np.float64]) -> None:
    """Write homogeneous transforms as origin and rotation matrix, which loses no bit."""
    group.add(f"{name}_position", (*dims, "xyz"), frames[..., :3, 3], "m", "origin in the world frame")
    text = "turns the segment's axes, its columns, into the world's"
    group.add(f"{name}_rotation", (*dims, "row", "column"), frames[..., :3, :3], "1", text)
