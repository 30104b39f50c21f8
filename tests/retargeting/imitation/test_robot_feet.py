"""Feet of a robot whose base is moved as a whole: the soles go with it."""

import numpy as np
import pytest

from simbench.balance.standing.standing import stand
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.imitation.robot_feet import measure_robot_feet, measure_robot_jerks

TIME = np.arange(201) / 100.0


@pytest.fixture
def moved(romeo):
    """Make a robot in its standing posture move with its base, by (T, 3) m."""
    stance = stand(romeo, (0.0, 0.0), 0.0, "basic")

    def move(displacement):
        base = np.tile(stance.base, (len(TIME), 1))
        base[:, :3] += displacement
        joints = np.tile(stance.joints, (len(TIME), 1))
        return JointTrajectory(TIME, joints, romeo.joint_names, base)

    return move


def test_standing_soles_are_on_the_floor_and_rest(romeo, moved):
    found = measure_robot_feet(romeo, moved(np.zeros(3)))
    assert (found.double, found.single, found.flight) == (1.0, 0.0, 0.0)
    for worst in (found.skate, found.penetration, found.float_height):
        assert worst.value == pytest.approx(0.0, abs=1e-6)
    jerks = measure_robot_jerks(romeo, moved(np.zeros(3)))
    assert set(jerks) == {"left hand", "right hand", "left foot", "right foot"}


def test_soles_slide_sink_and_float_with_the_base(romeo, moved):
    ramp = np.linspace(0.0, 1.0, len(TIME))[:, None]
    assert measure_robot_feet(romeo, moved(0.05 * ramp * [0.6, 0.8, 0.0])).skate.value == pytest.approx(0.05)
    assert measure_robot_feet(romeo, moved([0.0, 0.0, -0.03])).penetration.value == pytest.approx(
        0.03, abs=1e-6
    )
    up = measure_robot_feet(romeo, moved([0.0, 0.0, 0.1]))
    assert up.flight == 1.0
    assert up.float_height.value == pytest.approx(0.1, abs=1e-6)


def test_hands_and_feet_have_the_jerk_of_the_base(romeo, moved):
    jerks = measure_robot_jerks(romeo, moved(0.1 * np.sin(np.pi * TIME)[:, None] * [0.0, 0.0, 1.0]))
    for jerk in jerks.values():
        assert jerk.peak.value == pytest.approx(0.1 * np.pi**3, rel=0.02)


def test_a_robot_without_feet_has_no_measures_of_them(romeo, moved):
    still = moved(np.zeros(3))
    assert measure_robot_feet(romeo, JointTrajectory(still.time, still.q, still.joint_names)) is None
