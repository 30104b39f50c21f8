"""An arm that was not recorded hangs, and the motion is one that retargeting takes."""

from dataclasses import replace

import numpy as np
import pytest

from simbench.motion.human_motion import HANGING_LIMB, InitialPose, complete_arms, validate_motion
from simbench.motion.person_body import hang_missing_arm
from simbench.motion.readers import read_motion


def without(motion, side, *others):
    def keep(tracks):
        return {
            name: track
            for name, track in tracks.items()
            if name.partition("_")[0] != side
            or not name.endswith(("shoulder", "elbow", "wrist", "arm", "hand"))
            if name not in others
        }

    initial = InitialPose(keep(motion.initial.joints), keep(motion.initial.segments))
    return replace(motion, joints=keep(motion.joints), segments=keep(motion.segments), initial=initial)


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_other_arm_hangs_from_the_mirror_image_of_the_shoulder(side):
    walk = read_motion("sample:walk.c3d")
    one = without(walk, side)
    assert complete_arms(one.joints) == ({"left": "right", "right": "left"}[side],)
    both = validate_motion(hang_missing_arm(one))
    joints = both.joints
    assert any(doubt.startswith(f"the {side} arm was not recorded") for doubt in both.doubts)
    # The person's own shoulder is symmetric to a centimetre or two.
    off = np.linalg.norm(joints[f"{side}_shoulder"] - walk.joints[f"{side}_shoulder"], axis=1)
    assert off.max() < 0.06
    for first, second in (("shoulder", "elbow"), ("elbow", "wrist")):
        length = np.linalg.norm(joints[f"{side}_{second}"] - joints[f"{side}_{first}"], axis=1)
        other = np.linalg.norm(
            walk.joints[f"{_other(side)}_{second}"] - walk.joints[f"{_other(side)}_{first}"], axis=1
        )
        np.testing.assert_allclose(length, np.median(other), atol=1e-9)
    np.testing.assert_allclose(joints[f"{side}_elbow"][:, :2], joints[f"{side}_shoulder"][:, :2], atol=1e-9)
    # The forearm is flexed forward, where the trunk faces.
    forward = both.segments["trunk"][:, :2, 0]
    ahead = ((joints[f"{side}_wrist"] - joints[f"{side}_elbow"])[:, :2] * forward).sum(axis=1)
    assert ahead.min() > 0.02
    start = both.segments[f"{side}_upper_arm"][0, :3, :3]
    heading = np.arctan2(forward[0, 1], forward[0, 0])
    turn = np.array(
        [[np.cos(heading), -np.sin(heading), 0], [np.sin(heading), np.cos(heading), 0], [0, 0, 1]]
    )
    np.testing.assert_allclose(start, turn @ HANGING_LIMB[side], atol=0.05)


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_initial_posture_is_that_of_the_other_arm_mirrored(side):
    walk = read_motion("sample:walk.c3d")
    both = hang_missing_arm(without(walk, side))
    # Computed initial postures are symmetric: what is mirrored is what was taken away.
    for name in ("shoulder", "elbow", "wrist"):
        np.testing.assert_allclose(
            both.initial.joints[f"{side}_{name}"], walk.initial.joints[f"{side}_{name}"], atol=0.06
        )
    for name in ("upper_arm", "forearm", "hand"):
        np.testing.assert_allclose(
            both.initial.segments[f"{side}_{name}"][:3, :3],
            walk.initial.segments[f"{side}_{name}"][:3, :3],
            atol=0.15,
        )


def test_a_body_of_one_arm_alone_gets_shoulders_as_wide_as_peoples():
    walk = read_motion("sample:walk.c3d")
    alone = without(walk, "left", "neck", "chest", "pelvis", "trunk")
    both = hang_missing_arm(alone)
    width = np.linalg.norm(both.joints["left_shoulder"] - both.joints["right_shoulder"], axis=1)
    assert np.all((width > 0.25) & (width < 0.50))


def _other(side):
    return {"left": "right", "right": "left"}[side]
