import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.trc import read_trc

# As Motion Analysis writes it: values padded with blanks and extra tabs, tabs behind the names, CRLF, an
# empty line before the data; the second marker is not seen in frames 2 to 4, in three ways.
WHOLE = "\r\n".join(
    [
        "PathFileType  4\t(X/Y/Z) C:\\trials\\reach.trc\t",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\t",
        "  50.0\t\t  50.0\t\t    5\t\t     2\t\t mm\t  50.0\t     1\t    5\t",
        "Frame#\tTime\tR.Wrist\t\t\tL.Wrist\t\t\t",
        "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\t",
        "",
        "1\t0.00000\t100.5\t1200.0\t-300.25\t110.0\t1210.0\t310.0\t",
        "2\t0.02000\t101.5\t1201.0\t-301.25\t\t\t\t",
        "3\t0.04000\t102.5\t1202.0\t-302.25\t0.0\t0.000\t0\t",
        "4\t0.06000\t103.5\t1203.0\t-303.25\tNaN\tNaN\tNaN\t",
        "5\t0.08000\t104.5\t1204.0\t-304.25\t114.0\t1214.0\t314.0\t",
        "",
        "",
    ]
)


def read(folder, text, **options):
    path = folder / "reach.trc"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_trc(path, ReadOptions(**options))


def test_padded_values_blank_lines_and_three_ways_of_not_being_seen(tmp_path):
    recording = read(tmp_path, WHOLE)
    assert recording.names == ("R.Wrist", "L.Wrist")
    assert (recording.unit, recording.up) == ("mm", "y")
    np.testing.assert_allclose(recording.time, [0, 0.02, 0.04, 0.06, 0.08], atol=1e-12)
    wrist = np.array([[0.1005, 1.2, -0.30025]]) + 0.001 * np.arange(5)[:, None] * [1, 1, -1]
    np.testing.assert_allclose(recording.positions[:, 0], wrist, rtol=0, atol=1e-12)
    assert np.isnan(recording.positions[1:4, 1]).all()
    np.testing.assert_allclose(recording.positions[4, 1], [0.114, 1.214, 0.314], rtol=0, atol=1e-12)


@pytest.mark.parametrize("newline", ["\n", "\r"])
def test_line_ends_a_byte_order_mark_and_no_empty_line(tmp_path, newline):
    text = "\ufeff" + WHOLE.replace("\r\n\r\n", "\r\n").replace("\r\n", newline)
    expected = read(tmp_path, WHOLE).positions
    np.testing.assert_array_equal(read(tmp_path, text).positions, expected)


def test_declared_unit_and_axis_overrule(tmp_path):
    recording = read(tmp_path, WHOLE, unit="cm", up="z")
    assert (recording.unit, recording.up) == ("cm", "z")
    assert recording.positions[0, 0, 0] == pytest.approx(1.005)


def test_a_marker_without_name_is_left_out_and_counted(tmp_path):
    text = WHOLE.replace("R.Wrist", "")
    recording = read(tmp_path, text)
    assert recording.names == ("L.Wrist",)
    assert recording.notes == ("1 unlabelled points ignored",)
    assert recording.positions[0, 0, 0] == pytest.approx(0.110)


def trc(times, rate):
    """One marker that stays where it is."""
    rows = [f"{k + 1}\t{time}\t1\t2\t3" for k, time in enumerate(times)]
    head = [*WHOLE.split("\r\n")[:2], f"{rate}\t{rate}\t{len(rows)}\t1\tm\t{rate}\t1\t{len(rows)}"]
    return "\n".join([*head, "Frame#\tTime\tA", "\t\tX1\tY1\tZ1", *rows])


def test_rounding_of_the_time_column_is_undone_and_lost_frames_stay(tmp_path):
    # 120 Hz written with milliseconds: intervals of 8 and 9 ms.
    frames = np.arange(240)
    recording = read(tmp_path, trc([f"{k / 120 + 3:.3f}" for k in frames], 120))
    np.testing.assert_allclose(recording.time, frames / 120, rtol=0, atol=1e-12)
    kept = np.delete(frames, 100)
    recording = read(tmp_path, trc([f"{k / 120:.5f}" for k in kept], 120))
    np.testing.assert_allclose(recording.time, kept / 120, rtol=0, atol=1e-5)


DAMAGED = {
    "empty": ("", r"not a TRC file"),
    "junk": (b"\x00\xff\x02\x50" * 200, r"not a TRC file"),
    "NumFrames": (WHOLE.replace("    5\t\t", "    7\t\t"), r"NumFrames is 7, the file has 5 frames"),
    "no frames": (
        WHOLE.replace("    5\t\t", "    0\t\t"),
        r"line 3: NumFrames is '0'; it must be a whole number",
    ),
    "half a frame": (WHOLE.replace("    5\t\t", "   4.5\t\t"), r"line 3: NumFrames is '4\.5'"),
    "rate": (WHOLE.replace("  50.0\t\t", "  fast\t\t", 1), r"line 3: DataRate is 'fast'"),
    "property missing": (WHOLE.replace("Units\t", ""), r"8 values for 7 properties in line 2"),
    "unit": (WHOLE.replace(" mm", " ells"), r"line 3: unit of length 'ells' unknown; allowed: m, cm, mm, in"),
    "ragged": (WHOLE.replace("\t-302.25\t0.0\t0.000\t0\t", ""), r"line 9: 4 columns; 8 are needed"),
    "text": (WHOLE.replace("1202.0", "12o2.0"), r"line 9, column 4: '12o2\.0' is not a number"),
    "infinite": (WHOLE.replace("1202.0", "1e999"), r"frame 3, column 4: inf is no coordinate"),
    "repeats": (WHOLE.replace("0.06000", "0.04000"), r"time repeats at frame 4 \(0\.04 s, then 0\.04 s\)"),
    "names twice": (WHOLE.replace("L.W", "R.W"), r"two markers are named 'R\.Wrist'"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_gives_one_clear_line(tmp_path, name):
    text, message = DAMAGED[name]
    with pytest.raises(MotionError, match=message) as error:
        read(tmp_path, text, strict=True)
    assert "\n" not in str(error.value)
    assert "reach.trc" in str(error.value)


FIRST = [0.1005, 1.2, -0.30025]
REPAIRED = {
    "frames": (
        WHOLE.replace("    5\t\t", "    7\t\t"),
        "NumFrames is 7, the file has 5 frames: the data count",
    ),
    "markers": (WHOLE.replace("     2\t\t", "     3\t\t"), "2 marker names; NumMarkers in line 3 is 3"),
    "property missing": (WHOLE.replace("Units\t", ""), "8 values for 7 properties in line 2"),
    "unit": (WHOLE.replace(" mm", " ells"), "unit of length 'ells' unknown: mm assumed"),
    "quoted": (WHOLE.replace("R.Wrist", '"R.Wrist"').replace(" mm", '"mm"'), None),
    "commas": (
        "\r\n".join([*WHOLE.split("\r\n")[:6], WHOLE.split("\r\n", 6)[6].replace(".", ",")]),
        "decimal comma",
    ),
    "no trailing columns": (WHOLE.replace("\t\t\t\t\r\n3", "\r\n3"), "line 8: 5 columns; 8 are needed"),
    "milliseconds": (
        re.sub(r"0\.0(\d)000", lambda found: f"{found[1]}0.000", WHOLE),
        "the time column counts milliseconds",
    ),
    "prefix": (
        WHOLE.replace("R.W", "Ann:R.W").replace("L.W", "Ann:L.W"),
        "prefix of all names dropped: Ann:",
    ),
}


@pytest.mark.parametrize("name", REPAIRED)
def test_a_slip_is_put_right_and_told(tmp_path, name):
    text, said = REPAIRED[name]
    recording = read(tmp_path, text)
    assert recording.names == ("R.Wrist", "L.Wrist")
    assert recording.unit == "mm"
    np.testing.assert_allclose(recording.time, [0, 0.02, 0.04, 0.06, 0.08], atol=1e-12)
    np.testing.assert_allclose(recording.positions[0, 0], FIRST, rtol=0, atol=1e-12)
    assert np.isnan(recording.positions[1:4, 1]).all()
    np.testing.assert_allclose(recording.positions[4, 1], [0.114, 1.214, 0.314], rtol=0, atol=1e-12)
    lines = [*recording.notes, *recording.doubts]
    assert lines == [] if said is None else any(said in line for line in lines)


def test_of_two_markers_with_one_name_the_one_that_is_seen_is_taken(tmp_path):
    recording = read(tmp_path, WHOLE.replace("L.W", "R.W"))
    assert recording.names == ("R.Wrist",)
    assert np.isfinite(recording.positions).all()
    assert "two markers are named 'R.Wrist'" in recording.doubts[0]


def test_the_time_column_counts_where_the_rate_contradicts_it(tmp_path):
    recording = read(tmp_path, trc([f"{k / 60:.5f}" for k in range(50)], 120))
    np.testing.assert_allclose(recording.time, np.arange(50) / 60, rtol=0, atol=1e-5)
    assert recording.doubts[0].startswith("DataRate is 120 Hz, the time column has 59.99")
    recording = read(tmp_path, trc([f"{k / 60:.5f}" for k in range(50)], 120), fps=30.0)
    np.testing.assert_allclose(recording.time, np.arange(50) / 30, rtol=0, atol=1e-12)


def test_frames_written_twice_are_left_out(tmp_path):
    times = [*range(10), 9, *range(10, 20)]
    recording = read(tmp_path, trc([f"{k / 50:.3f}" for k in times], 50))
    np.testing.assert_allclose(recording.time, np.arange(20) / 50, rtol=0, atol=1e-9)
    assert "time repeats at frame 11" in recording.doubts[0]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("trc")


def only_our_error(folder, content):
    try:
        recording = read(folder, content)
    except MotionError:
        return
    assert recording.positions.shape == (len(recording.time), len(recording.names), 3)
    assert (np.diff(recording.time) > 0).all()
    assert not np.isinf(recording.positions).any()


@settings(max_examples=80, deadline=None)
@given(content=st.binary(max_size=500), key=st.booleans())
def test_any_bytes_are_read_or_refused(folder, content, key):
    only_our_error(folder, b"PathFileType\t4\n" + content if key else content)


@settings(max_examples=100, deadline=None)
@given(
    changes=st.lists(
        st.tuples(
            st.integers(0, len(WHOLE) - 1),
            st.integers(0, 4),
            st.binary(max_size=3) | st.sampled_from([b"\t", b"\n", b"-", b"9", b"1e309", b"nan"]),
        ),
        max_size=5,
    )
)
def test_any_damage_to_a_valid_file_is_read_or_refused(folder, changes):
    content = WHOLE.encode()
    for at, removed, inserted in changes:
        content = content[:at] + inserted + content[at + removed :]
    only_our_error(folder, content)
