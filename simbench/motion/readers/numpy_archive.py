"""Recordings in files of named arrays (`.npz`, `.npy`, `.pkl`): whose they are is told by the names."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from simbench.errors import MotionError
from simbench.files.arrays.array_file import UNNAMED, read_array_file
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.joint_array import holds_joint_array, read_joint_array
from simbench.motion.readers.smpl.persons import has_smpl_parameters
from simbench.motion.readers.smpl.reader import read_smpl
from simbench.motion.recordings import MarkerRecording, SkeletonRecording

# At most this many names are listed in an error.
LISTED = 12
# Names of arrays that only the trajectory of a robot has.
ROBOT_KEYS = ("dof_pos", "joint_pos", "root_pos", "qpos", "body_pos_w")


def load_arrays(path: Path) -> Mapping[str, Any]:
    """Load the contents of an `.npz`, `.npy` or pickle file; nothing in it is run.

    Returns contents by name, as `read_array_file` returns them: arrays of numbers or texts, numbers, texts,
    lists and dicts; one array or list without a name is under `UNNAMED`. Raises MotionError unreadable or
    damaged, too large, or it holds anything but data.
    """
    return read_array_file(path, MotionError)


def read_archive(path: Path, options: ReadOptions) -> MarkerRecording | SkeletonRecording:
    """Read a recording from a file of named arrays.

    `options`: what the user declares. Returns what the file holds.
    """
    content = load_arrays(path)
    robot = any(key in content for key in ROBOT_KEYS)
    for is_this, read in LAYOUTS:
        if not robot and is_this(content):
            return read(content, str(path), options)
    found = ", ".join(name[:40] for name in list(content)[:LISTED]) or "nothing"
    if robot:
        raise MotionError(
            f"{path}: holds the trajectory of a robot ({found}), not a recording of a person; run it with "
            f"`simbench run {path} --robot NAME`, or name it as trajectory:{path}"
        )
    if UNNAMED in content:
        found = "one array or list without a name"
    raise MotionError(f"{path}: holds {found}; known: {'; '.join(KNOWN)}")


Layout = tuple[
    Callable[[Mapping[str, Any]], bool],
    Callable[[Mapping[str, Any], str, ReadOptions], MarkerRecording | SkeletonRecording],
]
# Each kind of recording: whether the names are its, and its reader, from contents, source and options.
LAYOUTS: tuple[Layout, ...] = ((has_smpl_parameters, read_smpl), (holds_joint_array, read_joint_array))
# The same kinds in words, for the message when none fits.
KNOWN: tuple[str, ...] = (
    "SMPL, SMPL-H or SMPL-X parameters (poses and trans, or global_orient, body_pose and transl)",
    "positions of joints (frames, joints, 3), such as keypoints_3d, alone or with fps",
)
