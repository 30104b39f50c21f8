"""Joint trajectories between their samples."""

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.motion.trajectory import JointTrajectory, sample_trajectory


def test_a_log_is_sampled_between_its_samples_by_the_shorter_rotation():
    base = np.array([[0.0, 0, 0, 0, 0, 0, 1.0], [1.0, 0, 0, 0, 0, -np.sin(0.1), -np.cos(0.1)]])
    log = JointTrajectory(np.array([0.0, 1.0]), np.array([[0.0], [2.0]]), ("joint",), base)
    found = sample_trajectory(log, np.array([-1.0, 0.25, 2.0]))
    np.testing.assert_allclose(found.q[:, 0], [0.0, 0.5, 2.0])
    angle = Rotation.from_quat(found.base[:, 3:]).as_rotvec()[:, 2]
    np.testing.assert_allclose(angle, [0.0, 0.05, 0.2], atol=1e-4)
