"""Errors of an imitation: chosen by hand, or by Pinocchio, and found again."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS, InitialPose
from simbench.retargeting.imitation.errors import (
    HANDS,
    imitation_errors,
    model_poses,
    rotation_angle,
    summarise,
)
from simbench.retargeting.imitation.imitation import Imitation


@pytest.fixture(scope="module")
def swing(drawer_actor):
    """Forty configurations all over the place."""
    rng = np.random.default_rng(5)
    steps = rng.uniform(-1.0, 1.0, (40, drawer_actor.model.nv))
    return np.array([pin.integrate(drawer_actor.model, drawer_actor.q, step) for step in steps])


@pytest.fixture(scope="module")
def seen(drawer_actor, performed, drawer_motion, swing):
    return performed(drawer_actor, swing, np.arange(40) / 100.0, drawer_motion)


def test_poses_are_pinocchios(drawer_actor, seen, swing):
    poses = model_poses(drawer_actor, swing)
    assert set(poses) == {*ARM_JOINTS, *drawer_actor.markers}
    for name in ARM_JOINTS:
        np.testing.assert_allclose(poses[name][:, :3, 3], seen.joints[name], atol=1e-12)
    for name in drawer_actor.markers:
        np.testing.assert_allclose(poses[name], seen.segments[name], atol=1e-12)


def test_what_was_moved_is_found_where_it_was_moved(drawer_actor, seen, swing):
    """A wrist by 3, 4, 12 mm; a marker by a ramp; a hand by a turn; nothing else."""
    ramp = np.linspace(0.0, 0.02, 40)
    turn = Rotation.from_rotvec(np.outer(np.linspace(-0.5, 0.5, 40), [0.6, 0.0, 0.8])).as_matrix()
    segments = {name: poses.copy() for name, poses in seen.segments.items()}
    segments["right_forearm"][:, 1, 3] += ramp
    segments["left_hand"][:, :3, :3] = turn @ segments["left_hand"][:, :3, :3]
    joints = {**seen.joints, "left_wrist": seen.joints["left_wrist"] + [0.003, 0.004, 0.012]}
    initial = InitialPose(
        {
            **seen.initial.joints,
            "left_shoulder": model_poses(drawer_actor, drawer_actor.q[None])["left_shoulder"][0, :3, 3]
            + [0.0, 0.0, 0.007],
        },
        seen.initial.segments,
    )
    motion = replace(seen, joints=joints, segments=segments, initial=initial)
    errors = imitation_errors(Imitation(drawer_actor, seen.time, swing), motion)

    assert errors.initial["left_shoulder"] == pytest.approx(0.007, abs=1e-12)
    for name in ARM_JOINTS:
        expected = 0.013 if name == "left_wrist" else 0.0
        np.testing.assert_allclose(errors.joints[name], expected, atol=1e-12)
    for name in ARM_SEGMENTS:
        expected = ramp if name == "right_forearm" else 0.0
        np.testing.assert_allclose(errors.markers[name], expected, atol=1e-12)
    np.testing.assert_allclose(errors.hands["left_hand"], np.abs(np.linspace(-0.5, 0.5, 40)), atol=1e-7)
    np.testing.assert_allclose(errors.hands["right_hand"], 0.0, atol=1e-7)
    assert set(errors.hands) == set(HANDS)


def test_the_initial_configuration_is_measured_at_its_own_posture(drawer_actor, seen, swing):
    """By Pinocchio at q_init; the paper reports less than 2 mm on average, up to 12 mm at the shoulders."""
    data = drawer_actor.model.createData()
    pin.framesForwardKinematics(drawer_actor.model, data, drawer_actor.q)
    errors = imitation_errors(Imitation(drawer_actor, seen.time, swing), seen)
    for name in ARM_JOINTS:
        place = data.oMf[drawer_actor.joints[name]].translation
        apart = float(np.linalg.norm(seen.initial.joints[name] - place))
        assert errors.initial[name] == pytest.approx(apart, abs=1e-12)
    assert np.mean(list(errors.initial.values())) < 0.002
    assert max(errors.initial.values()) < 0.012


def test_summaries_are_over_both_sides_and_all_samples(drawer_actor, seen, swing):
    """Left wrist 1 to 40 mm off, right wrist not: half of the samples are 0, the rest a ramp."""
    off = np.linspace(0.001, 0.040, 40)
    left = seen.joints["left_wrist"] + np.outer(off, [0.0, 0.6, -0.8])
    motion = replace(seen, joints={**seen.joints, "left_wrist": left})
    errors = imitation_errors(Imitation(drawer_actor, seen.time, swing), motion)
    found = {summary.name: summary for summary in summarise(errors)}
    hands = found["hands (wrists)"]
    assert hands.unit == "m"
    assert hands.mean == pytest.approx(0.01025, abs=1e-12)
    assert hands.maximum == pytest.approx(0.040, abs=1e-12)
    # The 80 values in order: 40 zeros, then 1 to 40 mm; 0.95 × 79 = 75.05, between the 36th and the 37th mm.
    assert hands.percentile_95 == pytest.approx(0.03605, abs=1e-12)
    assert found["elbows"].maximum < 1e-12
    assert found["hand orientation"].unit == "rad"
    initial = list(errors.initial.values())
    assert found["initial configuration"].mean == pytest.approx(sum(initial) / 6, rel=1e-12)
    assert found["  shoulders"].maximum == max(
        errors.initial["left_shoulder"], errors.initial["right_shoulder"]
    )


@settings(max_examples=50, deadline=None)
@given(
    angle=st.floats(0.0, np.pi),
    numbers=st.lists(st.floats(-1.0, 1.0).filter(lambda x: abs(x) > 0.01), min_size=7, max_size=7),
)
def test_the_angle_of_a_turn_is_found_small_or_large(angle, numbers):
    axis = np.array(numbers[:3]) / np.linalg.norm(numbers[:3])
    start = Rotation.from_quat(numbers[3:])
    turned = Rotation.from_rotvec(angle * axis) * start
    # Near π the sine is flat: an error of rounding is an angle of its square root.
    found = rotation_angle(turned.as_matrix()[None], start.as_matrix()[None])
    assert found[0] == pytest.approx(angle, abs=1e-13 if angle < 1.0 else 1e-7)
