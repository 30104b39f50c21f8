"""Reader of TRC files, the text format of marker tracks that OpenSim and Motion Analysis use.

A file has five lines of header (path; names of properties; their values; marker names, one for three columns;
X1 Y1 Z1 ...), then one line for each frame: number, time, coordinates, separated by tabs.
"""

import math
import re
from pathlib import Path

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import ReadOptions, resolve_length_unit
from simbench.motion.recordings import MarkerRecording

HEADER_LINES = 5
# Relative tolerance of the time column's rate to the declared one, and fraction of the sampling interval by
# which samples may deviate from even spacing by rounding.
RATE_TOLERANCE, ROUNDING = 0.01, 0.1
# A number beyond this is no coordinate in any unit, and its square overflows.
LARGEST = 1e9


def read_trc(path: Path, options: ReadOptions) -> MarkerRecording:
    """Read the marker tracks of a TRC file.

    Blank coordinates, NaN and a point at exactly 0, 0, 0 mean that the marker was not seen. The vertical axis
    is y, OpenSim's convention, unless the user declares another. A time column that equals the declared rate
    except for rounding of its digits is replaced by even spacing.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    options : ReadOptions
        Unit, vertical axis, marker map and longest gap that the user declares.

    Returns
    -------
    MarkerRecording
        The markers in metres.

    Raises
    ------
    MotionError
        Unreadable file, a header that is incomplete or disagrees with the data, lines of unequal length, text
        in place of a number, time that repeats, goes back or disagrees with the declared rate by more than
        1 %, two markers with the same name, no frames, an unknown unit.
    """
    try:
        # A byte order mark or an accent in the header must not be an error.
        text = path.read_bytes().decode("utf-8-sig", errors="replace")
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    lines = re.split(r"\r\n|\n|\r", text)
    if not lines[0].startswith("PathFileType") or len(lines) < HEADER_LINES:
        raise MotionError(
            f"{path}: not a TRC file, which begins with PathFileType and has {HEADER_LINES} lines"
        )
    header = _header(lines, path)
    labels = _labels(lines[3], int(header["NumMarkers"]), path)
    table = _table(lines, 2 + 3 * len(labels), path)
    if len(table) != int(header["NumFrames"]):
        raise MotionError(
            f"{path}: line 3: NumFrames is {int(header['NumFrames'])}, the file has {len(table)} frames"
        )
    columns = [column for column, label in enumerate(labels) if label]
    names = tuple(labels[column] for column in columns)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise MotionError(f"{path}: line 4: two markers are named {twice!r}; names must differ")
    unit, scale = resolve_length_unit(str(header["Units"]), options, f"{path}: line 3")
    positions = table[:, 2:].reshape(len(table), len(labels), 3)[:, columns]
    unseen = np.isnan(positions).any(axis=2) | (positions == 0.0).all(axis=2)
    positions[unseen] = np.nan
    unnamed = len(labels) - len(names)
    return MarkerRecording(
        time=_time(table[:, 1], float(header["DataRate"]), path),
        names=names,
        positions=scale * positions,
        source=str(path),
        up=options.up or "y",
        unit=unit,
        notes=(f"{unnamed} unlabelled points ignored",) if unnamed else (),
    )


def _header(lines: list[str], path: Path) -> dict[str, float | str]:
    """Properties of lines 2 and 3, whose values some programs pad with blanks and extra tabs."""
    keys, values = (line.split() for line in lines[1:3])
    written = dict(zip(keys, values, strict=False))
    header: dict[str, float | str] = {}
    for key in ("DataRate", "NumFrames", "NumMarkers", "Units"):
        if key not in written or len(keys) != len(values):
            raise MotionError(
                f"{path}: line 3: {len(values)} values for {len(keys)} properties in line 2; {key} is needed"
            )
        value = written[key]
        if key == "Units":
            header[key] = value
            continue
        number = _number(value)
        if number is None or not 0 < number < LARGEST or (key != "DataRate" and number != int(number)):
            kind = "positive number" if key == "DataRate" else "whole number from 1 on"
            raise MotionError(f"{path}: line 3: {key} is {value!r}; it must be a {kind}")
        header[key] = number
    return header


def _labels(line: str, count: int, path: Path) -> list[str]:
    """Names of the `count` markers in line 4, empty where a marker has none."""
    labels = [field.strip() for field in line.split("\t")[2:]]
    misplaced = next((label for k, label in enumerate(labels) if label and k % 3), None)
    if misplaced is not None:
        raise MotionError(
            f"{path}: line 4: {misplaced!r} stands off every third column, where names of markers must be"
        )
    labels = labels[::3]
    while labels and not labels[-1]:
        labels.pop()
    if len(labels) != count or not any(labels):
        raise MotionError(f"{path}: line 4: {len(labels)} marker names; NumMarkers in line 3 is {count}")
    return labels


def _table(lines: list[str], width: int, path: Path) -> Array:
    """Numbers of all frames (T, `width`), NaN where a field is blank."""
    rows = []
    for number, line in enumerate(lines[HEADER_LINES:], start=HEADER_LINES + 1):
        fields = line.split("\t")
        if not line.strip():
            continue
        if len(fields) < width or any(field.strip() for field in fields[width:]):
            filled = len(line.rstrip().split("\t"))
            raise MotionError(
                f"{path}: line {number}: {filled} columns; {width} are needed, two and three for each marker"
            )
        written = [field.strip() for field in fields[:width]]
        try:
            if not _is_plain("".join(written)):
                raise ValueError
            row = [float(field) if field else math.nan for field in written]
        except ValueError:
            bad = next(k for k in range(width) if written[k] and _number(written[k]) is None)
            raise MotionError(
                f"{path}: line {number}, column {bad + 1}: {fields[bad][:40]!r} is not a number"
            ) from None
        rows.append(row)
    table = np.array(rows, dtype=np.float64).reshape(-1, width)
    large = np.argwhere(np.abs(table) > LARGEST)
    if large.size:
        row, column = large[0]
        raise MotionError(
            f"{path}: frame {row + 1}, column {column + 1}: {table[row, column]:.3g} is no coordinate or time"
        )
    return table


def _number(text: str) -> float | None:
    """Convert a text to a number; None if it is none."""
    try:
        return float(text) if _is_plain(text) else None
    except ValueError:
        return None


def _is_plain(text: str) -> bool:
    """Tell whether a text is free of what Python alone takes: other scripts' digits, and underscores."""
    return text.isascii() and "_" not in text


def _time(column: Array, rate: float, path: Path) -> Array:
    """Check the time column and return times from 0 on, s, with their rounding undone."""
    bad = np.flatnonzero(~np.isfinite(column))
    if bad.size:
        raise MotionError(f"{path}: frame {bad[0] + 1} has no time; every frame needs one")
    bad = np.flatnonzero(np.diff(column) <= 0)
    if bad.size:
        k = int(bad[0]) + 1
        kind = "repeats" if column[k] == column[k - 1] else "goes back"
        raise MotionError(
            f"{path}: time {kind} at frame {k + 1} ({column[k - 1]:.6g} s, then {column[k]:.6g} s); "
            "it must increase strictly"
        )
    time = column - column[0]
    if len(time) > 1:
        measured = (len(time) - 1) / time[-1]
        if abs(measured - rate) > RATE_TOLERANCE * rate:
            raise MotionError(
                f"{path}: DataRate is {rate:g} Hz, the time column has {measured:.6g} Hz; they must agree to "
                f"{RATE_TOLERANCE:.0%}"
            )
    even = np.arange(len(time)) / rate
    return even if np.abs(time - even).max() < ROUNDING / rate else np.asarray(time)
