import tracemalloc

import numpy as np
import pybvh
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion
from simbench.motion.readers.bvh_reader import read_bvh

ARM = """HIERARCHY
ROOT Hips
{
  OFFSET 1 2 3
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Arm
  {
    OFFSET 0 10 0
    CHANNELS 3 Xrotation Zrotation Yrotation
    JOINT Hand
    {
      OFFSET 5 0 0
      CHANNELS 4 Yposition Xrotation Yrotation Zrotation
      End Site
      {
        OFFSET 0 0 2
      }
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.05
7 8 9 0 0 0 0 0 0 0 0 0 0
7 8 9 90 0 0 0 0 0 4 0 0 0
0 0 0 10 20 30 40 50 60 -1 70 80 90
"""


def read(folder, text, options=ReadOptions()):  # noqa: B008
    path = folder / "motion.bvh"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_bvh(path, options)


def test_an_arm_by_hand(tmp_path):
    recording = read(tmp_path, ARM)
    assert recording.names == ("Hips", "Arm", "Hand", "Hand_end")
    np.testing.assert_array_equal(recording.parents, [-1, 0, 1, 2])
    np.testing.assert_allclose(recording.time, [0.0, 0.05, 0.1])
    assert recording.unit is None
    assert recording.up is None
    # Position channels replace the offset, one axis alone leaves the others.
    np.testing.assert_allclose(recording.positions[0], [(7, 8, 9), (7, 18, 9), (12, 18, 9), (12, 18, 11)])
    # A quarter turn about z: x becomes y, y becomes -x.
    np.testing.assert_allclose(
        recording.positions[1], [(7, 8, 9), (-3, 8, 9), (-7, 13, 9), (-7, 13, 11)], atol=1e-12
    )


def test_turns_are_applied_in_the_order_of_the_channels(tmp_path):
    def turn(axis, degrees):
        return Rotation.from_rotvec(np.radians(degrees) * np.eye(3)["XYZ".index(axis)]).as_matrix()

    recording = read(tmp_path, ARM)
    hips = turn("Z", 10) @ turn("Y", 20) @ turn("X", 30)
    arm = hips @ turn("X", 40) @ turn("Z", 50) @ turn("Y", 60)
    hand = arm @ turn("X", 70) @ turn("Y", 80) @ turn("Z", 90)
    np.testing.assert_allclose(recording.rotations[2], [hips, arm, hand, hand], atol=1e-12)
    elbow = hips @ [0, 10, 0]
    wrist = elbow + arm @ [5, -1, 0]
    np.testing.assert_allclose(
        recording.positions[2, 1:], [elbow, wrist, wrist + hand @ [0, 0, 2]], atol=1e-12
    )


def in_each_row(text, pattern):
    """The text with every row of numbers put into the pattern."""
    head, rows = text[: text.index("7 8 9")], text[text.index("7 8 9") :].splitlines()
    return head + "\n".join(map(pattern.format, rows))


def random_bvh(seed, joints=12, frames=20):
    """A tree of joints with Euler angles in various orders, as text."""
    rng = np.random.default_rng(seed)
    parents = [-1, *(int(rng.integers(max(0, k - 3), k)) for k in range(1, joints))]

    def block(joint, depth):
        order = " ".join(f"{axis}rotation" for axis in rng.permutation(list("XYZ")))
        channels = f"6 Xposition Yposition Zposition {order}" if joint == 0 else f"3 {order}"
        lines = [
            f"{'JOINT' if joint else 'ROOT'} joint{joint}",
            "{",
            "OFFSET {} {} {}".format(*rng.normal(size=3)),
        ]
        lines.append(f"CHANNELS {channels}")
        children = [k for k in range(joints) if parents[k] == joint]
        for child in children:
            lines += block(child, depth + 1)
        if not children:
            lines += ["End Site", "{", "OFFSET {} {} {}".format(*rng.normal(size=3)), "}"]
        return [*("\t" * depth + line for line in lines), "\t" * depth + "}"]

    table = np.cumsum(rng.normal(scale=20.0, size=(frames, 3 * joints + 3)), axis=0)
    rows = [" ".join(map(repr, row)) for row in table.tolist()]
    return "\n".join(["HIERARCHY", *block(0, 0), "MOTION", f"Frames: {frames}", "Frame Time: 0.01", *rows])


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("seed", range(3))
def test_places_agree_with_another_library(tmp_path, seed):
    recording = read(tmp_path, random_bvh(seed))
    theirs = pybvh.read_bvh_file(tmp_path / "motion.bvh")
    np.testing.assert_allclose(recording.positions, theirs.node_positions(), atol=1e-10)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_what_programs_write_differently_reads_alike(tmp_path, ending):
    expected = read(tmp_path, ARM).positions
    text = ARM.replace("ROOT Hips\n{", "root Hips {").replace("Xrotation", "XROTATION")
    text = "\ufeff" + text.replace("Frames: 3", "Frames:\t3 ").replace("7 8 9 90", "\n7\t8  9 9e1").rstrip()
    np.testing.assert_array_equal(read(tmp_path, text.replace("\n", ending)).positions, expected)


def test_names_with_blanks_and_of_end_sites(tmp_path):
    text = ARM.replace("JOINT Hand", "JOINT Hand_end").replace("JOINT Arm", "JOINT left upper arm")
    assert read(tmp_path, text).names == ("Hips", "left upper arm", "Hand_end", "Hand_end_end")
    two = ARM.replace("End Site", "End Site { OFFSET 1 1 1 }\nEnd Site")
    assert read(tmp_path, two).names[-2:] == ("Hand_end", "Hand_end2")


def test_what_the_user_declares_is_kept(tmp_path):
    recording = read(tmp_path, ARM, ReadOptions(unit="cm", up="z"))
    assert (recording.unit, recording.up) == ("cm", "z")


def walk_after(first):
    rows = [f"{k / 10} 8 9 {5 + k} 0 0 30 0 {k} 0 0 0 0" for k in range(8)]
    head = ARM[: ARM.index("Frames")]
    return head + f"Frames: {1 + len(rows)}\nFrame Time: 0.05\n" + "\n".join([first, *rows])


def test_a_rest_pose_before_the_motion_is_dropped(tmp_path):
    recording = read(tmp_path, walk_after("0 0 0 0 0 0 0 0 0 0 0 0 0"))
    assert len(recording.time) == len(recording.positions) == len(recording.rotations) == 8
    np.testing.assert_allclose(recording.positions[0, 0], [0, 8, 9])
    assert recording.time[0] == 0.0
    assert "rest pose" in recording.notes[0]


@pytest.mark.parametrize("first", ["0 8 9 4 0 0 30 0 0 0 0 0 0", "0 8 9 1 0 0 0 0 0 0 0 0 0"])
def test_a_first_frame_of_the_motion_is_kept(tmp_path, first):
    recording = read(tmp_path, walk_after(first))
    assert len(recording.time) == 9
    assert recording.notes == ()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (ARM, "", "line"),
        ("HIERARCHY", "HIERARCHIE", "line 1: 'HIERARCHIE'; a BVH file begins with HIERARCHY"),
        ("ROOT Hips", "JOINT Hips", "line 2: 'JOINT' outside the skeleton; ROOT must follow"),
        ("JOINT Arm", "ROOT Arm", "line 6: a second ROOT"),
        ("JOINT Arm\n  {", "JOINT Arm", "line 7: 'OFFSET'; '{' must open"),
        ("OFFSET 0 10 0", "OFFSET 0 10", "line 8: OFFSET '0 10'; it must be three finite numbers"),
        ("    OFFSET 0 10 0\n", "", "line 18: the block of joint 'Arm' from line 6 ends without an OFFSET"),
        ("3 Xrotation Z", "3 Wrotation Z", "line 9: channel 'Wrotation' is unknown; allowed: Xposition"),
        ("3 Xrotation Z", "3 Zrotation Z", "line 9: CHANNELS.*different names"),
        ("End Site", "End Place", "line 14: 'End Place'"),
        ("OFFSET 0 0 2", "CHANNELS 1 Xrotation", "line 16: CHANNELS must stand once"),
        ("}\nMOTION", "}\n}\nMOTION", "line 21: '}' outside the skeleton; MOTION must follow"),
        ("Frame Time: 0.05", "Frame Time: 0", "line 23: Frame Time '0'; it must be a positive number"),
        ("Frame Time: 0.05\n", "", "line 23: '7 8 9.*'Frame Time:' and a positive number must follow"),
        ("7 8 9 90", "7 8 9 nan", "line 25, column 4: 'nan'; it must be a finite number"),
        ("7 8 9 90", "7 8 90", "line 25: 12 value.s.; there must be 13"),
        (ARM[ARM.index("Frames") :], "", "'Frames:' and a positive number must follow"),
        (ARM[ARM.index("MOTION") :], "", "ends at line 20 without MOTION"),
        (ARM[ARM.index("      End") :], "", "ends at line 13 inside 3 open block"),
    ],
)
def test_a_damaged_file_is_one_line_with_its_place(tmp_path, old, new, words):
    assert old in ARM
    with pytest.raises(MotionError, match=words) as caught:
        read(tmp_path, ARM.replace(old, new, 1))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("JOINT Arm", "JOINT Hips", "line 6: .*'Hips'"),
        ("CHANNELS 3 X", "CHANNELS 2 X", "line 9: CHANNELS '2 Xrotation"),
        ("  }\n}\nMOTION", "  }\nMOTION", "line 20: 'MOTION' is unknown"),
        ("Frames: 3", "Frames: 4", "line 23: 4 frames are declared, but 3 lines"),
        ("Frames: 3", "Frames: 2.5", "line 22: 2.5 frames; their count must be a whole number"),
        ("Frames: 3\n", "", "line 22: 'Frame Time: 0.05'; 'Frames:' and a positive number must follow"),
        ("0 0 2\n", "", "line 16: OFFSET ''; it must be three"),
        ("70 80 90", "70 80", "line 26: 12 value.s.; there must be 13"),
    ],
)
def test_what_programs_write_against_the_format_is_refused_if_declared_strict(tmp_path, old, new, words):
    assert old in ARM
    with pytest.raises(MotionError, match=words):
        read(tmp_path, ARM.replace(old, new, 1), ReadOptions(strict=True))


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        ("Frames: 3", "Frames: 4", "4 frames are declared, 3 are there and were read"),
        ("Frames: 3", "Frames: 0", "Frames '0': the frames that are there were read"),
        ("Frames: 3\n", "", "the number of frames is not declared: those that are there were read"),
        ("  }\n}\nMOTION", "  }\nMotion", "1 closing brace(s) missing before MOTION: added"),
        ("CHANNELS 3 X", "CHANNELS 2 X", "joint 'Arm': '2' channels are declared, 3 named"),
        ("HIERARCHY", "# written by hand\nHIERARCHY\n// nothing", None),
        ("Frame Time: 0.05", "Frame Time  5.0E-02\n# frames", None),
    ],
)
def test_what_programs_write_against_the_format_is_read_with_a_note(tmp_path, old, new, note):
    assert old in ARM
    expected = read(tmp_path, ARM)
    recording = read(tmp_path, ARM.replace(old, new, 1))
    np.testing.assert_array_equal(recording.positions, expected.positions)
    np.testing.assert_array_equal(recording.time, expected.time)
    assert recording.notes == (() if note is None else (note,))


def test_a_truncated_last_line_is_left_out(tmp_path):
    recording = read(tmp_path, ARM.rstrip()[:-3].replace("Frames: 3", "Frames: 2"))
    assert len(recording.time) == 2
    assert recording.notes == ("line 26, the last one, is truncated (12 of 13 values): left out",)
    # A short line before others is damage.
    with pytest.raises(MotionError, match=r"line 25: 12 value"):
        read(tmp_path, ARM.replace("7 8 9 90", "7 8 90"))


def test_columns_that_no_channel_has_are_left_out(tmp_path):
    expected = read(tmp_path, ARM).positions
    recording = read(tmp_path, in_each_row(ARM, "{} 0 0"))
    np.testing.assert_array_equal(recording.positions, expected)
    assert recording.notes == ("2 column(s) at the end of each row were left out: zeros",)
    with pytest.raises(MotionError, match=r"line 24: 15 value"):
        read(tmp_path, in_each_row(ARM, "{} 0 0"), ReadOptions(strict=True))


def test_joints_of_one_name_get_names_of_their_own(tmp_path):
    recording = read(tmp_path, ARM.replace("JOINT Hand", "JOINT Arm"))
    assert recording.names == ("Hips", "Arm", "Arm_2", "Arm_2_end")
    assert recording.notes == ("a second joint 'Arm': called 'Arm_2'",)


def test_of_two_skeletons_the_one_with_more_joints_is_read(tmp_path):
    prop = "ROOT Prop\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n}\n"
    expected = read(tmp_path, ARM)
    for text in (
        in_each_row(ARM.replace("MOTION", f"{prop}MOTION"), "{} 5"),
        in_each_row(ARM.replace("ROOT Hips", f"{prop}ROOT Hips"), "5 {}"),
    ):
        recording = read(tmp_path, text)
        assert recording.names == expected.names
        np.testing.assert_array_equal(recording.parents, expected.parents)
        np.testing.assert_array_equal(recording.positions, expected.positions)
        assert "'Hips' is read" in recording.notes[0]
        assert "left out: 'Prop'" in recording.notes[0]


def test_the_declared_rate_overrules_the_file(tmp_path):
    for line in ("Frame Time: 0.05\n", "Frame Time: 0\n", ""):
        recording = read(tmp_path, ARM.replace("Frame Time: 0.05\n", line), ReadOptions(fps=120.0))
        np.testing.assert_allclose(recording.time, np.arange(3) / 120.0)
        assert "120 Hz, as declared" in recording.notes[0]
    # A rate in the place of the frame time cannot be told from slow frames, but is doubted.
    assert "--fps 60" in read(tmp_path, ARM.replace("Frame Time: 0.05", "Frame Time: 60")).doubts[0]


def test_a_pose_before_the_motion_is_kept_apart(tmp_path):
    recording = read(tmp_path, walk_after("0 8 9 0 0 90 0 0 0 0 0 0 0\n0 8 9 0 0 90 0 0 0 0 0 0 0"))
    assert len(recording.time) == 8
    assert "first 2 frames" in recording.notes[-1]
    np.testing.assert_allclose(recording.pose_before.positions[1], [0, 8, 19], atol=1e-12)
    np.testing.assert_allclose(
        recording.pose_before.rotations[0], Rotation.from_euler("x", 90, degrees=True).as_matrix(), atol=1e-12
    )


def test_blocks_of_frames_join_without_a_seam(tmp_path, monkeypatch):
    text = random_bvh(5, frames=50)
    whole = read(tmp_path, text)
    monkeypatch.setattr("simbench.motion.readers.bvh_reader.BLOCK_NUMBERS", 39 * 7)
    parts = read(tmp_path, text)
    np.testing.assert_array_equal(parts.positions, whole.positions)
    np.testing.assert_array_equal(parts.rotations, whole.rotations)


def test_blocks_of_long_lines_join_without_a_seam(tmp_path, monkeypatch):
    text = random_bvh(6, frames=9)
    whole = read(tmp_path, text)
    monkeypatch.setattr("simbench.motion.readers.bvh_reader.BLOCK_CHARACTERS", 1)
    np.testing.assert_array_equal(read(tmp_path, text).rotations, whole.rotations)


def test_an_error_after_the_first_block_names_the_line_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("simbench.motion.readers.bvh_reader.BLOCK_NUMBERS", 13)
    lines = ARM.split("\n")
    text = "\n".join([*lines[:-2], "", lines[-2].replace("80", "eighty"), lines[-2]])
    number = text.split("\n").index(lines[-2].replace("80", "eighty")) + 1
    with pytest.raises(MotionError, match=rf"line {number}, column 12: 'eighty'"):
        read(tmp_path, text)


def test_a_file_without_lines_is_not_held_in_memory(tmp_path):
    path = tmp_path / "sparse.bvh"
    with path.open("wb") as file:
        file.truncate(2_000_000_000)
    tracemalloc.start()
    with pytest.raises(MotionError, match=r"line 1: longer than 10000000 characters"):
        read_motion(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000_000


def test_a_skeleton_without_end_is_refused_early(tmp_path, monkeypatch):
    monkeypatch.setattr("simbench.motion.readers.bvh_reader.LONGEST_HEADER", 15)
    with pytest.raises(MotionError):
        read(tmp_path, ARM)


def test_of_a_large_file_phalanges_and_face_are_left_out(tmp_path, monkeypatch):
    finger = "JOINT LeftHandIndex1 {\nOFFSET 1 0 0\nCHANNELS 1 Xrotation\nEnd Site { OFFSET 1 0 0 }\n}"
    text = in_each_row(ARM.replace("      End Site", f"{finger}\n      End Site"), "{} 9")
    expected = read(tmp_path, text)
    monkeypatch.setattr("simbench.motion.readers.bvh_reader.LARGE_FILE", 10)
    recording = read(tmp_path, text)
    assert recording.names == ("Hips", "Arm", "Hand", "LeftHandIndex1", "Hand_end")
    kept = [expected.names.index(name) for name in recording.names]
    np.testing.assert_array_equal(recording.positions, expected.positions[:, kept])
    np.testing.assert_array_equal(recording.parents, [-1, 0, 1, 2, 2])
    assert "5 of 6 joints were kept" in recording.notes[-1]


def test_deep_and_wide_skeletons_are_bounded(tmp_path):
    joint = "JOINT j{} {{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n"
    deep = "".join(joint.format(k) for k in range(3000)).replace("JOINT", "ROOT", 1) + "}" * 3000
    row = " ".join(["0"] * 3000) + "\n"
    text = f"HIERARCHY\n{deep}\nMOTION\nFrames: 2\nFrame Time: 1\n{row * 2}"
    np.testing.assert_allclose(read(tmp_path, text).positions[1, -1], [0.0, 3000.0, 0.0])
    # Few bytes that would be gigabytes of poses.
    bare = "ROOT r {\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n" + "End Site { OFFSET 0 0 0 }\n" * 3000 + "}"
    frames = "0\n" * 7000
    with pytest.raises(MotionError, match=r"3001 joints in 7000 frames; at most 6000000"):
        read(tmp_path, f"HIERARCHY\n{bare}\nMOTION\nFrames: 7000\nFrame Time: 1\n{frames}")


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_one_line(tmp_path_factory, content):
    with pytest.raises(MotionError):
        read(tmp_path_factory.getbasetemp(), b"HIERARCHY\n" + content)


@settings(max_examples=100, deadline=None)
@given(
    st.integers(0, len(ARM)),
    st.integers(0, 30),
    st.one_of(st.binary(max_size=6), st.sampled_from(ARM.split())),
)
def test_a_changed_file_is_read_or_refused(tmp_path_factory, place, length, new):
    new = new if isinstance(new, bytes) else new.encode()
    text = ARM.encode()
    try:
        recording = read(tmp_path_factory.getbasetemp(), text[:place] + new + text[place + length :])
    except MotionError:
        return
    assert np.isfinite(recording.positions).all()
    assert len(set(recording.names)) == recording.positions.shape[1]
