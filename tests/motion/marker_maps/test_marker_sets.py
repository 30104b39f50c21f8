"""Markers placed on a body known in closed form give back that body."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS
from simbench.motion.marker_maps import to_human_motion
from simbench.motion.read_options import ReadOptions

ARM_PARTS = {*ARM_JOINTS, *ARM_SEGMENTS}


def angles(first, second):
    """Angles (T,) between rotations (T, 3, 3), rad."""
    return Rotation.from_matrix(np.swapaxes(first, 1, 2) @ second).magnitude()


def in_actor_frame(body):
    """Turn and origin of the world: along the pelvis' heading at the start, below it."""
    turn = body.rotations["pelvis"][0].T
    return turn, np.array([*body.joints["pelvis"][0, :2], 0.0])


@pytest.mark.parametrize(
    ("name", "hand", "trunk"),
    [("kim2005", True, True), ("plug_in_gait", True, True), ("rajagopal", False, False)],
)
def test_joints_and_frames_come_back(person, make_recording, name, hand, trunk):
    motion = to_human_motion(make_recording(person, name), ReadOptions())
    assert f"marker map: {name}" in motion.notes
    turn, origin = in_actor_frame(person)
    for joint in {*ARM_JOINTS, "pelvis", "left_hip", "right_hip"} & set(motion.joints):
        # Shoulders depend on the trunk's frame, which Rajagopal's set only approximates.
        tolerance = 1e-9 if trunk else 0.015
        expected = (person.joints[joint] - origin) @ turn.T
        np.testing.assert_allclose(motion.joints[joint], expected, atol=tolerance, err_msg=joint)
    for segment in ("upper_arm", *(("forearm", "hand") if hand else ())):
        for side in ("left", "right"):
            expected = turn @ person.rotations[f"{side}_{segment}"]
            found = motion.segments[f"{side}_{segment}"][:, :3, :3]
            assert angles(expected, found).max() < (1e-4 if trunk else 0.06), segment
    if trunk:
        for segment in ("trunk", "pelvis"):
            found = motion.segments[segment][:, :3, :3]
            np.testing.assert_allclose(found, turn @ person.rotations[segment], atol=1e-9)
    assert set(motion.markers) == set(make_recording(person, name).names)
    assert ("left_hand" in motion.missing) is not hand


def test_plug_in_gait_has_the_legs(person, make_recording):
    motion = to_human_motion(make_recording(person, "plug_in_gait"), ReadOptions())
    assert motion.missing == ()
    turn, origin = in_actor_frame(person)
    for joint in ("knee", "ankle", "heel", "toe"):
        expected = (person.joints[f"left_{joint}"] - origin) @ turn.T
        np.testing.assert_allclose(motion.joints[f"left_{joint}"], expected, atol=1e-9, err_msg=joint)


@settings(max_examples=25, deadline=None)
@given(
    up=st.sampled_from("xyz"),
    yaw=st.floats(-3.1, 3.1),
    shift=st.tuples(st.floats(-5, 5), st.floats(-5, 5)),
    declared=st.booleans(),
)
def test_the_laboratorys_axes_do_not_matter(person, make_recording, up, yaw, shift, declared):
    recording = make_recording(person, "plug_in_gait")
    here = to_human_motion(recording, ReadOptions())
    turn = Rotation.from_euler("z", yaw).as_matrix()
    # Cyclic changes of axes are rotations: the file's axis `up` is our z.
    cycle = np.roll(np.eye(3), "xyz".index(up) - 2, axis=0)
    moved = (recording.positions @ turn.T + [*shift, 0.0]) @ cycle.T
    assert np.ptp(moved[0, :, "xyz".index(up)]) > 1.0
    there = to_human_motion(replace(recording, positions=moved, up=up if declared else None), ReadOptions())
    for name in here.joints:
        np.testing.assert_allclose(there.joints[name], here.joints[name], atol=1e-9)
    for name in here.segments:
        np.testing.assert_allclose(there.segments[name], here.segments[name], atol=1e-6)
    assert any("vertical axis" in note for note in there.notes) is not declared


def test_without_medial_elbow_markers_the_elbow_lies_on_the_hinge(person, make_recording, make_markers):
    markers = {k: v for k, v in make_markers(person, "rajagopal").items() if "MElbow" not in k}
    with_both = to_human_motion(make_recording(person, "rajagopal"), ReadOptions())
    lateral_only = to_human_motion(make_recording(person, markers), ReadOptions())
    for side in ("left", "right"):
        gap = lateral_only.joints[f"{side}_elbow"] - with_both.joints[f"{side}_elbow"]
        # The shoulder's error of about a centimetre tilts the plane a little.
        assert np.linalg.norm(gap, axis=1).max() < 0.004
    assert any("no medial marker" in note for note in lateral_only.notes)
    assert not any("no medial marker" in note for note in with_both.notes)


def test_skin_motion_is_taken_out_and_told(person, make_recording):
    recording = make_recording(person, "plug_in_gait")
    noise = np.random.default_rng(3).normal(0.0, 0.003, recording.positions.shape)
    motion = to_human_motion(replace(recording, positions=recording.positions + noise), ReadOptions())
    for side in ("left", "right"):
        for first, second, length in (("shoulder", "elbow", 0.30), ("elbow", "wrist", 0.26)):
            bone = motion.joints[f"{side}_{second}"] - motion.joints[f"{side}_{first}"]
            found = np.linalg.norm(bone, axis=1)
            assert np.ptp(found) < 1e-9
            assert found[0] == pytest.approx(length, abs=0.003)
    note = next(note for note in motion.notes if note.startswith("skin motion"))
    assert 0.5 < float(note.split("moved by ")[1].split(" mm")[0]) < 4.0


@pytest.mark.parametrize("kept", ["left", "right"])
def test_one_arm_is_a_motion(person, make_recording, make_markers, kept):
    other = "R" if kept == "left" else "L"
    lacking = {f"{other}{name}" for name in ("ELB", "WRA", "WRB", "FIN")}
    markers = {k: v for k, v in make_markers(person, "plug_in_gait").items() if k not in lacking}
    motion = to_human_motion(make_recording(person, markers), ReadOptions())
    gone = "right" if kept == "left" else "left"
    assert f"{kept}_hand" in motion.segments
    assert f"{gone}_hand" not in motion.segments
    assert {f"{gone}_elbow", f"{gone}_wrist", f"{gone}_upper_arm", f"{gone}_hand"} <= set(motion.missing)
    assert not any(name.startswith(kept) for name in motion.missing)
    np.testing.assert_allclose(
        motion.initial.joints[f"{kept}_wrist"][2], motion.initial.joints[f"{kept}_shoulder"][2]
    )


def test_a_hand_that_was_not_recorded_follows_the_forearm(person, make_recording, make_markers):
    markers = {k: v for k, v in make_markers(person, "plug_in_gait").items() if not k.endswith("FIN")}
    motion = to_human_motion(make_recording(person, markers), ReadOptions())
    assert motion.missing == ("left_hand", "right_hand")
    np.testing.assert_array_equal(
        motion.segments["left_hand"][:, :3, :3], motion.segments["left_forearm"][:, :3, :3]
    )
    np.testing.assert_array_equal(motion.segments["left_hand"][:, :3, 3], motion.joints["left_wrist"])


def test_arms_alone_are_a_motion(person, make_recording, make_markers):
    arms = ("SHO", "ELB", "WRA", "WRB", "FIN", "C7", "CLAV")
    markers = {k: v for k, v in make_markers(person, "plug_in_gait").items() if k.endswith(arms)}
    motion = to_human_motion(make_recording(person, markers), ReadOptions())
    assert {"pelvis", "left_hip", "right_ankle"} <= set(motion.missing)
    assert not ARM_PARTS & set(motion.missing)
    assert abs(motion.joints["left_shoulder"][0] + motion.joints["right_shoulder"][0])[:2].max() < 0.02
    with pytest.raises(MotionError):
        to_human_motion(make_recording(person, markers, up=None), ReadOptions(strict=True))
    guessed = to_human_motion(make_recording(person, markers, up=None), ReadOptions())
    assert any(doubt.startswith("vertical axis z: a guess") for doubt in guessed.doubts)


def test_events_and_details_become_strokes_and_actor(person, make_recording):
    events = (("stroke end", 0.2), ("stroke start", 0.05), ("foot strike", 0.1))
    details = {"actor": "P01", "height": "1.72", "mass": "70.5", "sex": "female"}
    motion = to_human_motion(make_recording(person, "kim2005", events=events, details=details), ReadOptions())
    np.testing.assert_array_equal(motion.strokes, [[5, 20]])
    assert (motion.actor.name, motion.actor.height, motion.actor.mass, motion.actor.age) == (
        "P01",
        1.72,
        70.5,
        None,
    )
