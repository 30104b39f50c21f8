"""Reader of the part of a BVH file that follows MOTION: the frame time, and rows of numbers in blocks."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.files.text import parse_finite_number
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.text_table import LARGEST_NUMBER, quote, read_numbers

# So many numbers, or characters, are read at once: a few megabytes of text.
BLOCK_NUMBERS, BLOCK_CHARACTERS = 500_000, 20_000_000
# Frames of half a second or longer are rather frames per second in the wrong place.
LONGEST_FRAME = 0.5
_FRAMES = re.compile(r"frames\s*[:=]?\s*(.*)", re.IGNORECASE)
_FRAME_TIME = re.compile(r"frame\s*time\s*[:=]?\s*(.*)", re.IGNORECASE)

NumberedLine = tuple[int, str]


class MotionHeader(NamedTuple):
    """What a file says about its frames."""

    declared: int | None  # Declared number of frames; None if the file does not say one that can be.
    step: float  # Duration of a frame, s.
    line: int  # Number of the line with the frame time.
    notes: tuple[str, ...]  # `notes`, `doubts`: what was assumed, and what of it may well be wrong.
    doubts: tuple[str, ...]


def read_motion_header(
    lines: Iterator[NumberedLine], after: int, options: ReadOptions, source: str
) -> tuple[MotionHeader, list[NumberedLine]]:
    """Read the number of frames and their duration.

    `lines`: numbers and texts of the lines that hold something, from the one after MOTION; `after`: number of
    the line with MOTION; `options`: its `fps` overrules the file; with `strict`, both lines must be as the
    format says; `source`: name of the file, for messages. Returns `ahead`: lines that were read and belong to
    the frames already.
    """
    notes: list[str] = []
    ahead = list(islice(lines, 2))
    number = ahead[0][0] if ahead else after
    count, found = _read_count(
        ahead[0][1] if ahead else "", f"{source}, line {number}", options.strict, notes
    )
    ahead = ahead[found:]
    number, text = ahead[0] if ahead else (number, "")
    where = f"{source}, line {number}"
    match = _FRAME_TIME.fullmatch(text.strip())
    if match is None and options.fps is None:
        raise MotionError(
            f"{where}: {quote(text.strip())}; 'Frame Time:' and a positive number must follow here, or "
            "declare the rate (--fps)"
        )
    declared = None if match is None else parse_finite_number(match[1])
    ahead = ahead if match is None else ahead[1:]
    possible = declared is not None and 1.0 / LARGEST_NUMBER <= declared <= LARGEST_NUMBER
    if options.fps is not None:
        step = 1.0 / options.fps
        if not possible or abs(step - (declared or 0.0)) > 1e-3 * step:
            said = "no frame time" if match is None else f"a frame time of {match[1].strip()[:20]} s"
            notes.append(f"{options.fps:g} Hz, as declared; the file says {said}")
    elif declared is None or not possible:
        said = "" if match is None else match[1].strip()
        raise MotionError(
            f"{where}: Frame Time {quote(said)}; it must be a positive number, or declare the rate (--fps)"
        )
    else:
        step = declared
    doubts: tuple[str, ...] = ()
    if step >= LONGEST_FRAME:
        doubts = (f"a frame lasts {step:g} s by the file: if that is a rate, declare it (--fps {step:g})",)
    return MotionHeader(count, step, number, tuple(notes), doubts), ahead


def _read_count(text: str, where: str, strict: bool, notes: list[str]) -> tuple[int | None, int]:
    """Read the number of frames; and how many lines it takes, none if the line is missing."""
    match = _FRAMES.fullmatch(text.strip())
    if match is None:
        if strict or _FRAME_TIME.fullmatch(text.strip()) is None:
            raise MotionError(
                f"{where}: {quote(text.strip())}; 'Frames:' and a positive number must follow here"
            )
        notes.append("the number of frames is not declared: those that are there were read")
        return None, 0
    value = parse_finite_number(match[1])
    if value is None or not 1.0 <= value <= LARGEST_NUMBER or value != int(value):
        problem = (
            f"{value:g} frames; their count must be a whole number"
            if value is not None and value > 0.0
            else f"Frames {quote(match[1].strip())}; it must be a positive number"
        )
        if strict:
            raise MotionError(f"{where}: {problem}")
        notes.append(f"Frames {quote(match[1].strip())}: the frames that are there were read")
        return None, 1
    return int(value), 1


class FrameRows:
    """Rows of numbers, read in blocks from the lines of a file.

    `lines`: numbers and texts of the lines that hold something; `strict`: whether to refuse a truncated last
    line and columns at the end that no channel has; `source`: name of the file, for messages; `notes`: what
    was left out.
    """

    def __init__(self, lines: Iterator[NumberedLine], columns: int, strict: bool, source: str) -> None:
        self._lines, self._columns, self._strict, self._source = lines, columns, strict, source
        self._spare: int | None = None
        self.notes: list[str] = []

    def blocks(self, most: int) -> Iterator[NDArray[np.float64]]:
        """Read all rows.

        `most`: most rows at a time. Yields (B, columns): the next rows. Raises MotionError A row that is not
        as long as the others, or holds something else than finite numbers.
        """
        size = max(1, min(most, BLOCK_NUMBERS // self._columns))
        while block := self._next_block(size):
            values = self._read(block)
            if len(values):
                yield values

    def _next_block(self, size: int) -> list[NumberedLine]:
        """Take the next lines, fewer where they are long."""
        block, characters = [], 0
        for line in islice(self._lines, size):
            block.append(line)
            characters += len(line[1])
            if characters > BLOCK_CHARACTERS:
                break
        return block

    def count_rest(self) -> int:
        """Count the rows that were not read. Returns their number."""
        return sum(1 for _ in self._lines)

    def _read(self, block: list[NumberedLine]) -> NDArray[np.float64]:
        """Read a block of rows."""
        texts = [text for _, text in block]
        if self._spare is None:
            self._spare = 0 if self._strict else max(0, len(texts[0].split()) - self._columns)
        width = self._columns + self._spare
        try:
            values = np.loadtxt(texts, dtype=np.float64, comments=None, ndmin=2)
        except ValueError:
            values = np.empty((0, 0))
        # False for what is no number.
        if values.shape != (len(texts), width) or not bool((np.abs(values) <= LARGEST_NUMBER).all()):
            block = self._without_truncated(block, width)
            values = self._read_slowly(block, width)
        if self._spare:
            spare = values[:, self._columns :]
            what = "zeros" if not spare.any() else "numbers that belong to no channel"
            note = f"{self._spare} column(s) at the end of each row were left out: {what}"
            if note not in self.notes:
                self.notes.append(note)
        return values[:, : self._columns]

    def _without_truncated(self, block: list[NumberedLine], width: int) -> list[NumberedLine]:
        """Drop the file's last line if it ends too early."""
        number, text = block[-1]
        words = len(text.split())
        if self._strict or words >= width or number == block[0][0]:
            return block
        following = next(self._lines, None)
        if following is not None:
            self._lines = _chained(following, self._lines)
            return block
        self.notes.append(f"line {number}, the last one, is truncated ({words} of {width} values): left out")
        return block[:-1]

    def _read_slowly(self, block: list[NumberedLine], width: int) -> NDArray[np.float64]:
        """Read rows by the parser whose errors name the line of the file."""
        texts = [text for _, text in block]
        return read_numbers(texts, 0, width, self._source, numbers=[number for number, _ in block])


def _chained(first: NumberedLine, rest: Iterator[NumberedLine]) -> Iterator[NumberedLine]:
    """Put a line back before the others."""
    yield first
    yield from rest
