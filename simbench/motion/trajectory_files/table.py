"""Reader of tables of a robot's motion: CSV and other text, with names above the columns or without."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.files.text import decode_text
from simbench.motion.trajectory_files.joint_order import body_joints, read_joint_order
from simbench.motion.trajectory_files.native import is_native_header, read_trajectory_csv, to_stored
from simbench.motion.trajectory_files.options import TrajectoryOptions
from simbench.motion.trajectory_files.stored_motion import StoredMotion
from simbench.motion.trajectory_files.table_columns import Columns, classify_columns
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

_UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
_LONGEST_HEADER = 100_000
"""Bytes of a first line that are looked at to recognise a table."""
_FEWEST_NUMBERS, _FEWEST_JOINTS = 7 + 6, 6
"""Columns from which a table is taken for a robot's: the pose of a base and a leg's or an arm's joints."""
_SEED_FPS = 120.0
"""Rate of tables whose base is `root_translateX`, ..., `root_rotateX`, ... in centimetres and degrees."""


def read_table(path: Path, robot: Robot, options: TrajectoryOptions) -> StoredMotion:
    """Read a table: one line for each sample, columns by name, or by number where there are no names.

    Without names, a line holds the base's position and quaternion and then the joints, or the joints alone; a
    column of times or frame numbers may stand before. `path`: the file; `robot`: robot whose motion it is;
    `options`: what the user declares about the file. Returns the content.
    """
    try:
        text = decode_text(path.read_bytes(), str(path), MotionError)
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    table = _parse(text, str(path))
    if table.header is None:
        return split_columns(table.numbers, robot, options, str(path))
    if is_native_header(table.header):
        return to_stored(read_trajectory_csv(path), "csv")
    known = {name.lower() for name in robot.joint_names}
    return _by_name(table.numbers, classify_columns(table.header, known, str(path)), str(path))


def split_columns(numbers: Array, robot: Robot, options: TrajectoryOptions, where: str) -> StoredMotion:
    """Split an array without names by its number of columns.

    `numbers` (T, C): one row for each sample; `robot`: robot whose motion it is; `options`: what the user
    declares; the list of a joint order says how many joints there are; `where`: the file, for messages.
    Returns the content.
    """
    count = numbers.shape[1]
    allowed = sorted({len(robot.joint_names), len(body_joints(robot))}, reverse=True)
    if options.joint_order is not None:
        allowed = [len(read_joint_order(options.joint_order))]
    leading = 7 if robot.floating else 0
    for joints in allowed:
        for base in dict.fromkeys((leading, 7, 0)):
            if count == base + joints:
                return _split(numbers, base, None, robot)
            if count == 1 + base + joints and len(numbers) > 1 and (np.diff(numbers[:, 0]) > 0.0).all():
                return _split(numbers[:, 1:], base, numbers[:, 0], robot)
    layouts = " or ".join(f"{leading + joints}" for joints in allowed)
    pose = "7 of the base's pose and " if leading else ""
    listed = options.joint_order
    whose = f"{robot.name} needs" if listed is None else f"{listed} names {allowed[0]} joints, which needs"
    remedy = "; name the columns with --joint-order FILE" if listed is None else ""
    raise MotionError(
        f"{where}: {count} columns without names, which leaves {max(0, count - leading)} for joints; {whose} "
        f"{layouts} ({pose}{' or '.join(map(str, allowed))} joints){remedy}"
    )


def looks_like_robot_table(path: Path) -> bool:
    """Return whether the first line of a table is that of a robot's motion.

    `path`: the file. Returns true for names of a base's pose and of joints, for simbench's own names, and for
    many numbers without names. Raises MotionError names that contradict each other. Raises OSError if the
    file cannot be read.
    """
    with path.open("rb") as file:
        line = file.readline(_LONGEST_HEADER).decode("utf-8", "replace").strip()
    delimiter = next((mark for mark in (",", ";", "\t") if mark in line), None)
    words = _split_line(line, delimiter) if line else []
    if words and all(_is_number(word) for word in words):
        return len(words) >= _FEWEST_NUMBERS
    # A recording of points has columns in metres, too.
    if words and is_native_header(words) and any(word.endswith("_rad") for word in words):
        return True
    if not words:
        return False
    columns = classify_columns(words, (), str(path))
    return bool(columns.position and columns.rotation and len(columns.joints) >= _FEWEST_JOINTS)


class _Table(NamedTuple):
    """Numbers of a table and the names of its columns, if it has them."""

    numbers: Array
    header: list[str] | None


def _parse(text: str, where: str) -> _Table:
    """Read names and numbers of a table."""
    lines = [line.strip() for line in text.splitlines()]
    comments = [line.lstrip("# ") for line in lines if line.startswith("#")]
    lines = [line for line in lines if line and not line.startswith("#")]
    if not lines:
        raise MotionError(f"{where}: the file is empty")
    delimiter = next((mark for mark in (",", ";", "\t") if mark in lines[0]), None)
    header = _split_line(lines[0], delimiter)
    if all(_is_number(word) for word in header):
        named = [_split_line(line, delimiter) for line in comments]
        # NumPy writes the names behind a comment sign.
        titles = [words for words in named if len(words) == len(header)]
        return _Table(_numbers(lines, delimiter, where), titles[-1] if titles else None)
    if len(lines) == 1:
        raise MotionError(f"{where}: no samples below the header; there must be at least one")
    numbers = _numbers(lines[1:], delimiter, where)
    if numbers.shape[1] != len(header):
        raise MotionError(
            f"{where}: {numbers.shape[1]} numbers a line below a header of {len(header)} columns; "
            "there must be one for each"
        )
    return _Table(numbers, header)


def _split_line(line: str, delimiter: str | None) -> list[str]:
    """Split a line; a delimiter at its end separates nothing."""
    words = line.split(delimiter)
    if len(words) > 1 and not words[-1].strip():
        words = words[:-1]
    return [word.strip() for word in words]


def _is_number(word: str) -> bool:
    """Whether a word is a number; NaN is one, for which there is a better message."""
    return (
        re.fullmatch(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?|[-+]?(?:nan|inf)", word, re.I) is not None
    )


def _numbers(lines: list[str], delimiter: str | None, where: str) -> Array:
    """Read the numbers of all lines, of which each must have as many."""
    if delimiter is not None and lines[0].endswith(delimiter):
        lines = [line.rstrip(delimiter) for line in lines]
    try:
        return np.loadtxt(lines, delimiter=delimiter, ndmin=2)
    except ValueError as error:
        reason = " ".join(str(error).split("; ")[0].split())
        raise MotionError(f"{where}: not a table of numbers: {reason}") from None


def _split(numbers: Array, base: int, first: Array | None, robot: Robot) -> StoredMotion:
    """Take an array without names apart: the base's pose, and the joints."""
    time: Array | None = None
    notes: tuple[str, ...] = ()
    if first is not None:
        is_frame = bool((first == np.round(first)).all() and len(first) > 1)
        time = None if is_frame else first
        notes = (f"first column taken for {'frame numbers' if is_frame else 'times'}",)
    has_base = base and robot.floating
    return StoredMotion(
        format="unitree" if has_base else "table",
        joints=numbers[:, base:],
        time=time,
        position=numbers[:, :3] if has_base else None,
        quaternion=numbers[:, 3:7] if has_base else None,
        notes=notes,
    )


def _by_name(numbers: Array, columns: Columns, where: str) -> StoredMotion:
    """Take a table with names apart."""
    if not columns.joints:
        raise MotionError(f"{where}: no column of a joint; name the columns after the robot's joints")
    position, rotation = _pose_columns(columns, where)
    is_euler = bool(rotation) and (columns.is_euler or len(rotation) == 3)
    named = "w" in columns.rotation
    notes = []
    if columns.ignored:
        notes.append(
            f"columns left out: {', '.join(columns.ignored[:5])}" + (" ..." * (len(columns.ignored) > 5))
        )
    doubts: tuple[str, ...] = ()
    if is_euler:
        doubts = (
            "the base's orientation is three angles: taken as turns about the fixed axes x, y, z in turn",
        )
    generic = columns.are_joints_generic
    return StoredMotion(
        format="table",
        joints=numbers[:, columns.joints],
        joint_names=None if generic else tuple(columns.names),
        joint_units=tuple(columns.units),
        time=None if columns.time is None else numbers[:, columns.time] * columns.time_unit,
        usual_fps=_SEED_FPS if is_euler and columns.frame is not None else 30.0,
        position=numbers[:, position] if position else None,
        length_unit=_UNITS.get(columns.position_unit),
        quaternion=None if is_euler or not rotation else numbers[:, rotation],
        quaternion_order="xyzw" if named else None,
        is_order_named=named,
        euler=numbers[:, rotation] if is_euler else None,
        notes=tuple(notes),
        doubts=doubts,
    )


def _pose_columns(columns: Columns, where: str) -> tuple[list[int], list[int]]:
    """Columns of position and orientation in order: x, y, z, and x, y, z, w or as they are numbered."""
    found = []
    for parts, letters, digits in (
        (columns.position, ("xyz",), ("012",)),
        (columns.rotation, ("xyzw", "xyz"), ("0123", "012")),
    ):
        names = "".join(sorted(parts))
        fits = next((each for each in (*letters, *digits) if "".join(sorted(each)) == names), None)
        if parts and fits is None:
            raise MotionError(
                f"{where}: the columns of the base's pose name the parts {', '.join(sorted(parts))}; there "
                "must be x, y, z of the position and x, y, z, w of the quaternion"
            )
        found.append([parts[part] for part in fits or ""])
    if bool(found[0]) != bool(found[1]):
        lacking = "orientation" if found[0] else "position"
        raise MotionError(f"{where}: no columns of the base's {lacking}; its pose needs both, or neither")
    return found[0], found[1]
