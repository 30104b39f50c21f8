"""Reader of CSV files: as `write_motion_csv` writes them, as Motive exports them, or of named positions."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import (
    ARM_JOINTS,
    ARM_SEGMENTS,
    HumanMotion,
    check_time,
    transform,
    validate_motion,
)
from simbench.motion.marker_maps.conversion import find_initial_pose
from simbench.motion.marker_maps.recorded_body import LEG_JOINTS
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.motive_csv import is_motive, read_motive_csv
from simbench.motion.readers.named_columns import is_trajectory_header
from simbench.motion.readers.named_positions import read_named_positions
from simbench.motion.readers.text_table import quote, read_lines, read_numbers
from simbench.motion.recordings import MarkerRecording, SkeletonRecording
from simbench.motion.writers import POSITION, QUATERNION, SEGMENT_MARK
from simbench.robot.sides import SIDES

# Tolerance on the length of a quaternion: four digits are enough.
UNIT_LENGTH = 1e-3


def read_csv(path: Path, options: ReadOptions) -> HumanMotion | MarkerRecording | SkeletonRecording:
    """Read a recording from a CSV file, whichever kind its first lines say it is.

    `path`: the file: of joints and segments that simbench wrote, of Motive, or of named positions; `options`:
    what the user declares. Returns what the file holds. Raises MotionError A file of none of these kinds, one
    that is damaged, or the trajectory of a robot.
    """
    lines = read_lines(path)
    if is_motive(lines):
        return read_motive_csv(lines, str(path), options)
    if is_written_by_simbench(lines[0]):
        return read_written_csv(lines, str(path))
    return read_named_positions(lines, str(path), options)


def is_written_by_simbench(header: str) -> bool:
    """Tell whether a header has the columns of a file that simbench wrote.

    `header`: first line of the file. Returns whether it begins with `time_s` and has the quaternions of
    segments.
    """
    words = [word.strip().strip('"') for word in header.split(",")]
    turned = any(word.endswith(tuple(f"_{end}" for end in QUATERNION)) for word in words)
    return words[0] == "time_s" and (turned or len(words) == 1) and not is_trajectory_header(words)


def read_written_csv(lines: list[str], source: str) -> HumanMotion:
    """Read joints and segments of a recording that simbench wrote.

    `lines`: lines of the file. The first one is `time_s`, then in any order for each joint `NAME_x_m`,
    `NAME_y_m`, `NAME_z_m` and for each segment these and `NAME_qx`, `NAME_qy`, `NAME_qz`, `NAME_qw`. World z
    up, x forward. The names of the columns declare everything. `source`: name of the recording, for messages.
    Returns the validated motion; its initial pose is the one that the recording begins with, or computed.
    Raises MotionError columns that are missing, repeated or unknown, lines of different length, a value that
    is not a finite number, quaternions that are not of unit length, time that does not increase.
    """
    header = [word.strip().strip('"') for word in lines[0].split(",")]
    groups = _groups(header, source)
    table = read_numbers(lines, 1, len(header), source, delimiter=",")
    column = {name: table[:, k] for k, name in enumerate(header)}
    check_time(column["time_s"], source)
    joints: dict[str, Array] = {}
    segments: dict[str, Array] = {}
    for name, ends in groups.items():
        position = np.stack([column[f"{name}_{end}"] for end in POSITION], axis=1)
        if ends == {*POSITION}:
            joints[name] = position
        else:
            segments[name] = transform(_rotations(name, column, source), position)
    segments = {_unmarked(name, joints): frames for name, frames in segments.items()}
    _check_an_arm(joints, segments, source)
    initial, note = find_initial_pose(column["time_s"], joints, segments)
    known = {*joints, *segments}
    return validate_motion(
        HumanMotion(
            time=column["time_s"],
            joints=joints,
            segments=segments,
            initial=initial,
            source=source,
            notes=(note,),
            missing=tuple(
                n for n in (*ARM_JOINTS, "pelvis", *LEG_JOINTS, *ARM_SEGMENTS, "trunk") if n not in known
            ),
        )
    )


def _groups(header: list[str], source: str) -> dict[str, set[str]]:
    """Find the endings of the columns of each joint and segment, which must be complete."""
    where = f"{source}, line 1"
    if header[0] != "time_s":
        raise MotionError(f"{where}: begins with {quote(header[0])}; the first column must be time_s")
    groups: dict[str, set[str]] = {}
    for k, word in enumerate(header[1:]):
        end = next((end for end in (*POSITION, *QUATERNION) if word.endswith(f"_{end}")), None)
        if end is None or word == f"_{end}":
            allowed = ", ".join(f"NAME_{end}" for end in (*POSITION, *QUATERNION))
            raise MotionError(f"{where}: column {k + 2} is {quote(word)}; allowed: {allowed}")
        ends = groups.setdefault(word.removesuffix(f"_{end}"), set())
        if end in ends:
            raise MotionError(f"{where}: column {k + 2} {quote(word)} is there twice; names must differ")
        ends.add(end)
    for name, ends in groups.items():
        whole = (*POSITION, *QUATERNION) if ends & {*QUATERNION} else POSITION
        lacking = [f"{name}_{end}" for end in whole if end not in ends]
        if lacking:
            raise MotionError(f"{where}: {quote(name)} lacks {', '.join(map(quote, lacking))}")
    return groups


def _rotations(name: str, column: Mapping[str, Array], source: str) -> Array:
    """Rotations (T, 3, 3) of a segment from the columns of its quaternion."""
    quaternion = np.stack([column[f"{name}_{end}"] for end in QUATERNION], axis=1)
    length = np.linalg.norm(quaternion, axis=1)
    off = np.flatnonzero(np.abs(length - 1.0) > UNIT_LENGTH)
    if off.size:
        raise MotionError(
            f"{source}: {name} at frame {off[0]}: a quaternion of length {length[off[0]]:.4g}; it must be 1 "
            f"to {UNIT_LENGTH:g}"
        )
    return np.asarray(Rotation.from_quat(quaternion).as_matrix())


def _unmarked(name: str, joints: Mapping[str, Array]) -> str:
    """Name of a segment without the mark that tells it from the joint with the same name."""
    plain = name.removesuffix(SEGMENT_MARK)
    return plain if plain in joints else name


def _check_an_arm(joints: Mapping[str, Array], segments: Mapping[str, Array], source: str) -> None:
    """Refuse a recording without a complete arm; the message names what the most complete one lacks."""
    known = {*joints, *segments}
    lacking = {
        side: [n for n in (*ARM_JOINTS, *ARM_SEGMENTS) if n.startswith(side) and n not in known]
        for side in SIDES
    }
    least = min(lacking.values(), key=len)
    if least:
        raise MotionError(f"{source}, line 1: no complete arm; columns of {', '.join(least)} are missing")
