"""Forward kinematics of a recorded skeleton: from poses in the parents' axes to poses in the world."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array


def find_parent(name: str, names: Sequence[str], parents: Mapping[str, str]) -> int:
    """Find the joint of a skeleton that carries another, where some may be missing between them.

    `names`: names of the joints that are there, the root first; `parents`: name of each joint's parent in the
    whole skeleton; the root has none or an empty one. Returns index of the nearest of its ancestors that is
    there, of the first joint if none is; -1 for that one.
    """
    above = parents.get(name, "")
    while above and above not in names:
        above = parents.get(above, "")
    if names.index(name) == 0:
        return -1
    return names.index(above) if above else 0


def compute_world_poses(
    parents: NDArray[np.int64], local_positions: Array, local_rotations: Array
) -> tuple[Array, Array]:
    """Compute the poses of a skeleton's joints in the world from their poses relative to their parents.

    `parents` (J,) int: index of each joint's parent, before its children; -1 for the root; `local_positions`
    (T, J, 3): positions of the joints in their parents' axes, of the root in the world's, in any unit of
    length; `local_rotations` (T, J, 3, 3): rotations from each joint's axes to its parent's. Returns
    `positions` (T, J, 3): positions of the joints in the world, in the same unit; `rotations` (T, J, 3, 3):
    rotations from each joint's axes to the world's.
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
