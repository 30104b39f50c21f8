"""Reach of a robot's arm, and how a palm target beyond it is drawn in."""

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.retargeting.imitation.scaled_model import SegmentLengths, elbow_joint, straight_elbow
from simbench.robot.robot import Robot

_REACH_MARGIN = 0.02
"""Distance kept from a straight and from a folded arm during transitions, m: near these singularities joints
are fast."""
_SOFTNESS = 0.01
"""Range over which a distance approaches that limit smoothly, m."""
_OPENING = 0.01
"""Rate at which that limit opens toward free motion, where the posture has priority, m."""


def arm_reach(model: pin.Model, robot: Robot, lengths: SegmentLengths, side: str) -> tuple[float, float]:
    """Compute the least and greatest distance of wrist and shoulder that the elbow allows, margins included.

    Parameters
    ----------
    model : pinocchio.Model
        Upper-body model of the robot, with its joint limits.
    robot : Robot
        Names the frames of elbow and wrist.
    lengths : SegmentLengths
        Lengths of the arm's segments, m.
    side : str
        left or right.

    Returns
    -------
    (float, float)
        Least and greatest distance, m.
    """
    index = model.joints[elbow_joint(model, robot, side)].idx_q
    straight = straight_elbow(model, robot, side)
    limits = model.lowerPositionLimit[index], model.upperPositionLimit[index]
    fold = min(max(abs(limit - straight) for limit in limits), np.pi)
    a, b = lengths.upper_arm[side], lengths.forearm[side]
    folded = float(np.sqrt(a * a + b * b + 2.0 * a * b * np.cos(fold)))
    return folded + _REACH_MARGIN, a + b - _REACH_MARGIN


def draw_in(
    palms: Array, shoulders: Array, wrist: Array, reaches: tuple[float, float], weights: Array
) -> Array:
    """Draw palm targets along the line from wrist to shoulder until the arm can reach them.

    The distance is brought between the reaches smoothly, within a centimetre or two; toward free motion the
    reaches open.

    Parameters
    ----------
    palms : (T, 4, 4) array
        Desired poses in the world frame, m.
    shoulders : (T, 3) array
        Positions of the shoulder in the world frame, m.
    wrist : (3,) array
        Position of the wrist in the palm's frame, m.
    reaches : (float, float)
        Least and greatest distance of wrist and shoulder, from `arm_reach`, m.
    weights : (T,) array
        Blend weights of the transition, above 0.

    Returns
    -------
    (T, 3) array
        Positions of the palm in the world frame, m.
    """
    positions = palms[:, :3, 3]
    lines = positions + palms[:, :3, :3] @ wrist - shoulders
    distance = np.linalg.norm(lines, axis=1)
    opening = _OPENING * (1.0 / weights - 1.0)
    over = (distance - reaches[1] - opening) / _SOFTNESS
    under = (reaches[0] - opening - distance) / _SOFTNESS
    bounded = distance + _SOFTNESS * (np.logaddexp(0.0, under) - np.logaddexp(0.0, over))
    return np.asarray(positions + lines * (bounded / np.maximum(distance, 1e-9) - 1.0)[:, None])


def wrist_in_palm(model: pin.Model, robot: Robot, side: str) -> Array:
    """Find the position of a wrist in its palm's frame.

    Parameters
    ----------
    model : pinocchio.Model
        Upper-body model of the robot.
    robot : Robot
        Names the frames of wrist and palm.
    side : str
        left or right.

    Returns
    -------
    (3,) array
        Position, m.
    """
    palm = model.frames[model.getFrameId(robot.frames[f"{side}_hand"])]
    wrist = model.frames[model.getFrameId(robot.frames[f"{side}_wrist"])]
    return np.asarray(palm.placement.actInv(wrist.placement.translation))
