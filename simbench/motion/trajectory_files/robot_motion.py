"""Reading of a robot's motion from a file of any known format, assigned to a robot."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from simbench.errors import MotionError
from simbench.files.text import require_regular_file
from simbench.motion.trajectory import JointTrajectory, validate_trajectory
from simbench.motion.trajectory_files.array_archive import read_archive
from simbench.motion.trajectory_files.base_assignment import assign_base
from simbench.motion.trajectory_files.joint_assignment import assign_joints
from simbench.motion.trajectory_files.native import read_trajectory_netcdf, to_stored
from simbench.motion.trajectory_files.options import RobotMotion, TrajectoryOptions
from simbench.motion.trajectory_files.run_log import is_run_log, read_run_log
from simbench.motion.trajectory_files.sampling import find_sampling
from simbench.motion.trajectory_files.stored_motion import StoredMotion, require_numbers
from simbench.motion.trajectory_files.table import read_table
from simbench.robot.robot import Robot

_Reader = Callable[[Path, Robot, TrajectoryOptions], StoredMotion]


def _read_netcdf(path: Path, robot: Robot, options: TrajectoryOptions) -> StoredMotion:
    """Read simbench's NetCDF."""
    del robot, options
    return to_stored(read_trajectory_netcdf(path), "nc")


def _read_run(path: Path, robot: Robot, options: TrajectoryOptions) -> StoredMotion:
    """Read the measured motion of a run."""
    del robot, options
    return read_run_log(path)


FORMATS: dict[str, _Reader] = {
    "csv": read_table,
    "unitree": read_table,
    "gmr": read_archive,
    "npz": read_archive,
    "nc": _read_netcdf,
    "run": _read_run,
}
"""Reader of each format by its name."""

SUFFIXES: dict[str, str] = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "csv",
    ".npz": "npz",
    ".npy": "npz",
    ".pkl": "gmr",
    ".pickle": "gmr",
    ".nc": "nc",
}
"""Name of the format of each suffix."""

_HUMAN_SUFFIXES = (".bvh", ".c3d", ".trc", ".mvnx", ".fbx")


def read_robot_motion(
    path: Path,
    robot: Robot,
    options: TrajectoryOptions = TrajectoryOptions(),  # noqa: B008
) -> RobotMotion:
    """Read a robot's motion from a file and assign it to a robot.

    `path`: the file, or a run directory; `options`: what the user declares about the file. Returns the
    motion: joints in the order of `robot.joint_names`, time from 0, base (T, 7) with quaternions x, y, z, w
    for a floating robot and None for a fixed one. Raises MotionError the file cannot be read, is not a
    robot's motion, or does not fit the robot.
    """
    return assign_motion(read_stored_motion(path, robot, options), robot, options, str(path))


def assign_motion(stored: StoredMotion, robot: Robot, options: TrajectoryOptions, where: str) -> RobotMotion:
    """Assign the content of a file to a robot.

    `options`: what the user declares about the file; `where`: the file, for messages. Raises MotionError the
    content is not a robot's motion, or does not fit the robot.
    """
    stored = require_numbers(stored, where)
    sampling = find_sampling(stored, options.fps, where)
    joints = assign_joints(stored, robot, options, where)
    base = assign_base(stored, robot, joints, sampling.time, options, where)
    trajectory = JointTrajectory(
        np.ascontiguousarray(sampling.time), np.ascontiguousarray(joints.q), robot.joint_names, base.pose
    )
    return RobotMotion(
        validate_trajectory(trajectory, where),
        (*sampling.notes, *joints.notes, *base.notes),
        (*sampling.doubts, *joints.doubts, *base.doubts),
        stored.format,
    )


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
