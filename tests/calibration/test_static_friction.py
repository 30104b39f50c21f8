"""Static friction from what held a joint before it broke away."""

import dataclasses

import numpy as np
import pytest

from simbench.calibration.arm_recording import ArmMotion, Feedback
from simbench.calibration.dynamic_calibration import bound_static_friction
from simbench.dynamics.arm import inverse_dynamics, read_arm

RATE, BREAKAWAY = 500.0, 0.5


@pytest.fixture(scope="module")
def recording():
    """Joint 1 is pulled at by more and more, breaks away after 2 s at 0.5 N·m, and joint 2 swings."""
    arm = dataclasses.replace(read_arm("direct_drive_arm"), coulomb=np.array([0.3, 0.0]))
    clock = np.arange(0, 5, 1 / RATE)
    after = np.maximum(clock - 2.0, 0.0)
    q = np.stack([0.1 * after**3, np.sin(3 * clock)], axis=1)
    velocity = np.stack([0.3 * after**2, 3 * np.cos(3 * clock)], axis=1)
    acceleration = np.stack([0.6 * after, -9 * np.sin(3 * clock)], axis=1)
    torque = inverse_dynamics(arm, q, velocity, acceleration)
    torque[:, 0] += np.where(clock <= 2.0, BREAKAWAY * clock / 2.0, 0.0)
    target = q + (torque + 9.5 * velocity) / 9.5
    return arm, ArmMotion(RATE, q, velocity, acceleration, target)


def test_a_joint_is_held_until_it_breaks_away(recording):
    arm, motion = recording
    held = bound_static_friction(arm, [motion], Feedback())
    assert held[0] == pytest.approx(BREAKAWAY, abs=1e-9)
    assert np.isnan(held[1])


def test_noise_does_not_hide_that_it_stands(recording):
    arm, motion = recording
    rng = np.random.default_rng(1)
    noisy = {
        name: getattr(motion, name) + 1e-3 * rng.normal(size=motion.q.shape)
        for name in ("q", "velocity", "acceleration")
    }
    held = bound_static_friction(arm, [dataclasses.replace(motion, **noisy)], Feedback())
    assert held[0] == pytest.approx(BREAKAWAY, rel=0.1)
    assert np.isnan(held[1])
