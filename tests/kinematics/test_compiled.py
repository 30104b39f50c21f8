"""Machine code that is kept: for these sources, not for others.

Machine code on disk: used when it is whole and ours, otherwise compiled anew.
"""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba.core.event
import numpy as np
import pytest
from numba import njit

import simbench
from simbench.kinematics import compiled as compiling
from simbench.kinematics.compiled import KernelCache, compile_for, compile_timer, compiled, kernel_folders

CALLED = """from constants import OFFSET

from simbench.kinematics.compiled import compiled


@compiled
def step(x):
    return x + {}
"""
CALLER = """from called import step
from simbench.kinematics.compiled import compiled


@compiled
def twice(x):
    return step(step(x))
"""
CHANGED = [
    ("called", CALLED.format("10.0"), 21.0),
    ("constants", "OFFSET = 10.0\n", 21.0),
    ("constants", "# Only a comment.\n\nOFFSET = 1.0\n", 3.0),
]
MAIN = """
import sys
sys.path.insert(0, sys.argv[1])
from caller import twice
from simbench.kinematics.compiled import kernel_digest
print(twice(1.0), kernel_digest(twice), sum(twice.stats.cache_hits.values()))
"""


@pytest.fixture
def answer(tmp_path):
    """What a process of its own computes, the digest of its kernel, and how often it found machine code."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kept")}

    def run(folder):
        command = [sys.executable, "-c", MAIN, str(folder)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        value, digest, hits = done.stdout.split()
        return float(value), digest, int(hits)

    return run


def write_sources(folder):
    folder.mkdir()
    (folder / "caller.py").write_text(CALLER)
    (folder / "called.py").write_text(CALLED.format("OFFSET"))
    (folder / "constants.py").write_text("OFFSET = 1.0\n")
    return folder


@pytest.mark.parametrize(("name", "text", "expected"), CHANGED, ids=["function", "constant", "comment"])
def test_machine_code_follows_a_change_of_what_it_uses_from_other_files(
    answer, tmp_path, name, text, expected
):
    sources = write_sources(tmp_path / "sources")
    value, before, found = answer(sources)
    assert (value, found) == (3.0, 0)
    assert answer(sources) == (3.0, before, 1)
    (sources / f"{name}.py").write_text(text)
    value, after, found = answer(sources)
    assert value == expected
    assert (after == before, found) == ((True, 1) if expected == 3.0 else (False, 0))


def test_machine_code_serves_the_same_sources_in_another_folder(answer, tmp_path):
    value, digest, found = answer(write_sources(tmp_path / "one"))
    assert found == 0
    assert answer(write_sources(tmp_path / "two")) == (value, digest, 1)


def test_a_function_called_from_python_and_from_a_kernel_is_the_same():
    @compiled
    def half(values, out):
        for i in range(len(values)):
            out[i] = 0.5 * values[i]

    @compiled
    def quarter(values, out):
        half(values, out)
        half(out, out)

    values, halves, quarters = np.arange(4.0), np.empty(4), np.empty(4)
    quarter(values, quarters)
    half(values, halves)
    np.testing.assert_array_equal(halves, values / 2)
    np.testing.assert_array_equal(quarters, values / 4)


def test_an_error_in_a_called_function_reaches_python():
    @compiled
    def checked(x):
        if x < 0:
            raise ValueError("below zero")
        return x**0.5

    @compiled
    def doubled_root(x):
        return 2.0 * checked(x)

    assert doubled_root(4.0) == 4.0
    with pytest.raises(ValueError, match="below zero"):
        doubled_root(-1.0)


def test_time_of_compiling_is_told_and_only_that(monkeypatch):
    """On a clock that advances by a second when compiling ends, and otherwise when it is told to."""
    now = [100.0]
    monkeypatch.setattr(numba.core.event, "timer", lambda: now[0])

    class Clock(numba.core.event.Listener):
        def on_start(self, event):
            pass

        def on_end(self, event):
            now[0] += 1.0

    @njit
    def doubled(x):
        return 2.0 * x

    with numba.core.event.install_listener("numba:compiler_lock", Clock()), compile_timer() as compiling:
        assert compiling() == 0.0
        doubled(1.0)
        first = compiling()
        assert first == now[0] - 100.0 >= 1.0
        now[0] += 5.0
        doubled(2.0)
        assert compiling() == first
        doubled(2)
        assert compiling() == now[0] - 105.0 > first


def test_a_kernel_compiled_for_types_writes_into_its_arrays_and_refuses_other_types():
    class Inputs(NamedTuple):
        factor: float
        values: np.ndarray

    @njit
    def scale(count, inputs, out):
        for i in range(count):
            out[i] = inputs.factor * inputs.values[i]
        return count

    inputs, out = Inputs(2.0, np.arange(3.0)), np.zeros(3)
    fast = compile_for(scale, 0, inputs, out)
    inputs.values[0] = 5.0
    assert fast(2, inputs, out) == 2
    np.testing.assert_array_equal(out, [10.0, 2.0, 0.0])
    with pytest.raises(TypeError):
        fast(2, inputs, out.astype(np.float32))


def test_without_numba_there_is_nothing_to_compile():
    def double(x):
        return 2.0 * x

    assert compile_for(double, 1.0) is double


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
    monkeypatch.setattr(compiling, "_VERSIONS", ("0.1", "0.1", "3.10.0"))
    assert value_and_hits(tmp_path) == (12.0, 0)
    assert value_and_hits(tmp_path) == (12.0, 1)
    assert len(list(tmp_path.iterdir())) == 2


def test_machine_code_under_another_ones_name_is_not_used(tmp_path, monkeypatch):
    """As if two keys had the same digest."""
    value_and_hits(tmp_path)
    (path,) = tmp_path.iterdir()
    monkeypatch.setattr(compiling, "_VERSIONS", ("0.1", "0.1", "3.10.0"))
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
    monkeypatch.setattr(compiling, "MAX_FILES", 8)
    for age in range(8):
        path = tmp_path / f"old{age}.nbc"
        path.write_bytes(b"")
        os.utime(path, (1e9 - age, 1e9 - age))
    value_and_hits(tmp_path)
    left = {path.stem for path in tmp_path.glob("old*")}
    assert left == {f"old{age}" for age in range(6)}
    assert value_and_hits(tmp_path) == (12.0, 1)
