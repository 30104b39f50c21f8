"""Writers of recordings as files that other programs open, and their registry by suffix.

A new format needs a function of a motion and a path, and one line in `SUFFIXES`.
"""

import errno
import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path

import ezc3d
import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.netcdf_file import NetcdfGroup, writing_in_memory
from simbench.files.storage import whole_file, write_whole
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion, transform
from simbench.robot.sides import SIDES

# BVH: positions are in centimetres; x is forward, y up, z to the right, as the ISB recommends. Recorded joint
# centres move relative to each other with the skin, so every node has three position channels and three
# rotation channels, and nothing is lost. A node with the name of a joint has its position and the orientation
# of the segment that begins there; a node with the name of a segment has the pose of its marker frame
# (`pelvis_segment` where a joint has the segment's name). In the rest pose all rotations are zero: upright,
# arms forward.
CENTIMETRES = 100.0
# Rows: axes x, y, z of the file (forward, up, right) in those of the world frame (forward, left, up).
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
# Root that does not move, for a recording without a pelvis.
WORLD = "world"
# Node, parents first: its parent, and the segment that begins at the node.
TREE: dict[str, tuple[str, str]] = {
    "pelvis": (WORLD, "pelvis"),
    "trunk": ("pelvis", "trunk"),
    "chest": ("trunk", "trunk"),
    "neck": ("trunk", ""),
    "head": ("neck", "head"),
}
for _side in SIDES:
    TREE |= {
        f"{_side}_shoulder": ("trunk", f"{_side}_upper_arm"),
        f"{_side}_elbow": (f"{_side}_shoulder", f"{_side}_forearm"),
        f"{_side}_wrist": (f"{_side}_elbow", f"{_side}_hand"),
        f"{_side}_hip": ("pelvis", f"{_side}_thigh"),
        f"{_side}_knee": (f"{_side}_hip", f"{_side}_shank"),
        f"{_side}_ankle": (f"{_side}_knee", f"{_side}_foot"),
    }
# Vector from the end of a chain to its End Site in the file's axes, cm: distally, upward at the head.
END, END_UPWARD = np.array([10.0, 0.0, 0.0]), np.array([0.0, 10.0, 0.0])
# Fraction of the sampling interval by which samples may deviate from a constant rate.
UNEVEN_STEP = 0.05


def write_bvh(motion: HumanMotion, path: Path) -> None:
    """Write joints and segments of a recording as BVH.

    The file reproduces the motion to 1e-8 m and 1e-8 rad. Markers, the initial pose, handles and the actor
    cannot be stored in the format. Raises OSError if the file cannot be written.
    """
    count = len(motion.time)
    step = float(motion.time[-1] - motion.time[0]) / (count - 1)
    off = np.abs(motion.time - motion.time[0] - step * np.arange(count))
    if off.max() > UNEVEN_STEP * step:
        raise MotionError(
            f"{motion.source}: frame {off.argmax()} is {off.max():.2g} s off a constant rate; a BVH file has "
            "one frame time, resample the motion first"
        )
    joints, segments = motion.joints, motion.segments
    # Poses (T, 4, 4) of the nodes in the world frame, parents first, and their parents (None for the root).
    poses: dict[str, Array] = {}
    parents: dict[str, str | None] = {}
    if "pelvis" not in joints:
        poses[WORLD], parents[WORLD] = np.tile(np.eye(4), (count, 1, 1)), None
    chain = [name for name in TREE if name in joints or (name == "trunk" and name in segments)]
    for name in [*chain, *(name for name in joints if name not in TREE)]:
        above = _nearest_ancestor(name, poses)
        pose = segments.get(TREE[name][1] if name in TREE else "")
        if name not in joints:
            pose = segments[name]
        else:
            carrier = (poses[above] if above else np.eye(4)[None]) if pose is None else pose
            pose = transform(carrier[:, :3, :3], joints[name])
        poses[name], parents[name] = pose, above
    begins = {segment: name for name, (_, segment) in TREE.items() if name in joints}
    for name, frames in segments.items():
        label = f"{name}_segment" if name in joints else name
        if label not in chain:
            parents[label] = begins.get(name) or _nearest_ancestor(name, poses)
            poses[label] = frames
    # Depth of each node, in the order of the file (depth first).
    depths: dict[str, int] = {}
    waiting = [next(iter(poses))]
    while waiting:
        name = waiting.pop()
        above = parents[name]
        depths[name] = depths[above] + 1 if above is not None else 0
        waiting += [child for child in reversed(poses) if parents[child] == name]
    # Positions, cm, and angles about z, then the new y, then the new x, degrees, in the axes of the parent.
    positions, angles = [], []
    for name in depths:
        position, rotation, above = poses[name][:, :3, 3], poses[name][:, :3, :3], parents[name]
        if above is not None:
            inverse = poses[above][:, :3, :3].transpose(0, 2, 1)
            position = (inverse @ (position - poses[above][:, :3, 3])[..., None])[..., 0]
            rotation = inverse @ rotation
        positions.append(CENTIMETRES * position @ Y_UP.T)
        rotation = Y_UP @ rotation @ Y_UP.T
        # SciPy's angles lose precision near the singularity, in which a forearm may well be. Here the last
        # angle completes the rotation that the first two leave.
        z = np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0])
        y = np.arctan2(-rotation[:, 2, 0], np.hypot(rotation[:, 0, 0], rotation[:, 1, 0]))
        sine, cosine = np.sin(z), np.cos(z)
        x = np.arctan2(
            sine * rotation[:, 0, 2] - cosine * rotation[:, 1, 2],
            cosine * rotation[:, 1, 1] - sine * rotation[:, 0, 1],
        )
        angles.append(np.degrees(np.unwrap(np.stack([z, y, x], axis=1), axis=0)))
    table = np.stack([np.concatenate(each, axis=1) for each in zip(positions, angles, strict=True)], axis=1)
    offsets = np.stack(positions, axis=1).mean(axis=0)
    lines = ["HIERARCHY"]
    following = [*list(depths.values())[1:], 0]
    for (name, depth), after, offset in zip(depths.items(), following, offsets, strict=True):
        tab = "\t" * depth
        lines += [
            f"{tab}{'JOINT' if depth else 'ROOT'} {name}",
            f"{tab}{{",
            f"{tab}\t{_offset(offset)}",
            f"{tab}\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation",
        ]
        if after <= depth:
            end = END_UPWARD if name in ("neck", "head") else END
            lines += [f"{tab}\tEnd Site", f"{tab}\t{{", f"{tab}\t\t{_offset(end)}", f"{tab}\t}}"]
        lines += ["\t" * level + "}" for level in range(depth, after - 1, -1)]
    header = [*lines, "MOTION", f"Frames: {count}", f"Frame Time: {step!r}"]
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(header) + "\n")
        np.savetxt(file, table.reshape(count, -1), fmt="%.8f")


def _nearest_ancestor(name: str, nodes: Collection[str]) -> str | None:
    """Nearest recorded ancestor of a node; None for the root, which is the first node."""
    while name in TREE:
        name = TREE[name][0]
        if name in nodes:
            return name
    return next(iter(nodes), None)


def _offset(position: Array) -> str:
    """Line of an offset, cm."""
    return "OFFSET " + " ".join(f"{value:.8f}" for value in position)


# C3D: a joint centre is a point with the name of the joint. The frame of a segment is three points, as
# motion-capture programs export it: `left_hand_o` at its origin, `left_hand_x` and `left_hand_y` 0.1 m along
# its axes. The format counts frames with 16 bits, events and the bytes of a text with 8.
MAX_FRAMES, MAX_EVENTS, LONGEST_TEXT = 65535, 255, 255
AXIS_LENGTH = 0.1
MILLIMETRES = 1000.0
# Largest difference between two sampling intervals, relative to their mean, for which the rate is constant.
UNEVEN_RATE = 1e-3


def write_c3d(motion: HumanMotion, path: Path) -> None:
    """Write markers, joints and segment frames as points of a C3D file: millimetres, float, z up.

    The repetitions are written as events `stroke start` and `stroke end`, the actor in the groups SUBJECTS
    and PROCESSING, as Vicon does. Handles cannot be stored in the format. `path`: file to write; its name
    must end in `.c3d`.
    """
    steps = np.diff(motion.time)
    if np.ptp(steps) > UNEVEN_RATE * steps.mean():
        raise MotionError(
            f"{motion.source}: C3D has one frame rate, the samples lie {steps.min():.6g} to "
            f"{steps.max():.6g} s apart; resample the motion first"
        )
    strokes = np.zeros((0, 2), dtype=np.int64) if motion.strokes is None else motion.strokes
    for what, count, most in (("frames", len(motion.time), MAX_FRAMES), ("events", strokes.size, MAX_EVENTS)):
        if count > most:
            raise MotionError(f"{motion.source}: {count} {what}; C3D holds at most {most}")
    triads = {}
    for name, frames in motion.segments.items():
        origin = frames[:, :3, 3]
        triads[f"{name}_o"] = origin
        triads[f"{name}_x"] = origin + AXIS_LENGTH * frames[:, :3, 0]
        triads[f"{name}_y"] = origin + AXIS_LENGTH * frames[:, :3, 1]
    points = {**motion.markers, **motion.joints, **triads}
    if len(points) < len(motion.markers) + len(motion.joints) + len(triads):
        twice = next(name for name in motion.markers if name in motion.joints or name in triads)
        raise MotionError(
            f"{motion.source}: marker {twice} has the name of a joint or frame; names must differ"
        )
    file = ezc3d.c3d()
    group = file["parameters"]["POINT"]
    group["RATE"]["value"] = [motion.rate]
    group["UNITS"]["value"] = ["mm"]
    group["LABELS"]["value"] = list(points)
    file.add_parameter("POINT", "X_SCREEN", ["+X"])
    file.add_parameter("POINT", "Y_SCREEN", ["+Z"])
    file["data"]["points"] = MILLIMETRES * np.stack(list(points.values())).transpose(2, 0, 1)
    file.add_parameter("TRIAL", "DESCRIPTION", [_short(motion.source)])
    actor = motion.actor
    file.add_parameter("SUBJECTS", "USED", [0 if actor is None else 1])
    if actor is not None:
        file.add_parameter("SUBJECTS", "NAMES", [_short(actor.name)])
        if actor.sex is not None:
            file.add_parameter("SUBJECTS", "SEX", [_short(actor.sex)])
        file.add_parameter("PROCESSING", "HEIGHT", [MILLIMETRES * actor.height])
        if actor.mass is not None:
            file.add_parameter("PROCESSING", "BODYMASS", [float(actor.mass)])
        if actor.age is not None:
            file.add_parameter("PROCESSING", "AGE", [float(actor.age)])
    strokes = motion.time[strokes] - motion.time[0]
    times = strokes.ravel()
    if times.size:
        file.add_parameter("EVENT", "USED", int(times.size))
        file.add_parameter("EVENT", "CONTEXTS", ["General"] * times.size)
        file.add_parameter("EVENT", "LABELS", ["stroke start", "stroke end"] * len(strokes))
        # The rows are minutes and seconds.
        file.add_parameter("EVENT", "TIMES", np.stack([times // 60, times % 60]))
    # ezc3d reports neither a missing folder nor a full disk.
    path.write_bytes(b"")
    file.write(str(path))
    if path.stat().st_size < 16 * len(points) * len(motion.time):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def _short(text: str) -> str:
    """Text shortened to the bytes that the format holds."""
    return text.encode()[:LONGEST_TEXT].decode(errors="ignore")


POSITION = ("x_m", "y_m", "z_m")
QUATERNION = ("qx", "qy", "qz", "qw")
# Suffix of the name of a segment if a joint has the same name.
SEGMENT_MARK = "_segment"


def write_motion_csv(motion: HumanMotion, path: Path) -> None:
    """Write time (s), joint positions (m), and segments as position (m) and quaternion x, y, z, w as CSV.

    Columns are `time_s`, `left_shoulder_x_m`, ..., `left_hand_x_m`, ..., `left_hand_qx`, ...; a segment with
    the name of a joint gets a suffix, `pelvis_segment_x_m`. Markers, the initial pose, handles and the actor
    are not written. `path`: file to write. Raises OSError if the file cannot be written.
    """
    header, columns = ["time_s"], [motion.time[:, None]]
    for name, positions in motion.joints.items():
        header += [f"{name}_{end}" for end in POSITION]
        columns.append(positions)
    for name, frames in motion.segments.items():
        label = name + SEGMENT_MARK if name in motion.joints else name
        header += [f"{label}_{end}" for end in (*POSITION, *QUATERNION)]
        quaternions = Rotation.from_matrix(frames[:, :3, :3]).as_quat()
        # Of the two quaternions of a rotation the one nearer to the last sample's is written: plots have no
        # jumps.
        flipped = (quaternions[1:] * quaternions[:-1]).sum(axis=1) < 0
        quaternions[1:] *= np.where(np.cumsum(flipped) % 2, -1.0, 1.0)[:, None]
        columns += [frames[:, :3, 3], quaternions]
    np.savetxt(path, np.hstack(columns), delimiter=",", header=",".join(header), comments="", fmt="%.12g")


FORMAT = "simbench human motion 1"
# Name of each property of the actor in the file and in `Actor`.
ACTOR_ATTRIBUTES = {
    "actor_name": "name",
    "actor_height_m": "height",
    "actor_mass_kg": "mass",
    "actor_sex": "sex",
    "actor_age_years": "age",
}

# Dimensions, values and unit of each variable of the ground truth.
Truth = Mapping[str, tuple[tuple[str, ...], ArrayLike, str]]


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
        add, add_frames = partial(_add, group), partial(_add_frames, group)
        world = "world frame: x forward, y left, z up"
        add("time", ("time",), motion.time, "s", "of the samples")
        add("xyz", ("xyz",), ["x", "y", "z"], "", world)
        add("joint", ("joint",), list(motion.joints), "", "joint centres")
        add("segment", ("segment",), list(motion.segments), "", "body segments with a marker frame")
        joints = np.stack(list(motion.joints.values()), axis=1)
        add("joint_position", ("time", "joint", "xyz"), joints, "m", world)
        add_frames("segment", ("time", "segment"), np.stack(list(motion.segments.values()), axis=1))
        if motion.markers:
            markers = np.stack(list(motion.markers.values()), axis=1)
            add("marker", ("marker",), list(motion.markers), "", "markers")
            add("marker_position", ("time", "marker", "xyz"), markers, "m", f"{world}; gaps are filled")
        initial = motion.initial
        text = "of the initial posture, arms forward and palms down"
        add("initial_joint", ("initial_joint",), list(initial.joints), "", f"joints {text}")
        add("initial_segment", ("initial_segment",), list(initial.segments), "", f"segments {text}")
        joints = np.stack(list(initial.joints.values()))
        add("initial_joint_position", ("initial_joint", "xyz"), joints, "m", world)
        add_frames("initial_segment", ("initial_segment",), np.stack(list(initial.segments.values())))
        if motion.strokes is not None:
            text = "first and last sample of each repetition"
            add("stroke", ("repetition", "end"), motion.strokes.reshape(-1, 2), "", text)
        if motion.filled:
            for name, what in (("marker", "markers"), ("first", "first samples"), ("last", "last samples")):
                values = [getattr(gap, name) for gap in motion.filled]
                add(f"gap_{name}", ("gap",), values, "", f"{what} of gaps that were filled")
        for side, handle in motion.handles.items():
            name = f"{side}_handle"
            add_frames(name, (name,), handle.poses)
            if handle.turn_axis is not None:
                text = "axis about which the hand may turn on the handle, in the palm's axes"
                add(f"{name}_turn_axis", ("xyz",), handle.turn_axis, "1", text)
        file.attrs["format"] = FORMAT
        file.attrs["source"] = motion.source
        for name in ("notes", "missing"):
            if values := getattr(motion, name):
                file.attrs[name] = np.array(values, dtype=h5py.string_dtype())
        if motion.actor is not None:
            for name, field in ACTOR_ATTRIBUTES.items():
                value = getattr(motion.actor, field)
                if value is not None:
                    file.attrs[name] = value
        if truth is not None:
            inner = NetcdfGroup(file.create_group("truth", track_order=True), dict(group.scales))
            # Variables with labels come before the variables that they label.
            for name, variable in sorted(truth.items(), key=lambda item: item[1][0] != (item[0],)):
                _add(inner, name, *variable)
            inner.group.attrs.update(truth_attributes or {})
    write_whole(path, bytes(content))


def _add(
    group: NetcdfGroup, name: str, dims: tuple[str, ...], values: ArrayLike, unit: str, text: str = ""
) -> None:
    """Write a variable with its unit, and a description if there is one."""
    described = {"description": text} if text else {}
    try:
        group.add(name, dims, values, {"units": unit, **described})
    except ValueError as error:
        raise MotionError(str(error)) from None


def _add_frames(group: NetcdfGroup, name: str, dims: tuple[str, ...], frames: NDArray[np.float64]) -> None:
    """Write homogeneous transforms as origin and rotation matrix, which loses no bit."""
    _add(group, f"{name}_position", (*dims, "xyz"), frames[..., :3, 3], "m", "origin in the world frame")
    text = "turns the segment's axes, its columns, into the world's"
    _add(group, f"{name}_rotation", (*dims, "row", "column"), frames[..., :3, :3], "1", text)


SUFFIXES: dict[str, Callable[[HumanMotion, Path], None]] = {
    ".bvh": write_bvh,
    ".c3d": write_c3d,
    ".csv": write_motion_csv,
    ".nc": write_netcdf,
}


def write_motion(motion: HumanMotion, path: str | Path) -> None:
    """Write a recording in the format that the path's suffix names.

    The file appears under its name only when it is complete: the function of a format writes to a temporary
    name. `path`: file to write; the suffix of its name chooses the format.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise MotionError(
            f"{path}: no writer for {suffix or 'a name without suffix'}; "
            f"give a name ending in {', '.join(SUFFIXES)}"
        )
    try:
        # Some libraries choose the format by the suffix.
        with whole_file(path, keep_suffix=True) as part:
            SUFFIXES[suffix](motion, part)
    except OSError as error:
        raise MotionError(f"{path}: cannot be written: {error.strerror}") from error
