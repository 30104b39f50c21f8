import os
import subprocess
import sys
import tempfile

import pytest

from simbench.files.storage.locks import ABANDONED_AGE
from simbench.files.storage.scratch import PREFIX, scratch_folder

LEAVE_A_FOLDER = """
import os
from simbench.files.storage.scratch import scratch_folder
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


def test_folders_of_earlier_versions_are_removed_when_they_are_old(temporary):
    old = _folder(temporary, "simbench-abcdefgh", age=2.0 * ABANDONED_AGE)
    young = _folder(temporary, "simbench-ijklmnop")
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
    monkeypatch.setattr("simbench.files.storage.scratch.os.geteuid", lambda: owner + 1)
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
    with pytest.raises(FileNotFoundError, match="No such file"), scratch_folder():
        pass
