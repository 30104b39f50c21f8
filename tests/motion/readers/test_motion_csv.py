import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.readers import read_motion

# The left arm hangs and swings forward about the shoulder by 0.1 rad a sample.
JOINTS = {"left_shoulder": (0.0, 0.2, 1.4), "left_elbow": (0.0, 0.2, 1.1), "left_wrist": (0.0, 0.2, 0.85)}
ENDS = ("x_m", "y_m", "z_m", "qx", "qy", "qz", "qw")


def table():
    """The columns of an arm, as text."""
    columns = {"time_s": ["0", "0.1", "0.2", "0.3"]}
    for name, place in JOINTS.items():
        for end, value in zip(ENDS[:3], place, strict=True):
            columns[f"{name}_{end}"] = [str(value)] * 4
    for name, joint in (("upper_arm", "shoulder"), ("forearm", "elbow"), ("hand", "wrist")):
        for k, end in enumerate(ENDS):
            half = [0.05 * sample for sample in range(4)]
            values = [JOINTS[f"left_{joint}"][k]] * 4 if k < 3 else [0.0] * 4
            values = np.sin(half) if end == "qy" else np.cos(half) if end == "qw" else values
            columns[f"left_{name}_{end}"] = [f"{value:.9f}" for value in values]
    return columns


def text(columns):
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(row) for row in rows)]) + "\n"


def read(folder, content):
    path = folder / "motion.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_motion(path)


def test_a_table_by_hand(tmp_path):
    motion = read(tmp_path, text(table()))
    np.testing.assert_allclose(motion.time, [0.0, 0.1, 0.2, 0.3])
    assert set(motion.joints) == set(JOINTS)
    np.testing.assert_allclose(motion.joints["left_wrist"], [(0.0, 0.2, 0.85)] * 4)
    expected = [[np.cos(0.3), 0, np.sin(0.3)], [0, 1, 0], [-np.sin(0.3), 0, np.cos(0.3)]]
    np.testing.assert_allclose(motion.segments["left_hand"][3, :3, :3], expected, atol=1e-8)
    np.testing.assert_allclose(motion.segments["left_forearm"][3, :3, 3], (0.0, 0.2, 1.1))
    assert {"right_wrist", "right_hand", "pelvis", "trunk", "left_ankle"} <= set(motion.missing)
    # The arm is never held forward: the initial posture is computed, horizontal and with the arm's lengths.
    reach = motion.initial.joints["left_wrist"] - motion.initial.joints["left_shoulder"]
    np.testing.assert_allclose(reach, [0.55, 0.0, 0.0], atol=1e-9)


def test_columns_may_come_in_any_order_and_lines_end_in_any_way(tmp_path):
    columns = table()
    shuffled = {"time_s": columns.pop("time_s"), **dict(reversed(columns.items()))}
    content = "\ufeff" + text(shuffled).replace("\n", "\r\n").replace("0.1,", " 1e-1 ,", 1) + "\r\n\r\n"
    np.testing.assert_array_equal(
        read(tmp_path, content).segments["left_hand"], read(tmp_path, text(table())).segments["left_hand"]
    )


def test_a_segment_with_a_joints_name_is_marked(tmp_path):
    columns = table()
    for k, end in enumerate(ENDS):
        if k < 3:
            columns[f"pelvis_{end}"] = ["0.0", "0.0", "0.0", "0.0"]
        columns[f"pelvis_segment_{end}"] = ["1.0" if end in ("z_m", "qz") else "0.0"] * 4
    motion = read(tmp_path, text(columns))
    np.testing.assert_array_equal(motion.joints["pelvis"], np.zeros((4, 3)))
    half_turn = Rotation.from_euler("z", np.pi).as_matrix()
    np.testing.assert_allclose(motion.segments["pelvis"][0, :3, :3], half_turn, atol=1e-12)
    np.testing.assert_allclose(motion.segments["pelvis"][:, 2, 3], 1.0)


def changed(column, row, value):
    columns = table()
    columns[column][row] = value
    return text(columns)


def without(*dropped):
    return text({name: values for name, values in table().items() if name not in dropped})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "line 1: no line of numbers follows ''"),
        ("time_s\n0\n1\n", "line 1: no complete arm; columns of left_shoulder"),
        (text(table())[:1100], r"line \d: \d+ value.s.; there must be 31"),
        ("\n".join(text(table()).split("\n")[:1]), "0 frame.s. found"),
        (changed("left_hand_x_m", 1, "nan"), "line 3, column 25: 'nan'; it must be a finite number"),
        (changed("left_hand_x_m", 1, "1,5"), "line 3: 32 value.s.; there must be 31"),
        (changed("left_hand_qw", 2, "0.5"), r"left_hand at frame 2: a quaternion of length 0\.5"),
        (changed("time_s", 2, "0.1"), "time repeats at frame 2"),
        (changed("time_s", 2, "0.05"), "time goes back at frame 2"),
        (
            text(table()).replace("left_wrist_x_m", "left_elbow_x_m"),
            "column 8 'left_elbow_x_m' is there twice",
        ),
        (
            text(table()).replace("left_wrist_x_m", "left_wrist"),
            "column 8 is 'left_wrist'; allowed: NAME_x_m",
        ),
        (without("left_wrist_y_m"), "'left_wrist' lacks 'left_wrist_y_m'"),
        (without(*(f"left_hand_{end}" for end in ENDS)), "no complete arm; columns of left_hand are missing"),
        (text(table()).replace(",1.1,", ",1100,"), "upper arm"),
    ],
)
def test_a_damaged_table_is_one_line_with_its_place(tmp_path, content, words):
    with pytest.raises(MotionError, match=words) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_any_bytes_are_refused(tmp_path_factory, content, begun):
    with pytest.raises(MotionError):
        read(tmp_path_factory.getbasetemp(), (b"time_s," if begun else b"") + content)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(text(table()))), st.integers(0, 20), st.one_of(st.binary(max_size=4), st.floats()))
def test_a_changed_table_is_read_or_refused(tmp_path_factory, place, length, new):
    new = new if isinstance(new, bytes) else str(new).encode()
    content = text(table()).encode()
    try:
        motion = read(tmp_path_factory.getbasetemp(), content[:place] + new + content[place + length :])
    except MotionError:
        return
    assert np.isfinite(motion.segments["left_hand"]).all()
