from types import SimpleNamespace

import h5py
import numpy as np
import pytest
import xarray as xr

from simbench.errors import RunError
from simbench.runs.log import build_dataset, contact_variables, open_run, write_log
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
    with pytest.raises(RunError, match=r"nowhere: is not a run directory"):
        open_run(tmp_path / "nowhere")
    (tmp_path / "log.nc").mkdir()
    with pytest.raises(RunError, match="is not a run directory"):
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
