"""Branches of the elbows: joint limits in which every elbow stays bent to one side of straight."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot

_LEAST_BEND = 0.15
"""Of an elbow, rad: nearer to straight the arm's joints become too fast."""


def bent_boxes(robot: Robot, model: pin.Model, limits: Array, sides: Sequence[str]) -> tuple[Array, ...]:
    """Find the joint limits with every elbow on one side of straight, in all combinations.

    Parameters
    ----------
    robot : Robot
        The whole robot.
    model : pinocchio.Model
        Its trunk and arms.
    limits : (2, n) array
        Least and greatest positions of its joints, rad.
    sides : sequence of str
        Arms, `left` or `right`.

    Returns
    -------
    tuple of (2, n) arrays
        Limits, rad; a branch that the limits hardly allow is left out.
    """
    boxes = [limits]
    for side in sides:
        column, straight = _straight_elbow(robot, model, side)
        bent = []
        for box in boxes:
            above, below = box.copy(), box.copy()
            above[0, column] = max(box[0, column], straight + _LEAST_BEND)
            below[1, column] = min(box[1, column], straight - _LEAST_BEND)
            bent += [one for one in (above, below) if one[1, column] - one[0, column] > _LEAST_BEND]
        boxes = bent
    return tuple(boxes)


def _straight_elbow(robot: Robot, model: pin.Model, side: str) -> tuple[int, float]:
    """Find the column of the joint that brings the wrist nearest to the shoulder, and where it is straight.

    A rotation by q about one axis between them makes their distance d² = a + b cos(q − q₀): three samples
    determine q₀.
    """
    data = model.createData()
    shoulder, wrist = (model.getFrameId(robot.frames[f"{side}_{part}"]) for part in ("shoulder", "wrist"))
    best = (0.0, 0, 0.0)
    for name in robot.groups[f"{side}_arm"]:
        index = model.joints[model.getJointId(name)].idx_q
        squares = []
        for angle in (0.0, 0.5 * np.pi, np.pi):
            q = pin.neutral(model)
            q[index] = angle
            pin.framesForwardKinematics(model, data, q)
            apart = data.oMf[wrist].translation - data.oMf[shoulder].translation
            squares.append(float(apart @ apart))
        mean = 0.5 * (squares[0] + squares[2])
        cosine, sine = squares[0] - mean, squares[1] - mean
        size = float(np.hypot(cosine, sine))
        if size > best[0]:
            best = (size, index - robot.root_q, float(np.arctan2(sine, cosine)))
    return best[1], best[2]
