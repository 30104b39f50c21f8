"""Robot motions made elsewhere: what is said of their numbers, their place in the world, and their noise."""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

from simbench.balance.leg_ik import stand
from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RobotSection
from simbench.robot.robot import load_robot
from simbench.runs.trajectory_plan import check_trajectory, place_trajectory, smooth_noise

TIME = np.arange(10) / 30.0


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


def still(robot, count=10):
    posture = robot.postures["standing" if robot.floating else "ready"]
    base = np.tile(stand(robot, (0.0, 0.0), 0.0, "standing").base, (count, 1)) if robot.floating else None
    return JointTrajectory(TIME[:count], np.tile(posture, (count, 1)), robot.joint_names, base)


def test_positions_beyond_a_limit_are_told_and_kept_inside(puma):
    motion = still(puma)
    high = puma.model.upperPositionLimit
    motion.q[:, 4] = np.linspace(motion.q[0, 4], high[4] + 0.01, 10)
    inside, doubts = check_trajectory(puma, motion)
    assert inside.q.max(axis=0)[4] == high[4]
    assert len(doubts) == 1
    assert f"joint {puma.joint_names[4]} is beyond its position limit by 0.010" in doubts[0]
    assert f"first at {TIME[-1]:.2f} s" in doubts[0]


def test_speeds_beyond_a_limit_are_told(puma):
    motion = still(puma)
    limit = puma.model.velocityLimit[0]
    motion.q[5:, 0] += 1.5 * limit / 30.0
    _, doubts = check_trajectory(puma, motion)
    assert doubts == [
        f"joint {puma.joint_names[0]} is 1.50 times as fast as its limit, first at {TIME[4]:.2f} s"
    ]


def test_what_cannot_be_true_is_refused(puma, romeo):
    motion = still(puma)
    motion.q[5:, 0] += 57.0 * puma.model.velocityLimit[0] / 30.0
    with pytest.raises(MotionError, match=r"57 times as fast as its limit .*motion\.joint|joint .* radians"):
        check_trajectory(puma, motion)
    with pytest.raises(MotionError):
        check_trajectory(puma, still(puma, 3))
    motion = still(romeo)
    motion.base[5:, 0] += 2000.0
    with pytest.raises(MotionError):
        check_trajectory(romeo, motion)
    motion.base[5:, 0] -= 1990.0
    with pytest.raises(MotionError, match=r"the base moves at 300 m/s at 0\.133 s"):
        check_trajectory(romeo, motion)


def test_the_files_world_does_not_count(romeo):
    """A standing robot that was lowered, turned and shifted stands again where the scenario has it."""
    motion, section = still(romeo), RobotSection(name="romeo", position_m=(0.5, -0.2), heading_rad=0.3)
    expected = stand(romeo, (0.5, -0.2), 0.3, "standing").base
    turn = Rotation.from_euler("z", 1.9)
    base = np.hstack(
        [
            turn.apply(motion.base[:, :3]) + np.array([3.0, -7.0, -0.03]),
            (turn * Rotation.from_quat(motion.base[:, 3:])).as_quat(),
        ]
    )
    placed, height, notes = place_trajectory(
        romeo, JointTrajectory(TIME, motion.q, romeo.joint_names, base), section
    )
    np.testing.assert_allclose(placed.base[:, :3], np.tile(expected[:3], (10, 1)), atol=1e-9)
    turned = Rotation.from_quat(placed.base[:, 3:]) * Rotation.from_quat(expected[3:]).inv()
    assert turned.magnitude().max() < 1e-9
    assert height == pytest.approx(0.03, abs=1e-9)
    assert any("0.030 m below the floor" in note for note in notes)


def test_a_motion_in_its_place_is_not_moved(romeo):
    motion = still(romeo)
    placed, _, notes = place_trajectory(romeo, motion, RobotSection(name="romeo"))
    np.testing.assert_allclose(placed.base, motion.base, atol=1e-6)
    assert notes == []


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
        np.std(make_interp_spline(given.time, each.q - given.q, k=3).derivative(2)(fine))
        for each in (noisy, smoothed)
    ]
    assert shaking[1] < 0.2 * shaking[0]


def test_limits_are_kept(romeo):
    given, rng = swing(romeo, 50.0), np.random.default_rng(4)
    high = romeo.model.upperPositionLimit[7:]
    q = np.minimum(np.tile(high, (len(given.time), 1)) + rng.normal(0.0, 0.01, given.q.shape), high)
    smoothed, _ = smooth_noise(romeo, JointTrajectory(given.time, q, given.joint_names, given.base))
    assert (smoothed.q <= high).all()
