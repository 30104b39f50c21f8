"""The loader of JSON: strict, within limits of size and depth."""

import json
import math
import re
from functools import partial
from pathlib import Path
from typing import Any, Literal

from simbench.errors import SimbenchError
from simbench.files.text import MAX_TEXT_BYTES, read_text, text_position

MAX_DEPTH = 50  # Levels of nesting.
# Number of commas and opening brackets: it bounds the memory that a file of many small values takes.
MAX_VALUES = 4_000_000
# Digits of the longest integer that is read as one; longer ones are read as floating-point numbers.
_MAX_DIGITS = 40

# What becomes of NaN, Infinity and numbers that are too large: an error, or a float.
NonFinite = Literal["refused", "kept"]

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"?'
_STRUCTURE = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)  # A string, or a bracket.
# A string, a bracket, or a number or constant.
_TOKEN = re.compile(rf"{_STRING}|[\[\]{{}}]|[\w.+-]+", re.DOTALL)
_LEVELS = {"[": 1, "{": 1, "]": -1, "}": -1}
_COLON = re.compile(r"\s*:")
# An escaped backslash, both halves of a character beyond U+FFFF, or one of them alone.
_ESCAPE = re.compile(r"\\\\|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>\\u[dD][89a-fA-F]..)", re.DOTALL)


def read_json_object(
    path: Path, error: type[SimbenchError], *, max_bytes: int = MAX_TEXT_BYTES
) -> dict[str, Any]:
    """Read a JSON file that holds an object.

    `error`: class of the error that is raised; `max_bytes`: size of the largest file that is read. Returns
    values by name: dict, list, str, int, float, bool or None. Raises SimbenchError of the given class, in one
    line, as of `read_text` and `parse_json`; also if the file holds something else.
    """
    content = parse_json(read_text(path, error, max_bytes), str(path), error)
    if not isinstance(content, dict):
        raise error(f"{path}:1:1: must hold a JSON object, {{…}}")
    return content


def parse_json(text: str, name: str, error: type[SimbenchError], *, non_finite: NonFinite = "refused") -> Any:
    """Parse a JSON text.

    `name`: name of the file for messages; `error`: class of the error that is raised; `non_finite`: whether
    NaN, Infinity and numbers that are too large are errors, or are read as floats. Returns plain Python
    values. Raises SimbenchError of the given class, in one line that begins with file, line and column:
    malformed JSON, a name given twice in an object, a number that is not finite, or more than the limits
    allow.
    """
    kept = non_finite == "kept"

    def unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            raise _find_problem(text, None)
        return content

    def read_number(written: str, integer: bool = False) -> float:
        number = int(written) if integer and len(written) <= _MAX_DIGITS else float(written)
        if kept or math.isfinite(number):
            return number
        raise _find_problem(text, written)

    try:
        if text.count(",") + text.count("[") + text.count("{") > MAX_VALUES:
            raise _Problem(0, f"more than {MAX_VALUES} commas and brackets")
        depth = 0
        for found in _STRUCTURE.finditer(text):
            depth += _LEVELS.get(found.group(), 0)
            if depth > MAX_DEPTH:
                raise _Problem(found.start(), f"nested more than {MAX_DEPTH} deep")
        content = json.loads(
            text,
            object_pairs_hook=unique_names,
            parse_int=partial(read_number, integer=True),
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


def _find_problem(text: str, number: str | None) -> _Problem:
    """Find the number that is not finite, where it is written first, or else the name that is given twice.

    Up to there the text is well-formed.
    """
    index, names = 0, [set[str]()]
    for found in _TOKEN.finditer(text):
        token = found.group()
        if token == number:
            index = found.start()
            break
        if token in "[{":
            names.append(set())
        elif token in "]}":
            del names[max(1, len(names) - 1) :]  # Behind the number, the text may be anything.
        elif number is None and token[0] == '"' and _COLON.match(text, found.end()):
            name = json.loads(token)
            if name in names[-1]:
                return _Problem(found.start(), f"name '{name:.80}' is given twice in an object")
            names[-1].add(name)
    if number is None:
        return _Problem(0, "a name is given twice in an object")
    shown = number if len(number) <= 40 else f"{number[:37]}..."
    return _Problem(index, f"{shown} is not a finite number")
