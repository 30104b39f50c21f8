"""What may be opened for reading, and how anything else is refused."""

import os
import socket
import sys

import pytest

from simbench.errors import MotionError
from simbench.files.input_files import is_regular_file, require_regular_file


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
    assert not is_regular_file(path)


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
    assert not is_regular_file(tmp_path / name)


def test_regular_files_up_to_the_largest_size_and_missing_ones_pass(tmp_path):
    path = tmp_path / "sparse.bvh"
    assert require_regular_file(path, MotionError) is path
    with path.open("wb") as file:
        file.truncate(1000)
    assert require_regular_file(path, MotionError, max_bytes=1000) is path
    assert is_regular_file(path)
    with pytest.raises(MotionError, match="larger than"):
        require_regular_file(path, MotionError, max_bytes=999)
    (tmp_path / "link").symlink_to(path)
    require_regular_file(tmp_path / "link", MotionError)
