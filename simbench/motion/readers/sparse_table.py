"""Parser for tables of numbers with empty cells, and times from a column of times or numbers of frames."""

import csv
import re
from collections.abc import Sequence

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.readers.text_table import LARGEST_NUMBER, quote

# How programs write that there is no value.
NO_VALUE = {"", "nan", "-nan", "na", "n/a", "null", "none", "-", "--", "nd", "inf", "-inf", "#n/a"}
# Relative deviation from even spacing that is rounding of the written times, and of the rate from a
# declared one.
ROUNDING, RATE_TOLERANCE = 0.1, 0.02
# Most numbers that are read, a gigabyte.
MOST_NUMBERS = 120_000_000


def split_row(line: str, delimiter: str) -> list[str]:
    """Split a line of a table into its cells, of which some may be in quotes.

    `delimiter`: character between cells. Returns the cells without quotes and blanks around them.
    """
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    return [cell.strip() for cell in next(csv.reader([line.replace("\0", "")], delimiter=delimiter), [])]


def read_sparse_numbers(
    lines: Sequence[str],
    first: int,
    columns: Sequence[int],
    source: str,
    how: tuple[str, bool] = (",", False),
    largest: float = LARGEST_NUMBER,
) -> Array:
    """Read columns of a table of numbers; a cell without a value is NaN.

    `lines`: all lines of the file; `first`: index of the table's first line; blank lines are skipped;
    `columns`: indices of the columns that are read; a row that ends before one of them has no value there;
    `source`: name of the file, for messages; `how`: character between cells, and whether a comma stands for
    the decimal point; `largest`: largest magnitude of a number.
    """
    delimiter, comma = how
    rows = [k for k in range(first, len(lines)) if lines[k].strip(f" \t{delimiter}")]
    if len(rows) * len(columns) > MOST_NUMBERS:
        raise MotionError(f"{source}: {len(rows)} lines of {len(columns)} numbers; too many to read")
    if not rows or not columns:
        return np.empty((0, len(columns)))
    width = max(columns) + 1
    texts = [_fill_empty(lines[k], delimiter, width, comma) for k in rows]
    try:
        values = np.loadtxt(
            texts, dtype=np.float64, comments=None, delimiter=delimiter, usecols=columns, ndmin=2
        )
    except ValueError:
        values = np.array([_read_row(lines[k], k, columns, (source, delimiter, comma)) for k in rows])
    values[np.isinf(values)] = np.nan
    large = np.argwhere(np.abs(values) > largest)
    if len(large):
        row, column = large[0]
        raise MotionError(
            f"{source}, line {rows[row] + 1}, column {columns[column] + 1}: {values[row, column]:.3g} is no "
            "coordinate or time"
        )
    return values


def find_times(time: Array, rate: float | None, source: str) -> Array:
    """Find the times of samples from a column of times; rounding of written times is undone.

    `time` (T,): times as the file has them, s; `rate`: sampling rate that file or user declares, Hz;
    `source`: name of the recording, for messages. Returns (T,): times from 0 on, s; evenly spaced if the
    column is so except for rounding.
    """
    bad = np.flatnonzero(~np.isfinite(time))
    if bad.size:
        raise MotionError(f"{source}: sample {bad[0] + 1} has no time; every sample needs one")
    bad = np.flatnonzero(np.diff(time) <= 0)
    if bad.size:
        k = int(bad[0])
        raise MotionError(
            f"{source}: time does not increase at sample {k + 2} ({time[k]:.6g}, then {time[k + 1]:.6g}); "
            "it must increase strictly"
        )
    time = time - time[0]
    if len(time) < 2:
        return np.asarray(time)
    measured = (len(time) - 1) / time[-1]
    if rate is not None and abs(measured - rate) <= RATE_TOLERANCE * rate:
        measured = rate
    even = np.arange(len(time)) / measured
    return even if np.abs(time - even).max() < ROUNDING / measured else np.asarray(time)


def _fill_empty(line: str, delimiter: str, width: int, comma: bool) -> str:
    """Write nan into the empty cells of a line, for NumPy's reader, which knows no empty ones."""
    if '"' in line:
        line = line.replace('"', "")
    if comma:
        line = line.replace(",", ".")
    line = line.rstrip("\n")
    cells = line.count(delimiter) + 1
    if cells < width:
        line += delimiter * (width - cells)
    double = delimiter + delimiter
    if double in line or line.startswith(delimiter) or line.endswith(delimiter) or " " in line:
        mark = re.escape(delimiter)
        line = re.sub(rf"(?<={mark})[ ]*(?={mark})|^[ ]*(?={mark})|(?<={mark})[ ]*$", "nan", line)
    return line


def _read_row(line: str, number: int, columns: Sequence[int], how: tuple[str, str, bool]) -> list[float]:
    """Read a row cell by cell; the message names the cell that is no number."""
    source, delimiter, comma = how
    cells = split_row(line, delimiter)
    values = []
    for column in columns:
        cell = cells[column] if column < len(cells) else ""
        if cell.lower() in NO_VALUE:
            values.append(np.nan)
            continue
        try:
            if not cell.isascii() or "_" in cell:
                raise ValueError
            values.append(float(cell.replace(",", ".") if comma else cell))
        except ValueError:
            raise MotionError(
                f"{source}, line {number + 1}, column {column + 1}: {quote(cell)} is not a number"
            ) from None
    return values
