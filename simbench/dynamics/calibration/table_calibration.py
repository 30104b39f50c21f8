"""Calibration of a robot's Denavit-Hartenberg table from recorded positions of a point of its last link."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from simbench.dynamics.calibration.kinematic_calibration import (
    KinematicCalibration,
    TipMotion,
    calibrate_kinematics,
    read_numbers,
    replace_numbers,
    table_numbers,
    tip_position,
)
from simbench.errors import CalibrationError
from simbench.kinematics.arrays import Array
from simbench.robot.dh import DhJoint, DhRow, DhTable, Sigma, table_frames

TIP = "tip"
_POSTURES, _STEP = 200, 1e-5
"""Random postures, and the step of the central differences in them, rad or m."""
_DEPENDENT = 1e-7
"""Rounding residual of a dependent column of differences, as a fraction of the greatest one."""
_OFF_AXIS = 1e-3
"""Least initial distance of the tip from the last axis, m: on it that joint's offset would have no effect."""
_LARGEST_TRAVEL, _LARGEST_ERROR = 10.0, 0.03
"""Allowed travel of the tip over the sum of the arm's lengths, and allowed residual over that travel."""


@dataclass(frozen=True)
class TableCalibration:
    """A robot's Denavit-Hartenberg table estimated from tip positions, beside the model's."""

    found: KinematicCalibration  # Estimates of all numbers that tip positions can determine.
    model: Array  # (p,): the same numbers in the robot's own table, rad and m; NaN for the tip's.
    # Numbers that keep the model's value because they move the tip only in combination with others, such as
    # all but one d of parallel axes.
    repeated: tuple[str, ...]


def calibrate_table(table: DhTable, motions: Sequence[TipMotion]) -> TableCalibration:
    """Estimate a robot's Denavit-Hartenberg table from positions of a point of its last link.

    The point is an additional row `tip`: its a and d, and the last joint's theta, place it anywhere on the
    link.

    Parameters
    ----------
    table : DhTable
        A chain of joints: initial guess.
    motions : sequence of TipMotion
        Recorded joint and tip positions.

    Returns
    -------
    TableCalibration
        Estimates beside the model's numbers.

    Raises
    ------
    CalibrationError
        As `calibrate_kinematics`; or the tips are in another unit than metres, or of another arm.
    """
    if not motions:
        raise CalibrationError("calibration: no motion; allowed: at least one")
    tips = np.concatenate([each.tip for each in motions])
    reach = sum(abs(joint.row.a) + abs(joint.row.d) for joint in table.joints)
    travel = float(np.ptp(tips, axis=0).max())
    if travel > _LARGEST_TRAVEL * reach > 0.0:
        raise CalibrationError(
            f"tip: moves over {travel:.3g} m, the arm's lengths add up to {reach:.3g} m (millimetres?); "
            "allowed: SI units"
        )
    start = _with_tip(table, np.concatenate([each.q for each in motions]), tips)
    shown, repeated = _split(start)
    found = calibrate_kinematics(start, shown, motions)
    if found.residual > _LARGEST_ERROR * travel:
        raise CalibrationError(
            f"tip: misses the calibrated arm by {found.residual:.3g} m, RMS, its travel is {travel:.3g} m; "
            "allowed: tips and joint positions (rad, or m) of this arm, in its order"
        )
    shared = [name for name in shown if not name.startswith(f"{TIP}.")]
    model = dict(zip(shared, read_numbers(table, shared), strict=True))
    return TableCalibration(found, np.array([model.get(name, np.nan) for name in shown]), repeated)


def _with_tip(table: DhTable, q: Array, tips: Array) -> DhTable:
    """Add the row `tip` at the mean position of the tips (m, 3) in the frame of the table's last link."""
    last = table.joints[-1]
    frames = table_frames(table, q)[last.name]
    x, y, z = np.einsum("tji,tj->ti", frames[:, :3, :3], tips - frames[:, :3, 3]).mean(axis=0)
    row = replace(last.row, theta=last.row.theta + float(np.arctan2(y, x)))
    tip = DhRow(a=max(float(np.hypot(x, y)), _OFF_AXIS), d=float(z))
    joints = (*table.joints[:-1], replace(last, row=row), DhJoint(TIP, last.name, tip, Sigma.FIXED))
    return DhTable(joints)


def _split(table: DhTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split a table's numbers into those that tips determine and those that repeat them, the tip's first."""
    names = [f"{TIP}.a", f"{TIP}.d"] + [
        name for name in table_numbers(table) if not name.startswith(f"{TIP}.")
    ]
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (_POSTURES, len(table.moving)))
    values = read_numbers(table, names)

    def tip(change: Array) -> Array:
        return tip_position(replace_numbers(table, names, values + change), q).ravel()

    slopes = np.stack([tip(_STEP * unit) - tip(-_STEP * unit) for unit in np.eye(len(names))], axis=1)
    pivots = np.abs(np.diag(np.linalg.qr(slopes, mode="r")))
    free = pivots > _DEPENDENT * pivots.max()
    return (
        tuple(name for name, each in zip(names, free, strict=True) if each),
        tuple(name for name, each in zip(names, free, strict=True) if not each),
    )
