"""A free motion at the recorded tempo: limits by independent computations, no lag, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from simbench.balance.ground_reaction import standing_torques
from simbench.errors import RetargetError
from simbench.kinematics.path_solver import PathBounds
from simbench.motion.human_motion import resample
from simbench.motion.readers import read_motion
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.stand.standing_plan import plan_motion
from simbench.retargeting.timing.preserve import keep_height_tempo, limit_ratios, spread_in_time
from simbench.robot.robot_limbs import estimated_accelerations

RATE = 100.0


def plan(robot, motion, timing):
    settings = RetargetSection.model_validate({"timing": timing})
    return plan_motion(robot, motion, RobotSection(place="given"), settings, Equipment({}), lambda *_: None)


@pytest.fixture(scope="module")
def motion():
    """The fast second half of a dance."""
    whole = resample(read_motion("deepmimic:humanoid3d_dance_b"), RATE)
    return replace(
        whole,
        time=whole.time[:130],
        joints={name: each[:130] for name, each in whole.joints.items()},
        segments={name: each[:130] for name, each in whole.segments.items()},
    )


@pytest.fixture(scope="module")
def kept(romeo, motion):
    return plan(romeo, motion, "preserve")


@pytest.fixture(scope="module")
def slowed(romeo, motion):
    return plan(romeo, motion, "uniform")


def test_the_clock_is_the_recording_s(kept, slowed, motion):
    np.testing.assert_array_equal(kept.trajectory.time, motion.time)
    assert kept.metrics["retarget.slow_down"] == 1.0
    # The motion is too fast for the robot: something has to give way.
    assert slowed.metrics["retarget.slow_down"] > 2.0
    assert kept.metrics["retarget.amplitude_lost_max_rad"] > 0.2


def test_all_limits_hold_between_the_samples(romeo, kept):
    model, trajectory = romeo.model, kept.trajectory
    curve = CubicSpline(trajectory.time, trajectory.q, bc_type="not-a-knot")
    fine = np.arange(0.0, trajectory.time[-1], 1e-3)
    position, speed, acceleration = (curve(fine, order) for order in range(3))
    assert (position >= model.lowerPositionLimit[7:] - 1e-6).all()
    assert (position <= model.upperPositionLimit[7:] + 1e-6).all()
    ratio = np.abs(speed) / model.velocityLimit[6:]
    assert ratio.max() <= 0.951
    # Limits that bind are used.
    assert ratio.max() >= 0.93
    names = [romeo.joint_names[column] for column in kept.upper]
    limit = estimated_accelerations(romeo, names)
    assert (np.abs(acceleration[:, kept.upper]) <= 1.001 * limit).all()


def test_torques_are_within_the_motors(romeo, kept):
    trajectory = kept.trajectory
    torque = standing_torques(romeo, trajectory.time, trajectory.base, trajectory.q, inertia=True)
    assert (np.abs(torque).max(axis=0) <= romeo.motors.torque_limit).all()
    assert kept.metrics["retarget.tempo_violation_fraction"] == 0.0


def test_nothing_lags(kept, slowed):
    """Of all shifts by up to 20 samples, the two motions are most alike with none."""
    first, second = slowed.trajectory.q[20:-20], kept.trajectory.q

    def likeness(lag):
        late = second[20 + lag : len(second) - 20 + lag]
        return np.corrcoef((first - first.mean(axis=0)).ravel(), (late - late.mean(axis=0)).ravel())[0, 1]

    assert abs(max(range(-20, 21), key=likeness)) <= 1


def test_a_pelvis_moves_as_fast_as_it_may():
    time = np.arange(201) / 100.0
    # At rest at both ends.
    height = (0.05 * np.sin(2 * np.pi * 2.0 * time) - 0.05) * np.sin(0.5 * np.pi * time) ** 2
    slow = keep_height_tempo(time, height, np.full(201, 0.3), np.full(201, 4.0))
    curve = CubicSpline(time, slow)
    assert np.abs(curve(time, 1)).max() == pytest.approx(0.3, rel=0.05)
    assert np.abs(curve(time, 2)).max() <= 4.05
    np.testing.assert_allclose(
        keep_height_tempo(time, height, 9.0 + 0 * time, 99.0 + 0 * time), height, atol=1e-3
    )


def test_a_pelvis_rests_at_both_ends_whatever_the_person_does():
    time = np.arange(201) / 100.0
    found = keep_height_tempo(time, -0.1 * np.sin(3.0 * time + 0.5), 9.0 + 0 * time, 5.0 + 0 * time)
    curve = CubicSpline(time, found)
    np.testing.assert_allclose(curve([0.0, 2.0]), 0.0, atol=2e-4)
    np.testing.assert_allclose(curve([0.0, 2.0], 1), 0.0, atol=2e-3)
    assert found.min() < -0.08


def test_ratios_of_a_sine():
    time = np.arange(401) / 200.0
    bounds = PathBounds(np.array([-2.0]), np.array([2.0]), np.array([2.0]), np.array([10.0]))
    speed, acceleration = limit_ratios(time, np.sin(3.0 * time)[:, None], bounds)
    np.testing.assert_allclose(speed[:, 0], np.abs(3.0 * np.cos(3.0 * time)) / 2.0, atol=1e-4)
    np.testing.assert_allclose(
        acceleration[5:-5, 0], np.abs(9.0 * np.sin(3.0 * time))[5:-5] / 10.0, atol=1e-3
    )


def test_an_excess_spreads_on_both_sides_alike():
    time, excess = np.arange(201) / 100.0, np.full(201, 0.5)
    excess[100] = 3.0
    spread = spread_in_time(time, excess, 0.15)
    assert spread[100] > 2.5
    assert spread.min() == 1.0
    np.testing.assert_allclose(spread, spread[::-1])


def test_hands_that_hold_something_are_refused(romeo, drawer_motion):
    assert drawer_motion.handles
    with pytest.raises(RetargetError):
        plan_motion(
            romeo,
            drawer_motion,
            RobotSection(place="auto"),
            RetargetSection(timing="preserve"),
            Equipment(drawer_motion.handles),
            lambda *_: None,
        )
