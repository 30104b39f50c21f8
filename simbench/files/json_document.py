"""The loader of JSON: strict, within limits of size and depth."""

import json
import math
import re
from pathlib import Path
from typing import Any, Literal

from simbench.errors import SimbenchError
from simbench.files.text import MAX_TEXT_BYTES, read_text, text_position

MAX_DEPTH = 50
"""Levels of nesting."""
MAX_VALUES = 4_000_000
"""Number of commas and opening brackets: it bounds the memory that a file of many small values takes."""
_MAX_DIGITS = 40
"""Digits of the longest integer that is read as one; longer ones are read as floating-point numbers."""

NonFinite = Literal["refused", "kept"]
"""What becomes of NaN, Infinity and numbers that are too large: an error, or a float."""

_STRUCTURE = re.compile(r'\\.|["\[\]{}]', re.DOTALL)
"""An escape sequence, which is in a string, or a character that begins or ends something."""
_COLON = re.compile(r"\s*:")
_ESCAPE = re.compile(r"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>\\u[dD][89a-fA-F]..)", re.DOTALL)
"""An escaped backslash, both halves of a character beyond U+FFFF, or one of them alone."""


def read_json(
    path: Path,
    error: type[SimbenchError],
    *,
    max_bytes: int = MAX_TEXT_BYTES,
    non_finite: NonFinite = "refused",
) -> Any:
    """Read a JSON file.

    `error`: class of the error that is raised. `max_bytes`: size of the largest file that is read.
    `non_finite`: `refused`: NaN, Infinity and numbers that are too large are errors. `kept`: they are read as
    floats. Returns plain Python values: dict, list, str, int, float, bool or None. Raises SimbenchError of
    the given class, in one line, as of `read_text` and `parse_json`.
    """
    return parse_json(read_text(path, error, max_bytes), str(path), error, non_finite=non_finite)


def read_json_object(
    path: Path, error: type[SimbenchError], *, max_bytes: int = MAX_TEXT_BYTES
) -> dict[str, Any]:
    """Read a JSON file that holds an object.

    `error`: class of the error that is raised; `max_bytes`: size of the largest file that is read. Returns
    values by name. Raises SimbenchError of the given class, in one line, as of `read_json`; also if the file
    holds something else.
    """
    content = read_json(path, error, max_bytes=max_bytes)
    if not isinstance(content, dict):
        raise error(f"{path}:1:1: must hold a JSON object, {{…}}")
    return content


def parse_json(text: str, name: str, error: type[SimbenchError], *, non_finite: NonFinite = "refused") -> Any:
    """Parse a JSON text.

    `name`: name of the file for messages; `error`: class of the error that is raised; `non_finite`: as in
    `read_json`. Returns plain Python values. Raises SimbenchError of the given class, in one line that begins
    with file, line and column: malformed JSON, a name given twice in an object, a number that is not finite,
    or more than the limits allow.
    """
    kept = non_finite == "kept"

    def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            raise _find_duplicate_name(text)
        return content

    def read_integer(digits: str) -> float:
        number = int(digits) if len(digits) <= _MAX_DIGITS else float(digits)
        return number if kept else _finite(number, digits, text)

    def read_number(written: str) -> float:
        return _finite(float(written), written, text)

    try:
        _require_limits(text)
        content = json.loads(
            text,
            object_pairs_hook=unique_names,
            parse_int=read_integer,
            parse_float=None if kept else read_number,
            parse_constant=float if kept else read_number,
        )
        for found in _ESCAPE.finditer(text) if "\\u" in text else ():
            # It could be neither written nor printed.
            if found.lastgroup == "half":
                raise _Problem(found.start(), f"{found.group()} is half of a character")
        return content
    except json.JSONDecodeError as reason:
        raise error(f"{name}:{reason.lineno}:{reason.colno}: not valid JSON: {reason.msg}") from None
    except _Problem as problem:
        line, column = text_position(text, problem.index)
        raise error(f"{name}:{line}:{column}: not valid JSON: {problem.text}") from None


class _Problem(Exception):
    """What is wrong with a text, and the index of the character where."""

    def __init__(self, index: int, text: str) -> None:
        super().__init__(text)
        self.index, self.text = index, text


def _require_limits(text: str) -> None:
    """Refuse a text that is nested too deep for the recursive parser, or has too many values."""
    if text.count(",") + text.count("[") + text.count("{") > MAX_VALUES:
        raise _Problem(0, f"more than {MAX_VALUES} commas and brackets")
    depth, quoted = 0, False
    for found in _STRUCTURE.finditer(text):
        token = found.group()
        if token == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise _Problem(found.start(), f"nested more than {MAX_DEPTH} deep")
        elif token in "]}":
            depth -= 1


def _finite(number: float, written: str, text: str) -> float:
    """Return a number; refuse one that is not finite, where it is written first."""
    if math.isfinite(number):
        return number
    index, start, quoted = 0, 0, False
    pattern = re.compile(rf"(?<![\w.+-]){re.escape(written)}(?![\w.+-])")
    quotes = [found.span() for found in _STRUCTURE.finditer(text) if found.group() == '"']
    for end, after in [*quotes, (len(text), 0)]:
        found = None if quoted else pattern.search(text, start, end)
        if found:
            index = found.start()
            break
        start, quoted = after, not quoted
    shown = written if len(written) <= 40 else f"{written[:37]}..."
    raise _Problem(index, f"{shown} is not a finite number")


def _find_duplicate_name(text: str) -> _Problem:
    """Find the name that is given twice in an object; up to there the text is well-formed."""
    names: list[set[str]] = []
    decoder, index = json.JSONDecoder(), 0
    while found := _STRUCTURE.search(text, index):
        index, token = found.end(), found.group()
        if token in "[{":
            names.append(set())
        elif token in "]}":
            names.pop()
        else:
            name, index = decoder.raw_decode(text, found.start())
            if _COLON.match(text, index):
                if name in names[-1]:
                    return _Problem(found.start(), f"name '{name:.80}' is given twice in an object")
                names[-1].add(name)
    return _Problem(0, "a name is given twice in an object")
