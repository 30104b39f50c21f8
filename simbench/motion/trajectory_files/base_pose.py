"""The pose of the base: unit quaternions in the order x, y, z, w, without jumps of sign."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError

Array = NDArray[np.float64]

UNIT_TOLERANCE = 1e-6
"""Departure from unit length that is rounding: that of eight written digits or of single precision."""
_LENGTHS = (0.5, 2.0)
"""Lengths of a quaternion that rounding or averaging explains; other numbers are not quaternions."""


class UnitQuaternions(NamedTuple):
    """Quaternions of unit length and continuous sign, and what was done to them."""

    values: Array  # (T, 4): quaternions in the order of their parts in the file.
    notes: tuple[str, ...]  # What was changed, one line each.


def unit_quaternions(quaternion: Array, where: str) -> UnitQuaternions:
    """Normalise quaternions and remove jumps of their sign.

    `quaternion` (T, 4): finite quaternions with their parts in any order; `where`: the file, for messages.
    Returns the same rotations.
    """
    length = np.linalg.norm(quaternion, axis=1)
    off = np.flatnonzero((length < _LENGTHS[0]) | (length > _LENGTHS[1]))
    if off.size:
        raise MotionError(
            f"{where}: the base's quaternion at sample {off[0]} has length {length[off[0]]:.4g}; it must be "
            "near 1: these columns may not be a quaternion"
        )
    notes = []
    worst = float(np.abs(length - 1.0).max(initial=0.0))
    if worst > UNIT_TOLERANCE:
        notes.append(f"quaternions normalised: their length was off by up to {worst:.2g}")
    unit = quaternion / length[:, None]
    flips = np.einsum("ti,ti->t", unit[1:], unit[:-1]) < 0.0
    if flips.any():
        notes.append(f"quaternions made continuous: {int(flips.sum())} jump(s) of sign removed")
        sign = np.cumprod(np.r_[1.0, np.where(flips, -1.0, 1.0)])
        unit = unit * sign[:, None]
    return UnitQuaternions(unit, tuple(notes))
