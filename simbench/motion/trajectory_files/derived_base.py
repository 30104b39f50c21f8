"""Derivation of the motion of a floating base from the joints alone, with the supporting foot at rest."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.ndimage import median_filter
from scipy.spatial.transform import Rotation

from simbench.motion.trajectory_files.sole_heights import FootPoses

Array = NDArray[np.float64]

_SUPPORT_SAMPLES = 5
"""Length of the median filter on the supporting foot, samples: shorter changes are noise."""


def derive_base(feet: FootPoses) -> Array:
    """Derive the pose of the base: the supporting foot stands flat and still on the floor.

    The supporting foot is the lower of the two when one or the other is taken as level. The first supporting
    foot is below the origin's axes: its frame has heading zero at x = y = 0. Returns (T, 7): pose of the base
    in the world: x, y, z (m), quaternion x, y, z, w.
    """
    support = _supporting_foot(feet)
    samples = np.arange(len(support))
    rotation, position = feet.rotation[support, samples], feet.position[support, samples]
    # Of the base in the frame of the supporting foot, whose sole is its plane z = 0.
    relative = rotation.transpose(0, 2, 1)
    offset = -np.einsum("tij,tj->ti", relative, position)
    base = np.empty((len(support), 7))
    starts = np.flatnonzero(np.r_[True, np.diff(support) != 0])
    footprint = pin.SE3.Identity()
    for start, end in zip(starts, [*starts[1:], len(support)], strict=True):
        if start:
            footprint = _land(base[start - 1], feet, support[start], start - 1)
        turned = footprint.rotation @ relative[start:end]
        base[start:end, :3] = offset[start:end] @ footprint.rotation.T + footprint.translation
        base[start:end, 3:] = Rotation.from_matrix(turned).as_quat()
    return base


def _land(base: Array, feet: FootPoses, foot: int, sample: int) -> pin.SE3:
    """Pose in the world of a foot that lands flat where it is at a sample: level, at height zero."""
    pose = pin.XYZQUATToSE3(base) * pin.SE3(feet.rotation[foot, sample], feet.position[foot, sample])
    heading = np.arctan2(pose.rotation[1, 0], pose.rotation[0, 0])
    level = pin.utils.rotate("z", float(heading))
    return pin.SE3(level, np.array([pose.translation[0], pose.translation[1], 0.0]))


def _supporting_foot(feet: FootPoses) -> NDArray[np.intp]:
    """Index of the supporting foot in every sample: the one below which the other never is."""
    if len(feet.position) == 1:
        return np.zeros(feet.position.shape[1], dtype=np.intp)
    apart = feet.position[1] - feet.position[0]
    # Height of the second foot when the first is level, and of the first when the second is.
    second = np.einsum("ti,ti->t", feet.rotation[0, :, :, 2], apart)
    first = -np.einsum("ti,ti->t", feet.rotation[1, :, :, 2], apart)
    smooth = median_filter(second - first, size=_SUPPORT_SAMPLES, mode="nearest")
    return (smooth < 0.0).astype(np.intp)
