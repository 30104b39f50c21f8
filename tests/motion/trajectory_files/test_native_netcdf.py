"""Joint trajectories in NetCDF files, and files by their names' suffix."""

import h5py
import numpy as np
import pytest
import xarray as xr
from hdf5_damage import STRUCTURES, seal

from simbench.errors import MotionError
from simbench.files.netcdf_file import SEAL
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.native import (
    read_trajectory,
    read_trajectory_netcdf,
    write_trajectory,
    write_trajectory_netcdf,
)

ATTRIBUTES = {"source": "actor:drawer", "robot": "romeo", "method": "analytical", "slow_down": 1.25}


def trajectory(with_base=True):
    rng = np.random.default_rng(1)
    quaternion = rng.normal(size=(6, 4))
    quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
    base = np.hstack([rng.normal(size=(6, 3)), quaternion]) if with_base else None
    instants = np.cumsum(rng.uniform(0.01, 0.1, 6))
    return JointTrajectory(instants, rng.normal(size=(6, 3)), ("HüfteYaw", "RElbowRoll", "lift"), base)


@pytest.mark.parametrize("with_base", [True, False])
def test_every_bit_comes_back(tmp_path, with_base):
    wanted = trajectory(with_base)
    write_trajectory_netcdf(wanted, tmp_path / "t.nc", ("rad", "rad", "rad"), ATTRIBUTES)
    found = read_trajectory_netcdf(tmp_path / "t.nc")
    assert found.joint_names == wanted.joint_names
    for name in ("time", "q", "base"):
        first, second = getattr(found, name), getattr(wanted, name)
        assert (first is None) == (second is None)
        if first is not None:
            assert first.dtype == np.float64
            assert first.tobytes() == np.ascontiguousarray(second).tobytes()


def test_xarray_finds_dimensions_labels_units_and_origin(tmp_path):
    wanted = trajectory()
    write_trajectory_netcdf(wanted, tmp_path / "t.nc", ("rad", "rad", "rad"), ATTRIBUTES)
    with xr.open_dataset(tmp_path / "t.nc", engine="h5netcdf") as dataset:
        dataset.load()
    assert dict(dataset.sizes) == {"time": 6, "joint": 3, "xyz": 3, "quaternion": 4}
    elbow = dataset["position"].sel(joint="RElbowRoll")
    np.testing.assert_array_equal(elbow, wanted.q[:, 1])
    np.testing.assert_array_equal(dataset["base_orientation"].sel(quaternion="w"), wanted.base[:, 6])
    np.testing.assert_array_equal(dataset["base_position"].sel(xyz="z"), wanted.base[:, 2])
    units = {name: variable.attrs["units"] for name, variable in dataset.variables.items()}
    assert units == {
        "time": "s",
        "joint": "",
        "joint_unit": "",
        "position": "rad",
        "xyz": "",
        "base_position": "m",
        "quaternion": "",
        "base_orientation": "1",
    }
    assert dataset.attrs == {"format": "simbench joint trajectory 1", **ATTRIBUTES}


def test_joints_that_slide_have_their_own_unit(tmp_path):
    write_trajectory_netcdf(trajectory(), tmp_path / "t.nc", ("rad", "rad", "m"), {})
    with xr.open_dataset(tmp_path / "t.nc", engine="h5netcdf") as dataset:
        assert dataset["position"].attrs["units"] == "joint_unit"
        assert dataset["joint_unit"].sel(joint="lift") == "m"


def test_the_same_trajectory_gives_the_same_bytes(tmp_path):
    for name in ("a.nc", "b.nc"):
        write_trajectory_netcdf(trajectory(), tmp_path / name, ("rad",) * 3, ATTRIBUTES)
    assert (tmp_path / "a.nc").read_bytes() == (tmp_path / "b.nc").read_bytes()
    # HDF5 would write when a variable was made, in seconds.
    kept = []
    with h5py.File(tmp_path / "a.nc") as file:
        file.visititems(lambda name, item: kept.append(item.id.get_create_plist().get_obj_track_times()))
    assert kept == [False] * len(kept)
    assert len(kept) >= 3


def sealed(path, make):
    """A whole file of another content."""
    with h5py.File("x", "w", driver="core", backing_store=False) as file:
        make(file)
        file.flush()
        content = file.id.get_file_image()
    path.write_bytes(seal(content))


def test_what_is_damaged_cut_or_something_else_is_refused(tmp_path):
    path = tmp_path / "t.nc"
    write_trajectory_netcdf(trajectory(), path, ("rad",) * 3, ATTRIBUTES)
    whole = path.read_bytes()
    for bad in (b"", whole[:-1], whole[:2000], whole[:3000] + b"!" + whole[3001:], b"time_s,a_rad\n0,0\n"):
        path.write_bytes(bad)
        with pytest.raises(MotionError, match=r"t\.nc: not a joint trajectory that simbench wrote, or dam"):
            read_trajectory(path)
    sealed(path, lambda file: file.attrs.update(format="simbench human motion 1"))
    with pytest.raises(MotionError):
        read_trajectory(path)
    with pytest.raises(MotionError):
        read_trajectory(tmp_path / "nowhere.nc")


def test_numbers_are_judged_as_those_of_a_csv_file(tmp_path):
    bad = trajectory()
    bad.q[3, 1] = np.nan
    write_trajectory_netcdf(bad, tmp_path / "t.nc", ("rad",) * 3, {})
    with pytest.raises(MotionError, match=r"joint RElbowRoll is NaN or infinite at sample 3"):
        read_trajectory_netcdf(tmp_path / "t.nc")


@pytest.mark.parametrize("suffix", [".csv", ".nc", ".CSV"])
def test_the_suffix_says_which_format(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    write_trajectory(trajectory(), str(path), ("rad", "rad", "m"), ATTRIBUTES)
    assert path.read_bytes().startswith(b"\x89HDF" if suffix == ".nc" else b"time_s,")
    np.testing.assert_allclose(read_trajectory(path).q, trajectory().q, rtol=1e-8)


@pytest.mark.parametrize("name", ["t.json", "t", "nc"])
def test_another_suffix_is_refused_either_way(tmp_path, name):
    with pytest.raises(MotionError):
        read_trajectory(tmp_path / name)
    with pytest.raises(MotionError):
        write_trajectory(trajectory(), tmp_path / name, ("rad",) * 3, {})
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    (tmp_path / "t.nc").write_bytes(b"old")
    monkeypatch.setattr("os.replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_trajectory_netcdf(trajectory(), tmp_path / "t.nc", ("rad",) * 3, {})
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("t.nc", b"old")]


@pytest.mark.parametrize("kind", STRUCTURES)
def test_a_changed_structure_with_a_checksum_that_fits_is_refused(tmp_path, kind):
    """Made on purpose, not by accident: no other file is read, and nothing that memory cannot hold."""
    path, secret = tmp_path / "t.nc", tmp_path / "secret.h5"
    write_trajectory_netcdf(trajectory(), path, ("rad",) * 3, ATTRIBUTES)
    path.write_bytes(path.read_bytes().rpartition(SEAL)[0])
    with h5py.File(secret, "w") as file:
        file["secret"] = np.array([12345.0, 67890.0])
    with h5py.File(path, "a") as file:
        STRUCTURES[kind](file, "position", secret)
    path.write_bytes(seal(path.read_bytes()))
    with pytest.raises(MotionError, match=r"t\.nc: ") as caught:
        read_trajectory_netcdf(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "shape"), [("position", (5, 3)), ("position", (6, 2)), ("position", (6,)), ("time", (6, 1))]
)
def test_arrays_that_do_not_fit_each_other_are_refused(tmp_path, name, shape):
    def make(file):
        file.attrs["format"] = "simbench joint trajectory 1"
        file["joint"] = np.array(["a", "b", "c"], dtype=h5py.string_dtype())
        arrays = {"time": np.arange(6.0), "position": np.zeros((6, 3)), name: np.zeros(shape)}
        for each, values in arrays.items():
            file[each] = values

    sealed(tmp_path / "t.nc", make)
    with pytest.raises(MotionError):
        read_trajectory_netcdf(tmp_path / "t.nc")
