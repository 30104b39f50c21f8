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
    """Steps from each sample to the next, and which of them are jumps."""

    frames: NDArray[np.bool_]  # (T,) of bool: samples that come after a jump.
    # (T, 2 + n): steps that are jumps, less the steps beside them, rad or m: of the base's position and of
    # its orientation, then of the joints; 0 elsewhere.
    steps: Array


def find_jumps(time: Array, base: Array, joints: Array) -> Jumps:
    """Find jumps of a floating base and of joints.

    A step is a jump if it differs from the mean of the two steps on either side by at least 0.1 rad or m, by
    more than four times what these differ from it, and by what would need an acceleration of 300 rad/s² or
    m/s². Of the base's position 2 cm and 20 m/s² are enough. `time` (T,): times of the samples, s; `base` (T,
    7) or (T, 0) array: pose of the base: position, m, and continuous quaternion; or nothing; `joints` (T, n).
    """
    excess, spread = _excess_of_steps(time, joints)
    if base.shape[1]:
        of_base = [_excess_of_steps(time, base[:, :3])]
        # The chord of a unit quaternion is half the angle.
        of_base.append(_excess_of_steps(time, 2.0 * base[:, 3:]))
        excess = np.column_stack([*(each.max(axis=1) for each, _ in of_base), excess])
        spread = np.column_stack([*(each.max(axis=1) for _, each in of_base), spread])
    else:
        none = np.zeros((len(excess), 2))
        excess, spread = np.hstack([none, excess]), np.hstack([none, spread])
    least = np.full(excess.shape[1], JUMP_STEP.value)
    hardest = np.full(excess.shape[1], JUMP_ACCELERATION.value)
    least[0], hardest[0] = BASE_JUMP_STEP.value, BASE_JUMP_ACCELERATION.value
    jumping = (
        (excess >= least)
        & (excess > JUMP_RATIO.value * spread)
        & (excess >= hardest * np.diff(time)[:, None] ** 2)
    )
    found = np.vstack([np.zeros((1, excess.shape[1])), np.where(jumping, excess, 0.0)])
    return Jumps(np.asarray((found > 0.0).any(axis=1)), found)


def _excess_of_steps(time: Array, values: Array) -> tuple[Array, Array]:
    """How much each step differs from the mean of those beside it, and how much these do, (T - 1, N) each."""
    interval = np.diff(time)[:, None]
    rates = np.diff(values, axis=0) / interval
    # At both ends the nearest steps stand in for those that are missing.
    padded = np.pad(rates, ((_BESIDE, _BESIDE), (0, 0)), mode="edge")
    count = len(rates)
    beside = np.stack([padded[k : k + count] for k in range(2 * _BESIDE + 1) if k != _BESIDE])
    mean = beside.mean(axis=0)
    return np.abs(rates - mean) * interval, np.abs(beside - mean).max(axis=0) * interval
