"""Where equipment lets hands be: the places of a handle along the way it can go."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.robot.sides import SIDES

# Largest difference from 1 of an axis' length.
UNIT = 1e-3


@dataclass(frozen=True)
class Handle:
    """What one hand holds, in all the places its equipment takes it to.

    Parameters
    ----------
    poses : (K, 4, 4) array
        Poses of the palm that holds it, along its way, world frame: origin at the palm's centre, x along the
        fingers, z dorsal. One where it stands still; first and last the same where it goes in a circle.
    turn_axis : (3,) array or None
        Unit vector in the palm's axes about which the hand may turn on the handle; None where it is held
        fully.
    """

    poses: NDArray[np.float64]
    turn_axis: NDArray[np.float64] | None = None


def way_length(handle: Handle) -> float:
    """Measure how far a handle goes from one end of its way to the other (once around a circle), m."""
    steps = np.diff(handle.poses[:, :3, 3], axis=0)
    return float(np.linalg.norm(steps, axis=1).sum())


def check_handles(handles: Mapping[str, Handle], source: str) -> None:
    """Check sides, shapes and numbers of handles.

    Parameters
    ----------
    handles : mapping of side to Handle
    source : str
        Where they are from, for messages.

    Raises
    ------
    MotionError
        A side that no hand has, no or misshapen poses, NaN or infinite numbers, an axis without length 1.
    """
    for side, handle in handles.items():
        if side not in SIDES:
            raise MotionError(f"{source}: handle {side}: unknown side; allowed: {', '.join(SIDES)}")
        where, poses, axis = f"{source}: {side} handle", handle.poses, handle.turn_axis
        if poses.ndim != 3 or poses.shape[1:] != (4, 4) or not len(poses):
            raise MotionError(f"{where}: poses have shape {poses.shape}; it must be (K, 4, 4), K at least 1")
        bad = np.flatnonzero(~np.isfinite(poses).all(axis=(1, 2)))
        if bad.size:
            raise MotionError(f"{where}: pose {bad[0]} is NaN or infinite; every number must be finite")
        if axis is None:
            continue
        if axis.shape != (3,):
            raise MotionError(f"{where}: turn axis has shape {axis.shape}; it must be (3,)")
        length = float(np.linalg.norm(axis))
        if not abs(length - 1.0) <= UNIT:
            raise MotionError(f"{where}: turn axis is {length:.4g} long; it must be a unit vector")
