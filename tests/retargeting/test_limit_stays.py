"""Joints that stay at a limit."""

import numpy as np

from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.body_errors import RobotErrors, limit_stays, robot_metrics


def test_a_joint_that_stays_at_a_limit_is_found_with_the_longest_stay(romeo):
    """LElbowRoll at the upper limit for 3 + 5 of 20 samples, RElbowRoll at the lower for 1; no legs."""
    names, margin = romeo.joint_names, 0.03
    lower, upper = romeo.model.lowerPositionLimit[7:], romeo.model.upperPositionLimit[7:]
    q = np.tile(0.5 * (lower + upper), (20, 1))
    left, right, knee = (names.index(name) for name in ("LElbowRoll", "RElbowRoll", "LKneePitch"))
    q[2:5, left] = upper[left] - 0.039
    q[5, left] = upper[left] - 0.041
    q[10:15, left] = upper[left] + 0.2
    q[7, right] = lower[right] + margin
    q[:, knee] = upper[knee]
    stays = limit_stays(romeo, JointTrajectory(np.arange(20.0), q, names), margin)
    assert stays == [
        (0.4, "LElbowRoll", "upper", upper[left], "rad", 10, 14),
        (0.05, "RElbowRoll", "lower", lower[right], "rad", 7, 7),
    ]
    trajectory, nothing = JointTrajectory(np.arange(20.0), q, names), RobotErrors((), {})
    found = robot_metrics(romeo, trajectory, nothing, margin)
    assert found == {"retarget.robot_at_limit_fraction": 0.4}
