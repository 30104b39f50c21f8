"""Posture in which a robot stands before and after a trajectory, its feet where the trajectory has them."""

from dataclasses import replace

import numpy as np
import pinocchio as pin

from simbench.balance.standing.standing import Stance, leg_columns, solve_com_ik
from simbench.errors import LegReachError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_LOWERED = np.arange(0.0, 0.31, 0.01)
"""Distances by which the pelvis is lowered in turn until the legs reach the feet, m."""
_SPARE = 3
"""How many of these distances further it is lowered then: legs that just reach are straight once the robot
moves, and the balance controller gives up."""


def solve_rest(robot: Robot, stance: Stance, feet: Array, zmp: Array) -> Array:
    """Find a posture at rest with the feet at given places and the COG over a point between them.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    stance : Stance
        Joint positions, and the root link's orientation and height; its legs and its place only begin the
        search.
    feet : (2, 3) array
        Where the left and the right foot frame stand: x, y (m) and rotation about the vertical (rad).
    zmp : (2,) array
        Point over which the COG rests, m.

    Returns
    -------
    (7 + n,) array
        Root pose and joint positions. The pelvis is as high as in the stance, or lower if the legs would not
        reach the feet otherwise, with 3 cm to spare if they bend as far.

    Raises
    ------
    RetargetError
        If the legs reach the feet at no height.
    """
    soles = {
        side: pin.SE3(pin.utils.rotate("z", float(yaw)), np.array([x, y, 0.0]))
        for side, (x, y, yaw) in zip(SIDES, feet, strict=True)
    }
    base = stance.base.copy()
    base[:2] = feet[:, :2].mean(axis=0)
    legs = np.concatenate([leg_columns(robot, side) for side in SIDES])
    low, high = robot.model.lowerPositionLimit[7 + legs], robot.model.upperPositionLimit[7 + legs]
    reached: list[Array] = []
    for lowered in _LOWERED:
        placed = replace(stance, soles=soles, base=base, target=zmp)
        try:
            root, joints = solve_com_ik(robot, placed, stance.joints[None], height=np.array([-lowered]))
            inside = bool(((low <= joints[0, legs]) & (joints[0, legs] <= high)).all())
        except RetargetError:
            inside = False
        if inside:
            reached.append(np.concatenate([root[0], joints[0]]))
            if lowered == 0.0 or len(reached) > _SPARE:
                break
        elif reached:
            break
    if reached:
        return reached[-1]
    apart = np.linalg.norm(feet[0, :2] - feet[1, :2])
    raise LegReachError(
        f"{robot.name}: cannot stand where the trajectory has its feet, {apart:.2f} m apart; "
        "begin and end it elsewhere (motion.start_s, motion.end_s)"
    )
