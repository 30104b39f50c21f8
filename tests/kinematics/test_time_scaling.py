"""Slowing down: closed form of a sinusoid's speed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.kinematics.time_scaling import time_scaling_factor


@settings(max_examples=25, deadline=None)
@given(
    amplitude=st.floats(0.2, 2.0),
    rate=st.floats(0.3, 1.5),
    limit=st.floats(0.5, 8.0),
    sampling=st.sampled_from([100.0, 200.0]),
)
def test_factor_of_a_sinusoid_is_its_greatest_speed_over_the_limit(amplitude, rate, limit, sampling):
    time = np.arange(0.0, 4.0, 1.0 / sampling)
    omega = 2 * np.pi * rate
    still = np.zeros_like(time)
    q = np.stack([still, amplitude * np.sin(omega * time), still + 1.0], axis=1)
    factor = time_scaling_factor(time, q, np.array([0.1, limit, 0.1]))
    assert factor == pytest.approx(max(1.0, amplitude * omega / limit), rel=1e-4)


def test_the_joint_nearest_its_limit_decides():
    time = np.linspace(0, 3, 301)
    q = np.stack([0.9 * np.sin(2 * time), 0.5 * np.cos(4 * time)], axis=1)
    # Speeds 1.8 and 2.0 rad/s.
    assert time_scaling_factor(time, q, np.array([0.6, 1.0])) == pytest.approx(3.0, rel=1e-4)
    assert time_scaling_factor(time, q, np.array([1.0, 0.5])) == pytest.approx(4.0, rel=1e-4)
    assert time_scaling_factor(time, q, np.array([1.9, 2.1])) == 1.0


def test_slowed_by_the_factor_the_motion_just_keeps_its_limit():
    rng = np.random.default_rng(0)
    time = np.linspace(0, 2, 101)
    q = np.cumsum(rng.normal(size=(101, 3)), axis=0) / 20
    limit = np.array([0.7, 1.1, 0.9])
    factor = time_scaling_factor(time, q, limit)
    assert factor > 1.5
    assert time_scaling_factor(time * factor, q, limit) == pytest.approx(1.0, abs=3e-4)


def test_motion_does_not_hide_between_samples_or_at_the_end():
    """Speed is that of the curve between samples, up to the last one."""
    time = np.linspace(0.0, 1.0, 11)
    q = time[:, None] ** 3
    # x³ is its own cubic spline: 3 rad/s at the end.
    assert time_scaling_factor(time, q, np.array([1.0])) == pytest.approx(3.0, rel=2e-3)


@pytest.mark.parametrize("samples", [2, 3, 4])
def test_a_few_samples_have_a_speed_too(samples):
    time = np.linspace(0.0, 0.1, samples)
    assert time_scaling_factor(time, 0.2 * time[:, None], np.array([0.1])) == pytest.approx(2.0)
