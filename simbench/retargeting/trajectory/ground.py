"""Place a robot trajectory in the world: its start at the scenario's place, its soles on the floor."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import wrap_angle
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RobotSection
from simbench.retargeting.trajectory.curves import compute_soles
from simbench.robot.robot import Robot

_HEIGHT_NOTE = 0.002
"""Shift of the base's height from which on it is said, m: soles give by as much."""
_RESTING_SPEED = 0.2
"""Speed of the lower foot below which it may stand, m/s."""


class PlacedTrajectory(NamedTuple):
    """A trajectory in the scenario's world.

    Parameters
    ----------
    trajectory : JointTrajectory
        Motion of joints and base in the world frame.
    height : float
        What was added to the base's height, m.
    notes : tuple of str
        What was changed, one line each.
    """

    trajectory: JointTrajectory
    height: float
    notes: tuple[str, ...]


def place_trajectory(robot: Robot, trajectory: JointTrajectory, section: RobotSection) -> PlacedTrajectory:
    """Move a trajectory as a whole so that it starts at the scenario's place, its soles on the floor.

    It starts with the root link's x axis in the direction `heading_rad` and the middle between the feet at
    `position_m`. The floor is where the lower sole is while it rests: the median height of its lowest corner.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    trajectory : JointTrajectory
        Motion of its joints and base in the file's world frame, z up.
    section : RobotSection
        Section `robot` of the scenario.

    Returns
    -------
    PlacedTrajectory
        The motion in the world frame of the scenario.
    """
    base = trajectory.base
    assert base is not None
    soles = compute_soles(robot, np.hstack([base, trajectory.q]))
    lowest = soles.clearance.argmin(axis=1)
    rows = np.arange(len(base))
    speed = np.linalg.norm(np.gradient(soles.position, trajectory.time, axis=0), axis=2)[rows, lowest]
    rests = speed < _RESTING_SPEED
    heights = soles.clearance[rows, lowest]
    height = -float(np.median(heights[rests] if rests.any() else heights))
    first = Rotation.from_quat(base[0, 3:]).as_matrix()
    turn = section.heading_rad - float(np.arctan2(first[1, 0], first[0, 0]))
    rotation = pin.utils.rotate("z", turn)
    middle = soles.position[0].mean(axis=0) * [1.0, 1.0, 0.0]
    shift = np.array([*section.position_m, height]) - rotation @ middle
    placed = np.hstack([base[:, :3] @ rotation.T + shift, _turned(base[:, 3:], rotation)])
    notes = []
    if abs(height) > _HEIGHT_NOTE:
        where = "below" if height > 0.0 else "above"
        notes.append(
            f"the soles stand {abs(height):.3f} m {where} the floor in the file; "
            f"the motion is {'raised' if height > 0.0 else 'lowered'} by that"
        )
    if np.linalg.norm(shift[:2]) > 0.01 or abs(wrap_angle(turn)) > 0.01:
        notes.append(
            "the motion is moved and turned about the vertical to begin at robot.position_m and "
            "robot.heading_rad"
        )
    result = JointTrajectory(trajectory.time, trajectory.q, trajectory.joint_names, placed)
    return PlacedTrajectory(result, height, tuple(notes))


def _turned(quaternion: Array, rotation: Array) -> Array:
    """Turn orientations (T, 4) by a rotation matrix in the world frame."""
    return np.asarray((Rotation.from_matrix(rotation) * Rotation.from_quat(quaternion)).as_quat())
