from dataclasses import replace

import numpy as np
import pytest

from simbench.errors import SkillError
from simbench.motion.actors.session import perform_in_session
from simbench.skills.anatomical_motion import prepare_anatomical_motion
from simbench.skills.fuzzy_rules import INPUTS
from simbench.skills.fuzzy_strategy import compute_fuzzy_inputs


def moved(task, speeds, away=None):
    """The task with joints at their ergonomic angle, but for some that swing or are away from it."""
    time = task.time - task.time[0]
    imitated = np.tile(task.body.ergonomic, (len(time), 1))
    for name, speed in speeds.items():
        imitated[:, task.names.index(name)] += speed * time
    for name, angle in (away or {}).items():
        imitated[:, task.names.index(name)] += angle
    return replace(task, imitated=imitated)


def as_dict(values):
    return dict(zip(INPUTS, values, strict=True))


def test_speeds_are_parts_of_the_fastest(arms):
    found = as_dict(
        compute_fuzzy_inputs(
            moved(
                arms,
                {
                    "RElbowYaw": -0.04,
                    "RShoulderPitch": 0.01,
                    "RShoulderYaw": 0.02,
                    "RElbowRoll": 0.03,
                    "BasePitch": -0.005,
                    "LShoulderPitch": 0.015,
                    # A slide in m/s is no joint speed to compare with.
                    "BaseX": 1.0,
                },
            )
        )
    )
    assert found["vElbowYaw"] == pytest.approx(1.0)
    assert found["vShoulderPitch"] == pytest.approx(0.25)
    assert found["vShoulderYaw"] == pytest.approx(0.5)
    assert found["vShoulderRoll"] == pytest.approx(0.75)
    assert found["vTrunkPitch"] == pytest.approx(0.125)


def test_distance_is_the_chord_to_the_ergonomic_angle(arms):
    away = {"RShoulderPitch": 0.4, "RShoulderYaw": -0.2, "LElbowYaw": 1.0}
    found = as_dict(compute_fuzzy_inputs(moved(arms, {"RWristRoll": 0.1}, away)))
    assert found["ergonomyShoulderPitch"] == pytest.approx(np.sin(0.2))
    assert found["ergonomyShoulderYaw"] == pytest.approx(np.sin(0.1))
    assert found["ergonomyElbowYaw"] == pytest.approx(0.0)


def test_trunk_distance_is_the_sum_of_its_angles(arms):
    away = {"BaseRoll": -0.1, "BasePitch": 0.2, "TrunkYaw": 0.05, "BaseYaw": 1.0, "LElbowYaw": 1.0}
    assert as_dict(compute_fuzzy_inputs(moved(arms, {"RWristRoll": 0.1}, away)))[
        "ergonomyTrunk"
    ] == pytest.approx(0.35 / np.radians(30.0))
    far = as_dict(compute_fuzzy_inputs(moved(arms, {"RWristRoll": 0.1}, {"BasePitch": -0.6})))
    assert far["ergonomyTrunk"] == 1.0


def test_mirrored_motion_has_the_same_inputs(arms):
    right = {"RElbowYaw": 0.04, "RShoulderPitch": 0.01, "RWristYaw": 0.02, "BasePitch": 0.01}
    left = {"L" + name[1:] if name[0] == "R" else name: speed for name, speed in right.items()}
    np.testing.assert_allclose(
        compute_fuzzy_inputs(moved(arms, right)), compute_fuzzy_inputs(moved(arms, left)), atol=1e-12
    )


def test_recording_gives_numbers_from_0_to_1(arms):
    values = compute_fuzzy_inputs(arms)
    assert values.shape == (9,)
    assert values.min() >= 0.0
    assert values.max() <= 1.0


def test_rest_says_nothing(arms):
    with pytest.raises(SkillError):
        compute_fuzzy_inputs(moved(arms, {}))


def test_own_joints_of_a_person_are_those_of_the_rules(made_once):
    motion = made_once("paddles-performance", lambda: perform_in_session(2018, 3, "canoe_paddles")).motion
    task = prepare_anatomical_motion(motion, span=(3.6, 4.6))
    swing = {
        "right_shoulder_flexion": 0.01,
        "right_shoulder_abduction": 0.02,
        "right_shoulder_internal_rotation": 0.03,
        "right_elbow_flexion": 0.04,
        "spine_flexion": 0.005,
        "left_shoulder_flexion": 0.015,
        # Where the pelvis turns, and how clavicles go along, is nobody's way of working.
        "BasePitch": 1.0,
        "right_clavicle_elevation": 1.0,
    }
    away = {"right_elbow_flexion": -0.5, "spine_bend": 0.1, "spine_twist": -0.05}
    found = as_dict(compute_fuzzy_inputs(moved(task, swing, away)))
    speeds = [
        found[name]
        for name in ("vShoulderPitch", "vShoulderYaw", "vShoulderRoll", "vElbowYaw", "vTrunkPitch")
    ]
    np.testing.assert_allclose(speeds, [0.25, 0.5, 0.75, 1.0, 0.125])
    assert found["ergonomyElbowYaw"] == pytest.approx(np.sin(0.24), abs=0.01)
    assert found["ergonomyShoulderPitch"] < 0.01
    # The spine bends on by 0.005 rad/s for a second.
    assert found["ergonomyTrunk"] == pytest.approx((0.15 + 0.0025) / np.radians(30.0), abs=0.001)
