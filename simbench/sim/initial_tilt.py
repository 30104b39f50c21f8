"""Tilt of a robot that is put on its feet, so that rounding does not decide which corner touches first."""

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array

INITIAL_TILT = 1e-6
"""Angle by which a robot is tilted when a simulation begins, rad: a fifth of a micrometre across a foot."""
_AXIS = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)
"""Axis in the frame of the root link, parallel to no edge of a foot, so that one corner is the lowest."""


def tilt_base(base: Array) -> Array:
    """Tilt a robot that is about to be put on a floor by `INITIAL_TILT`.

    All corners of a planned sole are at the same height. Which of them an engine finds to be the deepest is
    decided by the last digits of their positions, and with it the ground reaction of the first tenths of a
    second. Across a sole this tilt is a hundred thousand times greater than such digits, and a fiftieth of
    what a robot falls freely in a step of 1 ms; with it every computer finds the same corner. `base` (7,):
    pose of the root link in the world: x, y, z (m), quaternion x, y, z, w. Returns (7,): the pose, turned
    about an axis that is horizontal where the root link is upright.
    """
    tilted = Rotation.from_quat(base[3:]) * Rotation.from_rotvec(INITIAL_TILT * _AXIS)
    return np.concatenate([base[:3], tilted.as_quat()])
