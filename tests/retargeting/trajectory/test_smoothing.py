"""Noise of trajectories, smoothed as far as it would shake the robot."""

import numpy as np
import pytest

from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.trajectory.curves import fit_curve
from simbench.retargeting.trajectory.smoothing import smooth_noise


def swing(robot, rate, duration=4.0):
    """All joints swing slowly by 0.2 rad within their limits; the root moves forward."""
    time = np.arange(0.0, duration, 1.0 / rate)
    low, high = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    q = 0.5 * (low + high) + np.minimum(0.2, 0.3 * (high - low)) * np.sin(2.0 * np.pi * 0.7 * time)[:, None]
    base = np.tile([0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 1.0], (len(time), 1))
    base[:, 0] = 0.3 * time
    return JointTrajectory(time, q, robot.joint_names, base)


@pytest.mark.parametrize("rate", [30.0, 50.0])
def test_a_motion_without_noise_stays(romeo, rate):
    given = swing(romeo, rate)
    smoothed, notes = smooth_noise(romeo, given)
    np.testing.assert_allclose(smoothed.q, given.q, atol=1e-4)
    np.testing.assert_allclose(smoothed.base, given.base, atol=1e-9)
    assert notes == []


def test_noise_is_taken_out_and_said(romeo):
    given, rng = swing(romeo, 50.0), np.random.default_rng(3)
    noisy = JointTrajectory(
        given.time, given.q + rng.normal(0.0, 0.002, given.q.shape), given.joint_names, given.base.copy()
    )
    noisy.base[:, :3] += rng.normal(0.0, 0.001, (len(given.time), 3))
    noisy.base[::2, 3:] *= -1.0
    smoothed, notes = smooth_noise(romeo, noisy)
    assert len(notes) == 1
    assert "smoothed over" in notes[0]
    assert np.std(smoothed.base[:, :3] - given.base[:, :3]) < 0.6 * 0.001
    np.testing.assert_allclose(smoothed.base[:, 3:], [[0.0, 0.0, 0.0, -1.0]] * len(given.time), atol=1e-9)
    fine = np.arange(0.3, 3.6, 0.005)
    shaking = [
        np.std(fit_curve(given.time, each.q - given.q).derivative(2)(fine)) for each in (noisy, smoothed)
    ]
    assert shaking[1] < 0.2 * shaking[0]


def test_limits_are_kept(romeo):
    given, rng = swing(romeo, 50.0), np.random.default_rng(4)
    high = romeo.model.upperPositionLimit[7:]
    q = np.minimum(np.tile(high, (len(given.time), 1)) + rng.normal(0.0, 0.01, given.q.shape), high)
    smoothed, _ = smooth_noise(romeo, JointTrajectory(given.time, q, given.joint_names, given.base))
    assert (smoothed.q <= high).all()
