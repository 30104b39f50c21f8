"""Reader of the skeleton states and motions of Isaac Gym's poselib: rotations of joints and their tree."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.smpl_parameters import LARGEST_NUMBER
from simbench.motion.recordings import SkeletonRecording, compute_world_poses
from simbench.system.limits import RATES

# Rate of a file that does not say its own, Hz: that of the motions that come with Isaac Gym.
USUAL_RATE = 30.0
# A quaternion of another length than 1 by more than this is none; files have single precision.
UNIT_LENGTH = 0.02
# Most poses that are read: two gigabytes.
MOST_POSES = 20_000_000


def is_poselib(content: Mapping[str, Any]) -> bool:
    """Tell whether a file's contents are a skeleton state or motion of poselib."""
    return isinstance(content.get("skeleton_tree"), Mapping) and "rotation" in content


def read_poselib(content: Mapping[str, Any], source: str, options: ReadOptions) -> SkeletonRecording:
    """Read a skeleton state or motion, whose quaternions are x, y, z, w.

    `content`: contents by name, as `read_array_file` returns them; `options`: what the user declares. Returns
    the joints of its tree; all rotations are the identity in the rest pose.
    """
    tree = content["skeleton_tree"]
    names = tree.get("node_names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(names) < 2:
        raise MotionError(f"{source}: skeleton_tree has no node_names, a list of the joints' names")
    if len(set(names)) < len(names):
        raise MotionError(f"{source}: two joints have the same name; names must differ")
    count = len(names)
    parents = _tensor(tree, "parent_indices", (count,), source).astype(np.int64)
    offsets = _tensor(tree, "local_translation", (count, 3), source)
    rotation = _tensor(content, "rotation", (-1, count, 4), source)
    root = _tensor(content, "root_translation", (len(rotation), 3), source)
    if parents[0] != -1 or ((parents[1:] < 0) | (parents[1:] >= np.arange(1, count))).any():
        raise MotionError(
            f"{source}: parent_indices must name earlier joints, and -1 for the first one alone"
        )
    if rotation.size // 4 > MOST_POSES:
        raise MotionError(f"{source}: {len(rotation)} frames of {count} joints; at most {MOST_POSES} poses")
    length = np.linalg.norm(rotation, axis=2)
    wrong = np.argwhere(np.abs(length - 1.0) > UNIT_LENGTH)
    if len(wrong):
        frame, joint = wrong[0]
        raise MotionError(
            f"{source}: rotation of {names[joint]} at frame {frame}: a quaternion of length "
            f"{length[frame, joint]:.4g}; it must be 1 to {UNIT_LENGTH:g}"
        )
    local = Rotation.from_quat(rotation.reshape(-1, 4)).as_matrix().reshape(*rotation.shape[:2], 3, 3)
    if not content.get("is_local", True):
        local[:, 1:] = local[:, parents[1:]].swapaxes(-1, -2) @ local[:, 1:]
    places = np.tile(offsets, (len(rotation), 1, 1))
    places[:, 0] = root
    positions, rotations = compute_world_poses(parents, places, local)
    said = content.get("fps")
    rate = options.fps
    doubts: tuple[str, ...] = ()
    if rate is None and said is not None:
        rate = float(said) if isinstance(said, int | float | np.generic) else float("nan")
    if rate is None:
        rate = USUAL_RATE
        doubts = (f"rate {USUAL_RATE:g} Hz assumed: the file does not say it (--fps)",)
        if options.strict:
            raise MotionError(f"{source}: the file does not say its rate; declare it (--fps)")
    if not RATES[0] <= rate <= RATES[1]:
        raise MotionError(f"{source}: fps is {rate:g}; allowed: {RATES[0]:g} to {RATES[1]:g} Hz (--fps)")
    time, bodies = np.arange(len(positions)) / rate, (parents, offsets, positions, rotations)
    notes = (f"poselib: {len(positions)} frames of {count} joints",)
    return SkeletonRecording(
        time, tuple(names), *bodies, source, options.unit, options.up, notes=notes, doubts=doubts
    )


def _tensor(holder: Mapping[str, Any], key: str, shape: tuple[int, ...], source: str) -> Array:
    """Read an array of a shape, in which -1 stands for any length; poselib keeps it beside its type."""
    value = holder.get(key)
    value = value.get("arr") if isinstance(value, Mapping) else value
    if (
        not isinstance(value, np.ndarray)
        or value.dtype.kind not in "iuf"
        or value.ndim != len(shape)
        or any(a not in (-1, b) for a, b in zip(shape, value.shape, strict=True))
        or not value.size
    ):
        wanted = str(shape).replace("-1", "frames")
        raise MotionError(f"{source}: {key} must be an array of numbers of shape {wanted}")
    array = value.astype(np.float64)
    if not (np.abs(array) <= LARGEST_NUMBER).all():
        raise MotionError(f"{source}: {key} has a number that is NaN, infinite or beyond {LARGEST_NUMBER:g}")
    return array
