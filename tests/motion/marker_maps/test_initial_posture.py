import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import transform
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.marker_maps.conversion import find_initial_pose
from simbench.motion.read_options import ReadOptions


def arms(angle):
    """Straight arms of 0.3 and 0.25 m at `angle` (T,) above the horizontal, frames 2 cm off the bone."""
    joints, segments = {}, {}
    turn = Rotation.from_rotvec(-angle[:, None] * [0.0, 1.0, 0.0]).as_matrix()
    for side, y in (("left", 0.2), ("right", -0.2)):
        start = np.tile([0.0, y, 1.4], (len(angle), 1))
        for joint, segment, length in (
            ("shoulder", "upper_arm", 0.3),
            ("elbow", "forearm", 0.25),
            ("wrist", "hand", 0),
        ):
            joints[f"{side}_{joint}"] = start
            segments[f"{side}_{segment}"] = transform(turn, start + turn @ [0.1, 0.0, 0.02])
            start = start + length * turn[:, :, 0]
    return joints, segments


@pytest.mark.parametrize(("held", "expected"), [(1.2, True), (0.3, False)])
def test_a_posture_that_is_held_is_meant_and_a_short_one_is_not(held, expected):
    time = np.arange(300) / 100.0
    noise = np.random.default_rng(0).normal(0.0, 1e-3, 300)
    angle = 0.05 + noise + np.where(time < held, 0.0, -np.minimum(time - held, 1.0))
    pose, note = find_initial_pose(time, *arms(angle))
    if expected:
        assert 0.9 * held < float(note.split("until ")[1].split(" s")[0]) <= held
        reach = pose.joints["left_wrist"] - pose.joints["left_shoulder"]
        np.testing.assert_allclose(reach, 0.55 * np.array([np.cos(0.05), 0, np.sin(0.05)]), atol=2e-4)
    else:
        assert "computed" in note


def test_the_computed_posture_is_horizontal_with_palms_down_and_frames_at_their_places():
    time = np.arange(100) / 100.0
    pose, note = find_initial_pose(time, *arms(-1.4 + 0.5 * time))
    assert "computed" in note
    for side, y in (("left", 0.2), ("right", -0.2)):
        np.testing.assert_allclose(pose.joints[f"{side}_shoulder"], [0.0, y, 1.4], atol=1e-12)
        np.testing.assert_allclose(pose.joints[f"{side}_wrist"], [0.55, y, 1.4], atol=1e-12)
        np.testing.assert_allclose(pose.segments[f"{side}_hand"][:3, :3], np.eye(3), atol=1e-12)
        np.testing.assert_allclose(pose.segments[f"{side}_hand"][:3, 3], [0.65, y, 1.42], atol=1e-12)
        # Flexed without axial rotation: what was lateral still is.
        out = 1.0 if side == "left" else -1.0
        np.testing.assert_allclose(pose.segments[f"{side}_upper_arm"][:3, 2], [0.0, out, 0.0], atol=1e-12)
        np.testing.assert_allclose(
            pose.segments[f"{side}_upper_arm"][:3, 3], [0.1, y + 0.02 * out, 1.4], atol=1e-12
        )


def test_a_body_with_legs_stands_below_its_arms(person, make_recording):
    motion = to_human_motion(make_recording(person, "plug_in_gait"), ReadOptions())
    joints = motion.initial.joints
    np.testing.assert_allclose(joints["left_hip"] - joints["left_knee"], [0.0, 0.0, 0.42], atol=1e-9)
    np.testing.assert_allclose(joints["left_knee"] - joints["left_ankle"], [0.0, 0.0, 0.40], atol=1e-9)
    np.testing.assert_allclose(
        joints["left_shoulder"] - joints["right_shoulder"], [0.0, 0.36, 0.0], atol=1e-9
    )
    np.testing.assert_allclose(joints["left_wrist"] - joints["left_shoulder"], [0.56, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(joints["pelvis"], motion.joints["pelvis"][0], atol=1e-12)
