"""Recorded motions of an arm from CSV files, and the control law assumed to have driven it."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeVar

import numpy as np
from scipy.integrate import cumulative_trapezoid

from simbench.errors import CalibrationError
from simbench.files.text import parse_finite_number, require_regular_file
from simbench.kinematics.arrays import Array

# Columns of each joint, `joint.position` and so on, rad, rad/s, rad/s², rad, beside `time`, s.
CHANNELS = ("position", "velocity", "acceleration", "target")
TIP = ("tip.x", "tip.y", "tip.z")  # Columns of the position of a point of the last link in the base frame, m.
_LARGEST = 1e6  # Largest number in a file, in SI units: with larger ones the estimation could overflow.
_TIME_JITTER = 0.01  # Allowed deviation of a sampling interval from the mean, as a fraction of it.
# Slope of a channel over the integral of its derivative, which is 1 where their units agree.
_ALLOWED_SLOPE = (0.8, 1.25)
_CLEAR_CORRELATION = 0.9  # Correlation above which that slope is meaningful.
_FEWEST = 20  # Samples of a motion.


@dataclass(frozen=True)
class ArmMotion:
    """One recorded motion at a constant rate.

    Raises CalibrationError if arrays differ in shape, hold gaps, or are shorter than 20 samples.
    """

    rate: float  # Sampling rate, Hz.
    q: Array  # (T, n): joint positions, rad.
    velocity: Array  # (T, n): joint velocities, rad/s.
    acceleration: Array  # (T, n): joint accelerations, rad/s².
    target: Array  # (T, n): joint positions that the control law drives to, rad.

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate > 0.0):
            raise CalibrationError(f"motion, rate {self.rate:g} Hz; allowed: more than 0")
        for field in fields(self)[1:]:
            values = getattr(self, field.name)
            if values.ndim != 2 or values.shape != self.q.shape:
                raise CalibrationError(
                    f"motion, {field.name}: shape {values.shape}; allowed: that of q, (samples, joints)"
                )
            if not np.isfinite(values).all():
                raise CalibrationError(f"motion, {field.name}: has gaps; allowed: a number in every sample")
        if len(self.q) < _FEWEST:
            raise CalibrationError(f"motion: {len(self.q)} samples; allowed: at least {_FEWEST}")


@dataclass(frozen=True)
class TipMotion:
    """One recorded motion of an arm's tip.

    Raises CalibrationError if the arrays' shapes do not match, or they have gaps or fewer than 20 samples.
    """

    rate: float  # Sampling rate, Hz.
    q: Array  # (T, n): joint positions, rad, or m of sliding joints.
    tip: Array  # (T, 3): position of the tip in the base frame, m.

    def __post_init__(self) -> None:
        if self.q.ndim != 2 or self.tip.shape != (len(self.q), 3):
            raise CalibrationError(
                f"motion: q {self.q.shape}, tip {self.tip.shape}; allowed: (samples, joints) and (samples, 3)"
            )
        if not (np.isfinite(self.q).all() and np.isfinite(self.tip).all()):
            raise CalibrationError("motion: has gaps; allowed: a number in every sample")
        if len(self.q) < _FEWEST:
            raise CalibrationError(f"motion: {len(self.q)} samples; allowed: at least {_FEWEST}")


@dataclass(frozen=True)
class Feedback:
    """Control law τ = k_p (θ* − θ) + k_v θ̇ + k_a θ̈ with the same gains for all joints (Ohtsuki, eq. 5-7)."""

    position: float = 9.5  # k_p, N·m/rad.
    velocity: float = -9.5  # k_v, N·m·s/rad; negative where it damps.
    acceleration: float = 0.0  # k_a, kg·m²; negative where it acts as additional inertia.

    def torque(self, motion: ArmMotion) -> Array:
        """Compute the torque that the law would have given during a recorded motion.

        Returns (T, n): joint torques, N·m.
        """
        return (
            self.position * (motion.target - motion.q)
            + self.velocity * motion.velocity
            + self.acceleration * motion.acceleration
        )


Motion = TypeVar("Motion", ArmMotion, TipMotion)


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
            # Where the integral is proportional to the channel, the factor is 1.
            integral = cumulative_trapezoid(rates, dx=1.0 / rate, initial=0.0)
            off, values = integral - integral.mean(), values - values.mean()
            size = np.linalg.norm(off) * np.linalg.norm(values)
            if size == 0.0 or abs(off @ values) < _CLEAR_CORRELATION * size:
                continue
            slope = float(np.linalg.norm(off) / np.linalg.norm(values)) * np.sign(off @ values)
            if not _ALLOWED_SLOPE[0] < slope < _ALLOWED_SLOPE[1]:
                hint = " (degrees and radians?)" if 50 < max(slope, 1 / slope) < 65 else ""
                raise CalibrationError(
                    f"{path}, {joint}.{name}: {slope:.3g} times the rate of what it goes with{hint}; "
                    "allowed: 1, SI units"
                )
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
