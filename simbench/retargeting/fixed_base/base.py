"""Base pose, rest posture and planned torques of a robot with a fixed base."""

import numpy as np
import pinocchio as pin

from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.options import RobotSection
from simbench.robot.robot import Robot


def base_pose(position: tuple[float, float], heading: float) -> Array:
    """Compute the pose of a root link that stands on the floor.

    Parameters
    ----------
    position : (float, float)
        x and y in the world frame, m.
    heading : float
        Rotation about the world's z axis, rad.

    Returns
    -------
    (7,) array
        Position, m, and quaternion x, y, z, w, in the world frame.
    """
    pose = pin.SE3(pin.utils.rotate("z", heading), np.array([*position, 0.0]))
    return np.asarray(pin.SE3ToXYZQUAT(pose))


def rest_posture(robot: Robot, section: RobotSection) -> Array:
    """Look up the posture in which a robot with a fixed base starts.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base and n joints.
    section : RobotSection
        Names the posture.

    Returns
    -------
    (n,) array
        Joint positions, rad.

    Raises
    ------
    ScenarioError
        If it has no such posture, or is to stand higher than on the floor.
    """
    if section.posture not in robot.postures:
        raise ScenarioError(
            f"robot.posture: {robot.name} has no posture {section.posture!r}; "
            f"allowed: {', '.join(robot.postures)}"
        )
    if section.height_m:
        raise ScenarioError(
            f"robot.height_m: {robot.name} stands on the floor; allowed: 0, got {section.height_m:g}"
        )
    return robot.postures[section.posture]


def planned_torques(
    robot: Robot, position: Array, velocity: Array, acceleration: Array, feedforward: str
) -> Array:
    """Compute the feed-forward torque along a path, without friction.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base and n joints.
    position : (N, n) array
        Joint positions, rad.
    velocity : (N, n) array
        Joint velocities, rad/s.
    acceleration : (N, n) array
        Joint accelerations, rad/s².
    feedforward : str
        `none`, `gravity` for the weight alone, or `inverse_dynamics`, as in `ControlSection`.

    Returns
    -------
    (N, n) array
        Joint torques, N·m.
    """
    model, data = robot.model, robot.model.createData()
    torques = np.zeros_like(position)
    if feedforward == "gravity":
        for step, q in enumerate(position):
            torques[step] = pin.computeGeneralizedGravity(model, data, q)
    elif feedforward == "inverse_dynamics":
        for step, (q, v, a) in enumerate(zip(position, velocity, acceleration, strict=True)):
            torques[step] = pin.rnea(model, data, q, v, a)
    return torques
