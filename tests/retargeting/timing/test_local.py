"""Locally stretched time: limits in the robot's time, the tempo elsewhere, and what is said of it."""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

from simbench.kinematics.derivatives import differentiate
from simbench.kinematics.time_optimal import PathConstraints
from simbench.kinematics.time_scaling import time_scaling_factor
from simbench.retargeting.timing.local import (
    fit_tempo,
    kinematic_limits,
    measure_stretch,
    slow_for_accelerations,
    slow_where_needed,
    slowed_by,
    uniform_tempo,
    with_constraints,
)

NAMES = ("elbow", "wrist")
NO_LIMIT = np.full(2, np.inf)


def burst(rate=100.0):
    """Two joints for 8 s: slow sinusoids, and a quick turn of the wrist about 4 s."""
    time = np.arange(0.0, 8.0 + 0.5 / rate, 1.0 / rate)
    elbow = 0.4 * np.sin(1.3 * time)
    wrist = 0.3 * np.cos(0.9 * time) + 1.2 * np.tanh((time - 4.0) / 0.15)
    return time, np.stack([elbow, wrist], axis=1)


def derivatives(time, q, at):
    spline = make_interp_spline(time, q, k=5)
    return spline.derivative(1)(at), spline.derivative(2)(at), spline.derivative(3)(at)


@pytest.mark.parametrize("rate", [60.0, 100.0])
def test_speed_and_acceleration_limits_hold_in_the_robots_time(rate):
    time, q = burst(rate)
    speed, acceleration = np.array([1.0, 3.0]), np.array([5.0, 12.0])
    tempo = fit_tempo(kinematic_limits(time, q, speed, acceleration, NAMES))
    robot = tempo(time)
    at = np.arange(robot[0], robot[-1], 1e-3)
    v, a, _ = derivatives(robot, q, at)
    assert (np.abs(v) / speed).max() <= 1.002
    # The limit is of accelerations over five samples.
    assert (np.abs(a) / acceleration).max() <= 1.03
    # Without the limit it is far above.
    assert (np.abs(derivatives(time, q, time)[1]) / acceleration).max() > 2.0


def test_time_is_stretched_about_the_quick_turn_only_and_never_shortened():
    time, q = burst()
    speed = np.array([1.0, 3.0])
    tempo = fit_tempo(kinematic_limits(time, q, speed, NO_LIMIT, NAMES))
    robot = tempo(time)
    steps, recorded = np.diff(robot), np.diff(time)
    assert (steps >= recorded - 1e-12).all()
    far = np.abs(time[1:] - 4.0) > 1.0
    assert steps[far] == pytest.approx(recorded[far], abs=1e-12)
    uniform = time_scaling_factor(time, q, speed)
    assert uniform > 2.5
    # The turn takes a twentieth of the motion.
    assert 8.0 < robot[-1] < 9.0
    assert steps.max() / recorded[0] == pytest.approx(uniform, rel=0.01)


def test_the_time_law_has_no_corner():
    """Jerk by a bound from the kernel: |d³s/dt³| = ½ |x″| √x ≤ ½ π / w², w = 0.11 s, for x from 0 to 1."""
    time, q = burst()
    tempo = fit_tempo(kinematic_limits(time, q, np.array([1.0, 3.0]), NO_LIMIT, NAMES))
    robot = tempo(time)
    at = np.linspace(robot[3], robot[-4], 4000)
    jerk = derivatives(robot, time[:, None], at)[2]
    assert np.abs(jerk).max() <= 0.5 * np.pi / 0.11**2


def test_what_is_slow_enough_keeps_its_time():
    time, q = burst()
    tempo = fit_tempo(kinematic_limits(time, q, np.full(2, 50.0), NO_LIMIT, NAMES))
    assert tempo(time) is time


def test_added_constraints_count_and_are_named():
    """A torque that is ṡ² times its limit and a half, from 2 to 3 s: √1.5 slower there."""
    time, q = burst()
    limits = kinematic_limits(time, q, np.full(2, 50.0), NO_LIMIT, NAMES)
    coarse = time[::2]
    needed = np.where((coarse >= 2.0) & (coarse <= 3.0), 1.5, 0.2)[:, None]
    rows = PathConstraints(np.zeros_like(needed), needed)
    limits = with_constraints(limits, coarse, rows, ("torque of wrist",))
    tempo = fit_tempo(limits)
    rate = np.gradient(time, tempo(time))
    assert rate[205:295] == pytest.approx(1.0 / np.sqrt(1.5), abs=1e-4)
    assert rate[:175] == pytest.approx(1.0)
    metrics, note = measure_stretch(limits, tempo)
    assert metrics["retarget.slow_down_max"] == pytest.approx(np.sqrt(1.5), rel=1e-4)
    # The second that is slower, and at most 0.2 s before and after it in which the tempo changes.
    slow = np.sqrt(1.5)
    assert slow / 8.3 <= metrics["retarget.stretched_fraction"] <= 1.45 * slow / 8.3
    assert "torque of wrist (100 %)" in note


def test_a_tempo_is_slowed_further_where_new_limits_need_it():
    time, q = burst()
    free = kinematic_limits(time, q, np.full(2, 50.0), NO_LIMIT, NAMES)
    tempo = fit_tempo(free)
    bound = kinematic_limits(time, q, np.array([1.0, 3.0]), NO_LIMIT, NAMES)
    slowed = slow_where_needed(bound, tempo)
    robot = slowed(time)
    assert time_scaling_factor(robot, q, np.array([1.0, 3.0])) <= 1.001
    assert robot[300] == pytest.approx(time[300])
    assert slow_where_needed(bound, slowed)(time) == pytest.approx(robot, rel=1e-9)


def test_a_corner_of_the_path_is_slowed_for_as_the_robots_time_resolves_it():
    """The wrist turns by 0.2 rad within 40 ms of the recording, where its limits stretch time tenfold."""
    time, q = burst()
    q[:, 1] = 0.3 * np.cos(0.9 * time) + 0.1 * np.tanh((time - 4.0) / 0.01)
    speed, acceleration = np.array([1.0, 1.0]), np.array([5.0, 8.0])
    limits = kinematic_limits(time, q, speed, acceleration, NAMES)

    def use(tempo):
        return float((np.abs(differentiate(tempo(time), q).acceleration) / acceleration).max())

    first = fit_tempo(limits)
    slowed = slow_for_accelerations(limits, first, time, q, acceleration)
    assert use(first) > 1.1
    assert use(slowed) <= 1.001
    assert (slowed.square <= first.square + 1e-12).all()
    far = np.abs(slowed.recorded - 4.0) > 0.6
    assert slowed.square[far] == pytest.approx(first.square[far])


@pytest.mark.parametrize("seed", range(6))
def test_never_longer_than_one_factor_under_the_same_limits(seed):
    """A path with corners, sampled as recorded: accelerations that change from sample to sample."""
    time, q = burst()
    rng = np.random.default_rng(seed)
    q = np.maximum(q + rng.normal(0.0, 2e-4, q.shape), rng.uniform(-0.6, 0.2))
    speed, acceleration = np.array([1.0, 3.0]), rng.uniform(2.0, 6.0, 2)
    limits = kinematic_limits(time, q, speed, acceleration, NAMES)
    uniform, local = uniform_tempo(limits), fit_tempo(limits)
    assert uniform.robot[-1] > 8.0 * time_scaling_factor(time, q, speed)
    assert local.robot[-1] <= uniform.robot[-1]
    assert local.square.min() >= uniform.square.min() * (1.0 - 1e-9)
    last = slow_for_accelerations(limits, local, time, q, acceleration)
    need = np.abs(differentiate(time, q).acceleration) / acceleration
    assert last.robot[-1] <= 8.0 * np.sqrt(need.max()) * (1.0 + 1e-3)


def test_the_joint_that_binds_is_named():
    time, q = burst()
    limits = kinematic_limits(time, q, np.array([1.0, 3.0]), NO_LIMIT, NAMES)
    _, note = measure_stretch(limits, fit_tempo(limits))
    assert "s longer than recorded, most for speed of wrist (100 %)" in note


def test_a_recording_slowed_beforehand_counts_in_the_metrics():
    metrics = {"retarget.slow_down": 1.2, "retarget.slow_down_max": 2.0, "retarget.stretched_fraction": 0.3}
    assert slowed_by(metrics, 1.5) == pytest.approx(
        {"retarget.slow_down": 1.8, "retarget.slow_down_max": 3.0, "retarget.stretched_fraction": 1.0}
    )
    assert slowed_by(metrics, 1.0) == metrics
    assert slowed_by({"retarget.slow_down": 2.0}, 1.4) == {"retarget.slow_down": 2.8}
