"""The checksum at the end of a file: what it finds, what HDF5 makes of it, and when it is gone."""

import hashlib

import h5py
import numpy as np
import pytest
import xarray as xr
from hdf5_damage import damage_bytes

from simbench.files.netcdf_file import SEAL, SealState, encode_dataset, inspect_seal


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "sealed.nc"
    angle = xr.Dataset({"angle": ("time", np.linspace(0.0, 1.0, 500), {"units": "rad"})})
    path.write_bytes(encode_dataset(angle, 4))
    return path


def test_a_seal_is_the_checksum_of_what_is_before_it(path):
    content, separator, digits = path.read_bytes().rpartition(SEAL)
    assert separator
    assert digits == hashlib.sha256(content).hexdigest().encode()
    assert inspect_seal(path) is SealState.INTACT


def test_every_changed_byte_before_the_seal_is_found(path):
    """Each kind of damage; what touches the seal itself may make it absent, but never intact."""
    content = path.read_bytes()
    tail = len(content) - len(SEAL) - 64
    seen = set()
    for seed in range(300):
        kind, damaged = damage_bytes(content, np.random.default_rng(seed))
        path.write_bytes(damaged)
        state = inspect_seal(path)
        assert (state is SealState.INTACT) == (damaged == content), (seed, kind)
        if (
            len(damaged) == len(content)
            and damaged[:tail] != content[:tail]
            and damaged[tail:] == content[tail:]
        ):
            assert state is SealState.BROKEN, (seed, kind)
        seen.add((kind, state))
    assert {state for _, state in seen} >= {SealState.BROKEN, SealState.ABSENT}
    assert len({kind for kind, _ in seen}) == 7


@pytest.mark.parametrize("length", [0, 1, len(SEAL) + 64])
def test_a_short_file_has_no_seal(path, length):
    path.write_bytes(b"x" * length)
    assert inspect_seal(path) is SealState.ABSENT


def test_a_program_that_changes_the_file_removes_the_seal(path):
    """In place, as HDF5 does; what it wrote is there, and no checksum contradicts it."""
    with h5py.File(path, "a") as file:
        file["angle"][0] = 7.0
        file["more"] = np.zeros(100)
    assert inspect_seal(path) is SealState.ABSENT
    with h5py.File(path) as file:
        assert file["angle"][0] == 7.0


def test_other_programs_read_past_the_seal(path):
    with xr.open_dataset(path, engine="h5netcdf") as dataset:
        assert float(dataset["angle"][-1]) == 1.0
