"""Closing of the fingers: positions of the grip joints of an open and of a closed hand."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from simbench.robot.robot import Robot

_MARGIN = 0.02
"""Distance from the joint limits, rad."""


def grip_range(robot: Robot, joint: str) -> tuple[float, float]:
    """Find the positions of a grip joint with the hand open and closed.

    `joint`: name of the joint. Returns `opened`, `closed`: the position nearest to 0 that the joint can
    reach, and the limit that is farther from 0, rad; both inside the limits by a margin.
    """
    column = robot.root_q + robot.joint_names.index(joint)
    lower = float(robot.model.lowerPositionLimit[column]) + _MARGIN
    upper = float(robot.model.upperPositionLimit[column]) - _MARGIN
    return float(np.clip(0.0, lower, upper)), upper if upper > -lower else lower


def close_hands(robot: Robot, joints: NDArray[np.float64], sides: Collection[str]) -> NDArray[np.float64]:
    """Set the grip joints of hands in postures to closed.

    `joints` (..., n): postures: positions of all joints, rad; `sides`: sides of the hands to close, of `left`
    and `right`; a robot may lack a hand. Returns (..., n): the postures with closed hands, rad.
    """
    closed = joints.copy()
    for side in sides:
        hand = robot.hands.get(f"{side}_hand")
        for joint in hand.joints if hand else ():
            closed[..., robot.joint_names.index(joint)] = grip_range(robot, joint)[1]
    return closed
