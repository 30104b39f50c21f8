"""Skeletons and markers as Xsens MVN and Motive export them give back the person in closed form."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from written_tables import FBX, motive, motive_markers, mvnx

from simbench.errors import MotionError
from simbench.motion.human_motion import ARM_SEGMENTS
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers import read_motion

BVH = {
    "Hip": "Hips", "Ab": "Chest", "Chest": "Chest2",
    **{f"{side[0]}{old}": f"{side}{new}" for side in ("Left", "Right") for old, new in (
        ("Shoulder", "Collar"), ("UArm", "Shoulder"), ("FArm", "Elbow"), ("Hand", "Wrist"),
        ("Thigh", "Hip"), ("Shin", "Knee"), ("Foot", "Ankle"), ("Toe", "Toe"))},
}  # fmt: skip


def check(person, motion, tolerance=1e-6):
    """Joints, and all frames of the body; the floor is below the lowest joint of the feet."""
    turn = person.rotations["pelvis"][0].T
    feet = [
        person.joints[f"{side}_{part}"][:, 2].min() for side in ("left", "right") for part in ("ankle", "toe")
    ]
    origin = np.array([*person.joints["pelvis"][0, :2], min(feet)])
    for name in ("left_shoulder", "right_elbow", "left_wrist", "right_hip", "left_knee", "right_toe"):
        expected = (person.joints[name] - origin) @ turn.T
        np.testing.assert_allclose(motion.joints[name], expected, atol=tolerance, err_msg=name)
    for name in (*ARM_SEGMENTS, "trunk", "pelvis"):
        expected = turn @ person.rotations[name]
        np.testing.assert_allclose(
            motion.segments[name][:, :3, :3], expected, atol=10 * tolerance, err_msg=name
        )
    assert motion.missing == ()
    assert motion.rate == pytest.approx(100.0)


@pytest.mark.parametrize("how", [{}, {"version": 3, "poses": False}])
def test_mvnx_comes_back(tmp_path, person, how):
    path = tmp_path / "walk.mvnx"
    path.write_text(mvnx(person, **how))
    motion = read_motion(path)
    check(person, motion)
    assert motion.doubts == ()
    assert "marker map: xsens_mvn" in motion.notes
    assert any("poses before the motion left out: identity, tpose" in n for n in motion.notes) is not bool(
        how
    )


def test_mvnx_without_positions_has_them_of_its_segments_points(tmp_path, person):
    path = tmp_path / "walk.mvnx"
    path.write_text(mvnx(person, positions=False))
    motion = read_motion(path)
    assert any("the file has no positions" in doubt for doubt in motion.doubts)
    relative = motion.joints["left_wrist"] - motion.joints["pelvis"]
    turn = person.rotations["pelvis"][0].T
    expected = (person.joints["left_wrist"] - person.joints["pelvis"]) @ turn.T
    np.testing.assert_allclose(relative, expected, atol=1e-6)
    path.write_text(path.read_text().replace("<connector1>T8/jNeck</connector1>", ""))
    with pytest.raises(MotionError):
        read_motion(path)


def test_mvnx_frames_that_are_missing_leave_a_gap_in_time(tmp_path, person):
    path = tmp_path / "walk.mvnx"
    text = mvnx(person)
    start = text.index('<frame type="normal" index="10"')
    path.write_text(text[:start] + text[text.index('<frame type="normal" index="12"') :])
    time = read_motion(path).time
    assert len(time) == 38
    np.testing.assert_allclose(time[[9, 10]], [0.09, 0.12])


def test_mvnx_with_a_prop_and_a_second_person(tmp_path, person):
    text = mvnx(person)
    text = text.replace("</segments>", '<segment label="Prop1" id="24"/></segments>')
    text = text.replace("</orientation>", " 1 0 0 0</orientation>").replace(
        "</position>", " 0 0 0</position>"
    )
    other = text[text.index("<subject") : text.index("</subject>") + len("</subject>")]
    path = tmp_path / "two.mvnx"
    path.write_text(text.replace("<securityCode", other.replace('"P"', '"Q"') + "<securityCode"))
    motion = read_motion(path)
    check(person, motion)
    assert {"1 further segments ignored", "the first of 2 persons is read"} <= set(motion.notes)


def test_mvnx_whose_tpose_is_none_is_doubted(tmp_path, person):
    text = mvnx(person)
    start = text.index('<frame type="tpose"')
    end = text.index("</frame>", start)
    pose = text[start:end].replace("1 0 0 0 </orientation>", "0.6 0 0 0.8 </orientation>")
    path = tmp_path / "walk.mvnx"
    path.write_text(text[:start] + pose + text[end:])
    assert "LeftToe is turned by 106 degrees in the file's own T-pose" in read_motion(path).doubts


BOMB = '<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><mvnx>&b;</mvnx>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]><mvnx>&a;</mvnx>'


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: BOMB, "a document type declaration is not allowed"),
        (lambda text: OUTSIDE, "a document type declaration is not allowed"),
        (lambda text: "<a>" * 100, "nested more than 30 elements deep"),
        (lambda text: text[: len(text) // 2], "not XML: no element found|not XML: unclosed"),
        (lambda text: "<bvh/>", "not MVNX, whose outermost element is mvnx"),
        (lambda text: text.replace("orientation>", "turn>"), "<orientation>"),
        (lambda text: text.replace('label="L5"', 'label="L3"'), "two segments have the same name"),
        (lambda text: text.replace("</position>", " 1</position>"), "<position> has 70 numbers, not 69"),
        (lambda text: text.replace("</position>", " x</position>"), "<position> holds 'x'; it must hold"),
        (lambda text: text.replace('frameRate="100"', 'frameRate="0"'), "frameRate is 0; allowed"),
        (lambda text: text.replace('type="normal"', 'type="tpose"'), "no orientations of segments in"),
    ],
)
def test_damaged_or_hostile_mvnx_is_one_line(tmp_path, person, change, words):
    path = tmp_path / "walk.mvnx"
    path.write_text(change(mvnx(person)))
    with pytest.raises(MotionError, match=words) as caught:
        read_motion(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"up": "z"},
        {"up": "x"},
        {"rotation": "XYZ"},
        {"rotation": "ZYX", "unit": "Centimeters"},
        {"rotation": "yxz"},
        {"unit": "Millimeters", "names": FBX},
        {"names": BVH, "parent_row": True},
    ],
    ids=str,
)
def test_motives_skeleton_comes_back(tmp_path, person, how):
    path = tmp_path / "take.csv"
    path.write_text(motive(person, **how))
    motion = read_motion(path)
    check(person, motion, tolerance=2e-6)
    assert motion.doubts == ()
    assert "marker map: motive" in motion.notes


def changed_cells(text, frames, first, values):
    lines = text.split("\n")
    start = next(k for k, line in enumerate(lines) if line.startswith("Frame,")) + 1
    for frame in frames:
        cells = lines[start + frame].split(",")
        cells[first : first + len(values)] = values
        lines[start + frame] = ",".join(cells)
    return "\n".join(lines)


def test_frames_without_a_bone_are_interpolated_or_refused(tmp_path, person, make_person):
    path = tmp_path / "take.csv"
    text = motive(person)
    path.write_text(changed_cells(text, range(10, 15), 2, [""] * 7))
    motion = read_motion(path)
    assert "5 frames in which a bone is not seen interpolated" in motion.notes
    turn = person.rotations["pelvis"][0].T
    expected = person.joints["left_wrist"] - person.joints["left_wrist"][0]
    found = motion.joints["left_wrist"] - motion.joints["left_wrist"][0]
    np.testing.assert_allclose(found, expected @ turn.T, atol=2e-3)
    with pytest.raises(
        MotionError, match=r"bone Hip is not seen from frame 10 .* for 0\.05 s; gaps up to 0\.02 s"
    ):
        read_motion(path, ReadOptions(longest_gap=0.02))
    path.write_text(changed_cells(text, range(3), 2, [""] * 7))
    assert len(read_motion(path).time) == 37


def test_bones_whose_axes_are_no_tposes_are_points(tmp_path, person):
    # Every bone has axes of its own, as other programs' skeletons have.
    rng = np.random.default_rng(3)
    text = motive(person)
    lines = text.split("\n")
    start = next(k for k, line in enumerate(lines) if line.startswith("Frame,")) + 1
    rows = np.array([line.split(",") for line in lines[start:] if line])
    for bone in range(21):
        own = Rotation.random(random_state=rng)
        columns = slice(2 + 7 * bone, 6 + 7 * bone)
        quaternions = Rotation.from_quat(rows[:, columns].astype(float)) * own
        rows[:, columns] = np.round(quaternions.as_quat(), 6).astype(str)
    path = tmp_path / "take.csv"
    path.write_text("\n".join([*lines[:start], *(",".join(row) for row in rows)]))
    motion = read_motion(path)
    assert any("only the positions of the skeleton are used" in doubt for doubt in motion.doubts)
    for first, second, length in (("shoulder", "elbow", 0.30), ("elbow", "wrist", 0.26)):
        bone = motion.joints[f"left_{second}"] - motion.joints[f"left_{first}"]
        np.testing.assert_allclose(np.linalg.norm(bone, axis=1), length, atol=1e-5)
    turn = person.rotations["pelvis"][0].T
    upper_arm = turn @ person.rotations["left_upper_arm"]
    np.testing.assert_allclose(motion.segments["left_upper_arm"][:, :3, 0], upper_arm[:, :, 0], atol=1e-2)


@pytest.mark.parametrize("up", ["y", "z"])
def test_motives_markers(tmp_path, person, make_markers, up):
    markers = make_markers(person, "plug_in_gait")
    path = tmp_path / "markers.csv"
    path.write_text(motive_markers(markers, person.time, up=up, gap="LELB"))
    motion = read_motion(path)
    assert "marker map: plug_in_gait" in motion.notes
    assert [(gap.marker, gap.first, gap.last) for gap in motion.filled] == [("LELB", 10, 14)]
    turn = person.rotations["pelvis"][0].T
    origin = np.array([*person.joints["pelvis"][0, :2], 0.0])
    expected = (person.joints["right_wrist"] - origin) @ turn.T
    np.testing.assert_allclose(motion.joints["right_wrist"], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda text: text.split("\n")[0], "no line that begins with Frame,Time"),
        (
            lambda text: text.replace(",Type,", ",Kind,").replace("Bone", "Bony"),
            "lines of types, names and components",
        ),
        (
            lambda text: text.replace("Length Units,Meters", "Length Units,Feet"),
            "unit of length 'Feet' unknown",
        ),
        (
            lambda text: text.replace("Bone,", "Rigid Body,").replace(",Bone Marker", ",Rigid Body"),
            "holds rigid bodies .*track a Skeleton in Motive",
        ),
        (lambda text: text.replace(":LUArm", ":Left").replace(":RUArm", ":Right"), "no complete arm"),
        (lambda text: changed_cells(text, [5], 3, ["abc"]), "column 4: 'abc' is not a number"),
        (lambda text: changed_cells(text, [5], 1, ["0.04"]), "time does not increase at sample 6"),
        (lambda text: changed_cells(text, [5], 2, ["9"]), "a quaternion of length 9"),
    ],
)
def test_a_damaged_take_is_one_line(tmp_path, person, change, words):
    path = tmp_path / "take.csv"
    path.write_text(change(motive(person)))
    with pytest.raises(MotionError, match=words) as caught:
        read_motion(path)
    assert "\n" not in str(caught.value)
