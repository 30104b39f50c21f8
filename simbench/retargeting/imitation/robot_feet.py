"""Contact of a robot's soles with the floor in a planned motion, and jerk of its hands and feet."""

from collections.abc import Sequence

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import SOLE_THRESHOLDS
from simbench.kinematics.foot_measures import FootMeasures, Jerk, measure_feet, measure_jerk
from simbench.kinematics.tree import frame_poses
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot


def measure_robot_feet(robot: Robot, trajectory: JointTrajectory) -> FootMeasures | None:
    """Measure how a robot's soles touch the floor in a planned motion.

    Parameters
    ----------
    robot : Robot
        The robot.
    trajectory : JointTrajectory
        Its planned motion, with its base.

    Returns
    -------
    FootMeasures or None
        Support, skating, penetration and flight of the soles' corners; None for a robot without two soles.
    """
    feet = [role for role in robot.feet if role in robot.soles]
    if trajectory.base is None or len(feet) != 2:
        return None
    poses = _poses(robot, trajectory, feet)
    corners = {
        role: np.einsum("tij,cj->tci", pose[:, :3, :3], robot.soles[role]) + pose[:, None, :3, 3]
        for role, pose in zip(feet, poses, strict=True)
    }
    return measure_feet(trajectory.time, corners, SOLE_THRESHOLDS, floor=0.0)


def measure_robot_jerks(robot: Robot, trajectory: JointTrajectory) -> dict[str, Jerk]:
    """Measure the jerk of a robot's hands and feet in a planned motion, at the robot's pace.

    Parameters
    ----------
    robot : Robot
        The robot.
    trajectory : JointTrajectory
        Its planned motion.

    Returns
    -------
    {str: Jerk}
        Jerks of the frames of its hands and feet, by name: `left hand`, ...
    """
    roles = sorted({*robot.hands, *robot.feet})
    found = {
        role.replace("_", " "): measure_jerk(trajectory.time, poses[:, :3, 3])
        for role, poses in zip(roles, _poses(robot, trajectory, roles), strict=True)
    }
    return {name: jerk for name, jerk in found.items() if jerk is not None}


def _poses(robot: Robot, trajectory: JointTrajectory, roles: Sequence[str]) -> list[Array]:
    """Poses (T, 4, 4) of the frames of some roles in the world frame, or in the frame of a fixed base."""
    still = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(trajectory.time), 1))
    base = still if trajectory.base is None else trajectory.base
    frames = [robot.model.getFrameId(robot.frames[role]) for role in roles]
    return frame_poses(robot.model, frames, np.hstack([base, trajectory.q]))
