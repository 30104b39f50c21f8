"""A robot's motion as a file holds it, before it is assigned to a robot."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
