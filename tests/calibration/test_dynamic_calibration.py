"""Dynamics from motions whose torque nobody measured: exact without noise, honest with it."""

import dataclasses

import numpy as np
import pytest
from script_modules import loaded_script

from simbench.calibration.arm_recording import ArmMotion, Feedback
from simbench.calibration.dynamic_calibration import calibrate_dynamics, make_calibrated_arm
from simbench.calibration.noise_filter import estimate_noise, filter_channels, robust_least_squares
from simbench.dynamics.arm import inverse_dynamics, read_arm
from simbench.errors import CalibrationError
from simbench.robot.robot import load_robot
from simbench.sim.driven_arm import drive_arm

with loaded_script("reproduce/ohtsuki/forward_dynamics.py") as script:
    runge_kutta_then_euler = script.runge_kutta_then_euler
    simulate_law = script.simulate_law
    simulate_motions = script.simulate_motions

LAW = Feedback()
START, TARGET = np.random.default_rng(0).uniform(-2, 2, (2, 5, 2))
# Of `base_parameters`: I1 + m2 L1², D1, fc1, I2, m2 s2x, m2 s2y, D2, fc2 (Ohtsuki, table 3).
TRUE = np.array([1.986076, -0.002409, 0.010918, 0.471209, 1.718632, 0.181763, 0.000311, -0.002271])


@pytest.fixture(scope="module")
def arm():
    found = read_arm("direct_drive_arm")
    return dataclasses.replace(found, viscous=TRUE[[1, 6]], coulomb=TRUE[[2, 7]])


@pytest.fixture(scope="module")
def motions(arm):
    return simulate_motions(arm, LAW, START, TARGET, 0.002, 3000)


def blank(arm):
    """Return the same table with other masses: what a calibration is not told."""
    return dataclasses.replace(
        arm, mass=np.ones(2), centre=np.zeros((2, 3)), inertia=np.zeros((2, 3, 3)), viscous=np.zeros(2)
    )


def test_animation_moves_as_newton_euler_says(arm, motions):
    for motion in motions:
        torque = inverse_dynamics(arm, motion.q, motion.velocity, motion.acceleration)
        np.testing.assert_allclose(torque, LAW.torque(motion), atol=1e-10)
        slope = np.gradient(motion.q, 0.002, axis=0)
        np.testing.assert_allclose(slope[5:-5], motion.velocity[5:-5], atol=1e-3)


def test_full_state_is_of_fourth_order_and_the_papers_scheme_of_first(arm):
    smooth_arm = dataclasses.replace(arm, coulomb=np.zeros(2))
    ends = {}
    for step in (0.01, 0.02, 0.001):
        ends[step] = simulate_law(smooth_arm, LAW, START, TARGET, step, round(2.0 / step))[0][-1]
        ends["paper", step] = simulate_law(
            smooth_arm, LAW, START, TARGET, step, round(2.0 / step), runge_kutta_then_euler
        )[0][-1]
    fine, coarse = (np.abs(ends[step] - ends[0.001]).max() for step in (0.01, 0.02))
    assert 11 < coarse / fine < 22
    fine, coarse = (np.abs(ends["paper", step] - ends[0.001]).max() for step in (0.01, 0.02))
    assert 1.7 < coarse / fine < 2.3


def test_acceleration_feedback_counts_as_inertia(arm):
    law = Feedback(5.5, -5.5, -5.5)
    (motion,) = simulate_motions(arm, law, START[:1], TARGET[:1], 0.002, 200)
    torque = inverse_dynamics(arm, motion.q, motion.velocity, motion.acceleration)
    np.testing.assert_allclose(torque, law.torque(motion), atol=1e-10)


def test_bullet_moves_the_arm_as_runge_kutta_does(arm):
    robot = load_robot("direct_drive_arm")
    friction = dataclasses.replace(
        robot.friction, coulomb=arm.coulomb, viscous=arm.viscous, breakaway=np.maximum(arm.coulomb, 0.0)
    )
    robot = dataclasses.replace(robot, friction=friction)
    q, _ = simulate_law(arm, LAW, START, TARGET, 0.001, 1500)
    errors = {}
    for timestep in (2e-4, 4e-4):
        every = round(0.001 / timestep * 2)
        motion = drive_arm(robot, LAW, START[1], TARGET[1], timestep, 750 * every)
        errors[timestep] = np.abs(motion.q[::every] - q[:-1:2, 1]).max()
    # Bullet's error is of first order in its step, and all of the difference.
    assert errors[2e-4] < 1e-3
    assert 1.8 < errors[4e-4] / errors[2e-4] < 2.2


def test_calibration_is_exact_without_noise(arm, motions):
    found = calibrate_dynamics(blank(arm), motions, LAW)
    np.testing.assert_allclose(found.values, TRUE, rtol=0, atol=1e-8)
    assert found.unidentifiable == ()
    moved = simulate_law(
        make_calibrated_arm(blank(arm), found.base, found.values), LAW, START, TARGET, 0.002, 3000
    )[0]
    np.testing.assert_allclose(moved, np.stack([motion.q for motion in motions], axis=1), atol=1e-6)


def test_parameters_go_with_the_gains(arm, motions):
    """Motion alone has no unit of force: half the gains, half of everything, and the same animation."""
    found = calibrate_dynamics(blank(arm), motions, Feedback(4.75, -4.75))
    np.testing.assert_allclose(found.values, TRUE / 2, rtol=0, atol=1e-8)


def test_a_law_that_one_joint_contradicts_does_not_drown_that_joint(arm, motions):
    """With k_a that was not there joint 1 fits exactly, joint 2 not at all; as drives' inertia both do."""
    law = Feedback(9.5, -9.5, -1.5)
    found = calibrate_dynamics(blank(arm), motions, law)
    assert found.residual[1] > 0.1
    # Its friction is what its own rows say, not the zero of least norm.
    assert abs(found.values[6]) > 0.1
    assert found.deviations[6] > 1e-3
    free = dataclasses.replace(blank(arm), motor=np.ones(2))
    found = calibrate_dynamics(free, motions, law)
    assert found.residual.max() < 1e-6
    assert found.values[found.base.names.index("joint2.motor")] == pytest.approx(-1.5, abs=1e-7)


def test_outliers_do_not_pull(arm, motions):
    rng = np.random.default_rng(3)
    bad = []
    for motion in motions:
        change = motion.acceleration.copy()
        change[rng.integers(0, len(change), 60)] += rng.normal(0, 200.0, (60, 2))
        bad.append(dataclasses.replace(motion, acceleration=change))
    found = calibrate_dynamics(blank(arm), bad, LAW)
    np.testing.assert_allclose(found.values, TRUE, rtol=0, atol=1e-6)


def test_joint_that_stands_still_is_named(arm, motions):
    rng = np.random.default_rng(4)
    held = [
        dataclasses.replace(
            motion,
            **{
                name: getattr(motion, name) * [1.0, 0.0] + rng.normal(0, 1e-4, motion.q.shape)
                for name in ("q", "velocity", "acceleration")
            },
        )
        for motion in motions
    ]
    found = calibrate_dynamics(blank(arm), held, LAW)
    for kind in ("izz", "mx", "my", "viscous", "coulomb"):
        assert any(f"joint2.{kind}" in name for name in found.unidentifiable)
    with pytest.raises(CalibrationError, match=r"not fully known.*joint2\.izz"):
        make_calibrated_arm(arm, found.base, found.values)


def test_six_joints():
    puma = read_arm("puma560")
    """Rows of Craig, gravity, motors, friction: torques of PUMA under a law that it follows exactly."""
    rng = np.random.default_rng(5)
    clock = np.arange(0, 3, 0.001)[:, None, None]
    wave, size = rng.uniform(1, 6, (4, 6)), rng.uniform(0.1, 0.5, (4, 6))
    phase = wave * clock + rng.uniform(0, 6, (4, 6))
    q, velocity = (size * np.sin(phase)).sum(1), (size * wave * np.cos(phase)).sum(1)
    acceleration = -(size * wave**2 * np.sin(phase)).sum(1)
    torque = inverse_dynamics(puma, q, velocity, acceleration)
    law = Feedback(100.0, -10.0)
    target = q + (torque + 10.0 * velocity) / 100.0
    found = calibrate_dynamics(puma, [ArmMotion(1000.0, q, velocity, acceleration, target)], law)
    assert found.unidentifiable == ()
    again = make_calibrated_arm(puma, found.base, found.values)
    state = rng.uniform(-2, 2, (3, 50, 6))
    np.testing.assert_allclose(inverse_dynamics(again, *state), inverse_dynamics(puma, *state), atol=1e-5)


def test_filter_leaves_clean_channels_and_cleans_noisy_ones():
    rng, clock = np.random.default_rng(6), np.arange(0, 10, 0.001)
    clean = np.stack([np.sin(clock), np.exp(-clock), np.ones_like(clock)], axis=1)
    assert np.abs(filter_channels(clean, 1000.0)[0] - clean).max() < 1e-9
    noisy = clean + 0.1 * rng.normal(size=clean.shape)
    assert estimate_noise(noisy) == pytest.approx([0.1] * 3, rel=0.05)
    filtered, left = filter_channels(noisy, 1000.0)
    rms = np.sqrt(np.mean((filtered - clean) ** 2, axis=0))
    assert (rms < 0.01).all()
    assert (left < 0.01).all()


def test_deviations_say_how_far_off_solutions_are():
    """Of 200 draws with residuals that last for ten rows, 95 % must be within two deviations."""
    rng = np.random.default_rng(7)
    matrix = np.repeat(rng.normal(size=(150, 2)), 10, axis=0)
    blocks, groups = np.repeat(np.arange(150), 10), np.zeros(1500, dtype=int)
    inside = []
    for _ in range(200):
        values = matrix @ [1.0, -2.0] + np.repeat(rng.normal(size=150), 10)
        solution, covariance = robust_least_squares(matrix, 0.0 * matrix, values, groups, blocks)
        inside.append(np.abs(solution - [1.0, -2.0]) < 2 * np.sqrt(np.diag(covariance)))
    assert 0.91 < np.mean(inside) < 0.98
