"""Joint trajectories: sampled joint positions and base poses, interpolated over time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class JointTrajectory:
    """Joint positions of a robot over time.

    Parameters
    ----------
    time : (T,) array
        Strictly increasing, s.
    q : (T, n) array
        Joint positions in the order of `joint_names`, rad or m.
    joint_names : tuple of str, length n
    base : (T, 7) array or None
        Pose of the root link in the world: x, y, z (m), then quaternion x, y, z, w.
    """

    time: NDArray[np.float64]
    q: NDArray[np.float64]
    joint_names: tuple[str, ...]
    base: NDArray[np.float64] | None = None
