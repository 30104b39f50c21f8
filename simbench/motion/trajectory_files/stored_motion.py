"""A robot's motion as a file holds it, before it is assigned to a robot."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError

_LARGEST = {"time": 1e20, "joints": 1e6, "position": 1e6, "quaternion": 1e6, "euler": 1e6}
"""Largest number of each array, in whatever unit: nanoseconds of a calendar, millimetres, degrees."""
_NAMES = {
    "time": "time",
    "joints": "a joint",
    "position": "the base's position",
    "quaternion": "the base's orientation",
    "euler": "the base's orientation",
}


@dataclass(frozen=True)
class StoredMotion:
    """What a file of a robot's motion holds, in the file's own order and conventions."""

    format: str  # Name of the format.
    joints: NDArray[np.float64]  # (T, n): joint positions in the file's order, in the file's unit.
    # Names of the columns of `joints`; None where the file does not name them.
    joint_names: tuple[str, ...] | None = None
    # Unit of each column, `rad`, `deg`, `m`, or an empty text where its name does not say it.
    joint_units: tuple[str, ...] | None = None
    # (T,) or None: times of the samples, s; None where the file holds none.
    time: NDArray[np.float64] | None = None
    fps: float | None = None  # Samples per second that the file declares.
    # Samples per second that is usual in files of this form, taken where the file declares none.
    usual_fps: float = 30.0
    # (T, 3) or None: position of the base in the world, in the file's unit of length.
    position: NDArray[np.float64] | None = None
    length_unit: float | None = None  # Metres per unit of `position`, where the format fixes it.
    quaternion: NDArray[np.float64] | None = None  # (T, 4) or None: orientation of the base in the world.
    # Order of the quaternion's parts, `xyzw` or `wxyz`; None where nothing fixes it.
    quaternion_order: str | None = None
    # Whether the file itself names the parts, so that the order is beyond doubt.
    is_order_named: bool = False
    # (T, 3) or None: orientation of the base as angles about the fixed axes x, y and z, in that order, where
    # it is not a quaternion, in the unit of the joints.
    euler: NDArray[np.float64] | None = None
    velocities: NDArray[np.float64] | None = None  # (T, n) or None: joint velocities in the file's order.
    bodies: NDArray[np.float64] | None = None  # (T, B, 3) or None: positions of links in the world, m.
    notes: tuple[str, ...] = ()  # What was found out or left out, one line each.
    doubts: tuple[str, ...] = ()  # Assumptions that may well be wrong, one line each.


def require_numbers(stored: StoredMotion, where: str) -> StoredMotion:
    """Refuse numbers that are not finite, or so large that nothing can be computed with them.

    `stored`: content of the file; `where`: the file, for messages. Returns the same, without velocities and
    link positions if they hold such numbers: they are evidence only.
    """
    for name, largest in _LARGEST.items():
        values = getattr(stored, name)
        if values is None:
            continue
        rows = values.reshape(len(values), int(np.prod(values.shape[1:])))
        bad = np.flatnonzero(~(np.abs(rows) <= largest).all(axis=1))
        if bad.size:
            worst = rows[bad[0]][~(np.abs(rows[bad[0]]) <= largest)][0]
            what = f"{worst:g}" if np.isfinite(worst) else "NaN or infinite"
            raise MotionError(
                f"{where}: {_NAMES[name]} is {what} at sample {bad[0]}, {bad.size} sample(s) in all; every "
                f"number must be finite and at most {largest:g}"
            )
    evidence = {
        name: values
        for name in ("velocities", "bodies")
        if (values := getattr(stored, name)) is not None and (np.abs(values) <= _LARGEST["joints"]).all()
    }
    return replace(stored, velocities=evidence.get("velocities"), bodies=evidence.get("bodies"))
