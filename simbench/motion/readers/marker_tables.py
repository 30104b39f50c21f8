"""What readers of markers and tables share: slips that they put right, labels, and tables of numbers.

A slip of a file is noted, doubted, or refused when nothing may be assumed; errors in tables name the line.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import UNITS, ReadOptions, resolve_length_unit
from simbench.system.limits import MOST_NUMBERS, require_at_most

# What the programs that write these formats write unless told otherwise.
USUAL_UNIT = "mm"
# Names, behind a prefix that ends in a colon, that programs give to points that nobody has named.
UNLABELLED = re.compile(r"(\*\d*|(uname|unlabell?ed|unknown|no.?name|unnamed).*|u\d+)?", re.IGNORECASE)
# Positions stay far below this in any unit and any laboratory; products of such numbers stay finite.
LARGEST_NUMBER = 1e9
# How programs write that there is no value.
NO_VALUE = {"", "nan", "-nan", "na", "n/a", "null", "none", "-", "--", "nd", "inf", "-inf", "#n/a"}
# Relative deviation from even spacing that is rounding of the written times, and of the rate from a
# declared one.
ROUNDING, RATE_TOLERANCE = 0.1, 0.02


@dataclass
class Slips:
    """What is wrong with a file, and what was done about it."""

    source: str  # Name of the file, for messages.
    strict: bool  # Whether every slip is an error.
    # `notes`, `doubts`: what was put right, and that which may well be wrong, as lines for the user.
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def note(self, what: str, done: str) -> None:
        """Say what is wrong and what is done, which cannot be wrong.

        `what`: the slip; the whole message if it is refused; `done`: what is done about it. Raises
        MotionError the user wants no assumption.
        """
        self._refuse(what)
        self.notes.append(f"{what}: {done}")

    def doubt(self, what: str, done: str) -> None:
        """Say what is wrong and what is assumed, which may be wrong.

        `what`: the slip; the whole message if it is refused. Raises MotionError the user wants no assumption.
        """
        self._refuse(what)
        self.doubts.append(f"{what}: {done}")

    def _refuse(self, what: str) -> None:
        """Raise the slip as an error if nothing may be assumed."""
        if self.strict:
            raise MotionError(f"{self.source}: {what}")


def find_length_unit(written: str, options: ReadOptions, where: str, slips: Slips) -> tuple[str, float]:
    """Determine the unit of length of a file of markers; millimetres where file and user do not say it.

    `written`: unit as the file writes it; `options`: what the user declares; its `unit` overrules the file;
    `where`: position in the file, for the message; `slips`: takes the doubt. Returns `unit`: name of the
    unit, a key of `UNITS`; `scale`: metres per unit. Raises MotionError the file names no known unit, the
    user declares none, and nothing may be assumed.
    """
    try:
        return resolve_length_unit(written, options, f"{slips.source}: {where}")
    except MotionError:
        if slips.strict:
            raise
    slips.doubt(f"{where}: unit of length {written.strip()[:40]!r} unknown", f"{USUAL_UNIT} assumed")
    return USUAL_UNIT, UNITS[USUAL_UNIT]


def drop_shared_prefix(names: list[str]) -> tuple[list[str], list[str]]:
    """Drop a prefix that ends in a colon and that all names share.

    `names`: names of markers. Returns `names`: the names without it; `notes`: what was dropped, as a line for
    the user; empty if nothing was.
    """
    prefixes = {name.partition(":")[0] if ":" in name else "" for name in names}
    prefix = next(iter(prefixes), "")
    if len(prefixes) != 1 or not prefix:
        return names, []
    return [name[len(prefix) + 1 :] for name in names], [f"prefix of all names dropped: {prefix}:"]


def keep_first_of_each_name(names: list[str], seen: list[int], slips: Slips, where: str) -> list[int]:
    """Choose one of several tracks that have the same name: the one that is seen in most frames.

    `seen`: number of frames in which each is seen; `slips`: takes the doubt; `where`: what the tracks are in
    the file, for the message, with a placeholder for their numbers and the name. Returns indices of the
    tracks that are kept, in order. Raises MotionError A name is there twice, and nothing may be assumed.
    """
    kept = []
    for name in dict.fromkeys(names):
        same = [k for k, other in enumerate(names) if other == name]
        best = max(same, key=lambda k: (seen[k], -k))
        if len(same) > 1:
            slips.doubt(
                where.format(", ".join(str(k + 1) for k in same), repr(name[:40])),
                f"the one that is seen longest is taken, {seen[best]} frames",
            )
        kept.append(best)
    return sorted(kept)


def read_lines(path: Path) -> list[str]:
    """Read the lines of a text file with any line endings. Returns its lines, without the line endings."""
    try:
        # Names in an unknown encoding must not prevent the numbers from being read.
        text = path.read_bytes().decode("utf-8-sig", errors="replace")
    except (OSError, ValueError) as error:
        raise MotionError(f"{path}: cannot be read: {error}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def quote(words: str) -> str:
    """Quote words of a file for a message, shortened to 40 characters."""
    return repr(words if len(words) <= 40 else f"{words[:37]}...")


def read_numbers(
    lines: list[str],
    first: int,
    columns: int,
    source: str,
    delimiter: str | None = None,
    *,
    numbers: Sequence[int] | None = None,
) -> NDArray[np.float64]:
    """Read rows of finite numbers; blank lines are skipped.

    `lines`: all lines of the file, or some of them; `first`: index of the table's first line; `source`: name
    of the file, for messages; `delimiter`: character between numbers; white space unless given; `numbers`:
    number of each line in the file, for messages; by default they are all lines from 1 on. Returns (T,
    columns).
    """
    numbers = range(1, len(lines) + 1) if numbers is None else numbers
    rows = [k for k in range(first, len(lines)) if lines[k].strip()]
    for k in rows:
        width = len(lines[k].split(delimiter))
        if width != columns:
            raise MotionError(f"{source}, line {numbers[k]}: {width} value(s); there must be {columns}")
    if not rows:
        return np.empty((0, columns))
    try:
        texts = [lines[k] for k in rows]
        values = np.loadtxt(texts, dtype=np.float64, comments=None, delimiter=delimiter, ndmin=2)
    except ValueError:
        values = np.full((0, columns), np.nan)
    if values.shape == (len(rows), columns) and bool((np.abs(values) <= LARGEST_NUMBER).all()):
        return values
    for k in rows:
        for column, word in enumerate(lines[k].split(delimiter)):
            try:
                readable = abs(float(word)) <= LARGEST_NUMBER and "_" not in word and word.isascii()
            except ValueError:
                readable = False
            if not readable:
                raise MotionError(
                    f"{source}, line {numbers[k]}, column {column + 1}: {quote(word)}; it must be a finite "
                    "number"
                )
    raise MotionError(f"{source}: the table holds characters that are neither numbers nor between them")


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
    require_at_most(len(rows) * len(columns), MOST_NUMBERS, f"{source}: numbers", MotionError)
    if not rows or not columns:
        return np.empty((0, len(columns)))
    width, mark = max(columns) + 1, re.escape(delimiter)
    empty = re.compile(rf"(?<={mark})[ ]*(?={mark})|^[ ]*(?={mark})|(?<={mark})[ ]*$")
    texts = []
    for k in rows:
        # NumPy's reader knows no empty cells.
        line = lines[k].replace('"', "").rstrip("\n")
        line = line.replace(",", ".") if comma else line
        line += delimiter * (width - line.count(delimiter) - 1)
        if delimiter * 2 in line or " " in line or line[:1] == delimiter or line[-1:] == delimiter:
            line = empty.sub("nan", line)
        texts.append(line)
    try:
        values = np.loadtxt(
            texts, dtype=np.float64, comments=None, delimiter=delimiter, usecols=columns, ndmin=2
        )
    except ValueError:
        values = np.array([_read_row(lines[k], k, columns, source, delimiter, comma) for k in rows])
    values[np.isinf(values)] = np.nan
    large = np.argwhere(np.abs(values) > largest)
    if len(large):
        row, column = large[0]
        raise MotionError(
            f"{source}, line {rows[row] + 1}, column {columns[column] + 1}: {values[row, column]:.3g} is no "
            "coordinate or time"
        )
    return values


def _read_row(
    line: str, number: int, columns: Sequence[int], source: str, delimiter: str, comma: bool
) -> list[float]:
    """Read a row cell by cell; the message names the cell that is no number."""
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
