"""NetCDF through h5py: xarray's own engine reads what we write, and we read what it writes."""

from io import BytesIO

import h5py
import numpy as np
import pytest
import xarray as xr

from simbench.files.hdf5.netcdf_group import NetcdfGroup, decode_dataset, encode_dataset, writing_in_memory


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


def from_h5py(content):
    with h5py.File(BytesIO(content)) as file:
        return decode_dataset(file)


def from_xarray(content):
    with xr.open_dataset(BytesIO(content), engine="h5netcdf") as dataset:
        return dataset.load()


def by_xarray(dataset):
    memory = BytesIO()
    dataset.to_netcdf(memory, engine="h5netcdf")
    return memory.getvalue()


def by_h5py(dataset):
    return encode_dataset(dataset, 4)


@pytest.mark.parametrize("encode", [by_h5py, by_xarray])
@pytest.mark.parametrize("decode", [from_h5py, from_xarray])
def test_what_was_written_is_read(encode, decode):
    expected, read = everything(), decode(encode(everything()))
    for name, variable in expected.variables.items():
        if variable.size:
            xr.testing.assert_identical(read[name].variable, variable)
            assert read[name].dtype.kind == variable.dtype.kind
        else:
            assert (read[name].dims, read[name].shape) == (variable.dims, variable.shape)
    assert set(read.variables) == set(expected.variables)
    assert set(read.coords) == set(expected.coords)
    assert read.attrs == expected.attrs


def test_missing_values_and_units_of_time_are_decoded():
    dataset = xr.Dataset({"count": ("x", [1.0, np.nan]), "when": ("x", np.array([0, 60], "timedelta64[s]"))})
    memory = BytesIO()
    dataset.to_netcdf(memory, engine="h5netcdf", encoding={"count": {"dtype": "int16", "_FillValue": -1}})
    xr.testing.assert_equal(from_h5py(memory.getvalue()), from_xarray(memory.getvalue()))
    assert np.isnan(from_h5py(memory.getvalue())["count"].values[1])


def test_numbers_are_compressed_and_the_bytes_are_the_same_each_time():
    dataset = xr.Dataset({"zero": (("time", "xyz"), np.zeros((5000, 3)))}, coords={"time": np.zeros(5000)})
    content = encode_dataset(dataset, 4)
    assert len(content) < 0.1 * 8 * 4 * 5000
    assert encode_dataset(dataset, 4) == content


def test_a_variable_without_dimensions_is_refused():
    content = bytearray()
    with writing_in_memory(content) as file:
        file["bare"] = [1.0, 2.0]
    with pytest.raises(ValueError, match="/bare: 1 dimensions, but 0 names"):
        from_h5py(bytes(content))


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
