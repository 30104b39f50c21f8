"""Fidelity to a person: lag, tempo, limits, footsteps, and soles on the floor, of motions made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from simbench.balance.leg_ik import stand
from simbench.motion.trajectory import JointTrajectory, sample_trajectory
from simbench.retargeting.body_errors import (
    BODY_QUANTITIES,
    RobotErrors,
    compare_with_person,
    measure_robot_feet,
    summarise_errors,
)
from simbench.runs.motion_fidelity import (
    Fidelity,
    Landings,
    compare_landings,
    executed_fidelity,
    fidelity_metrics,
    find_landings,
    measure_lag,
    measure_limit_shares,
    planned_fidelity,
)

TURN, LIMITS = 0.7, (0.03, 0.95)


def moved(trajectory, joint, angle):
    q = trajectory.q.copy()
    q[:, trajectory.joint_names.index(joint)] += angle
    return replace(trajectory, q=q)


def run(dancing, delay, stretch=1.0, end=None):
    """A log at 500 Hz of a robot that is late by a delay, 2 s of rest before and 1 s after."""
    time = np.arange(0.0, 3.0 + 3.0 * stretch, 0.002)
    time = time if end is None else time[time <= end]
    logged = sample_trajectory(dancing, (time - 2.0 - delay) / stretch)
    return replace(logged, time=time)


def executed(mahru, logged, person, stretch=1.0):
    time = 2.0 + stretch * person.time
    speeds = make_interp_spline(logged.time, logged.q).derivative()(logged.time)
    return executed_fidelity(mahru, logged, speeds, person, time, LIMITS, heading=TURN)


@pytest.mark.parametrize(("delay", "stretch"), [(0.0, 1.0), (0.037, 1.0), (0.1234, 2.5), (-0.02, 1.0)])
def test_a_run_that_is_late_has_that_lag_at_the_robots_tempo(mahru, dancing, person, delay, stretch):
    logged = run(dancing, delay, stretch)
    found = executed(mahru, logged, person, stretch)
    assert found.lag == pytest.approx(delay, abs=3e-4)
    metrics = fidelity_metrics(found)
    assert metrics["fidelity.duration_ratio"] == pytest.approx(stretch)
    assert found.executed == 1.0
    if delay == 0.0:
        for summary in summarise_errors(found.errors):
            assert summary.maximum < 1e-6, summary


def test_a_run_that_ends_early_is_compared_as_far_as_it_went(mahru, dancing, person):
    logged = run(dancing, 0.0, end=3.5)
    found = executed(mahru, logged, person)
    assert found.executed == pytest.approx(151 / 301)
    assert all(len(track.samples) == 151 for track in found.errors.tracks)
    metrics = fidelity_metrics(found)
    assert metrics["fidelity.executed_fraction"] == found.executed
    gone = run(dancing, 0.0, end=2.02)
    assert executed(mahru, gone, person) is None


def test_metrics_have_both_clocks_and_si_units(mahru, dancing, person):
    bent = moved(dancing, "LKneePitch", 0.0)
    bent.q[100, bent.joint_names.index("LKneePitch")] += 0.4
    slow = replace(bent, time=2.0 * bent.time)
    errors = compare_with_person(mahru, slow, person, heading=TURN)
    fidelity = planned_fidelity(mahru, slow, person, errors, LIMITS, heading=TURN)
    metrics = fidelity_metrics(fidelity)
    assert metrics["fidelity.shank_max_rad"] == pytest.approx(0.4)
    assert metrics["fidelity.shank_mean_rad"] == pytest.approx(0.4 / 602.0)
    assert metrics["fidelity.shank_p95_rad"] == pytest.approx(0.0, abs=1e-9)
    assert metrics["fidelity.shank_max_at_s"] == pytest.approx(1.0)
    assert metrics["fidelity.shank_max_at_robot_s"] == pytest.approx(2.0)
    assert metrics["fidelity.duration_ratio"] == pytest.approx(2.0)
    assert metrics["fidelity.stretch_max_ratio"] == pytest.approx(2.0)
    assert metrics["fidelity.lag_s"] == pytest.approx(0.0, abs=1e-6)
    assert metrics["fidelity.hand_max_fraction"] == pytest.approx(0.0, abs=1e-9)
    assert "fidelity.root_max_m" in metrics
    assert {summary.quantity for summary in summarise_errors(fidelity.errors)} == set(BODY_QUANTITIES)


def test_limits_are_counted_where_a_joint_is_at_one(mahru, dancing):
    q = np.zeros((100, len(mahru.joint_names)))
    joint = mahru.joint_names.index("LElbowPitch")
    lower, fastest = mahru.model.lowerPositionLimit[7 + joint], mahru.model.velocityLimit[6 + joint]
    q[:, joint] = np.linspace(0.5 * lower, lower, 100)
    expected = np.mean(q[:, joint] <= lower + 0.04)
    speeds = np.zeros_like(q)
    speeds[:25, joint] = -0.95 * fastest
    shares = measure_limit_shares(mahru, q, speeds, *LIMITS)
    assert shares == pytest.approx((expected, 0.25))
    # Another joint is at its limit all the time, but does not move.
    q[:, mahru.joint_names.index("RElbowPitch")] = mahru.model.upperPositionLimit[7 + joint]
    assert measure_limit_shares(mahru, q, speeds, *LIMITS) == shares


def test_tempo_is_the_ratio_of_durations_and_the_largest_local_stretch():
    recording = np.arange(5) * 0.1
    robot = 3.0 + np.array([0.0, 0.1, 0.2, 0.5, 0.6])
    metrics = fidelity_metrics(Fidelity(RobotErrors((), {}), recording, robot, (0.0, 0.0)))
    assert metrics["fidelity.duration_ratio"] == pytest.approx(1.5)
    assert metrics["fidelity.stretch_max_ratio"] == pytest.approx(3.0)
    assert metrics["fidelity.stretch_max_at_s"] == pytest.approx(0.2)


def test_what_does_not_move_or_moves_otherwise_has_no_lag():
    time = np.arange(0.0, 4.0, 0.01)
    wave = np.sin(3.0 * time + 0.5 * time**2)[:, None]
    assert measure_lag(time, wave, time, np.zeros_like(wave)) is None
    assert measure_lag(time, np.zeros_like(wave), time, wave) is None
    assert measure_lag(time, wave, time, -wave) is None
    assert measure_lag(time, wave, time, 0.2 * wave) == pytest.approx(0.0, abs=1e-5)
    assert measure_lag(time[:3], wave[:3], time[:3], wave[:3]) is None


STEPS = Landings(
    np.array([0, 1, 0, 1]),
    np.array([1.0, 1.6, 2.2, 2.8]),
    np.array([[0.3, 0.1], [0.6, -0.1], [0.9, 0.1], [0.9, -0.1]]),
    np.array([0.0, 0.1, 0.2, 0.2]),
)


def walk(steps, rate=1000.0, end=4.0, bounce=False):
    """Log of two feet that stand but for 0.3 s before each landing; they fly to the new place meanwhile."""
    time = np.arange(0.0, end, 1.0 / rate)
    carrying = np.ones((len(time), 2))
    feet = np.zeros((len(time), 2, 7))
    feet[..., 6] = 1.0
    for foot, when, place, yaw in zip(*steps, strict=True):
        carrying[(time > when - 0.3) & (time < when - 1e-9), foot] = 0.0
        after = time >= when - 1e-9
        feet[after, foot, :2] = place
        feet[after, foot, 5], feet[after, foot, 6] = np.sin(yaw / 2), np.cos(yaw / 2)
        if bounce:
            carrying[(time >= when + 0.005) & (time < when + 0.02), foot] = 0.0
            carrying[(time >= when - 0.15) & (time < when - 0.14), foot] = 1.0
    return time, carrying, feet


def counts(errors):
    return tuple(errors[f"fidelity.steps_{name}"] for name in ("wanted", "landed", "missed_count"))


def rms(errors):
    names = ("position_rms_m", "time_rms_s", "heading_rms_rad")
    return tuple(errors[f"fidelity.step_{name}"] for name in names)


@pytest.mark.parametrize("bounce", [False, True])
def test_landings_are_found_where_and_when_they_are(bounce):
    found = find_landings(*walk(STEPS, bounce=bounce))
    assert found.side.tolist() == STEPS.side.tolist()
    np.testing.assert_allclose(found.time, STEPS.time, atol=1e-3)
    np.testing.assert_allclose(found.position, STEPS.position)
    np.testing.assert_allclose(found.yaw, STEPS.yaw, atol=1e-12)


def test_feet_that_only_stand_do_not_land():
    time, carrying, feet = walk(Landings(np.empty(0, int), np.empty(0), np.empty((0, 2)), np.empty(0)))
    found = find_landings(time, carrying, feet)
    assert len(found.time) == 0
    errors = compare_landings(found, STEPS)
    assert counts(errors) == (4.0, 0.0, 4.0)
    assert rms(errors) == (None, None, None)


def test_shifted_landings_have_that_error():
    moved = Landings(
        STEPS.side,
        STEPS.time + np.array([0.1, -0.1, 0.1, -0.1]),
        STEPS.position + np.array([0.03, 0.04]),
        STEPS.yaw + 2 * np.pi - 0.2,
    )
    errors = compare_landings(moved, STEPS)
    assert counts(errors) == (4.0, 4.0, 0.0)
    assert rms(errors) == pytest.approx((0.05, 0.1, 0.2))


def test_a_missed_step_and_one_too_many_are_counted_and_do_not_shift_the_others():
    late = STEPS.time[:3] + 0.02
    fewer = Landings(STEPS.side[:3], late, STEPS.position[:3], STEPS.yaw[:3])
    more = Landings(
        *(
            np.append(a, b[None], axis=0)
            for a, b in zip(
                fewer, (np.array(0), np.array(3.9), np.array([5.0, 5.0]), np.array(1.0)), strict=True
            )
        )
    )
    errors = compare_landings(more, STEPS)
    assert counts(errors) == (4.0, 4.0, 1.0)
    assert rms(errors) == pytest.approx((0.0, 0.02, 0.0), abs=1e-12)


TIME = np.arange(201) / 100.0


@pytest.fixture
def with_base(romeo):
    """Make a robot in its standing posture move with its base, by (T, 3) m."""
    stance = stand(romeo, (0.0, 0.0), 0.0, "basic")

    def move(displacement):
        base = np.tile(stance.base, (len(TIME), 1))
        base[:, :3] += displacement
        joints = np.tile(stance.joints, (len(TIME), 1))
        return JointTrajectory(TIME, joints, romeo.joint_names, base)

    return move


def test_standing_soles_are_on_the_floor_and_rest(romeo, with_base):
    found, jerks = measure_robot_feet(romeo, with_base(np.zeros(3)))
    assert (found.double, found.single, found.flight) == (1.0, 0.0, 0.0)
    for worst in (found.skate, found.penetration, found.float_height):
        assert worst.value == pytest.approx(0.0, abs=1e-6)
    assert set(jerks) == {"left hand", "right hand", "left foot", "right foot"}


def test_soles_slide_sink_and_float_with_the_base(romeo, with_base):
    ramp = np.linspace(0.0, 1.0, len(TIME))[:, None]
    sliding, _ = measure_robot_feet(romeo, with_base(0.05 * ramp * [0.6, 0.8, 0.0]))
    assert sliding.skate.value == pytest.approx(0.05)
    down, _ = measure_robot_feet(romeo, with_base([0.0, 0.0, -0.03]))
    assert down.penetration.value == pytest.approx(0.03, abs=1e-6)
    up, _ = measure_robot_feet(romeo, with_base([0.0, 0.0, 0.1]))
    assert up.flight == 1.0
    assert up.float_height.value == pytest.approx(0.1, abs=1e-6)


def test_hands_and_feet_have_the_jerk_of_the_base(romeo, with_base):
    _, jerks = measure_robot_feet(romeo, with_base(0.1 * np.sin(np.pi * TIME)[:, None] * [0.0, 0.0, 1.0]))
    for peak, _ in jerks.values():
        assert peak.value == pytest.approx(0.1 * np.pi**3, rel=0.02)


def test_a_robot_without_feet_has_no_measures_of_them(romeo, with_base):
    still = with_base(np.zeros(3))
    assert measure_robot_feet(romeo, JointTrajectory(still.time, still.q, still.joint_names))[0] is None
