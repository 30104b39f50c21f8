"""Machine code on disk: used when it is whole and ours, otherwise compiled anew."""

import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import simbench
from simbench.kinematics import kernel_cache
from simbench.kinematics.compiled import kernel_folders
from simbench.kinematics.kernel_cache import KernelCache


def scaled_sum(values, factor):
    return factor * values.sum()


def value_and_hits(*folders):
    """What a new dispatcher computes, and how many machine codes it found in the folders."""
    dispatcher = njit(scaled_sum)
    dispatcher._cache = KernelCache(scaled_sum, lambda: folders)
    value = dispatcher(np.arange(4.0), 2.0)
    return value, sum(dispatcher.stats.cache_hits.values())


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def replace_by_pickle(path):
    """As numba writes it, without a checksum: unpickling it would be noticed."""
    path.write_bytes(pickle.dumps(Unpickled()))


class Unpickled:
    def __reduce__(self):
        return pytest.fail, ("a file without its checksum was unpickled",)


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "shorter than a checksum": lambda path: path.write_bytes(b"\0" * 20),
    "truncated": lambda path: os.truncate(path, path.stat().st_size - 1),
    "flipped": flip,
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "pickle": replace_by_pickle,
    "folder": replace_by_folder,
    "writable by all": lambda path: path.chmod(0o666),
    "missing": lambda path: path.unlink(),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_machine_code_is_compiled_anew_and_replaced(tmp_path, damage):
    assert value_and_hits(tmp_path) == (12.0, 0)
    (path,) = tmp_path.iterdir()
    assert value_and_hits(tmp_path) == (12.0, 1)
    damage(path)
    assert value_and_hits(tmp_path) == (12.0, 0)
    if not path.is_dir():
        assert value_and_hits(tmp_path) == (12.0, 1)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_machine_code_of_another_user_is_not_used(tmp_path):
    value_and_hits(tmp_path)
    (path,) = tmp_path.iterdir()
    os.chown(path, 4242, 4242)
    assert value_and_hits(tmp_path) == (12.0, 0)


def test_machine_code_of_another_version_of_numba_or_of_other_sources_is_not_used(tmp_path, monkeypatch):
    value_and_hits(tmp_path)
    monkeypatch.setattr(kernel_cache, "_VERSIONS", ("0.1", "0.1", "3.10.0"))
    assert value_and_hits(tmp_path) == (12.0, 0)
    assert value_and_hits(tmp_path) == (12.0, 1)
    assert len(list(tmp_path.iterdir())) == 2


def test_machine_code_under_another_ones_name_is_not_used(tmp_path, monkeypatch):
    """As if two keys had the same digest."""
    value_and_hits(tmp_path)
    (path,) = tmp_path.iterdir()
    monkeypatch.setattr(kernel_cache, "_VERSIONS", ("0.1", "0.1", "3.10.0"))
    other = tmp_path / "other"
    value_and_hits(other)
    (name,) = os.listdir(other)
    shutil.copy(path, other / name)
    assert value_and_hits(other) == (12.0, 0)


@pytest.mark.parametrize("place", ["/dev/null/x", "/proc/none", "/dev/full"])
def test_the_first_folder_that_can_be_written_is_used_and_none_is_needed(tmp_path, place):
    assert value_and_hits(Path(place)) == (12.0, 0)
    assert value_and_hits(Path(place), tmp_path) == (12.0, 0)
    assert value_and_hits(Path(place), tmp_path) == (12.0, 1)
    assert value_and_hits() == (12.0, 0)


def test_folders_follow_the_environment(monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/named")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    named, user, beside = kernel_folders()
    assert named.name == user.name == beside.name
    package = Path(simbench.__file__).resolve().parent
    assert [each.parent for each in (named, user, beside)] == [
        Path("/named"),
        Path("/caches/simbench"),
        package / "__pycache__",
    ]
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "relative")
    assert kernel_folders() == [beside]


def test_the_oldest_machine_code_goes_when_there_is_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_cache, "MAX_FILES", 8)
    for age in range(8):
        path = tmp_path / f"old{age}.nbc"
        path.write_bytes(b"")
        os.utime(path, (1e9 - age, 1e9 - age))
    value_and_hits(tmp_path)
    left = {path.stem for path in tmp_path.glob("old*")}
    assert left == {f"old{age}" for age in range(6)}
    assert value_and_hits(tmp_path) == (12.0, 1)
