"""Recognition of files that hold a robot's motion, for messages where a person's recording is expected."""

from collections.abc import Mapping
from pathlib import Path

from simbench.errors import MotionError
from simbench.files.arrays.array_file import read_array_file
from simbench.files.text import is_regular_file
from simbench.motion.trajectory_files.array_archive import holds_joint_positions
from simbench.motion.trajectory_files.native import read_trajectory_netcdf
from simbench.motion.trajectory_files.table import looks_like_robot_table

_LARGEST = 100_000_000
"""Bytes of a file that is still looked into for a message."""


def is_robot_motion(path: Path) -> bool:
    """Return whether a file looks like a robot's motion.

    Returns false also for what is no regular file, is very large, or cannot be read.
    """
    suffix = path.suffix.lower()
    if not is_regular_file(path) or path.stat().st_size > _LARGEST:
        return False
    try:
        if suffix in (".csv", ".txt", ".tsv"):
            return looks_like_robot_table(path)
        if suffix == ".nc":
            return bool(read_trajectory_netcdf(path).joint_names)
        if suffix in (".npz", ".pkl", ".pickle"):
            content = read_array_file(path, MotionError)
            inner = [value for value in content.values() if isinstance(value, Mapping)]
            return any(holds_joint_positions(each) for each in (content, *inner))
    except (MotionError, OSError):
        return False
    return False
