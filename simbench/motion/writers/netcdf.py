"""Writer of NetCDF files: a complete recording, bit for bit, with dimensions, units and descriptions."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simbench.errors import MotionError
from simbench.files.netcdf_file import NetcdfGroup, encode_texts, writing_in_memory
from simbench.files.seal import seal
from simbench.files.storage import write_whole
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
    `truth`: arrays for the group `truth`; the dimensions of the recording (`time`, `joint`, `segment`,
    `marker`, `xyz`) keep their meaning there. A variable with the name of its dimension holds the labels
    along it. `truth_attributes`: attributes of that group. Raises MotionError two arrays of the ground truth
    disagree about the length of a dimension. Raises OSError if the file cannot be written.
    """
    content = bytearray()
    with writing_in_memory(content) as file:
        group = NetcdfGroup(file)
        _write_motion(motion, group)
        file.attrs["format"] = FORMAT
        file.attrs["source"] = motion.source
        for name in ("notes", "missing"):
            if values := getattr(motion, name):
                file.attrs[name] = encode_texts(values)
        if motion.actor is not None:
            _write_actor(motion.actor, file)
        if truth is not None:
            inner = NetcdfGroup(file.create_group("truth", track_order=True), group.scales)
            # Variables with labels come before the variables that they label.
            for name, (dims, values, unit) in sorted(
                truth.items(), key=lambda item: item[1][0] != (item[0],)
            ):
                _add(inner, name, dims, values, unit)
            inner.group.attrs.update(truth_attributes or {})
    write_whole(path, seal(bytes(content)))


def _add(
    group: NetcdfGroup, name: str, dims: tuple[str, ...], values: ArrayLike, unit: str, text: str = ""
) -> None:
    """Write a variable with its unit, and a description if there is one."""
    described = {"description": text} if text else {}
    try:
        group.add(name, dims, values, {"units": unit, **described})
    except ValueError as error:
        raise MotionError(str(error)) from None


def _write_actor(actor: Actor, file: Any) -> None:
    """Write the known properties of the actor as attributes."""
    for name, field in ACTOR_ATTRIBUTES.items():
        value = getattr(actor, field)
        if value is not None:
            file.attrs[name] = value


def _write_motion(motion: HumanMotion, group: NetcdfGroup) -> None:
    """Write all arrays of a recording."""
    world = "world frame: x forward, y left, z up"
    _add(group, "time", ("time",), motion.time, "s", "of the samples")
    _add(group, "xyz", ("xyz",), ["x", "y", "z"], "", world)
    _add(group, "joint", ("joint",), list(motion.joints), "", "joint centres")
    _add(group, "segment", ("segment",), list(motion.segments), "", "body segments with a marker frame")
    joints = np.stack(list(motion.joints.values()), axis=1)
    _add(group, "joint_position", ("time", "joint", "xyz"), joints, "m", world)
    _add_frames(group, "segment", ("time", "segment"), np.stack(list(motion.segments.values()), axis=1))
    if motion.markers:
        markers = np.stack(list(motion.markers.values()), axis=1)
        _add(group, "marker", ("marker",), list(motion.markers), "", "markers")
        _add(group, "marker_position", ("time", "marker", "xyz"), markers, "m", f"{world}; gaps are filled")
    initial = motion.initial
    text = "of the initial posture, arms forward and palms down"
    _add(group, "initial_joint", ("initial_joint",), list(initial.joints), "", f"joints {text}")
    _add(group, "initial_segment", ("initial_segment",), list(initial.segments), "", f"segments {text}")
    joints = np.stack(list(initial.joints.values()))
    _add(group, "initial_joint_position", ("initial_joint", "xyz"), joints, "m", world)
    frames = np.stack(list(initial.segments.values()))
    _add_frames(group, "initial_segment", ("initial_segment",), frames)
    if motion.strokes is not None:
        text = "first and last sample of each repetition"
        _add(group, "stroke", ("repetition", "end"), motion.strokes.reshape(-1, 2), "", text)
    if motion.filled:
        text = "of gaps that were filled"
        _add(group, "gap_marker", ("gap",), [gap.marker for gap in motion.filled], "", f"markers {text}")
        _add(group, "gap_first", ("gap",), [gap.first for gap in motion.filled], "", f"first samples {text}")
        _add(group, "gap_last", ("gap",), [gap.last for gap in motion.filled], "", f"last samples {text}")
    for side, handle in motion.handles.items():
        _write_handle(handle, f"{side}_handle", group)


def _write_handle(handle: HandlePath, name: str, group: NetcdfGroup) -> None:
    """Write the poses of a handle, and its axis if it has one."""
    _add_frames(group, name, (name,), handle.poses)
    if handle.turn_axis is not None:
        text = "axis about which the hand may turn on the handle, in the palm's axes"
        _add(group, f"{name}_turn_axis", ("xyz",), handle.turn_axis, "1", text)


def _add_frames(group: NetcdfGroup, name: str, dims: tuple[str, ...], frames: NDArray[np.float64]) -> None:
    """Write homogeneous transforms as origin and rotation matrix, which loses no bit."""
    _add(group, f"{name}_position", (*dims, "xyz"), frames[..., :3, 3], "m", "origin in the world frame")
    text = "turns the segment's axes, its columns, into the world's"
    _add(group, f"{name}_rotation", (*dims, "row", "column"), frames[..., :3, :3], "1", text)
