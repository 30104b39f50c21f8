"""Jumps: steps between two frames that no motion explains, such as another branch of inverse kinematics."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.runs.verdict.thresholds import (
    BASE_JUMP_ACCELERATION,
    BASE_JUMP_STEP,
    JUMP_ACCELERATION,
    JUMP_RATIO,
    JUMP_STEP,
)

_BESIDE = 2
"""Steps on either side with which a step is compared."""


class Jumps(NamedTuple):
    """Steps from each sample to the next, and which of them are jumps.

    Parameters
    ----------
    frames : (T,) array of bool
        Samples that come after a jump.
    steps : (T, 2 + n) array
        Steps that are jumps, rad or m: of the base's position and of its orientation, then of the joints; 0
        elsewhere.
    """

    frames: NDArray[np.bool_]
    steps: Array


def find_jumps(time: Array, base: Array, joints: Array) -> Jumps:
    """Find jumps of a floating base and of joints.

    A step is a jump if it is at least 0.1 rad or m, is more than four times as fast as the two steps on
    either side of it, and would need an acceleration of 300 rad/s² or m/s². Of the base's position 2 cm and
    30 m/s² are enough.

    Parameters
    ----------
    time : (T,) array
        Times of the samples, s.
    base : (T, 7) array or (T, 0) array
        Pose of the base: position, m, and continuous quaternion; or nothing.
    joints : (T, n) array
        Joint positions, rad or m.

    Returns
    -------
    Jumps
        The jumps.
    """
    steps = np.abs(np.diff(joints, axis=0))
    of_base = np.zeros((len(steps), 2))
    if base.shape[1]:
        of_base[:, 0] = np.linalg.norm(np.diff(base[:, :3], axis=0), axis=1)
        # The chord of a unit quaternion is half the angle.
        of_base[:, 1] = 2.0 * np.linalg.norm(np.diff(base[:, 3:], axis=0), axis=1)
    steps = np.hstack([of_base, steps])
    least, hardest = (
        np.full(steps.shape[1], JUMP_STEP.value),
        np.full(steps.shape[1], JUMP_ACCELERATION.value),
    )
    least[0], hardest[0] = BASE_JUMP_STEP.value, BASE_JUMP_ACCELERATION.value
    interval = np.diff(time)[:, None]
    beside = _fastest_beside(steps / interval) * interval
    jumping = (
        (steps >= least) & (steps > JUMP_RATIO.value * beside) & (steps - beside >= hardest * interval**2)
    )
    found = np.vstack([np.zeros((1, steps.shape[1])), np.where(jumping, steps, 0.0)])
    return Jumps(np.asarray((found > 0.0).any(axis=1)), found)


def _fastest_beside(speeds: Array) -> Array:
    """Largest speed among the two steps before and the two after each step, (T - 1, N)."""
    padded = np.pad(speeds, ((_BESIDE, _BESIDE), (0, 0)))
    count = len(speeds)
    shifts = [shift for shift in range(2 * _BESIDE + 1) if shift != _BESIDE]
    return np.asarray(np.max([padded[shift : shift + count] for shift in shifts], axis=0))
