"""NetCDF files: xarray reads what we write; nothing outside a file, or larger than it can hold, is read."""

import os
import signal
import subprocess
from io import BytesIO

import h5py
import numpy as np
import pytest
import xarray as xr
from hdf5_damage import STRUCTURES

from simbench.errors import RunError
from simbench.files import netcdf_file
from simbench.files.netcdf_file import (
    LEAST_LIMIT,
    NetcdfGroup,
    UnsafeFileError,
    check_structure,
    encode_dataset,
    load_dataset,
    probe_file,
    reading,
    writing_in_memory,
)


def everything():
    """A dataset with numbers, flags, texts, labels, dimensions without labels, and nothing along one."""
    rng = np.random.default_rng(0)
    force = rng.normal(size=(5, 2, 3))
    force[1, 0] = np.nan
    return xr.Dataset(
        {
            "force": (("time", "hand", "xyz"), force, {"units": "N", "description": "Grüße ²"}),
            "held": (("time", "hand"), force[:, :, 0] > 0, {"units": ""}),
            "first": (("contact",), np.array([], dtype=str), {"units": ""}),
            "start": (("contact",), np.zeros(0), {"units": "s"}),
            "stroke": (("row", "column"), np.arange(6).reshape(3, 2), {"units": ""}),
            "mass": ((), 3.5, {"units": "kg"}),
        },
        coords={
            "time": ("time", np.linspace(0.0, 1.0, 5), {"units": "s"}),
            "hand": ("hand", ["left", "right"], {"description": "Hands."}),
        },
        attrs={"robot": "romeo", "mass_kg": 40.5, "steps": 7, "links": ""},
    )


def by_xarray(dataset):
    memory = BytesIO()
    dataset.to_netcdf(memory, engine="h5netcdf")
    return memory.getvalue()


def by_h5py(dataset):
    return encode_dataset(dataset, 4)


@pytest.mark.parametrize("encode", [by_h5py, by_xarray])
def test_what_was_written_is_read(encode, tmp_path):
    (tmp_path / "log.nc").write_bytes(encode(everything()))
    expected, read = everything(), load_dataset(tmp_path / "log.nc")
    for name, variable in expected.variables.items():
        if variable.size:
            xr.testing.assert_identical(read[name].variable, variable)
            assert read[name].dtype.kind == variable.dtype.kind
        else:
            assert (read[name].dims, read[name].shape) == (variable.dims, variable.shape)
    assert set(read.variables) == set(expected.variables)
    assert set(read.coords) == set(expected.coords)
    assert read.attrs == expected.attrs


def test_numbers_are_compressed_and_the_bytes_are_the_same_each_time():
    dataset = xr.Dataset({"zero": (("time", "xyz"), np.zeros((5000, 3)))}, coords={"time": np.zeros(5000)})
    content = encode_dataset(dataset, 4)
    assert len(content) < 0.1 * 8 * 4 * 5000
    assert encode_dataset(dataset, 4) == content


def test_a_variable_without_dimensions_is_refused(tmp_path):
    content = bytearray()
    with writing_in_memory(content) as file:
        file["bare"] = [1.0, 2.0]
    (tmp_path / "log.nc").write_bytes(content)
    with pytest.raises(ValueError, match="bare: 1 dimensions, but not as many names"):
        load_dataset(tmp_path / "log.nc")


@pytest.mark.parametrize(
    ("dims", "message"),
    [(("time",), "second: 2 dimensions, but 1 names"), (("time", "x"), "second: 4 along time, which has 3")],
)
def test_variables_that_do_not_fit_are_refused(dims, message):
    with writing_in_memory(bytearray()) as file:
        group = NetcdfGroup(file)
        group.add("first", ("time",), np.zeros(3), {})
        with pytest.raises(ValueError, match=message):
            group.add("second", dims, np.zeros((4, 2)), {})


DECLARED = {"decompression bomb", "enormous chunk", "millions of texts"}
OUTSIDE = {"external link", "external storage", "virtual dataset"}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "plain.nc"
    with h5py.File(path, "w") as file:
        file["time"] = np.arange(4.0)
        file["position"] = np.arange(8.0).reshape(4, 2)
        file["name"] = np.array(["a", "b"], dtype=h5py.string_dtype())
        file["position"].attrs["units"] = "m"
        file.create_dataset("packed", data=np.zeros(5000), compression="gzip", shuffle=True, fletcher32=True)
    return path


def test_the_bytes_of_all_variables_are_added(path):
    """Texts of variable length count as what HDF5 stores of each: its length and place, 16 bytes."""
    with h5py.File(path) as file:
        item = file["name"].dtype.itemsize
        assert check_structure(file, path.stat().st_size) == 8 * (4 + 8 + 5000) + 2 * item


@pytest.mark.parametrize("kind", STRUCTURES)
def test_a_changed_structure_is_one_error(path, tmp_path, kind):
    """What is refused is refused before anything is read; the rest may read, but nothing from outside."""
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["secret"] = np.array([12345.0, 67890.0])
    with h5py.File(path, "a") as file:
        STRUCTURES[kind](file, "packed", secret)
    if kind in ("a group", "text that is not UTF-8"):
        with h5py.File(path) as file:
            check_structure(file, path.stat().st_size)
        return
    with h5py.File(path) as file, pytest.raises((UnsafeFileError, KeyError)) as caught:
        check_structure(file, path.stat().st_size)
    words = "cannot hold|texts" if kind in DECLARED else "own data" if kind in OUTSIDE else ""
    assert caught.match(words)
    with pytest.raises(RunError) as caught, reading(path, RunError):
        load_dataset(path)
    assert "\n" not in str(caught.value)


def test_many_small_variables_are_as_large_as_one(path):
    with h5py.File(path, "a") as file:
        for number in range(3):
            file.create_dataset(f"part{number}", shape=(LEAST_LIMIT // 16,), dtype="f8", chunks=(1000,))
    with h5py.File(path) as file, pytest.raises(UnsafeFileError, match=r"declare \d+ bytes, which"):
        check_structure(file, path.stat().st_size)


def test_a_large_file_may_declare_more(path):
    """Otherwise a long log could not be read: the limit grows with the file."""
    with h5py.File(path, "a") as file:
        file.create_dataset("long", shape=(LEAST_LIMIT // 4,), dtype="f8", chunks=(1000,))
    with h5py.File(path) as file:
        assert check_structure(file, LEAST_LIMIT) > 2 * LEAST_LIMIT


@pytest.mark.parametrize("of", ["file", "variable"])
def test_a_large_attribute_is_refused(path, of):
    with h5py.File(path, "w", libver="latest") as file:
        file["time"] = np.arange(4.0)
        item = file if of == "file" else file["time"]
        item.attrs["long"] = np.zeros(9000)
    with h5py.File(path) as file, pytest.raises(UnsafeFileError, match="an attribute is larger than 65536"):
        check_structure(file, path.stat().st_size)


@pytest.mark.parametrize(
    "raised",
    [
        OSError("bad\nblock"),
        KeyError("no\nobject"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_error_of_the_libraries_becomes_one_line(tmp_path, raised):
    with pytest.raises(RunError) as caught, reading(tmp_path / "log.nc", RunError):
        raise raised
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'log.nc'}: cannot be read: ")
    assert "\n" not in message
    assert not message.endswith(": ")


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "a file.nc"
    xr.Dataset({"angle": ("time", np.linspace(0.0, 1.0, 500), {"units": "rad"})}).to_netcdf(
        path, engine="h5netcdf"
    )
    return path


def test_a_whole_file_passes_and_a_cut_one_says_why(whole):
    assert probe_file(whole) == ""
    whole.write_bytes(whole.read_bytes()[:1000])
    reason = probe_file(whole)
    assert "truncated file" in reason
    assert "\n" not in reason


@pytest.mark.parametrize("status", [-signal.SIGSEGV, -signal.SIGXCPU, -signal.SIGKILL, 1, 139])
def test_a_process_that_dies_is_a_reason(whole, monkeypatch, status):
    def died(command, **options):
        assert os.fspath(whole) in command
        return subprocess.CompletedProcess(command, status, b"half a")

    monkeypatch.setattr(netcdf_file.subprocess, "run", died)
    assert probe_file(whole) == "the HDF5 library crashes, or takes too long, reading it"


def test_the_trial_is_limited_in_time_and_memory(monkeypatch):
    """Limits follow what the file declares; only the soft ones, so that they can be raised again."""
    limits = {}
    monkeypatch.setattr(
        netcdf_file.resource, "getrlimit", lambda which: (5, netcdf_file.resource.RLIM_INFINITY)
    )
    monkeypatch.setattr(
        netcdf_file.resource, "setrlimit", lambda which, values: limits.update({which: values})
    )
    netcdf_file._limit(0)
    least = dict(limits)
    netcdf_file._limit(200 << 20)
    for which, more in ((netcdf_file.resource.RLIMIT_CPU, 10), (netcdf_file.resource.RLIMIT_AS, 400 << 20)):
        assert limits[which][0] - least[which][0] == pytest.approx(more, rel=0.3)
        assert limits[which][1] == netcdf_file.resource.RLIM_INFINITY
