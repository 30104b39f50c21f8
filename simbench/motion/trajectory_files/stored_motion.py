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
    """What a file of a robot's motion holds, in the file's own order and conventions.

    Parameters
    ----------
    format : str
        Name of the format.
    joints : (T, n) array
        Joint positions in the file's order, in the file's unit.
    joint_names : tuple of str or None
        Names of the columns of `joints`; None where the file does not name them.
    joint_units : tuple of str or None
        Unit of each column, `rad`, `deg`, `m`, or an empty text where its name does not say it.
    time : (T,) array or None
        Times of the samples, s; None where the file holds none.
    fps : float or None
        Samples per second that the file declares.
    usual_fps : float
        Samples per second that is usual in files of this form, taken where the file declares none.
    position : (T, 3) array or None
        Position of the base in the world, in the file's unit of length.
    length_unit : float or None
        Metres per unit of `position`, where the format fixes it.
    quaternion : (T, 4) array or None
        Orientation of the base in the world.
    quaternion_order : str or None
        Order of the quaternion's parts, `xyzw` or `wxyz`; None where nothing fixes it.
    is_order_named : bool
        Whether the file itself names the parts, so that the order is beyond doubt.
    euler : (T, 3) array or None
        Orientation of the base as angles about the fixed axes x, y and z, in that order, where it is not a
        quaternion, in the unit of the joints.
    velocities : (T, n) array or None
        Joint velocities in the file's order.
    bodies : (T, B, 3) array or None
        Positions of links in the world, m.
    notes : tuple of str
        What was found out or left out, one line each.
    doubts : tuple of str
        Assumptions that may well be wrong, one line each.
    """

    format: str
    joints: NDArray[np.float64]
    joint_names: tuple[str, ...] | None = None
    joint_units: tuple[str, ...] | None = None
    time: NDArray[np.float64] | None = None
    fps: float | None = None
    usual_fps: float = 30.0
    position: NDArray[np.float64] | None = None
    length_unit: float | None = None
    quaternion: NDArray[np.float64] | None = None
    quaternion_order: str | None = None
    is_order_named: bool = False
    euler: NDArray[np.float64] | None = None
    velocities: NDArray[np.float64] | None = None
    bodies: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def require_numbers(stored: StoredMotion, where: str) -> StoredMotion:
    """Refuse numbers that are not finite, or so large that nothing can be computed with them.

    Parameters
    ----------
    stored : StoredMotion
        Content of the file.
    where : str
        The file, for messages.

    Returns
    -------
    StoredMotion
        The same, without velocities and link positions if they hold such numbers: they are evidence only.

    Raises
    ------
    MotionError
        With the first sample of the first such array.
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
