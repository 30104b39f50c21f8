"""Files of robot motions: one module for each format, found out by content, assigned to a robot.

A new format needs one module with a function from a path to a `StoredMotion`, and one line in `FORMATS`.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from simbench.errors import MotionError
from simbench.files.arrays import read_array_file
from simbench.files.text import require_regular_file
from simbench.motion.trajectory import JointTrajectory, validate_trajectory
from simbench.motion.trajectory_files.array_archive import holds_joint_positions, read_archive
from simbench.motion.trajectory_files.base_assignment import assign_base
from simbench.motion.trajectory_files.joint_order import assign_joints, joint_units
from simbench.motion.trajectory_files.native import (
    is_run_log,
    read_run_log,
    read_trajectory_netcdf,
    to_stored,
)
from simbench.motion.trajectory_files.stored_motion import (
    RobotMotion,
    StoredMotion,
    TrajectoryOptions,
    find_sampling,
    require_numbers,
)
from simbench.motion.trajectory_files.table import looks_like_robot_table, read_table
from simbench.robot.robot import Robot
from simbench.system.limits import FASTEST_BASE, FASTEST_SLIDE, FASTEST_TURN, require_speed

_Reader = Callable[[Path, Robot, TrajectoryOptions], StoredMotion]


# Reader of each format by its name.
FORMATS: dict[str, _Reader] = {
    "csv": read_table,
    "unitree": read_table,
    "gmr": read_archive,
    "npz": read_archive,
    "nc": lambda path, *_: to_stored(read_trajectory_netcdf(path), "nc"),
    "run": lambda path, *_: read_run_log(path),
}

# Name of the format of each suffix.
SUFFIXES: dict[str, str] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "csv",
    ".npz": "npz",
    ".npy": "npz",
    ".pkl": "gmr",
    ".pickle": "gmr",
    ".pt": "gmr",
    ".nc": "nc",
}

_LARGEST = 100_000_000  # Bytes of a file that is still looked into for a message.
_HUMAN_SUFFIXES = (".bvh", ".c3d", ".trc", ".mvnx", ".fbx", ".amc", ".glb", ".gltf", ".vrma")


def read_robot_motion(path: Path, robot: Robot, options: TrajectoryOptions | None = None) -> RobotMotion:
    """Read a robot's motion from a file and assign it to a robot.

    `path`: the file, or a run directory; `options`: what the user declares about the file. Returns the
    motion: joints in the order of `robot.joint_names`, time from 0, base (T, 7) with quaternions x, y, z, w
    for a floating robot and None for a fixed one. Raises MotionError the file cannot be read, is not a
    robot's motion, or does not fit the robot.
    """
    options = options or TrajectoryOptions()
    return assign_motion(read_stored_motion(path, robot, options), robot, options, str(path))


def assign_motion(stored: StoredMotion, robot: Robot, options: TrajectoryOptions, where: str) -> RobotMotion:
    """Assign the content of a file to a robot.

    `options`: what the user declares about the file; `where`: the file, for messages. Raises MotionError the
    content is not a robot's motion, or does not fit the robot.
    """
    stored = require_numbers(stored, where)
    time, notes, doubts = find_sampling(stored, options.fps, where)
    q, are_degrees, joint_notes, joint_doubts = assign_joints(stored, robot, options, where)
    base, base_notes, base_doubts = assign_base(stored, robot, q, are_degrees, time, options, where)
    columns = np.ascontiguousarray(time), np.ascontiguousarray(q)
    trajectory = validate_trajectory(JointTrajectory(*columns, robot.joint_names, base), where)
    require_possible_speeds(trajectory, robot, where)
    return RobotMotion(
        trajectory, (*notes, *joint_notes, *base_notes), (*doubts, *joint_doubts, *base_doubts), stored.format
    )


def require_possible_speeds(trajectory: JointTrajectory, robot: Robot, where: str) -> None:
    """Refuse speeds that no robot has: what examines the way between samples would take for ever."""
    time = trajectory.time
    for name, unit, column in zip(robot.joint_names, joint_units(robot), trajectory.q.T, strict=True):
        moved, fastest = np.abs(np.diff(column)), FASTEST_SLIDE
        if unit == "rad":
            # An angle may be written within a turn.
            moved, fastest = np.minimum(moved, np.abs(moved - 2.0 * np.pi)), FASTEST_TURN
        require_speed(time, moved, fastest, unit, f"{where}: joint {name}", MotionError)
    if trajectory.base is not None:
        steps = np.diff(trajectory.base, axis=0)
        moved = np.linalg.norm(steps[:, :3], axis=1)
        require_speed(time, moved, FASTEST_BASE, "m", f"{where}: the base", MotionError)
        # The chord of a unit quaternion, of either sign, is half the angle.
        signs = np.sign((trajectory.base[1:, 3:] * trajectory.base[:-1, 3:]).sum(axis=1, keepdims=True))
        turned = 2.0 * np.linalg.norm(signs * trajectory.base[1:, 3:] - trajectory.base[:-1, 3:], axis=1)
        require_speed(time, turned, FASTEST_TURN, "rad", f"{where}: the base's orientation", MotionError)


def read_stored_motion(path: Path, robot: Robot, options: TrajectoryOptions) -> StoredMotion:
    """Read what a file holds, by the format that is declared or that its suffix names.

    `path`: the file, or a run directory; `options`: what the user declares about the file. Returns the
    content, not yet assigned to a robot.
    """
    if options.format is not None and options.format not in FORMATS:
        raise MotionError(f"format {options.format!r}: unknown; allowed: {', '.join(FORMATS)}")
    if is_run_log(path) and options.format in (None, "run"):
        return read_run_log(path)
    if not require_regular_file(path, MotionError).exists():
        raise MotionError(f"{path}: no such file")
    suffix = path.suffix.lower()
    if options.format is None and suffix in _HUMAN_SUFFIXES:
        raise MotionError(
            f"{path}: a person's recording ({suffix}), not a robot's motion; turn it into one with "
            "simbench retarget"
        )
    name = options.format or SUFFIXES.get(suffix)
    if name is None:
        raise MotionError(
            f"{path}: no reader of robot motions for {suffix or 'a name without suffix'}; give a file ending "
            f"in {', '.join(SUFFIXES)}, a run directory, or --format"
        )
    return FORMATS[name](path, robot, options)


def is_robot_motion(path: Path) -> bool:
    """Return whether a file looks like a robot's motion.

    Returns false also for what is no regular file, is very large, or cannot be read.
    """
    suffix = path.suffix.lower()
    if not os.path.isfile(path) or path.stat().st_size > _LARGEST:
        return False
    try:
        if suffix in (".csv", ".txt", ".tsv"):
            return looks_like_robot_table(path)
        if suffix == ".nc":
            return bool(read_trajectory_netcdf(path).joint_names)
        if suffix in (".npz", ".pkl", ".pickle", ".pt"):
            content = read_array_file(path, MotionError)
            inner = [value for value in content.values() if isinstance(value, Mapping)]
            return any(holds_joint_positions(each) for each in (content, *inner))
    except (MotionError, OSError):
        return False
    return False
