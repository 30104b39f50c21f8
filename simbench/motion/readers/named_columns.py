"""The header of a table of named positions: the columns of the points' coordinates and of the time."""

import re
from typing import NamedTuple

from simbench.errors import MotionError
from simbench.motion.read_options import SPELLINGS
from simbench.motion.readers.sparse_table import NO_VALUE, split_row
from simbench.motion.readers.text_table import quote

# Lines that are looked at for the header.
LONGEST_HEADER = 40
DELIMITERS = ("\t", ";", ",")
UNIT_WORDS = {word: unit for unit, words in SPELLINGS.items() for word in words}
TIME_NAMES = {"time", "times", "t", "seconds", "sec", "timestamp", "timestamps", "elapsed", "elapsedtime"}
FRAME_NAMES = {
    "frame",
    "frames",
    "framenumber",
    "frameno",
    "field",
    "fnum",
    "index",
    "sample",
    "frameid",
    "nr",
}
TIME_UNITS = {"s": "s", "sec": "s", "seconds": "s", "ms": "ms", "us": "us", "ns": "ns", "milliseconds": "ms"}
# `name_x`, `name.X (mm)`, `name x`, `nameX`, `name_x_mm`: name, axis and unit.
NAMED_AXIS = re.compile(
    r"(?P<name>.*?)(?:[\s._:\-/\[(]+(?P<axis>[xyzXYZ])|(?<=[a-z0-9])(?P<capital>[XYZ]))\s*[\])]?"
    r"(?:[\s_]*[\[(]?(?P<unit>mm|cm|m|in|inch|inches|meters?|metres?|millimet(?:er|re)s?|centimet(?:er|re)s?)[\])]?)?$"
)
# `x_name`: the axis before the name.
AXIS_FIRST = re.compile(r"(?P<axis>[xyzXYZ])[\s._:\-]+(?P<name>.+)$")
# A line of axes alone: `X`, `y (mm)`, `Z12`.
AXIS_ALONE = re.compile(r"(?P<axis>[xyzXYZ])\d*\s*(?:[\[(](?P<unit>\w+)[\])])?$")
# Words at the end of a point's name that say that the columns are positions, or that they are something else.
POSITION_WORDS = re.compile(r"[\s._:\-]*(?:pos|position|coord|coordinate|translation|xyz)$", re.IGNORECASE)
OTHER_WORDS = re.compile(
    r"(?:^|[\s._:\-])(?:vel|velocity|acc|acceleration|rot|rotation|quat|quaternion|orientation|angle|euler|gyro|mag|"
    r"force|moment|error)s?$",
    re.IGNORECASE,
)
# Endings of the columns of a robot's trajectory.
TRAJECTORY_ENDINGS = ("_rad", "_joint", "_dof", "base_qw", "root_qw", "base_qx", "root_qx", "_rad_s", "_nm")


class Header(NamedTuple):
    """What the header of a table says."""

    delimiter: str  # Character between cells.
    comma: bool  # Whether a comma stands for the decimal point.
    first: int  # Index of the first line of numbers.
    points: dict[str, tuple[int, int, int]]  # Columns of x, y and z of each point.
    time: int | None  # Column of times, None if there is none.
    time_unit: str | None  # Unit of the times, a key of `TIME_UNITS`, where the header says it.
    frame: int | None  # Column of the numbers of frames, None if there is none.
    unit: str | None  # Unit of length, where the header says it.
    ignored: int  # Number of columns that are neither.


def read_header(lines: list[str], source: str) -> Header:
    """Read the header of a table of named positions.

    `lines`: all lines of the file; `source`: name of the recording, for messages. Returns what it says.
    Raises MotionError no line of numbers, no names, no points in space, or the columns of a robot's
    trajectory.
    """
    head = [k for k in range(min(len(lines), LONGEST_HEADER)) if lines[k].strip(" \t;,")]
    first = None
    delimiter = ","
    for k in head:
        delimiter = next((mark for mark in DELIMITERS if mark in lines[k]), ",")
        if _is_data(split_row(lines[k], delimiter), delimiter):
            first = k
            break
    rows = [split_row(lines[k].lstrip("#%"), delimiter) for k in head if first is None or k < first]
    if not rows or first is None:
        _refuse(rows, first, source)
    comma = delimiter != "," and re.search(r"\d,\d", lines[first or 0]) is not None
    unit, rows = _unit_row(rows)
    names, axes, units = _cells(rows)
    points = _points(names, axes)
    if len(points) < 3:
        _refuse(rows, first, source)
    time, time_unit = _find_time(rows)
    frame = next((k for k, cell in _label_cells(rows) if _plain(cell) in FRAME_NAMES), None)
    used = {column for columns in points.values() for column in columns} | {time, frame}
    written = next((UNIT_WORDS[word.lower()] for word in units if word.lower() in UNIT_WORDS), None)
    width = max(len(row) for row in rows)
    return Header(
        delimiter,
        comma,
        first or 0,
        points,
        time,
        time_unit,
        frame,
        unit or written,
        width - len(used - {None}),
    )


def is_trajectory_header(words: list[str]) -> bool:
    """Tell whether names of columns are those of a robot's trajectory.

    Returns whether angles or joints of a robot, or a base's quaternion, are among them.
    """
    return any(word.strip('" ').lower().endswith(TRAJECTORY_ENDINGS) for word in words)


def _refuse(rows: list[list[str]], first: int | None, source: str) -> None:
    """Refuse a table without named points, and say what it may be."""
    words = rows[-1] if rows else []
    if is_trajectory_header(words) or (not rows and first is not None):
        what = "numbers without a header" if not rows else "the columns of a robot's trajectory"
        raise MotionError(
            f"{source}, line 1: {what}, not named positions of a person; a robot's trajectory is run by "
            f"`simbench run {source} --robot NAME`"
        )
    if first is None:
        raise MotionError(f"{source}, line 1: no line of numbers follows {quote(','.join(words))}")
    raise MotionError(
        f"{source}, line 1: {quote(','.join(words))} does not name the columns of at least three points as "
        "NAME_x, NAME_y, NAME_z"
    )


def _is_data(cells: list[str], delimiter: str) -> bool:
    """Tell whether cells are those of a line of numbers."""
    filled = [cell for cell in cells if cell.lower() not in NO_VALUE]
    numbers = sum(_is_number(cell, delimiter) for cell in filled)
    return numbers >= 3 and numbers >= 0.7 * len(filled)


def _is_number(cell: str, delimiter: str) -> bool:
    """Tell whether a cell is a number."""
    try:
        float(cell.replace(",", ".") if delimiter != "," else cell)
    except ValueError:
        return False
    return True


def _unit_row(rows: list[list[str]]) -> tuple[str | None, list[list[str]]]:
    """Take off a last line that holds nothing but units."""
    words = {cell.strip("[]() ").lower() for cell in rows[-1]} - {""}
    if len(rows) > 1 and words and words <= {*UNIT_WORDS, *TIME_UNITS, "-"}:
        return next((UNIT_WORDS[word] for word in words - {*TIME_UNITS, "-"}), None), rows[:-1]
    return None, rows


def _cells(rows: list[list[str]]) -> tuple[list[str], list[str], list[str]]:
    """Name of the point, axis (empty for none), and unit in each column."""
    alone = [AXIS_ALONE.match(cell) for cell in rows[-1]]
    if sum(match is not None for match in alone) >= 3:
        names = _filled_names(rows[-2], len(rows[-1])) if len(rows) > 1 else [""] * len(rows[-1])
        if not any(names):
            # Points that only have numbers: X1, Y1, Z1, X2, ...
            names = [re.sub(r"\D", "", cell) for cell in rows[-1]]
        axes = [match["axis"].lower() if match else "" for match in alone]
        return names, axes, [match["unit"] or "" if match else "" for match in alone]
    found: list[tuple[str, str, str]] = []
    for cell in rows[-1]:
        match = NAMED_AXIS.match(cell) or AXIS_FIRST.match(cell)
        groups = match.groupdict() if match else {}
        axis = groups.get("axis") or groups.get("capital") or ""
        found.append((groups.get("name") or "", axis.lower(), groups.get("unit") or ""))
    names, axes, units = (list(column) for column in zip(*found, strict=True))
    return names, axes, units


def _filled_names(row: list[str], width: int) -> list[str]:
    """Names of a line in which each stands over the first of its columns, or over all of them."""
    names, last = [], ""
    for k in range(width):
        last = (row[k] if k < len(row) else "") or last
        names.append(last)
    return names


def _points(names: list[str], axes: list[str]) -> dict[str, tuple[int, int, int]]:
    """Columns of the points that have all three coordinates."""
    found: dict[str, dict[str, int]] = {}
    for k, (name, axis) in enumerate(zip(names, axes, strict=True)):
        if not axis or not name or OTHER_WORDS.search(name):
            continue
        plain = POSITION_WORDS.sub("", name).strip(" ._:-") or name
        found.setdefault(plain, {}).setdefault(axis, k)
    return {name: (at["x"], at["y"], at["z"]) for name, at in found.items() if len(at) == 3}


def _label_cells(rows: list[list[str]]) -> list[tuple[int, str]]:
    """Columns and texts of all lines of the header, the last one first."""
    return [(k, cell) for row in reversed(rows) for k, cell in enumerate(row) if cell]


def _plain(cell: str) -> str:
    """Write a name without its unit and marks, in small letters."""
    return re.sub(r"[^a-z]", "", re.sub(r"[\[(].*", "", cell.lower()))


def _find_time(rows: list[list[str]]) -> tuple[int | None, str | None]:
    """Column of times, and their unit where its name says it."""
    for k, cell in _label_cells(rows):
        words = [word for word in re.split(r"[^a-z]+", cell.lower()) if word]
        if not words or not words[0].startswith(("time", "t", "sec", "elapsed")):
            continue
        unit = TIME_UNITS.get(words[-1]) if len(words) > 1 else None
        base = "".join(words[:-1] if unit else words)
        if base in TIME_NAMES or cell.lower() in TIME_NAMES:
            return k, unit
    return None, None
