import numpy as np
import pytest

from simbench.motion.trajectory import ROUNDING, JointTrajectory, round_motion, round_trajectory
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario


@pytest.fixture(scope="module")
def motion():
    return scenario_motion(load_scenario("dance", ["motion.end_s=1.0"]), [])


def test_every_point_of_a_recording_moves_by_as_little_as_rounding(motion):
    rounded = round_motion(motion, 7)
    for name, place in motion.joints.items():
        moved = rounded.joints[name] - place
        assert 0.8 * ROUNDING < np.std(moved) < 1.2 * ROUNDING, name
        assert np.abs(moved).max() < 6 * ROUNDING
    assert motion.joints
    np.testing.assert_array_equal(rounded.time, motion.time)


def test_segment_frames_move_and_turn_and_stay_frames(motion):
    rounded = round_motion(motion, 7)
    for name, pose in motion.segments.items():
        after = rounded.segments[name]
        moved, turned = after - pose, after[:, :3, :3] @ pose[:, :3, :3].swapaxes(1, 2)
        assert 0.8 * ROUNDING < np.std(moved[:, :3, 3]) < 1.2 * ROUNDING, name
        vector = 0.5 * np.stack([turned[:, 2, 1] - turned[:, 1, 2], turned[:, 0, 2] - turned[:, 2, 0]])
        assert 0.8 * ROUNDING < np.std(vector) < 1.2 * ROUNDING, name
        np.testing.assert_array_equal(after[:, 3], pose[:, 3])
        unrounded = pose[:, :3, :3] @ pose[:, :3, :3].swapaxes(1, 2)
        np.testing.assert_allclose(
            after[:, :3, :3] @ after[:, :3, :3].swapaxes(1, 2), unrounded, rtol=0, atol=5e-15
        )
    assert motion.segments


def test_a_seed_gives_the_same_motion_and_another_one_another(motion):
    first, again, other = (round_motion(motion, seed).joints["left_wrist"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.all(first != other)


def test_a_robots_motion_moves_likewise():
    time = np.linspace(0.0, 2.0, 200)
    base = np.tile([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0], (200, 1))
    trajectory = JointTrajectory(time, np.outer(time, [1.0, 2.0, 3.0]), ("a", "b", "c"), base)
    rounded = round_trajectory(trajectory, 3)
    assert rounded.base is not None
    for moved in (rounded.q - trajectory.q, (rounded.base - base)[:, :3]):
        assert 0.8 * ROUNDING < np.std(moved) < 1.2 * ROUNDING
    np.testing.assert_array_equal(rounded.base[:, 3:], base[:, 3:])
    fixed = round_trajectory(JointTrajectory(time, trajectory.q, ("a", "b", "c")), 3)
    assert fixed.base is None
    assert 0.8 * ROUNDING < np.std(fixed.q - trajectory.q) < 1.2 * ROUNDING
