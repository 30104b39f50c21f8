import os
import subprocess
import sys
from pathlib import Path

import pytest

from simbench.files.storage.locks import ABANDONED_AGE
from simbench.files.storage.whole_file import is_part_of, remove_abandoned_parts, whole_file, write_whole

LEAVE_A_PART = """
import os, sys
from simbench.files.storage.whole_file import whole_file
with whole_file(sys.argv[1]) as part:
    part.write_text("half")
    os._exit(1)
"""
NAMES = ["a.csv", "no_suffix", ".hidden", "ü ñ.nc", "x" * 250 + ".nc", "two.part", "a.b.c"]


def _interrupted(path):
    with whole_file(path) as part:
        part.write_text("half", encoding="utf-8")
        raise KeyboardInterrupt


@pytest.mark.parametrize("name", NAMES)
def test_a_file_appears_when_it_is_whole_and_nothing_else_remains(tmp_path, name):
    path = tmp_path / name
    path.write_text("before", encoding="utf-8")
    with whole_file(path, keep_suffix=True) as part:
        part.write_text("after", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == "before"
        assert part.parent == tmp_path
        assert part.suffix == path.suffix or not path.suffix
    assert path.read_text(encoding="utf-8") == "after"
    assert os.listdir(tmp_path) == [name]


def test_an_interrupted_file_leaves_the_one_before(tmp_path):
    path = tmp_path / "a.csv"
    write_whole(path, "before")
    with pytest.raises(KeyboardInterrupt):
        _interrupted(path)
    assert path.read_text(encoding="utf-8") == "before"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_the_part_file_of_a_killed_process_is_removed_by_the_next_that_writes_the_file(tmp_path):
    path = tmp_path / "a.csv"
    subprocess.run([sys.executable, "-c", LEAVE_A_PART, str(path)], check=False)
    (left,) = tmp_path.iterdir()
    assert is_part_of(left.name, "a.csv")
    write_whole(tmp_path / "b.csv", "another file")
    assert left.exists()
    write_whole(path, "whole")
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "b.csv"]


def test_the_part_file_of_a_living_process_stays(tmp_path):
    path = tmp_path / "a.csv"
    with whole_file(path) as slow:
        slow.write_text("slow", encoding="utf-8")
        write_whole(path, "fast")
        assert slow.read_text(encoding="utf-8") == "slow"
    assert path.read_text(encoding="utf-8") == "slow"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_where_no_lock_tells_age_does(tmp_path, monkeypatch):
    monkeypatch.setattr("simbench.files.storage.whole_file.try_lock", lambda descriptor: None)
    names = [".a.csv.00000000.part", ".a.csv.11111111.part"]
    for name in names:
        (tmp_path / name).touch()
    long_ago = (tmp_path / names[0]).stat().st_mtime - 2.0 * ABANDONED_AGE
    os.utime(tmp_path / names[0], (long_ago, long_ago))
    remove_abandoned_parts(tmp_path / "a.csv")
    assert os.listdir(tmp_path) == names[1:]


@pytest.mark.parametrize(
    "name",
    ["a.csv.part", ".a.csv.part", ".a.csv.1234.part", ".b.csv.12345678.part", ".a.csv.12345678.part.nc"],
)
def test_other_files_are_no_part_files(tmp_path, name):
    (tmp_path / name).touch()
    write_whole(tmp_path / "a.csv", "whole")
    assert (tmp_path / name).exists()


def test_links_named_like_a_part_file_are_not_followed(tmp_path):
    (tmp_path / "thesis.tex").touch()
    (tmp_path / ".a.csv.12345678.part").symlink_to(tmp_path / "thesis.tex")
    write_whole(tmp_path / "a.csv", "whole")
    assert (tmp_path / "thesis.tex").exists()


def test_a_link_to_a_file_stays_a_link(tmp_path):
    (tmp_path / "real.csv").write_text("before", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_whole(tmp_path / "link.csv", "after")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text(encoding="utf-8") == "after"


def test_a_device_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="Not a regular file"):
        write_whole(tmp_path / "pipe", "text")
    assert Path(tmp_path / "pipe").is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


@pytest.mark.parametrize("name", ["no/a.csv", "file/a.csv", "folder"])
def test_a_place_that_cannot_be_written_is_an_error_of_the_system(tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=r"\[Errno"):
        write_whole(tmp_path / name, "text")
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_the_mode_is_that_of_any_new_file(tmp_path):
    (tmp_path / "plain").touch()
    write_whole(tmp_path / "whole", "text")
    assert (tmp_path / "whole").stat().st_mode == (tmp_path / "plain").stat().st_mode
