import numpy as np
import pinocchio as pin
import pytest

from simbench.errors import MotionError
from simbench.motion.actors.human_model import (
    HumanModel,
    check_ranges,
    couple_clavicles,
    find_arms_forward_posture,
    find_lean_to_reach,
    make_leaning_posture,
)
from simbench.motion.human_motion import Actor
from simbench.robot.sides import SIDES

HUMAN = HumanModel(Actor("test", 1.70, 70.0))


def test_raising_the_arms_lifts_the_shoulders():
    hanging = make_leaning_posture(HUMAN, 0.0)
    data = HUMAN.model.createData()
    heights = []
    for q in (couple_clavicles(HUMAN, hanging), find_arms_forward_posture(HUMAN)):
        pin.framesForwardKinematics(HUMAN.model, data, q)
        heights.append(data.oMf[HUMAN.frames["left_shoulder"]].translation.copy())
    np.testing.assert_allclose(heights[0], [0.0, 0.2193, 1.3906], atol=1e-9)
    lift, forward = heights[1][2] - heights[0][2], heights[1][0] - heights[0][0]
    assert 0.02 < lift < 0.05
    assert 0.01 < forward < 0.04


def test_arms_forward_is_the_papers_initial_configuration():
    q = find_arms_forward_posture(HUMAN)
    data = HUMAN.model.createData()
    pin.framesForwardKinematics(HUMAN.model, data, q)
    for side in SIDES:
        shoulder, wrist, hand = (data.oMf[HUMAN.frames[f"{side}_{n}"]] for n in ("shoulder", "wrist", "hand"))
        reach = wrist.translation - shoulder.translation
        assert np.abs(reach[1:]).max() < 2e-3
        assert reach[0] > 0.997 * (0.186 + 0.146) * 1.70
        np.testing.assert_allclose(hand.rotation, np.eye(3), atol=1e-6)
    check_ranges(HUMAN, q[None])


def test_a_lean_brings_both_shoulders_within_reach():
    far = np.array([[[0.45, 0.2, 1.1], [0.40, -0.25, 1.1]], [[0.35, 0.2, 1.1], [0.55, -0.2, 1.1]]])
    lean = find_lean_to_reach(HUMAN, far, 0.9)
    data = HUMAN.model.createData()
    pin.framesForwardKinematics(HUMAN.model, data, make_leaning_posture(HUMAN, lean))
    farthest = max(
        float(
            np.linalg.norm(
                far[:, hand] - data.oMf[HUMAN.frames[f"{side}_shoulder"]].translation, axis=1
            ).max()
        )
        for hand, side in enumerate(SIDES)
    )
    assert farthest == pytest.approx(0.9 * (0.186 + 0.146) * 1.70, abs=1e-6)
    near = np.array([[[0.35, 0.2, 1.2], [0.35, -0.2, 1.2]]])
    assert find_lean_to_reach(HUMAN, near, 0.9) == 0.0


def test_out_of_reach_is_said():
    with pytest.raises(MotionError, match=r"the right wrist cannot reach .* lean of 35 degrees.*nearer"):
        find_lean_to_reach(HUMAN, np.array([[[0.6, 0.2, 1.0], [1.2, -0.2, 1.0]]]), 0.9)


def test_people_on_the_same_chair_have_their_hips_equally_high():
    tall = HumanModel(Actor("tall", 1.90, 85.0))
    for human in (HUMAN, tall):
        assert make_leaning_posture(human, 0.0, seated=True)[2] == 0.54


def test_a_joint_beyond_a_persons_range_is_named():
    q = make_leaning_posture(HUMAN, 0.0)
    q[HUMAN.arms["right"][3]] = np.radians(160.0)
    with pytest.raises(MotionError):
        check_ranges(HUMAN, q[None])
