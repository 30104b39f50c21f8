import os
import subprocess
import sys

import pytest

from simbench.files.storage.claimed_folder import (
    FolderInUseError,
    ForeignFolderError,
    claim_folder,
    is_claimed,
    remove_claimed,
)

LEAVE_A_FOLDER = """
import os, sys
from pathlib import Path
from simbench.files.storage.claimed_folder import claim_folder
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
    subprocess.run([sys.executable, "-c", LEAVE_A_FOLDER, str(folder)], check=False)
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


def test_where_no_lock_tells_nothing_is_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr("simbench.files.storage.claimed_folder.try_lock", lambda descriptor: None)
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
