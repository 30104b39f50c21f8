import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.motion.actors.human_model import build_human_model
from simbench.motion.actors.posture import (
    COMFORT,
    WEIGHT,
    check_ranges,
    couple_clavicles,
    solve_arms,
)
from simbench.motion.actors.stance import arms_forward, lean_to_reach, with_lean
from simbench.motion.anatomy import SIDES
from simbench.motion.human_motion import Actor

HUMAN = build_human_model(Actor("test", 1.70, 70.0))
REFERENCE = dict.fromkeys(SIDES, COMFORT)


def relaxed(offset=0.0, lean=0.0):
    q = with_lean(HUMAN, lean)
    for side, change in zip(SIDES, np.broadcast_to(offset, (2, 7)), strict=True):
        q[HUMAN.arms[side]] = COMFORT + change
    return couple_clavicles(HUMAN, q)


def palms_of(q):
    data = HUMAN.model.createData()
    pin.framesForwardKinematics(HUMAN.model, data, q)
    return {side: data.oMf[HUMAN.frame(f"{side}_palm")].copy() for side in SIDES}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-0.35, 0.35), min_size=14, max_size=14))
def test_inverse_of_forward_kinematics(offsets):
    q = relaxed(np.reshape(offsets, (2, 7)), lean=0.1)
    palms = palms_of(q)
    solution = solve_arms(HUMAN, HUMAN.model.createData(), relaxed(lean=0.1), palms, REFERENCE)
    for side, reached in palms_of(solution).items():
        assert np.abs(pin.log6(reached.actInv(palms[side])).vector).max() < 1e-6

    def discomfort(configuration):
        return sum(np.sum(WEIGHT * (configuration[HUMAN.arms[side]] - COMFORT) ** 2) for side in SIDES)

    # Of the postures with these palms, the one found is no worse than the one they came from.
    assert discomfort(solution) <= discomfort(q) + 1e-6


def test_solution_does_not_depend_on_the_start():
    palms = palms_of(relaxed(0.1))
    data = HUMAN.model.createData()
    first = solve_arms(HUMAN, data, relaxed(), palms, REFERENCE)
    second = solve_arms(HUMAN, data, relaxed([0.2, -0.2, 0.3, 0.4, -0.2, 0.3, 0.1]), palms, REFERENCE)
    np.testing.assert_allclose(first, second, atol=1e-5)


def test_raising_the_arms_lifts_the_shoulders():
    hanging = with_lean(HUMAN, 0.0)
    data = HUMAN.model.createData()
    heights = []
    for q in (couple_clavicles(HUMAN, hanging), arms_forward(HUMAN)):
        pin.framesForwardKinematics(HUMAN.model, data, q)
        heights.append(data.oMf[HUMAN.frame("left_shoulder")].translation.copy())
    np.testing.assert_allclose(heights[0], [0.0, 0.2193, 1.3906], atol=1e-9)
    lift, forward = heights[1][2] - heights[0][2], heights[1][0] - heights[0][0]
    assert 0.02 < lift < 0.05
    assert 0.01 < forward < 0.04


def test_arms_forward_is_the_papers_initial_configuration():
    q = arms_forward(HUMAN)
    data = HUMAN.model.createData()
    pin.framesForwardKinematics(HUMAN.model, data, q)
    for side in SIDES:
        shoulder, wrist, hand = (data.oMf[HUMAN.frame(f"{side}_{n}")] for n in ("shoulder", "wrist", "hand"))
        reach = wrist.translation - shoulder.translation
        assert np.abs(reach[1:]).max() < 2e-3
        assert reach[0] > 0.997 * (0.186 + 0.146) * 1.70
        np.testing.assert_allclose(hand.rotation, np.eye(3), atol=1e-6)
    check_ranges(HUMAN, q[None])


def test_out_of_reach_is_said():
    far = {side: pin.SE3(np.eye(3), np.array([1.0, 0.2, 1.2])) for side in SIDES}
    with pytest.raises(MotionError, match="palm cannot reach"):
        solve_arms(HUMAN, HUMAN.model.createData(), relaxed(), far, REFERENCE)
    with pytest.raises(MotionError, match=r"lean of 35 degrees.*nearer"):
        lean_to_reach(HUMAN, np.array([1.2, 0.2, 1.0]))


def test_a_joint_beyond_a_persons_range_is_named():
    q = with_lean(HUMAN, 0.0)
    q[HUMAN.arms["right"][3]] = np.radians(160.0)
    with pytest.raises(MotionError, match="160 degrees of right_elbow_flexion; a person has 0 to 150"):
        check_ranges(HUMAN, q[None])
