"""Files and folders that are whole or absent, also where a process is killed, and what others made."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from simbench.files.storage import (
    ABANDONED_AGE,
    PREFIX,
    FolderInUseError,
    ForeignFolderError,
    claim_folder,
    is_claimed,
    is_part_of,
    make_folder,
    remove_claimed,
    scratch_folder,
    typed_output,
    whole_file,
    write_whole,
)

LEAVE_A_PART = """
import os, sys
from simbench.files.storage import whole_file
with whole_file(sys.argv[1]) as part:
    part.write_text("half")
    os._exit(1)
"""
NAMES = ["a.csv", "no_suffix", "ü ñ.nc", "x" * 250 + ".nc", "two.part"]


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
    monkeypatch.setattr("simbench.files.storage.try_lock", lambda descriptor, path=None: None)
    names = [".a.csv.00000000.part", ".a.csv.11111111.part"]
    for name in names:
        (tmp_path / name).touch()
    long_ago = (tmp_path / names[0]).stat().st_mtime - 2.0 * ABANDONED_AGE
    os.utime(tmp_path / names[0], (long_ago, long_ago))
    write_whole(tmp_path / "a.csv", "whole")
    assert sorted(os.listdir(tmp_path)) == [names[1], "a.csv"]


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


@pytest.mark.parametrize("target", ["real.csv", "missing.csv", "folder"])
def test_nothing_is_written_through_a_link(tmp_path, target):
    (tmp_path / "real.csv").write_text("before", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(target)
    for write in (lambda: write_whole(tmp_path / "link", "after"), lambda: make_folder(tmp_path / "link")):
        with pytest.raises(OSError, match="is a link, and nothing is written through links; delete it"):
            write()
    assert sorted(os.listdir(tmp_path)) == ["folder", "link", "real.csv"]
    assert (tmp_path / "real.csv").read_text(encoding="utf-8") == "before"
    assert not os.listdir(tmp_path / "folder")


def test_a_link_that_the_user_names_is_resolved(tmp_path):
    (tmp_path / "real.csv").write_text("before", encoding="utf-8")
    (tmp_path / "link.csv").symlink_to("real.csv")
    (tmp_path / "new.csv").symlink_to("missing.csv")
    write_whole(typed_output(tmp_path / "link.csv"), "after")
    write_whole(typed_output(tmp_path / "new.csv"), "new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text(encoding="utf-8") == "after"
    assert (tmp_path / "missing.csv").read_text(encoding="utf-8") == "new"
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("pipe")
    assert typed_output(tmp_path / "device") == tmp_path / "device"


def test_a_device_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError):
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


FILL_A_FOLDER = """
import os, sys
from pathlib import Path
from simbench.files.storage import claim_folder
with claim_folder(Path(sys.argv[1]), lambda folder: True):
    (Path(sys.argv[1]) / "half").touch()
    os._exit(1)
"""


def _always(folder):
    return True


def _never(folder):
    return False


def test_a_new_folder_is_made_with_its_parents_and_can_be_removed_with_them(tmp_path):
    folder = tmp_path / "a" / "b"
    with claim_folder(folder, _never) as made:
        assert made == [folder, folder.parent]
        assert is_claimed(folder)
        (folder / "file").touch()
    assert not is_claimed(folder)
    remove_claimed(made, folder)
    assert not os.listdir(tmp_path)


def test_what_a_killed_process_left_is_replaced(tmp_path):
    folder = tmp_path / "a"
    subprocess.run([sys.executable, "-c", FILL_A_FOLDER, str(folder)], check=False)
    assert os.listdir(folder) == ["half"]
    assert not is_claimed(folder)
    with claim_folder(folder, _always):
        assert not os.listdir(folder)


def test_what_must_not_be_deleted_stays(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "thesis.tex").touch()
    with pytest.raises(ForeignFolderError), claim_folder(folder, _never):
        pass
    assert os.listdir(folder) == ["thesis.tex"]


def test_a_folder_that_a_living_process_fills_is_refused(tmp_path):
    folder = tmp_path / "a"
    with claim_folder(folder, _always):
        (folder / "file").touch()
        with pytest.raises(FolderInUseError), claim_folder(folder, _always):
            pass
        assert os.listdir(folder) == ["file"]


def test_where_no_lock_tells_nothing_of_a_folder_is_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr("simbench.files.storage.try_lock", lambda descriptor, path=None: None)
    folder = tmp_path / "a"
    with claim_folder(folder, _always):
        (folder / "file").touch()
    with pytest.raises(ForeignFolderError), claim_folder(folder, _always):
        pass
    assert os.listdir(folder) == ["file"]


@pytest.mark.parametrize("place", ["file/a", "b/file/a", "b/c/" + "x" * 300, "link"])
def test_a_folder_that_cannot_be_made_leaves_no_parents(tmp_path, place):
    for parent in (tmp_path, tmp_path / "b"):
        parent.mkdir(exist_ok=True)
        (parent / "file").touch()
    (tmp_path / "target").mkdir()
    (tmp_path / "link").symlink_to("target")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(OSError, match=r"\[Errno"), claim_folder(tmp_path / place, _always):
        pass
    assert sorted(tmp_path.rglob("*")) == before


LEAVE_A_FOLDER = """
import os
from simbench.files.storage import scratch_folder
with scratch_folder() as folder:
    (folder / "meshes").mkdir()
    (folder / "meshes" / "a.obj").touch()
    os._exit(1)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def _folder(temporary, name, mode=0o700, age=0.0):
    folder = temporary / name
    folder.mkdir()
    (folder / "file").touch()
    folder.chmod(mode)
    moment = folder.stat().st_mtime - age
    os.utime(folder, (moment, moment))
    return folder


def test_a_scratch_folder_is_private_and_ends_with_its_block(temporary):
    with scratch_folder() as folder:
        assert folder.parent == temporary
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "a").touch()
    assert not os.listdir(temporary)


def test_the_folder_of_a_killed_process_is_removed_by_the_next(temporary):
    subprocess.run([sys.executable, "-c", LEAVE_A_FOLDER], check=False)
    (left,) = os.listdir(temporary)
    with scratch_folder() as folder:
        assert os.listdir(temporary) == [folder.name]
        assert folder.name != left


def test_the_folder_of_a_living_process_stays(temporary):
    with scratch_folder() as first, scratch_folder() as second:
        assert first.is_dir()
        assert second.is_dir()


def test_where_no_lock_tells_old_folders_are_removed(temporary, monkeypatch):
    monkeypatch.setattr("simbench.files.storage.try_lock", lambda descriptor, path=None: None)
    old = _folder(temporary, f"{PREFIX}abcdefgh", age=2.0 * ABANDONED_AGE)
    young = _folder(temporary, f"{PREFIX}ijklmnop")
    with scratch_folder():
        assert not old.exists()
        assert young.exists()


def test_what_others_could_have_made_is_left_alone(temporary):
    shared = _folder(temporary, f"{PREFIX}shared", mode=0o777)
    target = _folder(temporary, "thesis")
    (temporary / f"{PREFIX}link").symlink_to(target)
    (temporary / f"{PREFIX}file").touch()
    with scratch_folder():
        pass
    assert (shared / "file").exists()
    assert (target / "file").exists()
    assert (temporary / f"{PREFIX}file").exists()


def test_the_folder_of_another_user_is_left_alone(temporary, monkeypatch):
    other = _folder(temporary, f"{PREFIX}other")
    owner = os.geteuid()
    monkeypatch.setattr("simbench.files.storage.os.geteuid", lambda: owner + 1)
    with scratch_folder():
        pass
    assert (other / "file").exists()


def test_links_in_an_abandoned_folder_are_not_followed(temporary):
    target = _folder(temporary, "thesis")
    (_folder(temporary, f"{PREFIX}dead") / "link").symlink_to(target)
    with scratch_folder():
        pass
    assert os.listdir(temporary) == ["thesis"]
    assert (target / "file").exists()


def test_a_temporary_directory_that_vanished_is_an_error_of_the_system(temporary):
    with scratch_folder():
        pass
    tempfile.tempdir = str(temporary / "gone")
    with pytest.raises(FileNotFoundError), scratch_folder():
        pass
