"""Numbers in text that users write: plain ASCII digits, within bounds."""

import math
import re

_WHOLE = re.compile(r"[0-9]{1,18}")


def parse_whole_number(text: str, largest: int = 10**18 - 1) -> int | None:
    """Read a whole number from 0 on.

    `text`: text of ASCII digits alone; `largest`: largest number that is allowed. Returns the number; None if
    the text is no such number or it is larger.
    """
    number = int(text) if _WHOLE.fullmatch(text) else largest + 1
    return number if number <= largest else None


def parse_finite_number(text: str) -> float | None:
    """Read a finite number in decimal notation, with or without an exponent, between blanks or none.

    `text`: text of ASCII characters, without the underscores that Python allows between digits. Returns the
    number; None if the text is none, or one that is too large for a floating-point number.
    """
    if not text.isascii() or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
