"""Text from files as it can be shown: nothing in it moves a terminal's cursor or reorders a line."""

import unicodedata

_KEPT = ("\n", "\t")
_JOINERS = ("\u00ad", "\u200c", "\u200d")
"""Soft hyphen and joiners, which ordinary words of some languages have."""
_UNSAFE = ("Cc", "Cs", "Zl", "Zp", "Cf")
"""Categories of control characters, halves of pairs, separators of lines, and marks of direction."""


def printable(text: str) -> str:
    r"""Write control characters, line separators and marks of direction of a text as escapes, such as `\x1b`.

    Line feed and tab stay. `text`: any text, such as a name from a file. Returns the text without characters
    that control a terminal or change the order in which a line is shown.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(character) if _is_unsafe(character) else character for character in text)


def is_plain_name(name: str) -> bool:
    """Return whether a name has no line feed, tab or other character that `printable` would escape.

    `name`: name of a joint, a marker, or the like. Returns true if it can be shown as it is.
    """
    return printable(name) == name and not any(blank in name for blank in _KEPT)


def _is_unsafe(character: str) -> bool:
    """Return whether a character must not reach a terminal."""
    if character in _KEPT or character in _JOINERS:
        return False
    return unicodedata.category(character) in _UNSAFE


def _escape(character: str) -> str:
    """Write a character as in a string of Python."""
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
