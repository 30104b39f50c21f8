"""Feet and jerk of a person in a recording: which joints count, and which person has none."""

from dataclasses import replace

import numpy as np
import pytest

from simbench.motion.person_body import (
    foot_points,
    has_only_ankles,
    measure_person_feet,
    measure_person_jerks,
)


@pytest.fixture
def standing(drawer_motion):
    """A person whose left foot rises by 20 cm for a while, given by ankles and toes."""
    time = np.arange(301) / 100.0
    lift = np.where((time > 1.0) & (time < 2.0), 0.2 * np.sin(np.pi * (time - 1.0)), 0.0)
    joints = {"left_wrist": 0.1 * np.sin(np.pi * time)[:, None] * [1.0, 0.0, 0.0]}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        for name, x, z in (("toe", 0.2, 0.02), ("ankle", 0.0, 0.09)):
            joints[f"{side}_{name}"] = np.tile([x, 0.1 * sign, z], (len(time), 1))
    for name in ("left_toe", "left_ankle"):
        joints[name][:, 2] += lift
    return replace(drawer_motion, time=time, joints=joints)


def test_the_points_of_a_foot_begin_with_the_ankle(standing):
    assert foot_points(standing, "left") == ("left_ankle", "left_toe")
    assert not has_only_ankles(standing)
    ankles = {name: track for name, track in standing.joints.items() if not name.endswith("toe")}
    assert has_only_ankles(replace(standing, joints=ankles))


def test_a_foot_that_is_lifted_leaves_the_other(standing):
    found = measure_person_feet(standing)
    # It leaves the floor and comes to it at 0.63 m/s, faster than a foot in contact moves: at once.
    assert found.single == pytest.approx(1.0 / 3.0, abs=0.02)
    assert found.double == pytest.approx(1.0 - found.single)
    assert found.flight == 0.0
    assert found.penetration.value == 0.0


def test_feet_that_are_not_both_recorded_are_not_measured(standing):
    left = {name: track for name, track in standing.joints.items() if not name.startswith("right")}
    motion = replace(standing, joints=left)
    assert measure_person_feet(motion) is None
    assert set(measure_person_jerks(motion)) == {"left hand", "left foot"}


def test_the_jerk_of_a_wrist_is_that_of_its_sine(standing):
    peak, _ = measure_person_jerks(standing)["left hand"]
    assert peak.value == pytest.approx(0.1 * np.pi**3, rel=0.02)
