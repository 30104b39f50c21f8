"""Handles of equipment: the poses of the palm that holds one, along the path on which it can move."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.robot.sides import SIDES

# Largest deviation from 1 of the length of an axis.
UNIT = 1e-3


@dataclass(frozen=True)
class HandlePath:
    """A handle that one hand holds, as poses of the palm along the path on which the equipment guides it."""

    # (K, 4, 4): poses of the palm that holds the handle, in the world frame, m, in order along the path:
    # origin at the palm's centre, x along the fingers, z dorsal. A single pose for a handle that does not
    # move; the first equals the last where the path is a circle.
    poses: NDArray[np.float64]
    # (3,) or None: unit vector in the palm's axes about which the hand may turn on the handle; None where the
    # grasp is rigid.
    turn_axis: NDArray[np.float64] | None = None
    start: int | None = None  # Index of the pose in which a hand finds the handle; None if that is not known.


def path_length(handle: HandlePath) -> float:
    """Measure the length of a handle's path.

    Returns length of the path of the palm's centre from one end to the other (once around a circle), m.
    """
    steps = np.diff(handle.poses[:, :3, 3], axis=0)
    return float(np.linalg.norm(steps, axis=1).sum())


def check_handles(handles: Mapping[str, HandlePath], source: str) -> None:
    """Check that handles have known sides, the right shapes and finite numbers.

    `handles`: the handles by the side of the hand that holds them, `left` or `right`; `source`: name of the
    recording they belong to, for messages.
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
