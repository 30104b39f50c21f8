import struct

import ezc3d
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.c3d_reader import read_c3d

NAMES = ("LSHO", "LELB", "LWRA")
POSITIONS = np.random.default_rng(3).uniform(-1.8, 1.8, size=(6, 3, 3))


ORDER = {"": "<"}


def number(value, processor):
    """A 32-bit float as Intel stores it, or as a VAX does: four times as large, halves swapped."""
    if processor == "dec":
        raw = struct.pack("<f", 4 * value)
        return raw[2:] + raw[:2]
    if processor == "mips":
        return struct.pack(">f", value)
    return struct.pack("<f", value)


def pack(form, *values):
    """Bytes of numbers in the order of `ORDER`, which a test may change."""
    return struct.pack(ORDER[""] + form, *values)


def record(name, group, content):
    return pack("bb", len(name), group) + name.encode() + pack("H", 2 + len(content)) + content


def group(name, identity):
    return record(name, -identity, b"\0")


def parameter(name, identity, kind, shape, data):
    return record(name, identity, pack("bB", kind, len(shape)) + bytes(shape) + data + b"\0")


def texts(name, identity, values):
    width = max(map(len, values))
    data = "".join(value.ljust(width) for value in values).encode()
    return parameter(name, identity, -1, [width, len(values)], data)


def hand_made(
    positions=POSITIONS,
    names=NAMES,
    processor="intel",
    scale=-1.0,
    unit="mm",
    extra=b"",
    residuals=None,
    first=1,
    rate=100.0,
):
    """A C3D file of points in mm, byte by byte from the format's description."""
    frames, count, _ = positions.shape
    words = (
        group("POINT", 1)
        + parameter("USED", 1, 2, [], pack("H", count))
        + parameter("FRAMES", 1, 2, [], pack("H", frames))
        + parameter("SCALE", 1, 4, [], number(scale, processor))
        + parameter("RATE", 1, 4, [], number(rate, processor))
        + texts("LABELS", 1, names)
        + parameter("UNITS", 1, -1, [len(unit)], unit.encode())
        + extra
        + b"\0"
    )
    blocks = -(-(len(words) + 4) // 512)
    section = (bytes([1, 80, blocks, {"intel": 84, "dec": 85, "mips": 86}[processor]]) + words).ljust(
        512 * blocks, b"\0"
    )
    header = pack("BB5H", 2, 80, count, 0, first, first + frames - 1, 10) + number(scale, processor)
    header += pack("HH", 2 + blocks, 0) + number(rate, processor)
    residuals = np.zeros((frames, count)) if residuals is None else residuals
    data = b""
    for point, residual in zip(1000 * positions.reshape(-1, 3), residuals.astype(int).ravel(), strict=True):
        if scale < 0:
            data += b"".join(number(value, processor) for value in (*point, residual))
        else:
            data += pack("4h", *np.rint(point / scale).astype(int), residual)
    return header.ljust(512, b"\0") + section + data


def read(folder, content, **options):
    path = folder / "trial.c3d"
    path.write_bytes(content)
    return read_c3d(path, ReadOptions(**options))


@pytest.mark.parametrize("processor", ["intel", "dec"])
@pytest.mark.parametrize(("scale", "precision"), [(-1.0, 1e-7), (0.1, 0.5e-4 + 1e-9)])
def test_floats_and_scaled_integers_of_two_kinds_of_machine(tmp_path, processor, scale, precision):
    recording = read(tmp_path, hand_made(processor=processor, scale=scale))
    assert recording.names == NAMES
    assert recording.unit == "mm"
    assert recording.up is None
    np.testing.assert_allclose(recording.positions, POSITIONS, rtol=0, atol=precision)
    np.testing.assert_allclose(recording.time, np.arange(6) / 100, rtol=0, atol=1e-12)


def test_most_significant_byte_first(tmp_path, monkeypatch):
    monkeypatch.setitem(ORDER, "", ">")
    for scale, precision in ((-1.0, 1e-7), (0.1, 0.5e-4 + 1e-9)):
        recording = read(tmp_path, hand_made(processor="mips", scale=scale), strict=True)
        np.testing.assert_allclose(recording.positions, POSITIONS, rtol=0, atol=precision)


def test_a_negative_residual_or_three_zeros_is_a_marker_not_seen(tmp_path):
    residuals, positions = np.zeros((6, 3)), POSITIONS.copy()
    residuals[2:4, 1] = -1
    # The last frames empty: a library that drops them must not shorten the recording.
    positions[4:] = 0.0
    recording = read(tmp_path, hand_made(positions, residuals=residuals))
    expected = np.zeros((6, 3), dtype=bool)
    expected[2:4, 1] = expected[4:] = True
    np.testing.assert_array_equal(np.isnan(recording.positions).all(axis=2), expected)
    np.testing.assert_array_equal(np.isnan(recording.positions).any(axis=2), expected)


@pytest.mark.parametrize(
    ("written", "declared", "factor"),
    [("m", None, 1000), ("CM", None, 10), ("mm", "cm", 10), ("ells", "in", 25.4)],
)
def test_the_unit_is_the_files_unless_declared(tmp_path, written, declared, factor):
    recording = read(tmp_path, hand_made(unit=written), unit=declared)
    np.testing.assert_allclose(recording.positions, factor * POSITIONS, rtol=1e-6)


def test_unlabelled_points_and_model_outputs_are_left_out_and_counted(tmp_path):
    names = ("Ann:LSHO", "Ann:*7", "Ann:LElbowAngles", "Ann:LWRA", "", "Ann:RSHO")
    positions = np.random.default_rng(1).uniform(0.1, 1, size=(4, 6, 3))
    extra = texts("ANGLES", 1, ("Ann:LElbowAngles", "Ann:RElbowAngles"))
    recording = read(tmp_path, hand_made(positions, names, extra=extra))
    assert recording.names == ("LSHO", "LWRA", "RSHO")
    np.testing.assert_allclose(recording.positions, positions[:, [0, 3, 5]], atol=1e-7)
    assert recording.notes == (
        "prefix of all names dropped: Ann:",
        "2 unlabelled points ignored",
        "1 model outputs that are not positions ignored",
    )


def test_prefixes_that_differ_stay(tmp_path):
    names = ("Ann:LSHO", "Bob:LSHO", "Bob:LELB")
    assert read(tmp_path, hand_made(names=names)).names == names


def test_events_are_counted_from_the_first_stored_frame(tmp_path):
    # Stored from frame 51 of the trial on, at 100 Hz: the trial's 0.75 s is the file's 0.25 s.
    extra = group("EVENT", 2) + parameter("USED", 2, 2, [], struct.pack("<H", 2))
    extra += parameter("TIMES", 2, 4, [2, 2], struct.pack("<4f", 1.0, 5.5, 0.0, 0.75))
    extra += texts("LABELS", 2, ("turn", "Foot Strike")) + texts("CONTEXTS", 2, ("General", "Left"))
    recording = read(tmp_path, hand_made(extra=extra, first=51))
    assert [label for label, _ in recording.events] == ["Left Foot Strike", "turn"]
    np.testing.assert_allclose([time for _, time in recording.events], [0.25, 65.0], atol=1e-6)


def test_axes_actor_and_names_beyond_255_points_among_analog_channels(tmp_path):
    rng = np.random.default_rng(2)
    points = rng.uniform(-900, 900, size=(3, 300, 5))
    file = ezc3d.c3d()
    file["parameters"]["POINT"]["RATE"]["value"] = [120.0]
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["parameters"]["POINT"]["LABELS"]["value"] = [f"p{k}" for k in range(300)]
    file["data"]["points"] = points
    file["parameters"]["ANALOG"]["RATE"]["value"] = [1200.0]
    file["parameters"]["ANALOG"]["LABELS"]["value"] = ["Fx", "Fy"]
    file["data"]["analogs"] = rng.normal(size=(1, 2, 50))
    file.add_parameter("POINT", "X_SCREEN", ["+X"])
    file.add_parameter("POINT", "Y_SCREEN", ["+Z"])
    file.add_parameter("SUBJECTS", "NAMES", ["Ann"])
    file.add_parameter("PROCESSING", "Bodymass", [61.5])
    file.add_parameter("PROCESSING", "Height", [1712.0])
    file.write(str(tmp_path / "many.c3d"))
    recording = read_c3d(tmp_path / "many.c3d", ReadOptions())
    assert recording.names == tuple(f"p{k}" for k in range(300))
    np.testing.assert_allclose(1000 * recording.positions, points.transpose(2, 1, 0), atol=1e-4)
    assert recording.up == "z"
    assert dict(recording.details) == {"actor": "Ann", "mass": "61.5", "height": "1.712"}
    assert 1 / recording.time[1] == pytest.approx(120)


def patched(content, at, data):
    return content[:at] + data + content[at + len(data) :]


WHOLE = hand_made()
FIRST_X = len(WHOLE) - 6 * 3 * 16
DAMAGED = {
    "empty": (b"", r"not a C3D file"),
    "text": (b"PathFileType\t4\t(X/Y/Z)\n" * 40, r"not a C3D file"),
    "cut in the parameters": (WHOLE[:600], r"truncated: the parameters are not complete"),
    "cut in the data": (
        WHOLE[:-1],
        r"truncated: 6 frames of 3 points .* end at byte 1312, the file has 1311",
    ),
    "points": (patched(WHOLE, 2, b"\x07\0"), r"points: 7 by the header, 3 by the parameters"),
    "no frames": (hand_made(POSITIONS[:0]), r"3 points in 0 frames"),
    "rate": (patched(WHOLE, 20, struct.pack("<f", 50)), r"frame rate is 50 Hz by the header and 100 Hz"),
    "NaN rate": (hand_made(rate=np.nan), r"frame rate is nan.*declare it \(--fps\)"),
    "processor": (patched(WHOLE, 515, b"\x57"), r"allowed are .* 86 \(MIPS\)"),
    "names twice": (hand_made(names=("A", "B", "A")), r"points 1, 3 are all named 'A'"),
    "unit": (hand_made(unit="ells"), r"POINT:UNITS: unit of length 'ells' unknown; allowed: m, cm, mm, in"),
    "infinite": (patched(WHOLE, FIRST_X, struct.pack("<f", np.inf)), r"frame 1, point 1: x is inf"),
    "value missing": (
        WHOLE.replace(b"RATE\x09\0\x04\0", b"RATE\x09\0\x04\x01"),
        r"parameter section is damaged|dimensions|truncated",
    ),
    "character without length": (
        hand_made(extra=parameter("X", 1, -1, [], b"")),
        r"parameter X has type -1 and dimensions \(\)",
    ),
    "empty array of many dimensions": (
        hand_made(extra=parameter("X", 1, 2, [255] * 6 + [0], b"")),
        r"parameter X has type 2 and dimensions",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_gives_one_clear_line(tmp_path, name):
    content, message = DAMAGED[name]
    with pytest.raises(MotionError, match=message) as error:
        read(tmp_path, content, strict=True)
    assert "\n" not in str(error.value)
    assert "trial.c3d" in str(error.value)


def with_counts(
    points=None, frames=None, used=None, count=None, samples=0, labels=NAMES, extra=b"", tail=b""
):
    """The same file with counts that its header (`points`, `frames`) or its parameters get wrong."""
    content = hand_made(names=labels, extra=extra)
    for at, value in ((2, points), (8, frames), (4, samples)):
        content = content if value is None else patched(content, at, struct.pack("<H", value))
    for name, value in ((b"USED", used), (b"FRAMES", count)):
        if value is not None:
            at = content.index(name) + len(name) + 4
            content = patched(content, at, struct.pack("<H", value))
    return content + tail


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (with_counts(frames=5), "frames: 5 by the header, 6 by the parameters"),
        (with_counts(count=7), "frames: 6 by the header, 7 by the parameters"),
        (with_counts(points=0), "points: 0 by the header"),
        (with_counts(used=0), "points: 3 by the header, 0 by the parameters"),
        (patched(WHOLE, 16, b"\x09\0"), None),
        (with_counts(extra=parameter("X", 1, 7, [], b"")), "parameter X has type 7"),
        (with_counts(extra=group("ANALOG", 2) + parameter("USED", 2, 2, [0], b"")), "ANALOG:USED"),
        (patched(WHOLE, 12, struct.pack("<f", 1.0)), "scales of points"),
        (patched(WHOLE, 20, struct.pack("<f", 0.0)), "the frame rate is 0 Hz by the header and 100 Hz"),
    ],
)
def test_counts_that_disagree_are_decided_by_the_data(tmp_path, content, word):
    recording = read(tmp_path, content)
    np.testing.assert_allclose(recording.positions, POSITIONS, rtol=0, atol=1e-7)
    np.testing.assert_allclose(recording.time, np.arange(6) / 100, rtol=0, atol=1e-9)
    said = (*recording.notes, *recording.doubts)
    assert word is None or any(word in line for line in said)


def test_of_a_truncated_file_the_whole_frames_are_read(tmp_path):
    recording = read(tmp_path, WHOLE[:-50])
    np.testing.assert_allclose(recording.positions, POSITIONS[:4], rtol=0, atol=1e-7)
    assert recording.doubts[0].startswith("truncated: 6 frames of 3 points")
    assert recording.doubts[0].endswith("the 4 whole frames in it are read")


def test_a_record_that_is_longer_than_announced_hides_nothing(tmp_path):
    # The offset behind the name counts from itself to the next record; the lengths in the record say 13 more.
    at = WHOLE.index(b"LABELS") + 6
    length = struct.unpack_from("<H", WHOLE, at)[0]
    swollen = patched(WHOLE, at + length - 1, bytes([13]))
    recording = read(tmp_path, swollen)
    assert recording.names == NAMES
    assert recording.unit == "mm"
    np.testing.assert_allclose(recording.positions, POSITIONS, rtol=0, atol=1e-7)
    assert any("LABELS should end at byte" in note for note in recording.notes)
    with pytest.raises(MotionError):
        read(tmp_path, swollen, strict=True)


def test_of_two_points_with_one_name_the_one_that_is_seen_is_taken(tmp_path):
    positions = POSITIONS.copy()
    positions[:4, 0] = 0.0
    recording = read(tmp_path, hand_made(positions, names=("A", "B", "A")))
    assert recording.names == ("B", "A")
    np.testing.assert_allclose(recording.positions, POSITIONS[:, 1:], rtol=0, atol=1e-7)
    assert "points 1, 3 are all named 'A'" in recording.doubts[0]


def test_residuals_that_say_nothing_was_seen_at_all_are_ignored(tmp_path):
    recording = read(tmp_path, hand_made(residuals=np.full((6, 3), -1.0)))
    np.testing.assert_allclose(recording.positions, POSITIONS, rtol=0, atol=1e-7)
    assert "all residuals" in recording.doubts[0]


def test_a_number_that_is_no_position_is_a_marker_not_seen(tmp_path):
    positions = np.random.default_rng(4).uniform(0.1, 1, size=(60, 3, 3))
    content = hand_made(positions)
    content = patched(content, len(content) - 60 * 3 * 16, struct.pack("<f", np.inf))
    recording = read(tmp_path, content)
    assert np.isnan(recording.positions[0, 0]).all()
    np.testing.assert_allclose(recording.positions[1:], positions[1:], rtol=0, atol=1e-7)
    assert "x is inf" in recording.doubts[0]


def test_a_rate_that_is_missing_is_declared(tmp_path):
    content = hand_made(rate=0.0)
    with pytest.raises(MotionError):
        read(tmp_path, content)
    assert read(tmp_path, content, fps=50.0).time[1] == pytest.approx(0.02)


def test_more_frames_than_the_counters_hold(tmp_path):
    frames = 70_000
    few = hand_made(np.ones((1, 1, 3)), names=("A",))
    head = len(few) - 16
    track = np.zeros((frames, 4), dtype="<f4")
    track[:, 0] = np.arange(1, frames + 1)
    content = patched(few[:head], 8, struct.pack("<H", 65535))
    at = content.index(b"FRAMES") + 10
    content = patched(content, at, struct.pack("<H", 65535)) + track.tobytes()
    recording = read(tmp_path, content)
    assert len(recording.time) == frames
    np.testing.assert_allclose(recording.positions[-1, 0], [70.0, 0.0, 0.0])
    assert any("more than 65535 frames" in note for note in recording.notes)


def test_missing_values_are_no_damage(tmp_path):
    nan = patched(WHOLE, FIRST_X, struct.pack("<3f", np.nan, np.nan, np.nan))
    assert np.isnan(read(tmp_path, nan).positions[0, 0]).all()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("c3d")


def only_our_error(folder, content):
    try:
        recording = read(folder, content)
    except MotionError:
        return
    assert recording.positions.shape == (len(recording.time), len(recording.names), 3)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=st.binary(max_size=2000), key=st.booleans())
def test_any_bytes_are_read_or_refused(folder, content, key):
    only_our_error(folder, b"\x02\x50" + content if key else content)


@settings(max_examples=100, deadline=None)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=4)), max_size=6
    ),
    integers=st.booleans(),
    end=st.integers(0, len(WHOLE)) | st.none(),
)
def test_any_damage_to_a_valid_file_is_read_or_refused(folder, changes, integers, end):
    content = hand_made(scale=0.1) if integers else WHOLE
    for at, data in changes:
        content = patched(content, at, data)
    only_our_error(folder, content[:end])
