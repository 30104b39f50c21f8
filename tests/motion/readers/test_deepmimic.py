import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS
from simbench.motion.readers import read_motion
from simbench.motion.readers.deepmimic import read_deepmimic
from simbench.motion.shipped import clip_folder, clip_names

# From pybullet_data/humanoid/humanoid.urdf, times 0.25, m.
LENGTHS = {
    ("shoulder", "elbow"): 0.274788,
    ("elbow", "wrist"): 0.258947,
    ("hip", "knee"): 0.421546,
    ("knee", "ankle"): 0.409870,
}


@pytest.fixture(scope="module")
def walk():
    return read_motion("deepmimic:humanoid3d_walk")


@pytest.fixture
def rows():
    return json.loads((clip_folder() / "humanoid3d_walk.txt").read_text())["Frames"]


def write(folder, content):
    path = folder / "clip.txt"
    path.write_text(content if isinstance(content, str) else json.dumps({"Loop": "wrap", "Frames": content}))
    return path


def test_the_wheel_has_fifteen_human_clips():
    assert len(clip_names()) == 15


@pytest.mark.parametrize("clip", clip_names())
def test_every_clip_is_a_human_with_limbs_of_constant_length(clip):
    motion = read_motion(f"deepmimic:{clip}")
    assert set(ARM_JOINTS) <= set(motion.joints)
    assert {*ARM_SEGMENTS, "trunk", "pelvis"} == set(motion.segments)
    for (proximal, distal), length in LENGTHS.items():
        for side in ("left", "right"):
            limb = motion.joints[f"{side}_{distal}"] - motion.joints[f"{side}_{proximal}"]
            np.testing.assert_allclose(np.linalg.norm(limb, axis=1), length, atol=1e-6)
    # Starts above the origin, facing forward: the left hip is on the left.
    np.testing.assert_allclose(motion.joints["pelvis"][0, :2], 0.0, atol=1e-12)
    hips = motion.joints["left_hip"][0] - motion.joints["right_hip"][0]
    assert hips[1] > 0.1
    assert abs(hips[0]) < 1e-9


@pytest.mark.parametrize("clip", ["humanoid3d_dance_b", "humanoid3d_spinkick", "humanoid3d_getup_faceup"])
def test_forward_kinematics_agrees_with_pybullets_own_humanoid(clip):
    pybullet = pytest.importorskip("pybullet")
    client = pybullet.connect(pybullet.DIRECT)
    try:
        urdf = clip_folder().parents[1] / "humanoid" / "humanoid.urdf"
        body = pybullet.loadURDF(str(urdf), globalScaling=0.25, physicsClientId=client)
        links = {
            pybullet.getJointInfo(body, i, physicsClientId=client)[12].decode(): i
            for i in range(pybullet.getNumJoints(body, physicsClientId=client))
        }
        motion = read_motion(f"deepmimic:{clip}")
        rows = np.array(json.loads((clip_folder() / f"{clip}.txt").read_text())["Frames"])
        order = ["chest", "neck", "right_hip", "right_knee", "right_ankle", "right_shoulder", "right_elbow"]
        order += ["left_hip", "left_knee", "left_ankle", "left_shoulder", "left_elbow"]
        names = [name for name in links if name not in ("root", "base")]
        theirs, ours = [], []
        for k in range(0, len(rows), 10):
            row = rows[k]
            quaternion = row[[5, 6, 7, 4]] / np.linalg.norm(row[4:8])
            pybullet.resetBasePositionAndOrientation(body, row[1:4], quaternion, physicsClientId=client)
            column = 8
            for name in order:
                if name.endswith(("knee", "elbow")):
                    value, column = [row[column]], column + 1
                else:
                    value = row[[column + 1, column + 2, column + 3, column]]
                    value, column = list(value / np.linalg.norm(value)), column + 4
                pybullet.resetJointStateMultiDof(body, links[name], value, physicsClientId=client)
            assert column == 44
            states = pybullet.getLinkStates(
                body, [links[n] for n in names], computeForwardKinematics=True, physicsClientId=client
            )
            theirs.append([state[4] for state in states])
            ours.append([motion.joints[name][k] for name in names])
    finally:
        pybullet.disconnect(client)
    theirs, ours = np.array(theirs).reshape(-1, 3), np.array(ours).reshape(-1, 3)
    # One rigid motion (no mirror) of the whole clip, and it is y up to z up.
    turn, _ = Rotation.align_vectors(ours - ours.mean(axis=0), theirs - theirs.mean(axis=0))
    np.testing.assert_allclose(turn.apply(theirs - theirs.mean(axis=0)) + ours.mean(axis=0), ours, atol=1e-5)
    np.testing.assert_allclose(turn.apply([0.0, 1.0, 0.0]), [0.0, 0.0, 1.0], atol=1e-5)


def test_the_walker_walks_forward_upright_on_the_floor(walk):
    pelvis = walk.joints["pelvis"]
    assert 0.8 < (pelvis[-1, 0] - pelvis[0, 0]) / walk.time[-1] < 1.4
    assert np.abs(pelvis[:, 1]).max() < 0.1
    assert walk.segments["trunk"][:, 2, 2].min() > 0.95
    # The sole is 0.05 m below the ankle; one foot is always down.
    lowest = np.minimum(walk.joints["left_ankle"][:, 2], walk.joints["right_ankle"][:, 2])
    assert lowest.min() > 0.045
    assert lowest.max() < 0.09


def test_the_walkers_arms_swing_against_the_legs(walk):
    def forward(joint, root):
        return walk.joints[joint][:, 0] - walk.joints[root][:, 0]

    for side in ("left", "right"):
        swing = np.corrcoef(forward(f"{side}_wrist", f"{side}_shoulder"), forward(f"{side}_ankle", "pelvis"))
        assert swing[0, 1] < -0.6


def test_knees_bend_backward_and_elbows_forward(walk):
    for side in ("left", "right"):
        hip, knee, ankle = (walk.joints[f"{side}_{joint}"] for joint in ("hip", "knee", "ankle"))
        assert np.all(np.cross(knee - hip, ankle - knee)[:, 1] > 0)
        forearm = walk.joints[f"{side}_wrist"] - walk.joints[f"{side}_elbow"]
        local = np.einsum("tji,tj->ti", walk.segments[f"{side}_upper_arm"][:, :3, :3], forearm)
        # y of the upper arm's frame points backward on the left, forward on the right, when the arm hangs.
        assert np.all((-local[:, 1] if side == "left" else local[:, 1]) > 0.03)
        np.testing.assert_allclose(local[:, 2], 0.0, atol=1e-9)


def test_palms_face_the_body_while_the_walkers_arms_hang(walk):
    assert walk.segments["left_hand"][:, 1, 2].min() > 0.5
    assert walk.segments["right_hand"][:, 1, 2].max() < -0.5


def test_limb_frames_point_from_joint_to_joint():
    motion = read_motion("deepmimic:dance_b")
    for side in ("left", "right"):
        for segment, ends in (("upper_arm", ("shoulder", "elbow")), ("forearm", ("elbow", "wrist"))):
            start, end = (motion.joints[f"{side}_{joint}"] for joint in ends)
            along = (end - start) / np.linalg.norm(end - start, axis=1, keepdims=True)
            np.testing.assert_allclose(motion.segments[f"{side}_{segment}"][:, :3, 0], along, atol=1e-9)
            np.testing.assert_allclose(
                motion.segments[f"{side}_{segment}"][:, :3, 3], (start + end) / 2, atol=1e-12
            )


def test_initial_pose_has_arms_forward_and_palms_down(walk):
    joints, segments = walk.initial.joints, walk.initial.segments
    for side in ("left", "right"):
        reach = joints[f"{side}_wrist"] - joints[f"{side}_shoulder"]
        np.testing.assert_allclose(reach, [0.274788 + 0.258947, 0.0, 0.0], atol=1e-9)
        np.testing.assert_allclose(segments[f"{side}_hand"][:3, :3], np.eye(3), atol=1e-12)
        # The forearm is pronated by a quarter turn against the upper arm, thumbs inward.
        relative = segments[f"{side}_upper_arm"][:3, :3].T @ segments[f"{side}_forearm"][:3, :3]
        turn = Rotation.from_matrix(relative).as_rotvec()
        np.testing.assert_allclose(turn, [np.pi / 2 if side == "left" else -np.pi / 2, 0, 0], atol=1e-9)
    assert joints["left_shoulder"][1] - joints["right_shoulder"][1] == pytest.approx(0.36622)


def test_time_is_the_sum_of_durations_without_the_last():
    motion = read_motion("deepmimic:humanoid3d_dance_b")
    assert len(motion.time) == 153
    assert motion.time[-1] == pytest.approx(152 * 0.0166660007)
    assert read_motion("deepmimic:humanoid3d_walk").rate == pytest.approx(30.0, abs=0.1)


def test_a_file_reads_as_the_clip_of_that_name():
    by_path = read_motion(clip_folder() / "humanoid3d_walk.txt")
    by_name = read_motion("deepmimic:walk")
    np.testing.assert_array_equal(by_path.joints["left_wrist"], by_name.joints["left_wrist"])


def test_quaternion_and_its_negative_are_the_same_turn(tmp_path, rows, walk):
    for k in range(0, len(rows), 2):
        rows[k][25:29] = [-value for value in rows[k][25:29]]
    flipped = read_motion(write(tmp_path, rows))
    for name, frames in walk.segments.items():
        np.testing.assert_allclose(flipped.segments[name], frames, atol=1e-9)


def test_unknown_clip_lists_the_known_ones():
    with pytest.raises(MotionError):
        read_motion("deepmimic:waltz")


def test_a_quadruped_is_refused():
    with pytest.raises(MotionError):
        read_motion(clip_folder() / "laikago_walk.txt")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("not json", "JSON"),
        ("[" * 100000, "JSON"),
        ("[1, 2]", "'Frames'"),
        ('{"Frames": []}', "'Frames'"),
        ('{"Frames": [[1, "a"]]}', "frame 0 is not a list of numbers"),
        ('{"Frames": [3]}', "frame 0 is not a list of numbers"),
    ],
)
def test_files_that_are_no_clips_are_refused(tmp_path, content, words):
    with pytest.raises(MotionError, match=words):
        read_motion(write(tmp_path, content))


def test_binary_rubbish_is_refused(tmp_path):
    path = tmp_path / "clip.txt"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(MotionError, match=r"clip\.txt:2:118: not a text file in UTF-8"):
        read_motion(path)


@pytest.mark.parametrize(
    ("row", "column", "value", "words"),
    [
        (5, 9, float("nan"), "frame 5, chest: nan"),
        (5, 20, float("inf"), "frame 5, right_knee: inf"),
        (2, 2, float("nan"), "frame 2, root y"),
        (7, 25, 9.0, "frame 7, right_shoulder: quaternion of length"),
        (4, 0, 0.0, "time repeats at frame 5"),
        (4, 0, -1.0, "time goes back at frame 5"),
        (0, 1, 10**400, "frame 0, root x: inf"),
    ],
    ids=lambda value: None if isinstance(value, int) else str(value),
)
def test_bad_numbers_are_named(tmp_path, rows, row, column, value, words):
    rows[row][column] = value
    with pytest.raises(MotionError, match=words):
        read_motion(write(tmp_path, rows))


def test_a_short_row_is_named(tmp_path, rows):
    rows[11] = rows[11][:-1]
    with pytest.raises(MotionError):
        read_motion(write(tmp_path, rows))


def test_one_frame_is_no_motion(tmp_path, rows):
    with pytest.raises(MotionError):
        read_motion(write(tmp_path, rows[:1]))


def test_a_clip_is_a_skeleton_of_the_urdfs_offsets():
    recording = read_deepmimic("walk")
    assert (recording.unit, recording.up) == ("m", "y")
    assert (recording.actor.height, recording.actor.mass) == (1.62, 45.0)
    assert recording.notes[0] == "loop: wrap"
    k = recording.names.index("left_wrist")
    assert recording.names[recording.parents[k]] == "left_elbow"
    np.testing.assert_allclose(recording.offsets[k], [0.0, -0.258947, 0.0], atol=1e-9)
    # The four corners of each sole are a rectangle of 0.177 m by 0.09 m, 0.05 m below the ankle.
    for side in ("left", "right"):
        corners = recording.positions[:, [recording.names.index(f"{side}_sole_{k}") for k in range(4)]]
        ankle = recording.positions[:, recording.names.index(f"{side}_ankle")]
        np.testing.assert_allclose(np.linalg.norm(corners[:, 2] - corners[:, 0], axis=1), 0.177, atol=1e-9)
        np.testing.assert_allclose(np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1), 0.09, atol=1e-9)
        distance = np.sqrt(0.05**2 + (0.25 * 0.534) ** 2 + 0.045**2)
        np.testing.assert_allclose(np.linalg.norm(corners[:, 3] - ankle, axis=1), distance, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=100))
def test_any_bytes_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "bytes.txt"
    path.write_bytes(content)
    with pytest.raises(MotionError):
        read_deepmimic(path)


NUMBERS = st.one_of(
    st.floats(), st.integers(), st.none(), st.text(max_size=3), st.lists(st.floats(), max_size=2)
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 3), st.integers(0, 43), NUMBERS)
def test_any_value_in_a_clip_is_read_or_refused(tmp_path_factory, row, column, value):
    rows = json.loads((clip_folder() / "humanoid3d_walk.txt").read_text())["Frames"][:4]
    rows[row][column] = value
    try:
        motion = read_motion(write(tmp_path_factory.getbasetemp(), rows))
    except MotionError:
        return
    assert np.isfinite(motion.joints["left_wrist"]).all()
