"""Forward kinematics of a recorded skeleton: from poses in the parents' axes to poses in the world."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array


def compute_world_poses(
    parents: NDArray[np.int64], local_positions: Array, local_rotations: Array
) -> tuple[Array, Array]:
    """Compute the poses of a skeleton's joints in the world from their poses relative to their parents.

    Parameters
    ----------
    parents : (J,) int array
        Index of each joint's parent, before its children; -1 for the root.
    local_positions : (T, J, 3) array
        Positions of the joints in their parents' axes, of the root in the world's, in any unit of length.
    local_rotations : (T, J, 3, 3) array
        Rotations from each joint's axes to its parent's.

    Returns
    -------
    positions : (T, J, 3) array
        Positions of the joints in the world, in the same unit.
    rotations : (T, J, 3, 3) array
        Rotations from each joint's axes to the world's.
    """
    positions, rotations = local_positions.copy(), local_rotations.copy()
    for joint, parent in enumerate(parents):
        if parent >= 0:
            parent_rotation = rotations[:, parent]
            positions[:, joint] = (
                positions[:, parent] + (parent_rotation @ local_positions[:, joint, :, None])[..., 0]
            )
            rotations[:, joint] = parent_rotation @ local_rotations[:, joint]
    return positions, rotations
