"""Recorded motions of an arm from CSV files: columns found, numbers and units checked."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy.integrate import cumulative_trapezoid

from simbench.dynamics.calibration.arm_motion import ArmMotion
from simbench.dynamics.calibration.kinematic_calibration import TipMotion
from simbench.errors import CalibrationError
from simbench.files.text import parse_finite_number, require_regular_file
from simbench.kinematics.arrays import Array

Motion = TypeVar("Motion", ArmMotion, TipMotion)

CHANNELS = ("position", "velocity", "acceleration", "target")
"""Columns of each joint, `joint.position` and so on, rad, rad/s, rad/s², rad, beside `time`, s."""
TIP = ("tip.x", "tip.y", "tip.z")
"""Columns of the position of a point of the last link in the base frame, m."""
_LARGEST = 1e6
"""Largest number in a file, in SI units: with larger ones the estimation could overflow."""
_TIME_JITTER = 0.01
"""Allowed deviation of a sampling interval from the mean, as a fraction of it."""
_ALLOWED_SLOPE = (0.8, 1.25)
"""Slope of a channel over the integral of its derivative, which is 1 where their units agree."""
_CLEAR_CORRELATION = 0.9
"""Correlation above which that slope is meaningful."""


def read_arm_motion(path: Path, joints: Sequence[str]) -> ArmMotion:
    """Read a recorded motion for dynamic calibration from a CSV file.

    `path`: CSV file with a header and evenly spaced samples: `time` and, for each joint, `joint.position`,
    `.velocity`, `.acceleration`, `.target`, in s and rad; `joints`: names of the arm's joints, in its order.
    Returns the motion, its columns checked for gaps and inconsistent units. Raises CalibrationError if
    columns are missing, a field is not a number, time is uneven, or a channel and its derivative are in
    different units.
    """
    rate, numbers = _numbers(path, [f"{joint}.{channel}" for channel in CHANNELS for joint in joints])
    channels = np.split(numbers, len(CHANNELS), axis=1)
    motion = _make_motion(path, lambda: ArmMotion(rate, *channels))
    for name, low, high in (("velocity", 0, 1), ("acceleration", 1, 2)):
        for joint, values, rates in zip(joints, channels[low].T, channels[high].T, strict=True):
            _require_same_unit(f"{path}, {joint}.{name}", values, rates, motion.rate)
    return motion


def read_tip_motion(path: Path, joints: Sequence[str]) -> TipMotion:
    """Read recorded tip and joint positions for kinematic calibration from a CSV file.

    `path`: CSV file with a header and evenly spaced samples: `time`, `joint.position` of each joint, and
    `tip.x`, `tip.y`, `tip.z`, in s, rad and m; `joints`: names of the arm's joints, in its order. Raises
    CalibrationError if columns are missing, a field is not a number, or time is uneven.
    """
    rate, numbers = _numbers(path, [*(f"{joint}.position" for joint in joints), *TIP])
    return _make_motion(path, lambda: TipMotion(rate, *np.split(numbers, [len(joints)], axis=1)))


def has_tips(path: Path) -> bool:
    """Return whether a recording has any of the tip's columns.

    `path`: CSV file with a header. Returns true if one of `tip.x`, `tip.y`, `tip.z` is a column.
    """
    return not set(TIP).isdisjoint(_rows(path)[0])


def _make_motion(path: Path, make: Callable[[], Motion]) -> Motion:
    """Make a motion; an error names the file."""
    try:
        return make()
    except CalibrationError as error:
        raise CalibrationError(f"{path}, {error}") from None


def _rows(path: Path) -> tuple[list[str], list[list[str]]]:
    """Read header and rows of a CSV file."""
    require_regular_file(path, CalibrationError)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            table = list(csv.reader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise CalibrationError(f"{path}: not a CSV file: {error}; allowed: a table with a header") from error
    return [name.strip() for name in table[0]] if table else [], table[1:]


def _numbers(path: Path, columns: Sequence[str]) -> tuple[float, Array]:
    """Read columns (T, k) of evenly spaced samples, and their rate, Hz."""
    required = ["time", *columns]
    header, rows = _rows(path)
    missing = [name for name in required if name not in header]
    if missing:
        raise CalibrationError(f"{path}: no column {', '.join(missing)}; allowed: {', '.join(required)}")
    indices = [header.index(name) for name in required]
    numbers = np.empty((len(rows), len(required)))
    for line, row in enumerate(rows, 2):
        for column, index in enumerate(indices):
            text = row[index].strip() if index < len(row) else ""
            # NaN is a gap, which is refused with the name of its column.
            number = np.nan if text.lower() == "nan" else parse_finite_number(text)
            if number is None or abs(number) > _LARGEST:
                raise CalibrationError(
                    f"{path}, line {line}, {required[column]}: allowed: a number to ±{_LARGEST:g}"
                )
            numbers[line - 2, column] = number
    steps = np.diff(numbers[:, 0])
    if len(steps) < 1 or not (steps > 0.0).all() or np.ptp(steps) > 2.0 * _TIME_JITTER * steps.mean():
        raise CalibrationError(f"{path}, time: allowed: even steps forward, to 1 %")
    return float(1.0 / steps.mean()), numbers[:, 1:]


def _require_same_unit(where: str, values: Array, rates: Array, rate: float) -> None:
    """Refuse a derivative whose integral is proportional to the channel by another factor than 1."""
    integral = cumulative_trapezoid(rates, dx=1.0 / rate, initial=0.0)
    off, values = integral - integral.mean(), values - values.mean()
    size = np.linalg.norm(off) * np.linalg.norm(values)
    if size == 0.0 or abs(off @ values) < _CLEAR_CORRELATION * size:
        return
    slope = float(np.linalg.norm(off) / np.linalg.norm(values)) * np.sign(off @ values)
    if not _ALLOWED_SLOPE[0] < slope < _ALLOWED_SLOPE[1]:
        hint = " (degrees and radians?)" if 50 < max(slope, 1 / slope) < 65 else ""
        raise CalibrationError(
            f"{where}: {slope:.3g} times the rate of what it goes with{hint}; allowed: 1, SI units"
        )
