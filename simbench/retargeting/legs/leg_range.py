"""How far a robot's legs reach when it steps at a person's tempo: ahead, to the side, and in rotation."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.balance.gait.footsteps import step_limits
from simbench.balance.standing.standing import Stance, leg_columns
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_ROLL_FRACTION = 0.7
"""Part of a leg's range to the side that a step may use: the trunk's sway over the standing foot needs the
rest."""
_TURN_FRACTION = 0.9
"""Part of the speed at which a hip rotates the foot that a step may use; the root turns along."""
_FASTEST = 1.6
"""Ratio of the largest to the mean speed of a swing (`swing_feet`)."""
INWARD_FRACTION, OUTWARD_FRACTION = 0.3, 0.8
"""Parts of the largest rotation of a foot towards the other one and away from it that are used: with the toes
inward, bent knees touch."""
TWIST_FRACTION = 0.85
"""Part of the range of a hip's rotation that the root's rotation against a foot may use."""
MAX_TWIST = 0.5
"""Largest rotation of the root against the mean of both feet, rad; trunk joints take more of it."""
MAX_TURN_ACCELERATION = 20.0
"""Largest angular acceleration of the root about the vertical, rad/s²: a body of 1.5 kg m² then needs 30 N m,
and a sole 0.25 m long under 65 kg holds about 40 N m. Beyond, the standing foot turns on the floor."""


class LegRange(NamedTuple):
    """Limits of a step, relative to the foot's pose beside the other foot.

    Parameters
    ----------
    reach : float
        Largest distance, m.
    aside : float
        Largest distance away from the other foot, across it, m.
    inward, outward : float
        Largest rotation towards the other foot and away from it, rad.
    turn_rate : float
        Largest rotation of a foot in a swing over the swing's duration, rad/s.
    beside : (pinocchio.SE3, pinocchio.SE3)
        Pose of the left foot in the frame of the right one, and of the right in that of the left, as the
        robot stands.
    """

    reach: float
    aside: float
    inward: float
    outward: float
    turn_rate: float
    beside: tuple[pin.SE3, pin.SE3]


def find_leg_range(robot: Robot, stance: Stance) -> LegRange:
    """Find how far the legs reach from a stance.

    Ahead and in rotation as `step_limits`. To the side, a leg of height h whose joints about the forward axis
    turn by α moves its foot by h tan α, the pelvis over the other foot.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    stance : Stance
        Posture and height in which it steps.

    Returns
    -------
    LegRange
        Limits that hold for both feet.
    """
    limits = step_limits(robot, stance)
    model, data = robot.model, robot.model.createData()
    q = np.concatenate([stance.base, stance.joints])
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    heading = stance.soles["left"].rotation[:, 0]
    aside, rates = [], []
    for side, outward in zip(SIDES, (1.0, -1.0), strict=True):
        columns = leg_columns(robot, side)
        frame = model.getFrameId(robot.frames[f"{side}_foot"])
        jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        turning = jacobian[3:, model.nv - len(robot.joint_names) + columns]
        about_forward, about_vertical = heading @ turning, turning[2]
        rolls = np.argsort(-np.abs(about_forward))[:2]
        hip, ankle = sorted(rolls.tolist())
        spread = [
            _range(model, q, columns[hip], outward * about_forward[hip]),
            _range(model, q, columns[ankle], -outward * about_forward[ankle]),
        ]
        positions = [
            data.oMi[model.getJointId(robot.groups[f"{side}_leg"][k])].translation for k in (hip, ankle)
        ]
        height = float(positions[0][2] - positions[1][2])
        aside.append(height * np.tan(min(_ROLL_FRACTION * min(spread), 1.0)))
        yaw = int(np.abs(about_vertical).argmax())
        rates.append(float(model.velocityLimit[6 + columns[yaw]]))
    beside = (
        stance.soles["right"].actInv(stance.soles["left"]),
        stance.soles["left"].actInv(stance.soles["right"]),
    )
    return LegRange(
        limits.reach,
        float(min(aside)),
        limits.inward,
        limits.outward,
        _TURN_FRACTION * min(rates) / _FASTEST,
        beside,
    )


def _range(model: pin.Model, q: Array, column: int, direction: float) -> float:
    """How far a joint turns in a direction before its limit, rad."""
    limit = model.upperPositionLimit if direction > 0.0 else model.lowerPositionLimit
    return abs(float(limit[7 + column] - q[7 + column]))
