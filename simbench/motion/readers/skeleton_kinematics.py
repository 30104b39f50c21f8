"""Forward kinematics of a recorded skeleton: from turns between joints to places in the file's world."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array


def world_poses(parents: NDArray[np.int64], places: Array, turns: Array) -> tuple[Array, Array]:
    """Chain the joints' poses in their parents to poses in the world.

    Parameters
    ----------
    parents : (J,) int array
        Index of each joint's parent, before its children; -1 for the root.
    places : (T, J, 3) array
        Joint origins in the parent's axes, of the root in the world's.
    turns : (T, J, 3, 3) array
        From each joint's axes to its parent's.

    Returns
    -------
    positions : (T, J, 3) array
        In the world, unit of `places`.
    rotations : (T, J, 3, 3) array
        From each joint's axes to the world's.
    """
    positions, rotations = places.copy(), turns.copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            above = rotations[:, parent]
            positions[:, joint] = positions[:, parent] + (above @ places[:, joint, :, None])[..., 0]
            rotations[:, joint] = above @ turns[:, joint]
    return positions, rotations
