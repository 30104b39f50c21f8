"""Reader of tables of a robot's motion: CSV and other text, with names above the columns or without."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.files.text import decode_text
from simbench.motion.trajectory_files.joint_order import body_joints, read_joint_order
from simbench.motion.trajectory_files.native import is_native_header, read_trajectory_csv, to_stored
from simbench.motion.trajectory_files.stored_motion import StoredMotion, TrajectoryOptions
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

_UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
_LONGEST_HEADER = 100_000  # Bytes of a first line that are looked at to recognise a table.
# Columns from which a table is taken for a robot's: the pose of a base and a leg's or an arm's joints.
_FEWEST_NUMBERS, _FEWEST_JOINTS = 7 + 6, 6
# Rate of tables whose base is `root_translateX`, ..., `root_rotateX`, ... in centimetres and degrees.
_SEED_FPS = 120.0
_TIME = {"time", "t", "timestamp", "timestamps", "times", "seconds", "sec"}
_TIME_UNITS = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_FRAME = {"frame", "frames", "index", "idx", "frameid", "framenumber", "frameindex", "sample", "step"}
_BASE = {"base", "root", "pelvis", "floating", "freeflyer", "free", "body", "trunk", "torso", "world", "link"}
_POSITION = {"pos", "position", "trans", "translate", "translation", "p", "t", "xyz", "location"}
_ROTATION = {"rot", "rotation", "quat", "quaternion", "orientation", "ori", "q", "r", "rotate"}
_IGNORED = {
    *("vel", "velocity", "velocities", "dq", "dot", "acc", "acceleration", "tau", "torque", "effort"),
    *("contact", "phase", "force", "linvel", "angvel", "omega"),
}
_EULER = {"roll": "x", "pitch": "y", "yaw": "z"}
_GENERIC = re.compile(r"(?:joints?|dofs?|q|j|qpos|motor|pos|angle)?_?(?:pos_)?\d+")


@dataclass
class _Columns:
    """Indices of the columns of a table by what they hold."""

    time: int | None = None
    time_unit: float = 1.0  # Seconds per unit of the times.
    frame: int | None = None  # Column of frame numbers.
    position: dict[str, int] = field(default_factory=dict)  # Columns of the base's position by axis.
    position_unit: str = ""  # Unit of the position, where its columns name it.
    # Columns of the base's orientation by part: x, y, z, w, or 0 to 3.
    rotation: dict[str, int] = field(default_factory=dict)
    is_euler: bool = False  # Whether the parts of the orientation are angles.
    joints: list[int] = field(default_factory=list)  # Columns of joint positions.
    names: list[str] = field(default_factory=list)  # Names of these columns, without units.
    # Unit of each joint column, empty where its name does not say it.
    units: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # Names of the columns that are left out.

    @property
    def are_joints_generic(self) -> bool:
        """Whether the joint columns are numbered and not named."""
        return bool(self.names) and all(_GENERIC.fullmatch(name.lower()) for name in self.names)

    def stored_motion(self, numbers: Array, where: str) -> StoredMotion:
        """Take a table with names apart."""
        if not self.joints:
            raise MotionError(f"{where}: no column of a joint; name the columns after the robot's joints")
        position, rotation = self.pose_columns(where)
        is_euler = bool(rotation) and (self.is_euler or len(rotation) == 3)
        named = "w" in self.rotation
        notes = []
        if self.ignored:
            notes.append(
                f"columns left out: {', '.join(self.ignored[:5])}" + (" ..." * (len(self.ignored) > 5))
            )
        doubts: tuple[str, ...] = ()
        if is_euler:
            doubts = (
                "the base's orientation is three angles: taken as turns about the fixed axes x, y, z in turn",
            )
        generic = self.are_joints_generic
        return StoredMotion(
            format="table",
            joints=numbers[:, self.joints],
            joint_names=None if generic else tuple(self.names),
            joint_units=tuple(self.units),
            time=None if self.time is None else numbers[:, self.time] * self.time_unit,
            usual_fps=_SEED_FPS if is_euler and self.frame is not None else 30.0,
            position=numbers[:, position] if position else None,
            length_unit=_UNITS.get(self.position_unit),
            quaternion=None if is_euler or not rotation else numbers[:, rotation],
            quaternion_order="xyzw" if named else None,
            is_order_named=named,
            euler=numbers[:, rotation] if is_euler else None,
            notes=tuple(notes),
            doubts=doubts,
        )

    def pose_columns(self, where: str) -> tuple[list[int], list[int]]:
        """Columns of position and orientation in order: x, y, z, and x, y, z, w or as they are numbered."""
        found = []
        for parts, letters, digits in (
            (self.position, ("xyz",), ("012",)),
            (self.rotation, ("xyzw", "xyz"), ("0123", "012")),
        ):
            names = "".join(sorted(parts))
            fits = next((each for each in (*letters, *digits) if "".join(sorted(each)) == names), None)
            if parts and fits is None:
                raise MotionError(
                    f"{where}: the columns of the base's pose name the parts {', '.join(sorted(parts))}; "
                    "there must be x, y, z of the position and x, y, z, w of the quaternion"
                )
            found.append([parts[part] for part in fits or ""])
        if bool(found[0]) != bool(found[1]):
            lacking = "orientation" if found[0] else "position"
            raise MotionError(f"{where}: no columns of the base's {lacking}; its pose needs both, or neither")
        return found[0], found[1]

    def take_time(self, index: int, words: list[str]) -> bool:
        """Take a column of times or frame numbers, if it is one; the first of each counts."""
        if not words:
            return False
        if words[0] in _TIME and (len(words) == 1 or (len(words) == 2 and words[1] in _TIME_UNITS)):
            if self.time is None:
                self.time, self.time_unit = index, _TIME_UNITS.get(words[-1], 1.0)
            return True
        if "".join(words) in _FRAME:
            self.frame = index if self.frame is None else self.frame
            return True
        return False

    def take_base(self, index: int, words: list[str], unit: str, where: str) -> bool:
        """Take a column of the base's pose, if it is one."""
        rest = list(words)
        is_base = False
        while len(rest) > 1 and rest[0] in _BASE | ({"joint"} if is_base else set()):
            rest, is_base = rest[1:], True
        part = _pose_part(rest, is_base)
        if part is None:
            return False
        kind, axis = part
        self.is_euler |= kind == "euler"
        is_position = kind == "position"
        parts = self.position if is_position else self.rotation
        if axis in parts:
            raise MotionError(
                f"{where}: two columns hold part {axis} of the base's "
                f"{'position' if is_position else 'orientation'}; one base's pose is allowed"
            )
        parts[axis] = index
        self.position_unit = unit if is_position else self.position_unit
        return True


def classify_columns(header: list[str], known: Collection[str], where: str) -> _Columns:
    """Find out what each column holds.

    `header`: names of the columns; `known`: names of the robot's joints in lower case, which are joints
    whatever else they look like; `where`: the file, for messages. Returns indices by what they hold; a name
    of no other meaning is taken for a joint's. Raises MotionError two columns hold the same part of the
    base's pose.
    """
    columns = _Columns()
    for index, name in enumerate(header):
        # Split at capitals, brackets, dots and underscores: `root_translateX` is root, translate, x.
        text = name.strip().strip("\"'")
        spaced = re.sub(r"(?<=[a-z])(?=[XYZW](?:$|[^a-zA-Z]))", "_", text)
        words = [word for word in re.split(r"[^a-zA-Z0-9]+", spaced.lower()) if word]
        plain, unit = words, ""
        if len(words) > 1 and words[-1] in ("rad", "radians", "deg", "degrees", "m", "cm", "mm"):
            plain, unit = words[:-1], words[-1][:3] if words[-1][0] in "rd" else words[-1]
        if "_".join(plain) not in known and name.strip().lower() not in known:
            if columns.take_time(index, words) or columns.take_base(index, plain, unit, where):
                continue
            if _IGNORED & set(plain):
                columns.ignored.append(name.strip())
                continue
        text = text.strip()
        columns.joints.append(index)
        columns.names.append(re.sub(r"[^a-zA-Z0-9]+[a-zA-Z]+[^a-zA-Z0-9]*$", "", text) if unit else text)
        columns.units.append(unit)
    return columns


def _pose_part(words: list[str], is_base: bool) -> tuple[str, str] | None:
    """Kind and axis of a column of the base's pose: position, rotation or euler."""
    if not words or len(words) > 2:
        return None
    last = words[-1]
    fused = re.fullmatch(r"([a-z]+?)_?([xyzw0-6])", "_".join(words))
    if len(words) == 1 and last in ("x", "y", "z"):
        return "position", last
    if len(words) == 1 and last == "w":
        return "rotation", last
    if is_base and len(words) == 1 and last in _EULER:
        return "euler", _EULER[last]
    if is_base and len(words) == 1 and re.fullmatch("[0-6]", last):
        return ("position", last) if last < "3" else ("rotation", str(int(last) - 3))
    if fused is None:
        return None
    kind, axis = fused.groups()
    # A name such as q0 alone is a joint's.
    if axis.isdigit() and not is_base and kind in ("q", "p", "t", "r", "pos", "position"):
        return None
    if kind in _POSITION and axis in "xyz012":
        return "position", axis
    if kind in _ROTATION and axis in "xyzw0123":
        return "rotation", axis
    return None


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
    where = str(path)
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
        numbers = _numbers(lines, delimiter, where)
        if not titles:
            return split_columns(numbers, robot, options, where)
        header = titles[-1]
    elif len(lines) == 1:
        raise MotionError(f"{where}: no samples below the header; there must be at least one")
    else:
        numbers = _numbers(lines[1:], delimiter, where)
    if numbers.shape[1] != len(header):
        raise MotionError(
            f"{where}: {numbers.shape[1]} numbers a line below a header of {len(header)} columns; "
            "there must be one for each"
        )
    if is_native_header(header):
        return to_stored(read_trajectory_csv(path), "csv")
    known = {name.lower() for name in robot.joint_names}
    return classify_columns(header, known, str(path)).stored_motion(numbers, str(path))


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
