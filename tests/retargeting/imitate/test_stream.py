"""Frames that come one by one: near the whole clip, inside limits, and refused with one line."""

import numpy as np
import pytest

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.body_errors import compare_with_person, summarise_errors
from simbench.retargeting.imitate.plan import ImitationStream


def frame(motion, sample):
    """Joints and segments of a sample."""
    return tuple(
        {name: track[sample] for name, track in tracks.items()} for tracks in (motion.joints, motion.segments)
    )


@pytest.fixture(scope="module")
def streamed(mahru, walking):
    stream = ImitationStream(mahru, walking)
    postures = [stream.follow(time, *frame(walking, k)) for k, time in enumerate(walking.time)]
    return JointTrajectory(
        walking.time,
        np.array([joints for _, joints in postures]),
        mahru.joint_names,
        np.array([base for base, _ in postures]),
    )


def test_bones_have_the_directions_of_the_persons(mahru, walking, streamed):
    errors = {each.quantity: each for each in summarise_errors(compare_with_person(mahru, streamed, walking))}
    for bone, most in (("upper arm", 1.5), ("forearm", 1.5), ("trunk", 2.0), ("thigh", 5.0), ("shank", 6.0)):
        assert np.degrees(errors[bone].mean) < most, bone
    assert errors["root"].mean < 0.05


def test_joints_keep_their_limits_and_the_soles_the_floor(mahru, streamed):
    model = mahru.model
    assert (streamed.q >= model.lowerPositionLimit[7:] - 1e-9).all()
    assert (streamed.q <= model.upperPositionLimit[7:] + 1e-9).all()
    np.testing.assert_allclose(np.linalg.norm(streamed.base[:, 3:], axis=1), 1.0, atol=1e-9)


def test_a_later_frame_does_not_change_what_was_given(mahru, walking, streamed):
    stream = ImitationStream(mahru, walking)
    for k in range(5):
        base, joints = stream.follow(walking.time[k], *frame(walking, k))
        np.testing.assert_array_equal(joints, streamed.q[k])
        np.testing.assert_array_equal(base, streamed.base[k])


def test_a_joint_that_is_not_seen_stays_where_it_was(mahru, walking):
    unseen, held = (ImitationStream(mahru, walking) for _ in range(2))
    for stream in (unseen, held):
        stream.follow(0.0, *frame(walking, 0))
    joints, segments = frame(walking, 1)
    lost = {**joints, "left_wrist": np.full(3, np.nan)}
    del lost["right_wrist"]
    before = {name: walking.joints[name][0] for name in ("left_wrist", "right_wrist")}
    np.testing.assert_array_equal(
        unseen.follow(0.02, lost, segments)[1], held.follow(0.02, {**joints, **before}, segments)[1]
    )


@pytest.mark.parametrize(
    ("time", "change", "said"),
    [
        (0.0, {}, "frame at 0 s: not later than the last one, at 0 s"),
        (0.1, {"left_horn": np.zeros(3)}, "frame at 0.1 s: joint left_horn: not in .*; allowed: .*wrist"),
    ],
)
def test_a_frame_that_cannot_be_is_refused(mahru, walking, time, change, said):
    stream = ImitationStream(mahru, walking)
    joints, segments = frame(walking, 0)
    stream.follow(0.0, joints, segments)
    with pytest.raises(MotionError, match=said):
        stream.follow(time, {**joints, **change}, segments)


def test_the_first_frame_is_whole(mahru, walking):
    joints, segments = frame(walking, 0)
    del joints["left_knee"]
    with pytest.raises(MotionError):
        ImitationStream(mahru, walking).follow(0.0, joints, segments)
