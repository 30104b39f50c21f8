import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from simbench.errors import RunError
from simbench.runs import log as log_parts
from simbench.runs.log import LogParts, open_run, read_log_parts
from simbench.runs.pipeline import run_scenario
from simbench.runs.run_directory import LOG_PARTS, incomplete_path
from simbench.runs.scenario.loading import load_scenario

SHORT = ["motion.task={amplitude_rad: 1.0, speed_rad_s: 1.0}", "simulation.settle_s=0.5"]
RATE = 10.0


@pytest.fixture(autouse=True)
def every_second(monkeypatch):
    """Files are written at every second, however long they take."""
    monkeypatch.setattr(log_parts, "_LARGEST_SHARE", np.inf)


class Samples:
    """The part of a recorder that `LogParts` uses, with the squares of the sample's numbers."""

    def __init__(self, first, count):
        self.first, self.count = first, count
        self.time = np.arange(first, first + count) / RATE

    def copy_from(self, first):
        return Samples(self.first + first, self.count - first)


def _log(samples):
    """A signal, its derivative, its sum from the first sample on, and a table without time."""
    numbers = np.arange(samples.first, samples.first + samples.count, dtype=float)
    values = {
        "square": ("time", numbers**2, {"units": "m"}),
        "slope": ("time", np.gradient(numbers**2), {"units": "m/s"}),
        "path": ("time", np.concatenate([[0.0], np.cumsum(np.diff(numbers**2))]), {"units": "m"}),
        "name": ("contact", np.array(["floor"] * samples.count, dtype=object), {"units": ""}),
        "held": (("time", "foot"), numbers[:, None] > [3.0, 30.0], {"units": ""}),
    }
    coordinates = {"time": samples.time, "foot": ["left", "right"]}
    attributes = {"mass_kg": np.float64(1.5), "steps": 3, "gave_up_s": np.nan, "seat": ""}
    return xr.Dataset(values, coordinates, attributes)


def _write(folder, count):
    parts = LogParts(folder, _log, ["path"])
    for taken in range(1, count + 1):
        parts.write_if_due(Samples(0, taken))
    return parts


def test_the_files_together_are_the_log_without_its_last_samples(tmp_path):
    _write(tmp_path / "parts", 47)
    found, whole = read_log_parts(tmp_path / "parts"), _log(Samples(0, 47)).isel(time=slice(0, 40))
    assert len(list((tmp_path / "parts").iterdir())) == 4
    assert list(found.variables) == list(whole.variables)
    for name in ("square", "slope", "path", "held", "time", "foot"):
        np.testing.assert_array_equal(found[name].values, whole[name].values)
        assert found[name].attrs == whole[name].attrs
    # What has no samples is that of the last file.
    assert found.sizes["contact"] == 12
    assert found.attrs["mass_kg"] == 1.5
    assert np.isnan(found.attrs["gave_up_s"])


def test_nothing_is_written_in_the_first_second(tmp_path):
    _write(tmp_path / "parts", 10)
    assert read_log_parts(tmp_path / "parts") is None
    assert not (tmp_path / "parts").exists()


def test_files_hold_more_where_they_would_take_too_long(tmp_path, monkeypatch):
    clock = iter(np.arange(0.0, 1e4, 0.5))
    monkeypatch.setattr(log_parts, "time", SimpleNamespace(process_time=lambda: float(next(clock))))
    monkeypatch.setattr(log_parts, "_LARGEST_SHARE", 0.02)
    _write(tmp_path / "parts", 100)
    # The second file takes half a second of the time that it is asked for, which allows none for 25 s.
    assert [path.name for path in sorted((tmp_path / "parts").iterdir())] == [
        "000000.npz", "000001.npz", "000002.npz"
    ]  # fmt: skip
    assert read_log_parts(tmp_path / "parts").sizes["time"] > 60


@pytest.mark.parametrize("damage", ["cut", "empty", "bits", "compressed", "text"])
def test_a_damaged_last_file_ends_the_log_and_a_damaged_first_one_is_an_error(tmp_path, damage):
    _write(tmp_path, 30)
    first, second = sorted(tmp_path.iterdir())
    _damage(second, damage)
    assert read_log_parts(tmp_path).sizes["time"] == 10
    _damage(first, damage)
    with pytest.raises(RunError, match=r"000000\.npz: cannot be read") as caught:
        read_log_parts(tmp_path)
    assert "\n" not in str(caught.value)


def _damage(path, damage):
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "bits":
        at = content.index(b"NUMPY") + 150
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    elif damage == "text":
        path.write_text("not a log", encoding="utf-8")
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("description.npy", bytes(10**6))


def test_the_files_of_a_run_that_is_killed_are_its_log_bit_for_bit(tmp_path, monkeypatch):
    final = tmp_path / "run"
    kept = tmp_path / "kept.incomplete"

    def keep(self):
        kept.mkdir()
        self._folder.rename(kept / LOG_PARTS)

    monkeypatch.setattr(LogParts, "remove", keep)
    run_scenario(load_scenario("puma560_sweep", SHORT), final)
    whole, found = open_run(final), open_run(kept)
    count = found.sizes["time"]
    assert whole.sizes["time"] - 250 < count < whole.sizes["time"]
    assert set(found.variables) == set(whole.variables)
    assert set(found.attrs) == set(whole.attrs)
    for name, values in whole.variables.items():
        assert found[name].dims == values.dims
        assert found[name].attrs == values.attrs
        if values.dims[:1] == ("time",):
            np.testing.assert_array_equal(found[name].values, values.values[:count])
    assert not incomplete_path(final).exists()


def test_the_whole_log_replaces_its_files(tmp_path):
    run_scenario(load_scenario("puma560_sweep", SHORT), tmp_path / "run")
    assert not (tmp_path / "run" / LOG_PARTS).exists()
