import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import SCHEMES, read_motion

# From the middle of the elbow's markers to the wrist's, m.
LENGTH = np.sqrt(0.145**2 + 0.210**2)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("kinect:dance", "unknown motion source 'kinect'; known: actor, deepmimic, sample"),
        ("actor:juggle", "unknown task; known: .*drawer"),
        (
            "dance.xyz",
            r"no reader for \.xyz; .* \.bvh, \.c3d, \.csv, .* \.json, \.mot, .* \.sto, \.trc, \.tsv, \.txt",
        ),
        ("dance.mov", "dance.mov: a video; estimate the pose in it"),
        ("dance.QTM", "export C3D, TSV or FBX"),
        ("nowhere/dance.bvh", "no such file"),
        ("dance", "without suffix"),
        pytest.param("d" * 5000 + ".txt", "cannot be read", id="name too long"),
    ],
)
def test_unknown_sources_say_what_is_known(source, words):
    with pytest.raises(MotionError, match=words):
        read_motion(source)


@given(st.text(max_size=30).filter(lambda text: text.partition(":")[0] not in SCHEMES))
def test_no_other_error_for_any_text(text):
    with pytest.raises(MotionError):
        read_motion(text)


def test_reading_works_without_the_simulator():
    code = "import sys; from simbench.motion.readers import read_motion; read_motion('deepmimic:walk'); "
    code += "sys.exit('pybullet' in sys.modules or 'pybullet_data' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def write_trc(path, unit="mm", hidden=()):
    """A walker's arms and pelvis for half a second, 100 Hz, y up; L.Elbow was not seen in frames `hidden`."""
    markers = {
        "{}.Shoulder": (0.0, 1450.0, 180.0),
        "{}.Elbow": (-30.0, 1140.0, 240.0),
        "{}.MElbow": (-20.0, 1140.0, 160.0),
        "{}.Wrist": (120.0, 930.0, 200.0),
        "{}.ASIS": (80.0, 1000.0, 120.0),
        "{}.PSIS": (-80.0, 1000.0, 50.0),
    }
    # Facing x with y up, the right is z.
    places = {name.format("R"): place for name, place in markers.items()}
    places |= {name.format("L"): (x, y, -z) for name, (x, y, z) in markers.items()}
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"100\t100\t50\t{len(places)}\t{unit}\t100\t1\t50",
        "Frame#\tTime\t" + "\t\t\t".join(places),
        "\t\t" + "\t".join(f"{axis}{k + 1}" for k in range(len(places)) for axis in "XYZ"),
    ]
    for k in range(50):
        row = [str(k + 1), f"{k / 100:.2f}"]
        for name, place in places.items():
            seen = not (name == "L.Elbow" and k in hidden)
            row += [
                f"{value + (12 * k if axis == 0 else 0):.3f}" if seen else ""
                for axis, value in enumerate(place)
            ]
        lines.append("\t".join(row))
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_marker_file_becomes_a_person(tmp_path):
    motion = read_motion(write_trc(tmp_path / "walk.trc", hidden=range(20, 25)))
    np.testing.assert_allclose(
        np.linalg.norm(motion.joints["left_wrist"] - motion.joints["left_elbow"], axis=1), LENGTH
    )
    # 12 mm a frame forward: x; the left shoulder is on the left, below its marker by 17 % of 360 mm.
    np.testing.assert_allclose(motion.joints["pelvis"][-1, :2], [49 * 0.012, 0.0], atol=1e-6)
    np.testing.assert_allclose(motion.joints["left_shoulder"][0, 1:], [0.18, 1.45 - 0.17 * 0.36], atol=2e-3)
    assert [(gap.marker, gap.first, gap.last) for gap in motion.filled] == [("L.Elbow", 20, 24)]
    assert {"left_hand", "left_knee"} <= set(motion.missing)


def test_what_the_user_declares_reaches_reader_gaps_and_map(tmp_path):
    path = write_trc(tmp_path / "walk.trc", unit="m", hidden=range(20, 25))
    with pytest.raises(MotionError, match=r"with lengths in m; people are .* in mm: declare that unit"):
        read_motion(path, ReadOptions(strict=True))
    assert any(doubt.startswith("unit mm") for doubt in read_motion(path).doubts)
    assert read_motion(path, ReadOptions(unit="mm")).missing
    with pytest.raises(MotionError, match=r"L\.Elbow"):
        read_motion(path, ReadOptions(unit="mm", longest_gap=0.02, strict=True))
    bridged = read_motion(path, ReadOptions(unit="mm", longest_gap=0.02))
    assert any("L.Elbow" in line for line in (*bridged.notes, *bridged.doubts))
    with pytest.raises(MotionError):
        read_motion(path, ReadOptions(unit="mm", marker_map="cmu"))
