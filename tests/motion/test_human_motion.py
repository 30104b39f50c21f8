from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.human_motion import (
    Gap,
    complete_arms,
    require_both_arms,
    resample,
    transform,
    validate_motion,
)


def changed(motion, kind, name, where, value):
    tracks = dict(getattr(motion, kind))
    tracks[name] = tracks[name].copy()
    tracks[name][where] = value
    return replace(motion, **{kind: tracks})


def test_a_sound_motion_passes_unchanged(swing):
    assert validate_motion(swing) is swing


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (
            lambda m: changed(m, "joints", "left_wrist", (12, 1), np.nan),
            ["left_wrist", "frame 12", "0.240 s"],
        ),
        (lambda m: changed(m, "segments", "left_hand", (7, 0, 3), np.nan), ["left_hand", "frame 7"]),
        (
            lambda m: changed(m, "segments", "left_hand", (7, 0, 0), 1.2),
            ["left_hand", "frame 7", "orthonormal"],
        ),
        (lambda m: changed(m, "segments", "left_hand", (4, 3, 0), 0.1), ["left_hand", "frame 4", "last row"]),
        (
            lambda m: replace(m, time=m.time.clip(None, 0.3)),
            ["time repeats at frame 16", "increase strictly"],
        ),
        (lambda m: replace(m, time=m.time[::-1]), ["time goes back at frame 1", "increase strictly"]),
        (lambda m: replace(m, time=np.where(m.time > 0.5, np.nan, m.time)), ["time is nan at frame 26"]),
        (lambda m: replace(m, time=m.time[:1]), ["1 frame(s)", "at least 2"]),
        (lambda m: replace(m, time=m.time[:20]), ["left_shoulder", "shape (51, 3)", "(20, 3)"]),
        (
            lambda m: replace(m, joints={k: v for k, v in m.joints.items() if "elbow" not in k}),
            ["joints missing: left_elbow, right_elbow"],
        ),
        (
            lambda m: replace(m, segments={k: v for k, v in m.segments.items() if "hand" not in k}),
            ["segments missing: left_hand, right_hand"],
        ),
        (
            lambda m: replace(m, joints={k: 1000 * v for k, v in m.joints.items()}),
            ["left upper arm", "300 m", "unit mistake"],
        ),
        (
            lambda m: replace(m, joints={**m.joints, "left_elbow": m.joints["left_wrist"]}),
            ["left_elbow and left_wrist coincide at frame 0"],
        ),
        (
            lambda m: replace(m, initial=replace(m.initial, joints={})),
            ["initial joints missing", "left_shoulder"],
        ),
    ],
)
def test_bad_motion_is_refused_with_one_line_that_says_where(swing, damage, words):
    with pytest.raises(MotionError) as caught:
        validate_motion(damage(swing))
    message = str(caught.value)
    assert message.startswith("swing: ")
    assert "\n" not in message
    for word in words:
        assert word in message


def test_one_arm_is_a_motion_but_not_enough_for_two(swing):
    left = {
        kind: {name: track for name, track in getattr(swing, kind).items() if name.startswith("left")}
        for kind in ("joints", "segments")
    }
    alone = validate_motion(replace(swing, **left))
    assert complete_arms(alone.joints) == ("left",)
    with pytest.raises(MotionError):
        require_both_arms(alone)


def test_resampling_moves_markers_and_gaps_with_the_time(swing):
    marked = replace(swing, markers={"LWRA": swing.joints["left_wrist"]}, filled=(Gap("LWRA", 10, 20),))
    new = resample(marked, 100.0)
    np.testing.assert_allclose(new.markers["LWRA"], new.joints["left_wrist"], atol=1e-12)
    assert new.filled == (Gap("LWRA", 20, 40),)


def test_mirrored_rotation_is_refused(swing):
    mirrored = swing.segments["left_hand"] @ np.diag([1.0, -1.0, 1.0, 1.0])
    with pytest.raises(MotionError):
        validate_motion(replace(swing, segments={**swing.segments, "left_hand": mirrored}))


def test_resampling_meets_the_true_motion_between_the_samples(swinging_arms):
    coarse, fine = resample(swinging_arms(30.0), 240.0), swinging_arms(240.0)
    np.testing.assert_allclose(coarse.time, fine.time, atol=1e-12)
    for name, position in fine.joints.items():
        # Fourth-order error of a 1 Hz swing sampled at 30 Hz; the arm's tip moves by half a metre.
        np.testing.assert_allclose(coarse.joints[name], position, atol=1e-4)
    for name, frames in fine.segments.items():
        np.testing.assert_allclose(coarse.segments[name], frames, atol=2e-4)


def test_resampling_keeps_limbs_rigid(swinging_arms):
    joints = resample(swinging_arms(30.0), 100.0).joints
    upper = np.linalg.norm(joints["left_elbow"] - joints["left_shoulder"], axis=1)
    fore = np.linalg.norm(joints["left_wrist"] - joints["left_elbow"], axis=1)
    np.testing.assert_allclose(upper, 0.30, atol=5e-5)
    np.testing.assert_allclose(fore, 0.25, atol=5e-5)
    assert np.all(np.abs(joints["left_shoulder"][:, 2] - 1.40) < 1e-12)


def test_resampling_keeps_the_ends_and_moves_strokes_with_the_time(swing):
    new = resample(swing, 120.0)
    assert new.time[0] == swing.time[0]
    assert swing.time[-1] - new.time[-1] < 1 / 120
    np.testing.assert_allclose(new.time[new.strokes], swing.time[swing.strokes], atol=0.5 / 120 + 1e-9)
    assert new.rate == pytest.approx(120.0)


def test_resampling_at_the_same_rate_changes_nothing(swing):
    new = resample(swing, 50.0)
    assert len(new.time) == len(swing.time)
    for name, frames in swing.segments.items():
        np.testing.assert_allclose(new.segments[name], frames, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(
    axis=st.tuples(*[st.floats(-1, 1) for _ in range(3)]).filter(lambda v: np.linalg.norm(v) > 0.1),
    angle=st.floats(-np.pi, np.pi),
    shift=st.tuples(*[st.floats(-5, 5) for _ in range(3)]),
    rate=st.floats(20.0, 300.0),
)
def test_resampling_does_not_depend_on_where_the_world_is(swinging_arms, axis, angle, shift, rate):
    motion = swinging_arms(30.0)
    turn = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).as_matrix()
    move = transform(turn, np.array(shift))

    def moved(m):
        return replace(
            m,
            joints={name: p @ turn.T + np.array(shift) for name, p in m.joints.items()},
            segments={name: move @ frames for name, frames in m.segments.items()},
        )

    first, second = resample(moved(motion), rate), moved(resample(motion, rate))
    for name in motion.joints:
        np.testing.assert_allclose(first.joints[name], second.joints[name], atol=1e-9)
    for name in motion.segments:
        np.testing.assert_allclose(first.segments[name], second.segments[name], atol=1e-7)
