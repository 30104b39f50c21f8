"""Parser for tables of numbers in text files; errors name the line."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError

# Positions stay far below this in any unit and any laboratory; products of such numbers stay finite.
LARGEST_NUMBER = 1e9


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
        values = np.loadtxt(
            [lines[k] for k in rows], dtype=np.float64, comments=None, delimiter=delimiter, ndmin=2
        )
    except ValueError:
        values = np.full((0, columns), np.nan)
    if values.shape == (len(rows), columns) and bool((np.abs(values) <= LARGEST_NUMBER).all()):
        return values
    for k in rows:
        for column, word in enumerate(lines[k].split(delimiter)):
            if not _is_number(word):
                raise MotionError(
                    f"{source}, line {numbers[k]}, column {column + 1}: {quote(word)}; it must be a finite "
                    "number"
                )
    raise MotionError(f"{source}: the table holds characters that are neither numbers nor between them")


def _is_number(word: str) -> bool:
    """Tell whether a word is a finite number as NumPy reads it."""
    try:
        return abs(float(word)) <= LARGEST_NUMBER and "_" not in word and word.isascii()
    except ValueError:
        return False
