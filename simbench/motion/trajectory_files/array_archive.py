"""Reader of named arrays of a robot's motion: npz, npy, and pickles of GMR, PHC, ASAP and others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.arrays import UNNAMED, read_array_file
from simbench.files.yaml_document import read_yaml
from simbench.motion.trajectory_files.stored_motion import StoredMotion, TrajectoryOptions
from simbench.motion.trajectory_files.table import split_columns
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

# Names of arrays by what programs call them, the most specific first.
# Departure of the product of two quaternions from 1 that is rounding, for the same rotation.
SAME_ROTATION = 1e-4
_KEYS = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value


def read_archive(path: Path, robot: Robot, options: TrajectoryOptions) -> StoredMotion:
    """Read arrays by the names that retargeters and simulators give them.

    `path`: the file; nothing that a pickle holds is run; `robot`: robot whose motion it is; `options`: what
    the user declares about the file. Returns the content. Raises MotionError the file cannot be read, holds
    anything but data, or no motion of a robot.
    """
    content = read_array_file(path, MotionError)
    where = str(path)
    value: Any = content.get(UNNAMED, content)
    if isinstance(value, Mapping):
        return _of_mapping(value, robot, options, where)
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return _of_first({f"motion {index}": each for index, each in enumerate(value)}, robot, options, where)
    array = _numbers(value)
    if array is None or array.ndim != 2:
        shape = "" if array is None else f" of shape {array.shape}"
        raise MotionError(
            f"{where}: one array{shape} without names; allowed: (samples, columns) with the base's pose and "
            "the joints, or named arrays"
        )
    return split_columns(array, robot, options, where)


def holds_joint_positions(content: Mapping[str, Any]) -> bool:
    """Return whether named arrays are a robot's motion: joint positions with a rate, a base or links.

    Returns true if the names are those of a robot's motion.
    """
    names = {str(name).lower() for name in content}
    kinds = ("position", "quaternion", "body_position", "velocities", "names")
    beside = {name for kind in kinds for name in _KEYS[kind]}
    return "qpos" in names or bool(names & set(_KEYS["joints"]) and names & beside)


def _of_mapping(
    content: Mapping[str, Any], robot: Robot, options: TrajectoryOptions, where: str
) -> StoredMotion:
    """Motion of a file of named arrays, or of named motions."""
    arrays = {str(name).lower(): value for name, value in content.items()}
    if (joints := _find(arrays, _KEYS["joints"])) is not None:
        return _of_arrays(arrays, joints, len(robot.joint_names), where)
    if (table := _find(arrays, ("qpos", "q", "motion", "data"))) is not None and table.ndim == 2:
        # Generalised coordinates in one array, MuJoCo's: position, quaternion w, x, y, z, joints.
        found = split_columns(table, robot, options, where)
        names, time = _names(arrays, _KEYS["names"]), _find(arrays, _KEYS["time"])
        count = found.joints.shape[1]
        return replace(
            found,
            format="npz",
            quaternion_order="wxyz" if "qpos" in arrays and found.quaternion is not None else None,
            fps=_rate(arrays, where),
            # MuJoCo's list begins with the free joint of the base.
            joint_names=names[-count:] if names is not None and len(names) == count + 1 else names,
            time=found.time if time is None else time.ravel(),
        )
    motions = {name: value for name, value in content.items() if isinstance(value, Mapping)}
    if motions:
        return _of_first(motions, robot, options, where)
    if any(name in arrays for name in _KEYS["human"]):
        human = ", ".join(sorted(set(arrays) & set(_KEYS["human"]))[:3])
        raise MotionError(
            f"{where}: a person's recording ({human}), not a robot's motion; turn it into one with simbench "
            "retarget"
        )
    raise MotionError(
        f"{where}: no joint positions among {', '.join(list(content)[:8]) or 'its arrays'}; allowed: "
        f"{', '.join(_KEYS['joints'][:6])} or qpos"
    )


def _of_first(
    motions: Mapping[str, Any], robot: Robot, options: TrajectoryOptions, where: str
) -> StoredMotion:
    """First of several motions."""
    name = next(iter(motions))
    inner = {key: value for key, value in motions[name].items() if not isinstance(value, Mapping)}
    found = _of_mapping(inner, robot, options, f"{where}, {name[:60]}")
    note = f"motion {name!r}" + (f", the first of {len(motions)}" if len(motions) > 1 else "")
    return replace(found, notes=(note, *found.notes))


def _of_arrays(arrays: Mapping[str, Any], joints: Array, count: int, where: str) -> StoredMotion:
    """Motion of arrays by name, for a robot with `count` joints."""
    # PHC keeps an axis of length one behind the joints, others one before the samples.
    joints = joints[0] if joints.ndim == 3 and joints.shape[0] == 1 else joints
    joints = joints[..., 0] if joints.ndim == 3 and joints.shape[2] == 1 else joints
    if joints.ndim != 2:
        raise MotionError(f"{where}: joint positions of shape {joints.shape}; must be (samples, joints)")
    names = _names(arrays, _KEYS["names"])
    bodies, velocities = _find(arrays, _KEYS["body_position"]), _find(arrays, _KEYS["velocities"])
    if joints.shape[1] == (count if names is None else len(names)) + 7:
        # Generalised coordinates under the name of the joints: the pose of the base comes first.
        position, quaternion, joints = joints[:, :3], joints[:, 3:7], joints[:, 7:]
        order, is_order_named = _order_by_links(quaternion, _find(arrays, _KEYS["body_quaternion"])), False
        notes: tuple[str, ...] = (
            "the first seven columns of the joints are the base's position and quaternion",
        )
        if velocities is not None and velocities.shape == (len(joints), joints.shape[1] + 6):
            velocities = velocities[:, 6:]
    else:
        position, quaternion, order, is_order_named, notes = _base(arrays, where)
    time = _find(arrays, _KEYS["time"])
    for name, value in (
        ("base position", position),
        ("base orientation", quaternion),
        ("link positions", bodies),
    ):
        if value is not None and len(value) != len(joints):
            raise MotionError(
                f"{where}: {len(joints)} samples of the joints and {len(value)} of the {name}; the numbers "
                "must be the same"
            )
    is_phc = "root_trans_offset" in arrays
    return StoredMotion(
        format="phc" if is_phc else "gmr" if {"root_pos", "root_rot", "dof_pos"} <= set(arrays) else "npz",
        joints=joints,
        joint_names=names,
        time=None if time is None or time.size != len(joints) else time.ravel(),
        fps=_rate(arrays, where),
        position=position,
        quaternion=quaternion,
        quaternion_order=order,
        is_order_named=is_order_named,
        velocities=velocities if velocities is not None and velocities.shape == joints.shape else None,
        bodies=bodies if bodies is not None and bodies.ndim == 3 and bodies.shape[2] == 3 else None,
        notes=notes,
    )


def _order_by_links(quaternion: Array, links: Array | None) -> str | None:
    """Order of the base's quaternion (T, 4), where one of the links (T, B, 4), w first, has the same."""
    if links is None or links.ndim != 3 or links.shape[::2] != (len(quaternion), 4):
        return None
    with np.errstate(all="ignore"):
        # Opposite quaternions are the same rotation.
        off = {
            order: np.abs(np.abs(np.einsum("ti,tbi->tb", quaternion[:, columns], links)) - 1.0)
            .max(axis=0)
            .min()
            for order, columns in (("wxyz", [0, 1, 2, 3]), ("xyzw", [3, 0, 1, 2]))
        }
    best = min(off, key=lambda order: off[order])
    return best if off[best] < SAME_ROTATION else None


_Base = tuple[Array | None, Array | None, str | None, bool, tuple[str, ...]]


def _base(arrays: Mapping[str, Any], where: str) -> _Base:
    """Pose of the base: of its own arrays, of the pose of the root link, or none.

    Returns its position; its quaternion, the order that is usual for its name, and whether the name says it;
    and notes. Raises MotionError a base that is not (T, 3) and (T, 4), or of which one part is missing.
    """
    position = _find(arrays, _KEYS["position"])
    quaternion: Array | None = None
    order: str | None = None
    named, notes = False, ""
    for name, each in ((name, each) for name in _KEYS["quaternion"] for each in ("xyzw", "wxyz", "")):
        quaternion = _find(arrays, (f"{name}_{each}" if each else name,))
        if quaternion is not None:
            # Retargeters that follow SciPy and Isaac Gym call it a rotation.
            order, named = each or ("xyzw" if name == "root_rot" else None), bool(each)
            break
    if position is not None and quaternion is None and (turns := _find(arrays, ("pose_aa",))) is not None:
        # Axis times angle of the root first: no order of parts is in question.
        quaternion = Rotation.from_rotvec(turns.reshape(len(turns), -1)[:, :3]).as_quat()
        order, named = "xyzw", True
    if position is None and quaternion is None:
        pose = _find(arrays, _KEYS["pose"])
        if pose is not None and pose.ndim == 2 and pose.shape[1] >= 7:
            return pose[:, :3], pose[:, 3:7], None, False, ()
        places, turned = _find(arrays, _KEYS["body_position"]), _find(arrays, _KEYS["body_quaternion"])
        if places is None or turned is None or not places.ndim == turned.ndim == 3 or not places.shape[1]:
            return None, None, None, False, ()
        names = _names(arrays, _KEYS["body_names"]) or ()
        # MuJoCo's first body is the world.
        first = 1 if names[:1] == ("world",) and places.shape[1] > 1 else 0
        notes = f"base taken from the first link{f', {names[first]}' if names else ''}"
        position, quaternion, order = places[:, first], turned[:, first], "wxyz"
    for name, value, width in (("position", position, 3), ("quaternion", quaternion, 4)):
        if value is None:
            raise MotionError(f"{where}: no {name} of the base; its pose needs both, or neither")
        if value.ndim != 2 or value.shape[1] != width:
            raise MotionError(
                f"{where}: {name} of the base of shape {value.shape}; must be (samples, {width})"
            )
    return position, quaternion, order, named, (notes,) if notes else ()


def _find(arrays: Mapping[str, Any], names: Sequence[str]) -> Array | None:
    """First array of numbers of these names."""
    for name in names:
        array = _numbers(arrays.get(name))
        if array is not None and array.ndim > 0:
            return array
    return None


def _numbers(value: Any) -> Array | None:
    """Array of floating-point numbers, or None for what is not one."""
    if isinstance(value, list):
        try:
            value = np.array(value, dtype=float)
        except (ValueError, TypeError, OverflowError):
            return None
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        # Numbers beyond double precision become infinite, which is refused with its sample.
        with np.errstate(all="ignore"):
            return value.astype(float)
    return None


def _names(arrays: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, ...] | None:
    """Texts of the first of these names."""
    for key in keys:
        value = arrays.get(key)
        if isinstance(value, np.ndarray) and value.dtype.kind in "US" and value.ndim == 1:
            value = [
                item.decode("utf-8", "replace") if isinstance(item, bytes) else item
                for item in value.tolist()
            ]
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return tuple(value)
    return None


def _rate(arrays: Mapping[str, Any], where: str) -> float | None:
    """Return the samples a second that the file declares."""
    for keys, is_step in ((_KEYS["fps"], False), (_KEYS["step"], True)):
        for key in keys:
            value = arrays.get(key)
            if value is None:
                continue
            number = np.asarray(value) if isinstance(value, int | float | np.ndarray | np.generic) else None
            if number is None or number.size != 1 or number.dtype.kind not in "iuf":
                raise MotionError(f"{where}: {key} must be one number")
            rate = float(number.ravel()[0])
            if not rate > 0.0 or not np.isfinite(rate):
                raise MotionError(f"{where}: {key} is {rate:g}; must be positive")
            return 1.0 / rate if is_step else rate
    return None
