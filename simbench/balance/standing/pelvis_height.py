"""Heights of the pelvis at which a robot may stand, and the length of its legs."""

import numpy as np
import pinocchio as pin

from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_LOWER = (0.0, -0.025, -0.05, -0.075, -0.1, -0.15, -0.2)
"""Heights of the pelvis that are tried in turn, as parts of the leg's length above the posture's."""
_DIGITS = 4
"""Digits of a height after the point, m."""


def leg_length(robot: Robot) -> float:
    """Measure the length of a leg from its first joint to its sole, along its segments.

    `robot`: robot with two legs. Returns length, m; the longer leg's.
    """
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    lengths = []
    for side in SIDES:
        joints = [data.oMi[model.getJointId(name)].translation for name in robot.groups[f"{side}_leg"]]
        sole = data.oMf[model.getFrameId(robot.frames[f"{side}_foot"])].translation
        lengths.append(float(np.linalg.norm(np.diff([*joints, sole], axis=0), axis=1).sum()))
    return max(lengths)


def pelvis_heights(robot: Robot, given: float | None) -> tuple[float, ...]:
    """List the heights of the pelvis that are to be tried, the posture's first, then lower ones.

    `robot`: robot with two legs; `given`: height above the posture's, m, if it is given. Returns heights
    above the posture's, m; the given one alone.
    """
    if given is not None:
        return (given,)
    length = leg_length(robot)
    return tuple(round(part * length, _DIGITS) for part in _LOWER)
