from dataclasses import replace

import h5py
import numpy as np
import pytest
import xarray as xr
from hdf5_damage import STRUCTURES, seal
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.files.netcdf_file import SEAL
from simbench.motion.human_motion import Actor, Gap
from simbench.motion.readers import read_motion
from simbench.motion.readers.netcdf_reader import read_truth
from simbench.motion.writers import write_netcdf

TRUTH = {
    "q": (("time", "coordinate"), np.arange(102.0).reshape(51, 2) / 3, "rad"),
    "coordinate": (("coordinate",), ["flexion", "pronation"], ""),
    "criterion_weight": (("criterion",), [0.25, 0.75], "1"),
    "at_rest": (("time",), np.arange(51) < 10, ""),
}


@pytest.fixture
def full(swing):
    """A motion that has everything, with numbers that no short decimal gives."""
    rng = np.random.default_rng(1)
    return replace(
        swing,
        actor=Actor("Ana", 1.7000000000000002, mass=62.3, sex="female", age=31.0),
        markers={"LSHO": rng.normal(size=(51, 3)), "Rücken 1": rng.normal(size=(51, 3))},
        missing=("pelvis", "left_hip"),
        filled=(Gap("LSHO", 3, 9), Gap("LSHO", 20, 21)),
        notes=("skin", "two\nlines"),
        source="a laboratory",
    )


@pytest.fixture
def path(tmp_path, full):
    write_netcdf(full, tmp_path / "full.nc", TRUTH, {"seed": 7, "criterion": "effort"})
    return tmp_path / "full.nc"


def same(first, second):
    return list(first) == list(second) and all(
        values.tobytes() == second[name].tobytes() for name, values in first.items()
    )


def test_everything_comes_back_bit_for_bit(full, path):
    back = read_motion(path)
    assert back.time.tobytes() == full.time.tobytes()
    assert same(full.joints, back.joints)
    assert same(full.segments, back.segments)
    assert same(full.markers, back.markers)
    assert same(full.initial.joints, back.initial.joints)
    assert same(full.initial.segments, back.initial.segments)
    np.testing.assert_array_equal(back.strokes, full.strokes)
    assert back.actor == full.actor
    assert (back.source, back.notes, back.missing, back.filled) == (
        full.source,
        full.notes,
        full.missing,
        full.filled,
    )


def test_what_a_recording_lacks_it_lacks_afterwards(tmp_path, swing):
    write_netcdf(replace(swing, strokes=None), tmp_path / "bare.nc")
    back = read_motion(tmp_path / "bare.nc")
    assert back.actor is None
    assert back.strokes is None
    assert (dict(back.markers), back.notes, back.missing, back.filled) == ({}, (), (), ())


def test_an_actor_may_be_known_in_part(tmp_path, swing):
    write_netcdf(replace(swing, actor=Actor("Bo", 1.8)), tmp_path / "bo.nc")
    assert read_motion(tmp_path / "bo.nc").actor == Actor("Bo", 1.8)


def test_other_programs_find_names_units_and_descriptions(full, path):
    with xr.open_dataset(path) as data:
        wrist = data.joint_position.sel(joint="left_wrist", xyz="z")
        np.testing.assert_array_equal(wrist, full.joints["left_wrist"][:, 2])
        np.testing.assert_array_equal(wrist.time, full.time)
        hand = data.segment_rotation.sel(segment="right_hand")
        np.testing.assert_array_equal(hand, full.segments["right_hand"][:, :3, :3])
        assert hand.dims == ("time", "row", "column")
        units = {name: data[name].attrs["units"] for name in data.data_vars}
        assert units["marker_position"] == units["joint_position"] == units["initial_joint_position"] == "m"
        assert all(data[name].attrs["description"] for name in data.variables)
        assert data.time.attrs["units"] == "s"


def test_the_same_recording_gives_the_same_bytes(tmp_path, full, path):
    write_netcdf(full, tmp_path / "again.nc", TRUTH, {"seed": 7, "criterion": "effort"})
    assert (tmp_path / "again.nc").read_bytes() == path.read_bytes()


def test_truth_is_kept_beside_the_recording(path):
    truth = read_truth(path)
    np.testing.assert_array_equal(truth.q.sel(coordinate="pronation"), TRUTH["q"][1][:, 1])
    assert truth.q.dims == ("time", "coordinate")
    assert truth.q.attrs["units"] == "rad"
    np.testing.assert_array_equal(truth.criterion_weight, [0.25, 0.75])
    assert truth.at_rest.sum() == 10
    assert truth.attrs["seed"] == 7
    assert truth.attrs["criterion"] == "effort"


def test_a_recording_without_truth_says_so(tmp_path, swing):
    write_netcdf(swing, tmp_path / "bare.nc")
    with pytest.raises(MotionError):
        read_truth(tmp_path / "bare.nc")


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ({"q": (("time",), np.zeros(50), "")}, "q: 50 along time, which has 51"),
        ({"q": (("time", "k"), np.zeros(51), "")}, "q: 1 dimensions, but 2 names"),
    ],
)
def test_truth_that_does_not_fit_leaves_no_file(tmp_path, swing, truth, words):
    with pytest.raises(MotionError, match=words):
        write_netcdf(swing, tmp_path / "bad.nc", truth)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_there_stays_when_writing_fails(tmp_path, swing, path):
    before = path.read_bytes()
    with pytest.raises(MotionError):
        write_netcdf(swing, path, {"q": (("time",), np.zeros(50), "")})
    assert path.read_bytes() == before


def test_a_truncated_file_is_named(path):
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(MotionError, match=r"full\.nc: not a recording that simbench wrote, or not all of it"):
        read_motion(path)


def test_a_changed_byte_is_noticed(path):
    content = bytearray(path.read_bytes())
    content[9000] ^= 1
    path.write_bytes(content)
    with pytest.raises(MotionError, match=r"damaged: its \d+ bytes do not give the checksum"):
        read_motion(path)
    with pytest.raises(MotionError):
        read_truth(path)


def test_another_kind_of_netcdf_is_refused(tmp_path):
    xr.Dataset({"wind": ("time", [1.0, 2.0])}).to_netcdf(tmp_path / "wind.nc", engine="h5netcdf")
    with pytest.raises(MotionError):
        read_motion(tmp_path / "wind.nc")


def test_another_version_is_named(path, monkeypatch):
    monkeypatch.setattr("simbench.motion.readers.netcdf_reader.FORMAT", "simbench human motion 2")
    with pytest.raises(MotionError, match="written as 'simbench human motion 1'; this version reads"):
        read_motion(path)


def test_the_file_is_plain_hdf5_to_others(path):
    with h5py.File(path) as file:
        assert file["joint_position"].dims[0][0].name == "/time"


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_refused(tmp_path_factory, content, signed):
    path = tmp_path_factory.getbasetemp() / "bytes.nc"
    path.write_bytes((b"\x89HDF\r\n\x1a\n" if signed else b"") + content)
    with pytest.raises(MotionError):
        read_motion(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory, swinging_arms):
    path = tmp_path_factory.mktemp("whole") / "whole.nc"
    write_netcdf(swinging_arms(rate=4.0), path)
    return path.read_bytes()


@settings(max_examples=60, deadline=None)
@given(place=st.floats(0.0, 1.0), length=st.integers(0, 20), new=st.binary(max_size=20))
def test_a_damaged_file_is_refused(tmp_path_factory, whole, place, length, new):
    start = int(place * len(whole))
    changed = whole[:start] + new + whole[start + length :]
    path = tmp_path_factory.getbasetemp() / "damaged.nc"
    path.write_bytes(changed)
    if changed != whole:
        with pytest.raises(MotionError):
            read_motion(path)


@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("read", [read_motion, read_truth])
def test_a_changed_structure_with_a_checksum_that_fits_is_refused(path, kind, read):
    """Made on purpose, not by accident: no other file is read, and nothing that memory cannot hold."""
    path.write_bytes(path.read_bytes().rpartition(SEAL)[0])
    secret = path.with_name("secret.h5")
    with h5py.File(secret, "w") as file:
        file["secret"] = np.array([12345.0, 67890.0])
    with h5py.File(path, "a") as file:
        STRUCTURES[kind](file, "truth/q" if read is read_truth else "joint_position", secret)
    path.write_bytes(seal(path.read_bytes()))
    if read is read_truth and kind in ("a group", "text that is not UTF-8"):
        return
    with pytest.raises(MotionError, match=r"full\.nc: ") as caught:
        read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["LSHO\x1b[2J", "two\nlines", "name\u202eeman"])
def test_a_name_that_cannot_be_shown_in_a_line_is_refused(full, tmp_path, name):
    write_netcdf(replace(full, markers={name: np.zeros((51, 3))}, filled=()), tmp_path / "odd.nc")
    with pytest.raises(MotionError) as caught:
        read_motion(tmp_path / "odd.nc")
    assert str(caught.value).isprintable()
