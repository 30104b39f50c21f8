import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.qualisys import read_tsv

KEYS = [
    *("NO_OF_FRAMES\t4", "NO_OF_CAMERAS\t8", "NO_OF_MARKERS\t3", "FREQUENCY\t50", "NO_OF_ANALOG\t0"),
    *("DESCRIPTION\t--", "TIME_STAMP\t2026-01-01, 00:00:00.000\t12.5", "DATA_INCLUDED\t3D"),
    *("EVENT\tlift off\t3\t1.04000", "MARKER_NAMES\tLSHO\tNew 0001\tRSHO"),
    "TRAJECTORY_TYPES\tMeasured\tMixed\tMeasured",
]
TITLES = "Frame\tTime\tLSHO X\tLSHO Y\tLSHO Z\tNew 0001 X\tNew 0001 Y\tNew 0001 Z\tRSHO X\tRSHO Y\tRSHO Z\t"
# The second marker is nobody's; the third is not seen in frames 2 and 4, in two ways.
ROWS = [
    ["100.5", "200.0", "1400.25", "1", "2", "3", "100.5", "-200.0", "1400.0"],
    ["101.5", "201.0", "1401.25", "1", "2", "3", "0.000", "0.000", "0.000"],
    ["102.5", "202.0", "1402.25", "1", "2", "3", "102.5", "-202.0", "1402.0"],
    ["103.5", "203.0", "1403.25", "1", "2", "3", "", "", ""],
]
LEADS = {
    "frame and time": [[str(k + 51), f"{1.0 + k / 50:.5f}"] for k in range(4)],
    "time": [[f"{1.0 + k / 50:.5f}"] for k in range(4)],
    "frame": [[str(k + 51)] for k in range(4)],
    "neither": [[] for _ in range(4)],
}


def write(lead="frame and time", keys=KEYS, rows=ROWS, titled=True):
    skipped = 2 - len(LEADS[lead][0])
    titles = TITLES.split("\t", skipped)[-1] if lead != "frame" else TITLES.replace("\tTime", "")
    lines = ["\t".join([*begin, *row]) for begin, row in zip(LEADS[lead], rows, strict=False)]
    return "\r\n".join([*keys, *([titles] if titled else []), *lines]) + "\r\n"


def read(folder, content, **options):
    path = folder / "reach.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_tsv(path, ReadOptions(**options))


@pytest.mark.parametrize("titled", [True, False])
@pytest.mark.parametrize("lead", LEADS)
def test_markers_times_and_events(tmp_path, lead, titled):
    markers = read(tmp_path, write(lead, titled=titled), strict=True)
    assert markers.names == ("LSHO", "RSHO")
    np.testing.assert_allclose(
        markers.positions[:, 0], [[0.1005 + k / 1e3, 0.2 + k / 1e3, 1.40025 + k / 1e3] for k in range(4)]
    )
    np.testing.assert_array_equal(np.isnan(markers.positions[:, 1, 0]), [False, True, False, True])
    np.testing.assert_allclose(markers.time, np.arange(4) / 50.0)
    # Without times, those of the events count from the first frame.
    ((name, time),) = markers.events
    assert (name, round(time, 9)) == ("lift off", 0.04 if "time" in lead else 1.04)
    assert (markers.unit, markers.doubts, markers.notes) == ("mm", (), ("1 unlabelled points ignored",))


def test_other_tables_with_tabs_are_read_as_csv(tmp_path):
    points = [f"{name}_{axis}" for name in ("left_shoulder", "left_elbow", "left_wrist") for axis in "xyz"]
    rows = [
        "\t".join(map(str, [k / 10, 0, 0.2, 1.4, 0, 0.2, 1.1, 0.1, 0.2, 0.9 + k / 100])) for k in range(3)
    ]
    found = read(tmp_path, "\n".join(["\t".join(["time", *points]), *rows]))
    np.testing.assert_allclose(found.positions[2, 2], [0.1, 0.2, 0.92])


REFUSED = {
    "6D": (write(keys=[k.replace("3D", "6D") for k in KEYS]), "'6D' data, .* choose 3D data"),
    "2D": (write(keys=[k.replace("3D", "2D") for k in KEYS]), "'2D' data"),
    "no names": (write(keys=[k for k in KEYS if "NAMES" not in k]), "no MARKER_NAMES"),
    "no rows": (write(rows=[]), "no rows of numbers"),
    "columns": (
        write(titled=False, keys=[k + "\tHEAD" if "NAMES" in k else k for k in KEYS]),
        "11 columns; 4 markers",
    ),
    "residuals": (write().replace("LSHO Z\t", "LSHO Z\tLSHO R\t"), "12 columns; 3 markers"),
    "no number": (write().replace("201.0", "soon"), "column 4: 'soon' is not a number"),
    "frames": (write().replace("FRAMES\t4", "FRAMES\t9"), "NO_OF_FRAMES is '9', and there are 4"),
    "rate": (write("neither").replace("CY\t50", "CY\tEXT"), "FREQUENCY is 'EXT' and there are no times"),
    "times": (write().replace("1.02000", "1.00000"), "time does not increase"),
    "no labels": (
        write().replace("LSHO", "").replace("RSHO", "*").replace("New 0001", ""),
        "of 3 markers has a name",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_damaged_file_is_one_line(tmp_path, name):
    text, words = REFUSED[name]
    with pytest.raises(MotionError, match=words) as caught:
        read(tmp_path, text, strict=True)
    assert "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tsv")


@settings(max_examples=150, deadline=None)
@given(
    titled=st.booleans(),
    changes=st.lists(
        st.tuples(
            st.integers(0, len(write())),
            st.integers(0, 5),
            st.binary(max_size=3) | st.sampled_from([b"\t", b"\n", b"-", b"9", b"1e309", b"nan", b"EVENT\t"]),
        ),
        max_size=5,
    ),
)
def test_any_damage_is_read_or_refused(folder, titled, changes):
    content = write(titled=titled).encode()
    for at, removed, inserted in changes:
        content = content[:at] + inserted + content[at + removed :]
    try:
        recording = read(folder, content)
    except MotionError:
        return
    assert recording.positions.shape == (len(recording.time), len(recording.names), 3)
    assert not np.isinf(recording.positions).any()
