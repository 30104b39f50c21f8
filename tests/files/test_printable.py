"""Text from files: what would move a cursor or reorder a line is shown, not done; everything else stays."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simbench.files.printable import is_plain_name, printable

HOSTILE = {
    "\x1b[31mred": r"\x1b[31mred",
    "\x1b]0;title\x07": r"\x1b]0;title\x07",
    "over\rwritten": r"over\rwritten",
    "back\b\b": r"back\x08\x08",
    "\x9b31m": r"\x9b31m",
    "right\u202eleft": r"right\u202eleft",
    "\u2066isolated\u2069": r"\u2066isolated\u2069",
    "\ufeffmark": r"\ufeffmark",
    "two\u2028lines": r"two\u2028lines",
    "\udcff": r"\udcff",
    "\U000e0041tag": r"\U000e0041tag",
    "nul\0": r"nul\x00",
}
PLAIN = [
    "",
    "LElbowRoll",
    "a b",
    "√mean ‖p − p_d‖²",
    "関節",
    "مفصل",
    "می‌خواهم",
    "N m",
    "two\nlines\tand tab",
]


@pytest.mark.parametrize(("text", "shown"), HOSTILE.items())
def test_what_controls_a_terminal_is_escaped(text, shown):
    assert printable(text) == shown
    assert not is_plain_name(text)


@pytest.mark.parametrize("text", PLAIN)
def test_what_people_write_stays(text):
    assert printable(text) == text
    assert is_plain_name(text) == ("\n" not in text)


@given(st.text(st.characters(), max_size=20))
def test_nothing_that_controls_is_left_and_nothing_else_is_changed(text):
    shown = printable(text)
    assert printable(shown) == shown
    for character in shown:
        assert unicodedata.category(character) not in ("Cs", "Zl", "Zp")
        assert unicodedata.category(character) != "Cc" or character in "\n\t"
        assert unicodedata.bidirectional(character) not in (
            "LRE",
            "RLE",
            "LRO",
            "RLO",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
        )
    if all(unicodedata.category(character)[0] in "LNPSM" or character == " " for character in text):
        assert shown == text
