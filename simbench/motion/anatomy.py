"""Conventions of the anatomical segment frames that every recording uses, and the centre of the palm."""

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array

# Columns: x (distal), y and z (lateral) of the frames of upper arm, forearm and hand in the trunk's axes
# (forward, left, up) while the arm hangs and the palm faces the thigh. At the hand z is dorsal, x along the
# fingers.
HANGING_LIMB = {
    "left": np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]),
    "right": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]),
}

# Palm centre from the wrist centre in the hand frame, m: L8 and L9 of ROMEO's hand (Tomić 2018, table D.1).
PALM_OFFSET = np.array([0.09, 0.0, -0.02])


def transform(rotation: Array, position: Array) -> Array:
    """Build homogeneous transforms from rotations and positions, which broadcast against each other.

    `rotation` (..., 3, 3): rotation matrices; `position` (..., 3): positions of the origins, m. Returns (...,
    4, 4).
    """
    shape = np.broadcast_shapes(rotation.shape[:-2], position.shape[:-1])
    frames = np.zeros((*shape, 4, 4))
    frames[..., :3, :3], frames[..., :3, 3], frames[..., 3, 3] = rotation, position, 1.0
    return frames


def mean_frame(frames: Array) -> Array:
    """Average homogeneous transforms: mean position and chordal mean of the rotations.

    `frames` (T, 4, 4). Returns (4, 4).
    """
    rotation = Rotation.from_matrix(frames[:, :3, :3]).mean().as_matrix()
    return transform(rotation, frames[:, :3, 3].mean(axis=0))
