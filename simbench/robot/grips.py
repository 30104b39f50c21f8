"""Fingers that close: how far grip joints go."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from simbench.robot.robot import Robot

_MARGIN = 0.02
"""Distance from the limits, rad."""


def grip_range(robot: Robot, joint: str) -> tuple[float, float]:
    """Tell where a grip joint is with the hand open and closed.

    Parameters
    ----------
    robot : Robot
    joint : str

    Returns
    -------
    opened, closed : float
        As near to 0 as it comes, and the limit that is farther from there, rad; inside by a margin.
    """
    column = robot.root_q + robot.joint_names.index(joint)
    lower = float(robot.model.lowerPositionLimit[column]) + _MARGIN
    upper = float(robot.model.upperPositionLimit[column]) - _MARGIN
    return float(np.clip(0.0, lower, upper)), upper if upper > -lower else lower


def close_hands(robot: Robot, joints: NDArray[np.float64], sides: Collection[str]) -> NDArray[np.float64]:
    """Close the fingers of hands in postures.

    Parameters
    ----------
    robot : Robot
    joints : (..., n) array
        rad.
    sides : collection of str
        `left`, `right`; a robot may lack that hand.

    Returns
    -------
    (..., n) array
    """
    closed = joints.copy()
    for side in sides:
        hand = robot.hands.get(f"{side}_hand")
        for joint in hand.joints if hand else ():
            closed[..., robot.joint_names.index(joint)] = grip_range(robot, joint)[1]
    return closed
