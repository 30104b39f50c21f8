"""Where the soles of a robot are relative to its base in every sample of a motion."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.tree import frame_poses
from simbench.robot.robot import Robot

Array = NDArray[np.float64]


class FootPoses(NamedTuple):
    """Poses of the feet of a robot in the frame of its base."""

    rotation: Array  # (F, T, 3, 3).
    position: Array  # (F, T, 3): position of each foot frame in the base frame, m.
    corners: Array  # (F, T, 4, 3): corners of each sole in the base frame, m.


def foot_poses(robot: Robot, q: Array) -> FootPoses | None:
    """Compute the poses of the feet in the base frame for every sample.

    `q` (T, n): joint positions in the order of the robot, rad or m. Returns poses; None for a robot with a
    fixed base or without soles.
    """
    feet = [role for role in robot.feet if role in robot.soles]
    if not robot.floating or not feet:
        return None
    still = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(q), 1))
    frames = [robot.model.getFrameId(robot.frames[role]) for role in feet]
    poses = np.array(frame_poses(robot.model, frames, np.hstack([still, q])))
    rotation, position = poses[..., :3, :3], poses[..., :3, 3]
    soles = np.array([robot.soles[role] for role in feet])
    corners = np.einsum("ftij,fcj->ftci", rotation, soles) + position[:, :, None]
    return FootPoses(rotation, position, corners)


def lowest_sole(feet: FootPoses, rotation: Array, position: Array) -> Array:
    """Compute the height of the lowest corner of any sole in every sample.

    `feet`: poses of the feet in the base frame; `rotation` (T, 3, 3): rotation of the base in the world;
    `position` (T, 3): position of the base in the world, m. Returns (T,): height above z = 0 of the world, m.
    """
    heights = np.einsum("tj,ftcj->ftc", rotation[:, 2], feet.corners) + position[:, 2, None]
    return heights.min(axis=(0, 2))
