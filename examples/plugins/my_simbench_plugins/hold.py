"""A policy in Python: a function of the robot that makes the function of observations."""

from collections.abc import Callable

import numpy as np

from simbench.robot.robot import Robot


def hold(robot: Robot) -> Callable[[np.ndarray], np.ndarray]:
    """Return the first entries of the observation: with `reference_position` first, the robot follows."""
    count = len(robot.joint_names)
    return lambda observation: observation[:count]
