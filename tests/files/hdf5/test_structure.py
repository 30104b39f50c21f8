"""What a file declares is checked before it is read: nothing outside it, nothing larger than it can hold."""

import h5py
import numpy as np
import pytest
from hdf5_damage import STRUCTURES

from simbench.errors import RunError
from simbench.files.hdf5.dataset import load_dataset, reading
from simbench.files.hdf5.structure import LEAST_LIMIT, UnsafeFileError, check_structure

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
    with pytest.raises(RunError, match=r"plain\.nc: cannot be read: ") as caught, reading(path, RunError):
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
        RuntimeError("two\nlines"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"),
        TypeError(),
        AttributeError("x"),
        OverflowError("x"),
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
