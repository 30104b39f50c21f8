"""Reader of the NetCDF files that simbench writes: a recording as it was written, bit for bit."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.files.netcdf_file import SEAL, check_structure, load_dataset, reading
from simbench.motion.human_motion import (
    Actor,
    Gap,
    HandlePath,
    HumanMotion,
    InitialPose,
    transform,
    validate_motion,
)
from simbench.motion.read_options import ReadOptions
from simbench.motion.writers import ACTOR_ATTRIBUTES, FORMAT
from simbench.robot.sides import SIDES

if TYPE_CHECKING:
    import xarray as xr


def read_netcdf(path: Path, options: ReadOptions) -> HumanMotion:
    """Read a recording that `write_netcdf` wrote.

    `path`: the file; `options`: without effect: the file declares everything. Returns the validated motion.
    """
    _check_whole(path)
    with reading(path, MotionError), h5py.File(path, "r") as file:
        check_structure(file, path.stat().st_size)
        if file.attrs["format"] != FORMAT:
            raise MotionError(f"{path}: written as {file.attrs['format']!r}; this version reads {FORMAT!r}")
        # An actor, if the attributes name any property of theirs.
        values = {field: file.attrs[name] for name, field in ACTOR_ATTRIBUTES.items() if name in file.attrs}
        known: dict[str, Any] = {
            field: value if isinstance(value, str) else float(value) for field, value in values.items()
        }
        gaps: list[Gap] = []
        if "gap_marker" in file:
            ends = (file[f"gap_{end}"][...].tolist() for end in ("first", "last"))
            markers = file["gap_marker"].asstr()[...].tolist()
            gaps = [Gap(*gap) for gap in zip(markers, *ends, strict=True)]
        motion = HumanMotion(
            time=file["time"][...],
            joints=_labelled(file, "joint", "joint_position", axis=1),
            segments=_frames(file, "segment", axis=1),
            initial=InitialPose(
                joints=_labelled(file, "initial_joint", "initial_joint_position", axis=0),
                segments=_frames(file, "initial_segment", axis=0),
            ),
            source=file.attrs["source"],
            actor=Actor(**known) if known else None,
            strokes=file["stroke"][...] if "stroke" in file else None,
            notes=tuple(file.attrs.get("notes", ())),
            markers=_labelled(file, "marker", "marker_position", axis=1) if "marker" in file else {},
            missing=tuple(file.attrs.get("missing", ())),
            filled=tuple(gaps),
            handles={side: _handle(file, side) for side in SIDES if f"{side}_handle_position" in file},
        )
        return validate_motion(motion)


def read_truth(path: Path) -> xr.Dataset:
    """Read the ground truth that a file stores about the recording of a virtual actor.

    Returns the group `truth`, loaded, units in the variables' attributes.
    """
    _check_whole(path)
    with reading(path, MotionError):
        with h5py.File(path, "r") as file:
            if "truth" not in file:
                raise MotionError(f"{path}: holds no truth; only recordings of virtual actors do")
        return load_dataset(path, group="truth")


def _check_whole(path: Path) -> None:
    """Refuse files that are not intact, because the HDF5 library hangs on some damaged files."""
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise MotionError(f"{path}: cannot be read: {error}") from error
    content, seal, found = content.rpartition(SEAL)
    if not seal:
        raise MotionError(
            f"{path}: not a recording that simbench wrote, or not all of it: no checksum stands at its end"
        )
    if found != hashlib.sha256(content).hexdigest().encode():
        raise MotionError(f"{path}: damaged: its {len(content)} bytes do not give the checksum at its end")


def _labelled(file: Any, labels: str, name: str, axis: int) -> dict[str, NDArray[np.float64]]:
    """One array for each label, cut from the variable `name` along `axis`."""
    parts = np.moveaxis(file[name][...], axis, 0)
    names = file[labels].asstr()[...]
    return {str(label): np.ascontiguousarray(part) for label, part in zip(names, parts, strict=True)}


def _frames(file: Any, kind: str, axis: int) -> dict[str, NDArray[np.float64]]:
    """Homogeneous transforms from origins and rotation matrices."""
    positions = _labelled(file, kind, f"{kind}_position", axis)
    rotations = _labelled(file, kind, f"{kind}_rotation", axis)
    return {name: transform(rotations[name], positions[name]) for name in positions}


def _handle(file: Any, side: str) -> HandlePath:
    """Handle of one side."""
    name = f"{side}_handle"
    axis = f"{name}_turn_axis"
    return HandlePath(
        poses=transform(file[f"{name}_rotation"][...], file[f"{name}_position"][...]),
        turn_axis=file[axis][...] if axis in file else None,
    )
