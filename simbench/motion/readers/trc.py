"""Reader of TRC files, the text format of marker tracks that OpenSim and Motion Analysis use.

A file has five lines of header (path; names of properties; their values; marker names, one for three columns;
X1 Y1 Z1 ...), then one line for each frame: number, time, coordinates, separated by tabs. Programs, and
people with a spreadsheet, write headers that disagree with the data: the data that are there decide.
"""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.marker_tables import (
    NO_VALUE,
    UNLABELLED,
    Slips,
    drop_shared_prefix,
    find_length_unit,
    keep_first_of_each_name,
)
from simbench.motion.recordings import MarkerRecording

HEADER_LINES = 5
# The line with the names of properties and the one with the markers' names are among the first of these.
SEARCHED_LINES = 30
# Relative tolerance of the time column's rate to the declared one, and fraction of the sampling interval by
# which samples may deviate from even spacing by rounding.
RATE_TOLERANCE, ROUNDING = 0.01, 0.1
# A number beyond this is no coordinate in any unit, and its square overflows.
LARGEST = 1e9
# Rows that are held as Python numbers at a time.
CHUNK = 2000
# What programs write for a coordinate that they do not know.
NOT_A_NUMBER = NO_VALUE - {"", "nd"} | {"1.#qnan", "1.#ind"}
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?|[+-]?\d+,")

Rows = NDArray[np.signedinteger[Any]]


def read_trc(path: Path, options: ReadOptions) -> MarkerRecording:
    """Read the marker tracks of a TRC file.

    Blank coordinates, NaN and a point at exactly 0, 0, 0 mean that the marker was not seen. The vertical axis
    is y, OpenSim's convention, unless the user declares another. A time column that equals the declared rate
    except for rounding of its digits is replaced by even spacing; where they disagree, the times count.
    `options`: unit, vertical axis, frame rate and strictness that the user declares. Returns the markers in
    metres.
    """
    slips = Slips(str(path), options.strict)
    file = _TrcFile(path, slips)
    where, in_labels = file.where, f"line {file.names_line + 1}"
    lead, labels = file.read_labels()
    table = file.read_table(lead + 3 * len(labels))
    bare = [label.rpartition(":")[2] for label in labels]
    named = [column for column, label in enumerate(bare) if not UNLABELLED.fullmatch(label)]
    if not named:
        raise MotionError(f"{path}: none of {len(labels)} markers has a name")
    in_names = f"{in_labels}: {len(labels)} marker names; NumMarkers in {where} is {{}}"
    in_frames = f"{where}: NumFrames is {{}}, the file has {len(table)} frames"
    for key, found, text in (("NumMarkers", len(labels), in_names), ("NumFrames", len(table), in_frames)):
        if (written := file.properties.get(key)) is None:
            continue
        number = _number(written)
        if number is None or not 1 <= number < LARGEST or number != int(number):
            slips.note(
                f"{where}: {key} is {written[:40]!r}; it must be a whole number from 1 on", f"{found} found"
            )
        elif number != found:
            slips.note(text.format(int(number)), "the data count")
    names, notes = drop_shared_prefix([labels[column] for column in named])
    positions = table[:, lead:].reshape(len(table), len(labels), 3)[:, named]
    positions[np.isnan(positions).any(axis=2) | (positions == 0.0).all(axis=2)] = np.nan
    kept = keep_first_of_each_name(
        names,
        (~np.isnan(positions[:, :, 0])).sum(axis=0).tolist(),
        slips,
        f"{in_labels}: two markers are named {{1}}; names must differ (markers {{0}})",
    )
    unit, scale = find_length_unit(file.properties.get("Units", ""), options, where, slips)
    time, rows = file.find_time(table[:, lead - 1], options.fps)
    if len(labels) > len(named):
        notes.append(f"{len(labels) - len(named)} unlabelled points ignored")
    return MarkerRecording(
        time=time,
        names=tuple(names[k] for k in kept),
        positions=scale * positions[rows][:, kept],
        source=str(path),
        up=options.up or "y",
        unit=unit,
        notes=(*slips.notes, *notes),
        doubts=tuple(slips.doubts),
    )


def _split(line: str, delimiter: str | None) -> list[str]:
    """Fields of a line, without blanks and quotation marks around them."""
    return [field.strip().strip("\"'").strip() for field in line.split(delimiter)]


class _TrcFile:
    """Lines of a file, where its names stand, how its fields are separated, and its properties by name."""

    def __init__(self, path: Path, slips: Slips) -> None:
        try:
            # A byte order mark or an accent in the header must not be an error.
            content = path.read_bytes().decode("utf-8-sig", errors="replace")
        except OSError as error:
            raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
        lines = re.split(r"\r\n|\n|\r", content)
        titled = lines[0].strip("\"' ").startswith("PathFileType") and len(lines) >= HEADER_LINES
        searched = lines[:SEARCHED_LINES]
        keys_line = next((k for k, line in enumerate(searched) if "DataRate" in line), None)
        names_line = next(
            (k for k, line in enumerate(searched) if re.match(r"[\"' ]*(frame|time)", line, re.IGNORECASE)),
            3 if keys_line == 1 and len(lines) > 3 else None,
        )
        if not (titled or keys_line is not None) or names_line is None:
            raise MotionError(
                f"{slips.source}: not a TRC file, which begins with PathFileType and has {HEADER_LINES} lines"
            )
        if not titled or keys_line != 1 or names_line != 3:
            slips.note(
                f"not a TRC file, which begins with PathFileType and has {HEADER_LINES} lines",
                f"the names of markers were found in line {names_line + 1}",
            )
        properties: dict[str, str] = {}
        if keys_line is not None and keys_line + 1 < names_line:
            # Some programs pad values with blanks and extra tabs.
            keys, values = (
                [word.strip("\"',;") for word in line.replace(",", ".").split()]
                for line in lines[keys_line : keys_line + 2]
            )
            properties = dict(zip(keys, values, strict=False))
            missing = next(
                (k for k in ("DataRate", "NumFrames", "NumMarkers", "Units") if k not in properties), None
            )
            if missing is not None or len(keys) != len(values):
                slips.note(
                    f"line {keys_line + 2}: {len(values)} values for {len(keys)} properties in line "
                    f"{keys_line + 1}; "
                    f"{missing or 'each'} is needed",
                    "the data decide",
                )
            if len(keys) != len(values):
                # Which value belongs to which property is not known; a unit is told by its letters.
                letters = next((word for word in values if word.isalpha()), "")
                properties = {"Units": letters} if letters else {}
        names = lines[names_line]
        delimiter = "\t" if "\t" in names else "," if "," in names else ";" if ";" in names else None
        self.lines, self.slips, self.names_line = lines, slips, names_line
        self.delimiter, self.properties, self.where = delimiter, properties, f"line {names_line}"

    def read_labels(self) -> tuple[int, list[str]]:
        """Read the number of columns before the first coordinate, and the markers' names, empty for none."""
        fields = _split(self.lines[self.names_line], self.delimiter)
        lead = 1 if "".join(fields[:1]).lower().startswith("time") else 2
        where = f"line {self.names_line + 1}"
        if lead == 1:
            self.slips.note(f"{where}: no column of frame numbers", "the first one is the time")
        fields = fields[lead:]
        misplaced = next((label for k, label in enumerate(fields) if label and k % 3), None)
        labels = fields[::3]
        if misplaced is not None:
            labels = [label for label in fields if label]
            self.slips.doubt(
                f"{where}: {misplaced[:40]!r} stands off every third column, where names of markers must be",
                "the names are taken in order",
            )
        while labels and not labels[-1]:
            labels.pop()
        if not labels:
            raise MotionError(f"{self.slips.source}: {where}: no marker names")
        searched = self.lines[self.names_line + 1 :][:50]
        width = max((len(_split(line, self.delimiter)) for line in searched), default=0)
        if lead + 3 * len(labels) > width + 2:
            held = max((width - lead) // 3, 0)
            self.slips.doubt(
                f"{where}: {len(labels)} marker names, and {width} columns", f"the first {held} are taken"
            )
            labels = labels[:held]
        if not labels:
            raise MotionError(f"{self.slips.source}: no columns for the markers that {where} names")
        return lead, labels

    def read_table(self, width: int) -> Array:
        """Numbers of all frames (T, `width`), NaN where a field is blank or no number."""
        parts: list[Array] = []
        rows: list[list[float]] = []
        odd = _OddLines()
        lead = 2 if width % 3 == 2 else 1
        for number in range(self.names_line + 1, len(self.lines)):
            line = self.lines[number]
            if not line.strip():
                continue
            fields = line.split(self.delimiter)
            if (
                not rows
                and not parts
                and not any(_number(field.strip("\"' ")) is not None for field in fields)
            ):
                # X1 Y1 Z1 ...
                continue
            if len(fields) != width:
                filled = next((k for k in range(len(fields), 0, -1) if fields[k - 1].strip()), 0)
                said = f"line {number + 1}: {filled} columns; {width} are needed, "
                said += "two and three for each marker"
                if filled > width:
                    odd.long.append(said)
                elif len(fields) < width:
                    odd.short.append(said)
                fields = (fields + [""] * width)[:width]
            try:
                if not _is_plain(line):
                    raise ValueError
                row = [float(field) if field and not field.isspace() else math.nan for field in fields]
            except ValueError:
                row = odd.read_words(fields, number + 1)
            if all(math.isnan(value) for value in row[:lead]):
                odd.text.setdefault(f"line {number + 1}: {line.strip()[:40]!r} has no frame and no time", 0)
                continue
            rows.append(row)
            if len(rows) == CHUNK:
                parts.append(np.array(rows, dtype=np.float64))
                rows = []
        parts.append(np.array(rows, dtype=np.float64).reshape(-1, width))
        table = np.concatenate(parts)
        odd.say(self.slips)
        if not len(table):
            raise MotionError(f"{self.slips.source}: no frames: there is no line of numbers")
        large = np.argwhere(np.abs(table) > LARGEST)
        if large.size:
            row, column = large[0]
            self.slips.doubt(
                f"frame {row + 1}, column {column + 1}: {table[row, column]:.3g} is no coordinate or time",
                f"{len(large)} such numbers are taken as not seen",
            )
            table[tuple(large.T)] = np.nan
        return table

    def find_time(self, column: Array, fps: float | None) -> tuple[Array, Rows]:
        """Find times from 0 on, s, with their rounding undone, and the rows to which they belong."""
        rows: Rows = np.arange(len(column))
        written = self.properties.get("DataRate", "")
        rate = _number(written)
        if rate is None or not 0 < rate < LARGEST:
            if self.properties:
                self.slips.note(
                    f"{self.where}: DataRate is {written[:40]!r}; it must be a positive number",
                    "the times count",
                )
            rate = None
        if fps is not None:
            return rows / fps, rows
        column = column.copy()
        bad = np.flatnonzero(~np.isfinite(column))
        if bad.size:
            self.slips.doubt(
                f"frame {bad[0] + 1} has no time; every frame needs one", f"{bad.size} times are interpolated"
            )
            if bad.size > len(column) - 2:
                return self.even_time(rate, rows)
            good = np.flatnonzero(np.isfinite(column))
            column[bad] = np.interp(bad, good, column[good])
        back = np.flatnonzero(np.diff(column) <= 0)
        if back.size:
            k = int(back[0]) + 1
            kind = "repeats" if column[k] == column[k - 1] else "goes back"
            rows = np.flatnonzero(np.diff(np.maximum.accumulate(column), prepend=-np.inf) > 0)
            self.slips.doubt(
                f"time {kind} at frame {k + 1} ({column[k - 1]:.6g} s, then {column[k]:.6g} s); it must "
                "increase strictly",
                f"{len(column) - len(rows)} such frames are left out"
                if 2 * len(rows) > len(column)
                else "the times are ignored",
            )
            if 2 * len(rows) <= len(column):
                return self.even_time(rate, np.arange(len(column)))
        time = column[rows] - column[rows[0]]
        if len(time) < 2 or rate is None:
            return time, rows
        measured = (len(time) - 1) / time[-1]
        if abs(1000.0 * measured - rate) <= RATE_TOLERANCE * rate:
            self.slips.note(
                f"the time column counts milliseconds ({measured:.6g} frames a unit)", "converted"
            )
            time, measured = time / 1000.0, 1000.0 * measured
        if abs(measured - rate) > RATE_TOLERANCE * rate:
            self.slips.doubt(
                f"DataRate is {rate:g} Hz, the time column has {measured:.6g} Hz; they must agree to "
                f"{RATE_TOLERANCE:.0%}",
                "the time column counts",
            )
        even = np.arange(len(time)) / rate
        return (even if np.abs(time - even).max() < ROUNDING / rate else np.asarray(time)), rows

    def even_time(self, rate: float | None, rows: Rows) -> tuple[Array, Rows]:
        """Compute times at the header's rate."""
        if rate is None:
            raise MotionError(f"{self.slips.source}: neither times nor a rate; declare it (--fps)")
        return rows / rate, rows


class _OddLines:
    """Lines that are longer or shorter than needed, and texts in place of numbers."""

    def __init__(self) -> None:
        self.long: list[str] = []
        self.short: list[str] = []
        self.text: dict[str, int] = {}
        self.commas = 0

    def read_words(self, fields: list[str], line: int) -> list[float]:
        """Numbers of a line in which some fields are written otherwise."""
        row = []
        for column, written in enumerate(fields):
            field = written.strip().strip("\"'").strip()
            if "," in field and DECIMAL_COMMA.fullmatch(field):
                self.commas += 1
                field = field.replace(",", ".")
            number = math.nan if not field or field.lower() in NOT_A_NUMBER else _number(field)
            if number is None:
                key = f"line {line}, column {column + 1}: {written.strip()[:40]!r} is not a number"
                self.text[key] = self.text.get(key, 0) + 1
                number = math.nan
            row.append(number)
        return row

    def say(self, slips: Slips) -> None:
        """Say what was found in the lines of numbers."""
        if self.long:
            slips.note(self.long[0], f"what is too much in {len(self.long)} lines is ignored")
        if self.short:
            slips.doubt(self.short[0], f"what is missing in {len(self.short)} lines is taken as not seen")
        if self.text:
            slips.doubt(next(iter(self.text)), f"{len(self.text)} such places are taken as not seen")
        if self.commas:
            slips.note("numbers have a decimal comma", "read as a point")


def _number(text: str) -> float | None:
    """Convert a text to a number; None if it is none."""
    try:
        return float(text) if _is_plain(text) else None
    except ValueError:
        return None


def _is_plain(text: str) -> bool:
    """Tell whether a text is free of what Python alone takes: other scripts' digits, and underscores."""
    return text.isascii() and "_" not in text
