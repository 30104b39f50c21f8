"""A robot's own table from recorded tips: what a measured point of the last link shows of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from simbench.dynamics.calibration.kinematic_calibration import (
    KinematicCalibration,
    TipMotion,
    calibrate_kinematics,
    table_numbers,
    tip_position,
    values_of,
    with_numbers,
)
from simbench.errors import CalibrationError
from simbench.kinematics.arrays import Array
from simbench.robot.dh.dh import DhJoint, DhRow, DhTable, Sigma, table_frames

TIP = "tip"
_POSTURES, _STEP = 200, 1e-5
_DEPENDENT = 1e-7
"""Of the greatest column: what differences leave of one that depends on those before it."""
_BESIDE = 1e-3
"""m: so near the last axis a tip is begun with beside it, where that joint's offset moves it."""
_FAR, _MISSED = 10.0, 0.03
"""Of the arm's lengths, a tip's way; of that way, what may be left over."""


@dataclass(frozen=True)
class TableCalibration:
    """What tips say about a robot's table.

    Parameters
    ----------
    found : KinematicCalibration
        Of all numbers that tips can show.
    model : (p,) array
        What the robot's own table has for them, rad and m; NaN for the tip's.
    repeated : tuple of str
        Numbers that move the tip only as others do, such as all but one d of parallel axes: as in the model.
    """

    found: KinematicCalibration
    model: Array
    repeated: tuple[str, ...]


def calibrate_table(table: DhTable, motions: Sequence[TipMotion]) -> TableCalibration:
    """Find a robot's table from where some point of its last link was.

    That point is a row `tip` of its own: its a and d, and the last joint's theta, place it anywhere on the
    link.

    Parameters
    ----------
    table : Table
        A chain: where the search begins.
    motions : sequence of TipMotion

    Returns
    -------
    TableCalibration

    Raises
    ------
    CalibrationError
        As `calibrate_kinematics`; or the tips are in another unit than metres, or of another arm.
    """
    if not motions:
        raise CalibrationError("calibration: no motion; allowed: at least one")
    tips = np.concatenate([each.tip for each in motions])
    reach = sum(abs(joint.row.a) + abs(joint.row.d) for joint in table.joints)
    way = float(np.ptp(tips, axis=0).max())
    if way > _FAR * reach > 0.0:
        raise CalibrationError(
            f"tip: moves over {way:.3g} m, the arm's lengths add up to {reach:.3g} m (millimetres?); "
            "allowed: SI units"
        )
    start = _with_tip(table, np.concatenate([each.q for each in motions]), tips)
    shown, repeated = _split(start)
    found = calibrate_kinematics(start, shown, motions)
    if found.residual > _MISSED * way:
        raise CalibrationError(
            f"tip: misses the calibrated arm by {found.residual:.3g} m, RMS, its way is {way:.3g} m; "
            "allowed: tips and joint positions (rad, or m) of this arm, in its order"
        )
    own = [name for name in shown if not name.startswith(f"{TIP}.")]
    model = dict(zip(own, values_of(table, own), strict=True))
    return TableCalibration(found, np.array([model.get(name, np.nan) for name in shown]), repeated)


def _with_tip(table: DhTable, q: Array, tips: Array) -> DhTable:
    """Add the row `tip` where the table sees the tips (m, 3) from its last link, in the mean."""
    last = table.joints[-1]
    frames = table_frames(table, q)[last.name]
    x, y, z = np.einsum("tji,tj->ti", frames[:, :3, :3], tips - frames[:, :3, 3]).mean(axis=0)
    row = replace(last.row, theta=last.row.theta + float(np.arctan2(y, x)))
    tip = DhRow(a=max(float(np.hypot(x, y)), _BESIDE), d=float(z))
    joints = (*table.joints[:-1], replace(last, row=row), DhJoint(TIP, last.name, tip, Sigma.FIXED))
    return DhTable(joints)


def _split(table: DhTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split a table's numbers into what tips show and what repeats it, the tip's own first."""
    own = [f"{TIP}.a", f"{TIP}.d"]
    names = own + [name for name in table_numbers(table) if not name.startswith(f"{TIP}.")]
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_POSTURES, len(table.moving)))
    values = values_of(table, names)

    def tip(change: Array) -> Array:
        return tip_position(with_numbers(table, names, values + change), q).ravel()

    slopes = np.stack([tip(_STEP * way) - tip(-_STEP * way) for way in np.eye(len(names))], axis=1)
    pivots = np.abs(np.diag(np.linalg.qr(slopes, mode="r")))
    free = pivots > _DEPENDENT * pivots.max()
    return (
        tuple(name for name, each in zip(names, free, strict=True) if each),
        tuple(name for name, each in zip(names, free, strict=True) if not each),
    )
