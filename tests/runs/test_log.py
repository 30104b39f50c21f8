"""x"""

import zipfile
from collections import Counter
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
import xarray as xr
from hdf5_damage import damage_bytes

from simbench.errors import RunError
from simbench.files.netcdf_file import SEAL
from simbench.runs import log as log_parts
from simbench.runs.explain.documented_names import log_entries
from simbench.runs.log import LogParts, contact_variables, open_run, read_log_parts, write_log
from simbench.runs.log_builder import (
    BALANCE_SIGNALS,
    HAND_SIGNALS,
    LIMIT_SIGNALS,
    TRAJECTORY_SIGNALS,
    build_dataset,
)
from simbench.runs.log_schema import FLAGS, FORMS
from simbench.runs.pipeline import run_scenario
from simbench.runs.run_directory import LOG_PARTS, incomplete_path
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.grasp import GRIP_SIGNALS
from simbench.sim.sensing import ContactEvent

EVENTS = [
    ContactEvent("romeo/l_ankle", "floor", 0.005, 2.0, 233.5),
    ContactEvent("romeo/r_wrist", "drawer/drawer", 0.3, 0.3, 1.5),
]


def dataset(events=EVENTS, samples=4):
    time = 0.005 * np.arange(samples)
    zmp = np.stack([np.full(samples, np.nan), time], axis=1)
    return build_dataset(
        {
            "joint_position": (("time", "joint"), np.outer(time, [1.0, -2.0]), "rad"),
            "zmp": (("time", "xy"), zmp, "m"),
            "grip_engaged": (("time", "hand"), np.arange(samples)[:, None] > 1, ""),
            "strokes": (("stroke", "bound"), np.empty((0, 2)), "s"),
            **contact_variables(events),
        },
        {"time": time, "joint": ("TrunkYaw", "LHipYaw"), "hand": ("left",), "xy": ("x", "y")},
        {"robot": "romeo", "mass_kg": np.float64(40.5), "grips_lost": np.int64(0)},
    )


@pytest.mark.parametrize("events", [EVENTS, []])
def test_a_log_comes_back_from_its_file_as_it_was(tmp_path, events):
    """Values, types, labels, units and attributes; NaN, booleans, text and an empty table too."""
    written = dataset(events)
    write_log(written, tmp_path / "log.nc")
    read = open_run(tmp_path)
    xr.testing.assert_identical(written, read)
    for name in written.variables:
        assert read[name].dtype == written[name].dtype, name
    assert [path.name for path in tmp_path.iterdir()] == ["log.nc"]


def test_contacts_are_a_table_of_events():
    table = dataset()
    assert table.sizes["contact"] == 2
    assert table["contact_first"].values.tolist() == ["romeo/l_ankle", "romeo/r_wrist"]
    assert table["contact_second"].values.tolist() == ["floor", "drawer/drawer"]
    assert table["contact_start"].values.tolist() == [0.005, 0.3]
    assert table["contact_end"].values.tolist() == [2.0, 0.3]
    assert table["contact_peak_force"].values.tolist() == [233.5, 1.5]
    units = [table[f"contact_{column}"].attrs["units"] for column in ("start", "end", "peak_force")]
    assert units == ["s", "s", "N"]
    assert dataset([]).sizes["contact"] == 0


def test_every_variable_in_the_file_has_units_and_numbers_are_compressed(tmp_path):
    """Read by HDF5 alone, as another tool would."""
    write_log(dataset(samples=5000), tmp_path / "log.nc")
    with h5py.File(tmp_path / "log.nc") as file:
        for name in ("joint_position", "zmp", "grip_engaged", "strokes", "contact_first", "contact_start"):
            assert "units" in file[name].attrs, name
        assert file["joint_position"].attrs["units"] == "rad"
        assert file["time"].attrs["units"] == "s"
        assert file["joint"].asstr()[:].tolist() == ["TrunkYaw", "LHipYaw"]
        assert file["joint_position"].compression == "gzip"
        assert file["zmp"].id.get_storage_size() < 0.5 * file["zmp"].size * 8


def test_a_log_that_cannot_be_written_leaves_the_old_one(tmp_path):
    write_log(dataset(), tmp_path / "log.nc")
    before = (tmp_path / "log.nc").read_bytes()
    broken = dataset().assign(bad=("time", np.array([SimpleNamespace()] * 4, dtype=object)))
    with pytest.raises((TypeError, ValueError)):
        write_log(broken, tmp_path / "log.nc")
    assert (tmp_path / "log.nc").read_bytes() == before


def test_a_log_can_be_read_while_its_file_is_replaced(tmp_path):
    """What `open_run` returns is in memory: the file is closed."""
    write_log(dataset(), tmp_path / "log.nc")
    read = open_run(str(tmp_path))
    (tmp_path / "log.nc").unlink()
    assert read["joint_position"].values[3].tolist() == [0.015, -0.03]


def test_a_folder_without_a_log_is_refused(tmp_path):
    with pytest.raises(RunError):
        open_run(tmp_path / "nowhere")
    (tmp_path / "log.nc").mkdir()
    with pytest.raises(RunError):
        open_run(tmp_path)


@pytest.mark.parametrize("kept", [0, 100, 0.5])
def test_a_damaged_log_is_refused_in_one_line(tmp_path, kept):
    write_log(dataset(), tmp_path / "log.nc")
    content = (tmp_path / "log.nc").read_bytes()
    count = kept if isinstance(kept, int) else int(kept * len(content))
    (tmp_path / "log.nc").write_bytes(content[:count])
    with pytest.raises(RunError, match=r"log\.nc: cannot be read") as caught:
        open_run(tmp_path)
    assert "\n" not in str(caught.value)


def sealed(tmp_path, **changes):
    write_log(dataset().assign(**changes), tmp_path / "log.nc")
    return tmp_path / "log.nc"


def test_no_damage_to_the_bytes_of_a_log_is_read(tmp_path, monkeypatch):
    """It is found by the checksum; where that is gone too, the file goes to the trial, here never passed."""
    monkeypatch.setattr("simbench.runs.log.probe_file", lambda path: "tried")
    path = sealed(tmp_path)
    content = path.read_bytes()
    outcomes = Counter()
    for seed in range(200):
        _, damaged = damage_bytes(content, np.random.default_rng(seed))
        path.write_bytes(damaged)
        if damaged != content:
            with pytest.raises(
                RunError, match=r"log\.nc: (damaged: its \d+ bytes|cannot be read: tried)"
            ) as caught:
                open_run(tmp_path)
            outcomes[str(caught.value)[-5:] == "tried"] += 1
    assert min(outcomes[True], outcomes[False]) > 20


@pytest.mark.parametrize("how", ["written again", "changed in place", "without a checksum"])
def test_a_log_changed_on_purpose_and_one_of_an_older_version_are_read(tmp_path, how):
    path = sealed(tmp_path)
    log = open_run(tmp_path)
    if how == "written again":
        log.assign(mine=("time", np.arange(4.0), {"units": "m"})).to_netcdf(path, engine="h5netcdf")
    elif how == "changed in place":
        with h5py.File(path, "a") as file:
            file.attrs["note"] = "of mine"
    else:
        path.write_bytes(path.read_bytes().rpartition(SEAL)[0])
    read = open_run(tmp_path)
    xr.testing.assert_equal(read.drop_vars("mine", errors="ignore"), log)


TIME = np.array([0.0, 0.005, 0.01, 0.015])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"time": ("time", [0.0, 0.01, 0.005, 0.02])}, "time must be finite and increase"),
        ({"time": ("time", ["a", "b", "c", "d"])}, "time holds <U1; must be numbers"),
        ({"joint": ("joint", ["Same", "Same"])}, "a label of joint is there twice"),
        ({"xy": ("xy", ["y", "x"])}, "the labels of xy must be x, y"),
        ({"hand": ("hand", ["middle"])}, "the labels of hand must be among left, right"),
        (
            {"joint_position": (("joint", "time"), np.ones((2, 4)), {"units": "rad"})},
            r"must be \(time, joint\)",
        ),
        (
            {"joint_position": (("time", "joint"), np.full((4, 2), "a"), {"units": "rad"})},
            "joint_position holds <U1; must be numbers",
        ),
        (
            {"contact_first": ("contact", [1.0, 2.0], {"units": ""})},
            "contact_first holds float64; must be texts",
        ),
        ({"strokes": (("stroke",), TIME, {"units": "s"})}, r"must be \(stroke, bound\)"),
        ({"mine": ("time", TIME)}, "mine has no units"),
    ],
)
def test_a_log_of_another_form_is_refused(tmp_path, changes, message):
    sealed(tmp_path, **changes)
    with pytest.raises(RunError, match=rf"log\.nc: .*{message}"):
        open_run(tmp_path)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"mass_kg": "heavy"}, "attribute mass_kg must be a number"),
        ({"mass_kg": [1.0, 2.0]}, "attribute mass_kg must be a number"),
        ({"robot": 3}, "attribute robot must be a text"),
        ({"grips_lost": 0.5}, "attribute grips_lost must be a number"),
    ],
)
def test_an_attribute_of_another_type_is_refused(tmp_path, attributes, message):
    write_log(dataset().assign_attrs(attributes), tmp_path / "log.nc")
    with pytest.raises(RunError, match=message):
        open_run(tmp_path)


def test_a_log_without_time_is_refused_and_other_variables_may_be_missing(tmp_path):
    write_log(dataset().drop_vars("time"), tmp_path / "log.nc")
    with pytest.raises(RunError):
        open_run(tmp_path)
    write_log(dataset()[["zmp"]], tmp_path / "log.nc")
    assert list(open_run(tmp_path)) == ["zmp"]


def test_the_schema_is_what_is_declared():
    """Dimensions and types of the variables that are checked, from the declarations beside the code."""
    entries = {entry.name: entry for entry in log_entries()}
    for name, dims in FORMS.items():
        assert tuple(entries[name].dims.split(", ")) == dims, name
    declared = (*LIMIT_SIGNALS, *HAND_SIGNALS, *BALANCE_SIGNALS, *GRIP_SIGNALS, *TRAJECTORY_SIGNALS)
    flags = {signal.name for signal in declared if signal.dtype is bool}
    assert flags == set(FLAGS)


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

    def keep(folder, **_):
        kept.mkdir()
        folder.rename(kept / LOG_PARTS)

    monkeypatch.setattr("simbench.runs.pipeline.rmtree", keep)
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
