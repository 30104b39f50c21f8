"""Files of arrays give what was put into them; what would run something, or take much memory, is refused."""

import builtins
import collections
import io
import os
import pickle
import struct
import sys
import tracemalloc
import types
import zipfile
from pathlib import Path

import numpy as np
import numpy.testing._private.utils as numpy_utils
import pytest
import scipy.sparse
from smpl_files import Python2Pickler

from simbench.errors import MotionError
from simbench.files.arrays import UNNAMED, read_array_file
from simbench.motion.readers import joint_array
from simbench.runs import execution

MEGABYTE = 2**20


def read(path, content=None):
    if content is not None:
        path.write_bytes(content)
    return read_array_file(path, MotionError)


VALUES = {
    "poses": np.random.default_rng(0).normal(size=(10, 156)),
    "fortran": np.asfortranarray(np.arange(30, dtype=np.float32).reshape(10, 3)),
    "big_endian": np.arange(3, dtype=">f8"),
    "flags": np.array([True, False]),
    "nothing": np.zeros((0, 3)),
    "gender": np.array("männlich"),
    "bytes": np.array(b"male", dtype=object),
    "nested": np.array({"a": np.arange(3)}, dtype=object),
    "rate": 120.0,
    "scalar": np.float32(3.5),
    "integer": 2**70,
    "text": "walk",
    "none": None,
    "list": [np.arange(3), (1, 2.5)],
    "ordered": collections.OrderedDict(a=1),
    "numbered": {7: {"pose": np.arange(4)}},
}


def assert_same(found, expected):
    if isinstance(expected, np.ndarray) and expected.dtype == object:
        expected = expected[()]
    if isinstance(expected, dict):
        assert list(found) == [str(key) for key in expected]
        for key, value in expected.items():
            assert_same(found[str(key)], value)
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    else:
        assert found == expected


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_every_protocol_hold_what_was_put_in(tmp_path, protocol):
    assert_same(read(tmp_path / "a.pkl", pickle.dumps(VALUES, protocol)), VALUES)


def test_pickles_of_python_2_hold_what_was_put_in(tmp_path):
    content = {name: VALUES[name] for name in ("poses", "fortran", "flags", "rate", "text", "list", "bytes")}
    stream = io.BytesIO()
    Python2Pickler(stream, 2).dump(content)
    found = read(tmp_path / "a.pkl", stream.getvalue())
    assert found.pop("bytes") == "male"
    del content["bytes"]
    assert_same(found, content)


def test_archives_and_arrays_hold_what_was_put_in(tmp_path):
    arrays = {name: value for name, value in VALUES.items() if isinstance(value, np.ndarray | float)}
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **arrays)
        assert_same(read(tmp_path / "a.npz"), {name: np.asarray(value) for name, value in arrays.items()})
    assert list(read_array_file(tmp_path / "a.npz", MotionError, ("poses", "trans"))) == ["poses"]
    np.save(tmp_path / "a.npy", VALUES["poses"])
    np.testing.assert_array_equal(read(tmp_path / "a.npy")[UNNAMED], VALUES["poses"])
    np.save(tmp_path / "b.npy", VALUES, allow_pickle=True)
    assert_same(read(tmp_path / "b.npy"), VALUES)


@pytest.mark.parametrize("kind", ["csc_matrix", "csr_matrix", "csc_array"])
@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_sparse_matrices_are_read_as_data(tmp_path, kind, protocol):
    dense = np.random.default_rng(1).normal(size=(4, 9)) * (np.random.default_rng(2).random((4, 9)) > 0.7)
    content = pickle.dumps({"J_regressor": getattr(scipy.sparse, kind)(dense)}, protocol)
    np.testing.assert_array_equal(read(tmp_path / "a.pkl", content)["J_regressor"].to_dense(), dense)


class JoblibPickler(pickle._Pickler):
    """Writes arrays as joblib does: a description, then the bytes outside of the pickle's frames."""

    def save(self, obj, save_persistent_id=True):
        if type(obj) is np.ndarray:
            wrapper = sys.modules["joblib.numpy_pickle"].NumpyArrayWrapper()
            wrapper.__dict__.update(
                dtype=obj.dtype, shape=obj.shape, order="C", numpy_array_alignment_bytes=16
            )
            super().save(wrapper)
            self.framer.commit_frame(force=True)
            self._file_write(b"\x03\xff\xff\xff" + obj.tobytes())
            return
        super().save(obj, save_persistent_id)


def test_arrays_that_joblib_wrote_are_read(tmp_path, monkeypatch):
    module = types.ModuleType("joblib.numpy_pickle")
    module.NumpyArrayWrapper = type("NumpyArrayWrapper", (), {"__module__": "joblib.numpy_pickle"})
    monkeypatch.setitem(sys.modules, "joblib", types.ModuleType("joblib"))
    monkeypatch.setitem(sys.modules, "joblib.numpy_pickle", module)
    stream = io.BytesIO()
    content = {1: {"pose": VALUES["poses"], "trans": np.arange(6.0).reshape(2, 3)}}
    JoblibPickler(stream, 4).dump(content)
    assert_same(read(tmp_path / "wham.pkl", stream.getvalue()), content)


class Calls:
    """An object whose pickle calls a function when it is loaded."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def malicious(path):
    return [
        Calls(os.system, f"touch {path}"),
        Calls(os.mkdir, str(path)),
        Calls(builtins.open, str(path), "w"),
        Calls(builtins.eval, f"open({str(path)!r}, 'w')"),
        Calls(builtins.exec, f"open({str(path)!r}, 'w')"),
        Calls(getattr, os, "system"),
        Calls(numpy_utils.runstring, f"open({str(path)!r}, 'w')", {}),
        Calls(np.save, str(path), np.zeros(2)),
        Calls(np.zeros, (10,)),
        Calls(np.memmap, str(path), np.float64, "w+"),
        Calls(bytearray, 10**9),
        Calls(bytes, 10**9),
        Calls(Path, str(path)),
        Calls(execution.JobResult, 1),
        collections.defaultdict(os.getcwd, a=Calls(os.mkdir, str(path))),
        {Calls(os.mkdir, str(path)): 1},
        [1, (2, {"a": Calls(os.mkdir, str(path))})],
    ]


@pytest.mark.parametrize("kind", range(len(malicious(""))))
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_nothing_in_a_pickle_is_run(tmp_path, kind, protocol):
    made = tmp_path / "made"
    evil = malicious(made)[kind]
    if kind == 5:
        evil = Calls(getattr, Calls(__import__, "os"), "system")
    content = pickle.dumps({"poses": np.zeros((3, 72)), "trans": evil}, protocol)
    path = tmp_path / "a.pkl"
    with pytest.raises(MotionError) as raised:
        read(path, content)
    assert "\n" not in str(raised.value)
    assert list(tmp_path.iterdir()) == [path]
    # The same within an archive, as an array of objects.
    archive = tmp_path / "a.npz"
    with zipfile.ZipFile(archive, "w") as stream:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "|O", "fortran_order": False, "shape": ()})
        stream.writestr("poses.npy", header.getvalue() + content)
    with pytest.raises(MotionError):
        read(archive)
    assert sorted(tmp_path.iterdir()) == [archive, path]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"cos\nsystem\n(S'ls'\ntR.", "names os.system is not read"),
        (b"(S'ls'\nios\nsystem\n.", "not a pickle of arrays"),
        (b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R.", "names os.system"),
        (b"\x80\x04\x8c\x05torch\x8c\x03x\ny\x93.", "PyTorch tensors"),
        (b"\x80\x02cchumpy.ch\nCh\n)\x81}b.", "chumpy arrays"),
        (b"\x80\x09N.", "not a pickle of arrays, or a damaged one"),
        (b"\x80\x02c_codecs\nencode\n}X\x01\x00\x00\x00aNsb.", "a state of what has none"),
        (b"\x80\x02}N" + b"\x85" * 500_000 + b"Ns.", "keys other than texts and numbers"),
        (b"\x80\x02N", "ends too early"),
        (b"hello", "not a pickle of arrays"),
    ],
)
def test_other_instructions_are_refused(tmp_path, content, words):
    with pytest.raises(MotionError, match=words) as raised:
        read(tmp_path / "a.pkl", content)
    assert "\n" not in str(raised.value)


def test_flags_of_an_element_type_make_no_pointers_of_numbers(tmp_path):
    content = pickle.dumps(np.arange(1.0, 4.0), 2)
    flagged = content.replace(b"K\x00t", b"K\x3ft")
    assert flagged != content
    np.testing.assert_array_equal(read(tmp_path / "a.pkl", flagged)[UNNAMED], [1.0, 2.0, 3.0])


def deep(opening, closing, levels):
    return b"\x80\x02" + opening * levels + b"N" + closing * levels + b"."


def laughs(levels, width):
    """Lists of many times the same list, which is one again."""
    inner = b"]" + b"q\x00" + b"(" + b"N" * width + b"e"
    for level in range(1, levels):
        inner = inner + b"0" + b"]" + b"q" + bytes([level]) + b"(" + b"h" + bytes([level - 1])
        inner += (b"h" + bytes([level - 1])) * (width - 1) + b"e"
    return b"\x80\x02" + inner + b"."


def header(shape, descr="<f8"):
    stream = io.BytesIO()
    stream.write(b"\x93NUMPY\x01\x00")
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    return stream.getvalue() + struct.pack("<H", len(text)) + text


def zip_bomb(count):
    """An archive whose directory says that its array has so many bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", header((count,), "|u1") + bytes(MEGABYTE))
    content = bytearray(stream.getvalue())
    place = content.rindex(b"PK\x01\x02") + 24
    content[place : place + 4] = struct.pack("<I", count + 128)
    return bytes(content)


BOMBS = {
    "memo index": lambda: b"\x80\x02Nr\xff\xff\xff\xff" + b"q\x00" * 5 + b"X\xff",
    "bytes": lambda: b"\x80\x04\x8e" + struct.pack("<Q", 2**62) + b"ab.",
    "text": lambda: b"\x80\x04\x8d" + struct.pack("<Q", 2**63) + b"ab.",
    "long": lambda: b"\x80\x02\x8b" + struct.pack("<i", 2**31 - 1) + b"ab.",
    "array": lambda: pickle.dumps(np.zeros(2), 2).replace(b"K\x02\x85", b"J\xff\xff\xff\x7f\x85"),
    "deep lists": lambda: deep(b"]", b"a", 20_000),
    "itself": lambda: b"\x80\x02]q\x00h\x00a.",
    "laughs": lambda: laughs(50, 10),
    "npy": lambda: header((10**12,)) + bytes(80),
    "npy overflow": lambda: header((2**62, 2**62)) + bytes(80),
    "npy negative": lambda: header((-1, -8)) + bytes(80),
    "npy records": lambda: header((2,), "(1000000,)f8") + bytes(80),
    "zip": lambda: zip_bomb(2**31),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_within_little_memory(tmp_path, name):
    path = tmp_path / "bomb.pkl"
    path.write_bytes(BOMBS[name]())
    tracemalloc.start()
    try:
        with pytest.raises(MotionError) as raised:
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 50 * MEGABYTE
    finally:
        tracemalloc.stop()
    assert "\n" not in str(raised.value)


def test_lists_that_hold_the_same_list_many_times_are_read_once(tmp_path):
    path = tmp_path / "a.pkl"
    path.write_bytes(laughs(30, 50))
    with pytest.raises(MotionError):
        joint_array.read_archive(path, None)


def test_more_values_than_a_recording_has_are_refused(tmp_path):
    with pytest.raises(MotionError):
        read(tmp_path / "a.pkl", b"\x80\x02](" + b"N" * 1_000_000 + b"e.")


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("suffix", [".npy", ".pkl"])
def test_texts_of_impossible_characters_are_refused(tmp_path, order, suffix):
    text = np.array(["male"], f"{order}U4")
    stream = io.BytesIO()
    np.save(stream, text)
    content = stream.getvalue() if suffix == ".npy" else pickle.dumps(text, 4)
    np.testing.assert_array_equal(read(tmp_path / f"a{suffix}", content)[UNNAMED], text)
    with pytest.raises(MotionError):
        read(tmp_path / f"b{suffix}", content.replace(text.tobytes(), b"\xff" * 16))
