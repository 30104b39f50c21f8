"""What the columns of a table of a robot's motion are, by their names."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from simbench.errors import MotionError

_TIME = {"time": 1.0, "t": 1.0, "timestamp": 1.0, "timestamps": 1.0, "times": 1.0, "seconds": 1.0, "sec": 1.0}
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
class Columns:
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


def classify_columns(header: list[str], known: Collection[str], where: str) -> Columns:
    """Find out what each column holds.

    `header`: names of the columns; `known`: names of the robot's joints in lower case, which are joints
    whatever else they look like; `where`: the file, for messages. Returns indices by what they hold; a name
    of no other meaning is taken for a joint's. Raises MotionError two columns hold the same part of the
    base's pose.
    """
    columns = Columns()
    for index, name in enumerate(header):
        words = _split_words(name)
        plain, unit = _split_unit(words)
        if "_".join(plain) in known or name.strip().lower() in known:
            _add_joint(columns, index, name, unit)
        elif _take_time(columns, index, words) or _take_base(columns, index, plain, unit, where):
            continue
        elif _IGNORED & set(plain):
            columns.ignored.append(name.strip())
        else:
            _add_joint(columns, index, name, unit)
    return columns


def _split_words(name: str) -> list[str]:
    """Split a name at capitals, brackets, dots and underscores: `root_translateX` is root, translate, x."""
    spaced = re.sub(r"(?<=[a-z])(?=[XYZW](?:$|[^a-zA-Z]))", "_", name.strip().strip("\"'"))
    return [word for word in re.split(r"[^a-zA-Z0-9]+", spaced.lower()) if word]


def _split_unit(words: list[str]) -> tuple[list[str], str]:
    """Take the unit off the end of a name."""
    if len(words) > 1 and words[-1] in ("rad", "radians", "deg", "degrees", "m", "cm", "mm"):
        return words[:-1], words[-1][:3] if words[-1][0] in "rd" else words[-1]
    return words, ""


def _add_joint(columns: Columns, index: int, name: str, unit: str) -> None:
    """Take a column for that of a joint."""
    text = name.strip().strip("\"'").strip()
    if unit:
        text = re.sub(r"[^a-zA-Z0-9]+[a-zA-Z]+[^a-zA-Z0-9]*$", "", text)
    columns.joints.append(index)
    columns.names.append(text)
    columns.units.append(unit)


def _take_time(columns: Columns, index: int, words: list[str]) -> bool:
    """Take a column of times or frame numbers, if it is one; the first of each counts."""
    if not words:
        return False
    if words[0] in _TIME and (len(words) == 1 or (len(words) == 2 and words[1] in _TIME_UNITS)):
        if columns.time is None:
            columns.time, columns.time_unit = index, _TIME_UNITS.get(words[-1], 1.0)
        return True
    if "".join(words) in _FRAME:
        columns.frame = index if columns.frame is None else columns.frame
        return True
    return False


def _take_base(columns: Columns, index: int, words: list[str], unit: str, where: str) -> bool:
    """Take a column of the base's pose, if it is one."""
    rest = list(words)
    is_base = False
    while len(rest) > 1 and rest[0] in _BASE | ({"joint"} if is_base else set()):
        rest, is_base = rest[1:], True
    part = _pose_part(rest, is_base)
    if part is None:
        return False
    kind, axis = part
    if kind == "euler":
        columns.is_euler = True
    parts = columns.position if kind == "position" else columns.rotation
    if axis in parts:
        raise MotionError(
            f"{where}: two columns hold part {axis} of the base's "
            f"{'position' if kind == 'position' else 'orientation'}; one base's pose is allowed"
        )
    parts[axis] = index
    if kind == "position":
        columns.position_unit = unit
    return True


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
