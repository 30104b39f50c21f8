"""Text of files and users: what may be opened, what can be shown, and numbers."""

import os
import socket
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.files.text import (
    is_plain_name,
    parse_finite_number,
    parse_whole_number,
    printable,
    require_regular_file,
)
from simbench.motion.actors import read_actor


def make_socket(path):
    before = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


ODD = {
    "folder": (lambda path: path.mkdir(), "is a directory"),
    "pipe": (os.mkfifo, "is a pipe"),
    "socket": (make_socket, "is a socket"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "is a device"),
    "loop": (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
}


@pytest.mark.parametrize(("make", "reason"), ODD.values(), ids=ODD)
def test_what_is_not_a_regular_file_is_refused_before_it_is_opened(tmp_path, make, reason):
    path = tmp_path / "walk.bvh"
    make(path)
    with pytest.raises(MotionError, match=reason) as caught:
        require_regular_file(path, MotionError)
    assert str(caught.value).startswith(f"{path}: cannot be read: ")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("n" * 300, "File name too long"),
        ("/".join(["d" * 200] * 30), "File name too long"),
        ("a\0b", "not the name of a file"),
        ("/etc/hostname/x", "Not a directory"),
        (os.fsdecode(b"\xff.bvh"), f"not text in {sys.getfilesystemencoding()}"),
    ],
)
def test_names_that_no_file_can_have_are_refused(tmp_path, name, reason):
    with pytest.raises(MotionError, match=reason):
        require_regular_file(tmp_path / name, MotionError)


def test_regular_files_up_to_the_largest_size_and_missing_ones_pass(tmp_path):
    path = tmp_path / "sparse.bvh"
    assert require_regular_file(path, MotionError) is path
    with path.open("wb") as file:
        file.truncate(1000)
    assert require_regular_file(path, MotionError, max_bytes=1000) is path
    with pytest.raises(MotionError):
        require_regular_file(path, MotionError, max_bytes=999)
    (tmp_path / "link").symlink_to(path)
    require_regular_file(tmp_path / "link", MotionError)


HOSTILE = {
    "\x1b[31mred": r"\x1b[31mred",
    "\x1b]0;title\x07": r"\x1b]0;title\x07",
    "over\rwritten": r"over\rwritten",
    "\x9b31m": r"\x9b31m",
    "right\u202eleft": r"right\u202eleft",
    "two\u2028lines": r"two\u2028lines",
    "\udcff": r"\udcff",
    "nul\0": r"nul\x00",
}
PLAIN = ["", "√mean ‖p − p_d‖²", "می‌خواهم", "two\nlines\tand tab"]


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


@pytest.mark.parametrize("number", ["9" * 5000, "٣", "-1", "1_0", "1\n"])
def test_numbers_of_participants(number):
    with pytest.raises(MotionError) as caught:
        read_actor(f"drawer:{number}")
    assert len(str(caught.value)) < 250
