"""Completion in bash of words that contain `:` or `=`, at which bash breaks them, such as `actor:drawer`."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, redirect_stdout

_BREAKS = (":", "=")
"""Characters of bash's COMP_WORDBREAKS that words of this command contain."""


@contextmanager
def whole_words(environment: MutableMapping[str, str] = os.environ) -> Iterator[None]:
    """Let the body complete whole words, if bash asks for completions; it gets the part after the last break.

    `environment`: environment; COMP_WORDS, a word a line, and COMP_CWORD, the number of the word that is
    completed, are changed to whole words.
    """
    if environment.get("_SIMBENCH_COMPLETE") != "complete_bash":
        yield
        return
    words = re.split(r"\s", environment.get("COMP_WORDS", ""))
    number = int(environment.get("COMP_CWORD", "0"))
    joined = join_words(words[: number + 1])
    environment["COMP_WORDS"], environment["COMP_CWORD"] = "\n".join(joined), str(len(joined) - 1)
    typed = joined[-1] if joined else ""
    known = max(typed.rfind(character) for character in _BREAKS) + 1
    completions, output = io.StringIO(), sys.stdout
    try:
        with redirect_stdout(completions):
            yield
    finally:
        lines = completions.getvalue().splitlines()
        print("\n".join(line[known:] for line in lines), file=output)


def join_words(parts: list[str]) -> list[str]:
    """Join the parts into which bash has broken words.

    `parts`: parts, each break one of its own. Returns whole words.
    """
    words: list[str] = []
    goes_on = False
    for part in parts:
        is_break = part != "" and set(part) <= set(_BREAKS)
        if words and (goes_on or is_break):
            words[-1] += part
        else:
            words.append(part)
        goes_on = is_break
    return words
