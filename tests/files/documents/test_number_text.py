"""Numbers that users write: ASCII digits, within bounds."""

import pytest

from simbench.errors import MotionError
from simbench.files.documents.number_text import parse_finite_number, parse_whole_number
from simbench.motion.actors import read_actor


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("0", 0), ("7", 7), ("0012", 12), ("9" * 18, 10**18 - 1)),
        *(
            (text, None)
            for text in ("", "-1", "+1", "1.0", " 1", "1_0", "٣", "1٣", "²", "x", "9" * 19, "9" * 5000)
        ),
    ],
)
def test_whole_numbers(text, number):
    assert parse_whole_number(text) == number


def test_the_largest_whole_number():
    assert (parse_whole_number("19", 19), parse_whole_number("20", 19)) == (19, None)
    assert parse_whole_number("0", -1) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *(("0", 0.0), (" -1.5e3 ", -1500.0), (".5", 0.5), ("1.", 1.0), ("1e-400", 0.0)),
        *(
            (text, None)
            for text in ("", "nan", "inf", "-Infinity", "1e400", "9" * 400, "1_0", "٣", "1٫5", "0x1", "1 2")
        ),
    ],
)
def test_finite_numbers(text, number):
    assert parse_finite_number(text) == number


@pytest.mark.parametrize("number", ["9" * 100, "9" * 5000, "٣", "1٣", "-1", "1_0", "", "0x1", "1\n"])
def test_numbers_of_participants(number):
    with pytest.raises(MotionError) as caught:
        read_actor(f"drawer:{number}")
    assert len(str(caught.value)) < 250
