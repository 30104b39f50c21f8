"""Base pose, rest posture and planned torques of a robot with a fixed base."""

import numpy as np
import pinocchio as pin

from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.options import RobotSection
from simbench.robot.robot import Robot

READY = "ready"
"""The posture from which an arm begins its work."""


def base_pose(position: tuple[float, float], heading: float, height: float = 0.0) -> Array:
    """Compute the pose of a root link that stands on the floor or on a pedestal.

    Parameters
    ----------
    position : (float, float)
        x and y in the world frame, m.
    heading : float
        Rotation about the world's z axis, rad.
    height : float
        Height above the floor, m.

    Returns
    -------
    (7,) array
        Position, m, and quaternion x, y, z, w, in the world frame.
    """
    pose = pin.SE3(pin.utils.rotate("z", heading), np.array([*position, height]))
    return np.asarray(pin.SE3ToXYZQUAT(pose))


def rest_posture(robot: Robot, section: RobotSection) -> Array:
    """Look up the posture in which a robot with a fixed base starts.

    A posture that the robot lacks is replaced by its own (`choose_rest`).

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
        If it has no posture at all.
    """
    return robot.postures[choose_rest(robot, section.posture)]


def choose_rest(robot: Robot, name: str) -> str:
    """Choose the posture in which a robot with a fixed base rests.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    name : str
        Named posture. If the robot lacks it, `ready` takes its place, else the first that the robot has.

    Returns
    -------
    str
        Name of a posture that the robot has.

    Raises
    ------
    ScenarioError
        If it has no posture at all.
    """
    if name in robot.postures:
        return name
    if not robot.postures:
        raise ScenarioError(f"robot.posture: {robot.name} has no posture; its robot.yaml needs one")
    return READY if READY in robot.postures else next(iter(robot.postures))


def arm_joints(robot: Robot) -> tuple[str, ...]:
    """List the joints of a robot with a fixed base that bring its hands somewhere.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.

    Returns
    -------
    tuple of str
        Joints of its trunk and arms, in the model's order; all but those of grips and head if it names none.
    """
    named = {name for group in ("trunk", "left_arm", "right_arm") for name in robot.groups.get(group, ())}
    grips = {name for hand in robot.hands.values() for name in hand.joints}
    grips |= {name for group in ("left_grip", "right_grip", "head") for name in robot.groups.get(group, ())}
    return tuple(name for name in robot.joint_names if (name in named if named else name not in grips))


def limits_of_motion(robot: Robot, home: Array, margin: float) -> tuple[Array, Array]:
    """Find the positions that a planned motion may use.

    What is no joint of trunk or arm, such as a finger of a gripper, stays as it is at rest.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    home : (n,) array
        Posture at rest, rad.
    margin : float
        Distance from the joint limits, rad.

    Returns
    -------
    lower, upper : (n,) array
        Least and greatest positions, rad.
    """
    lower, upper = robot.model.lowerPositionLimit + margin, robot.model.upperPositionLimit - margin
    moving = np.isin(robot.joint_names, arm_joints(robot)) & (lower < upper)
    return np.where(moving, lower, home), np.where(moving, upper, home)


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
