"""Which robots Bullet has room for."""

from simbench.errors import RobotError
from simbench.robot.robot import Robot
from simbench.robot.urdf.urdf_errors import MOST_JOINTS


def require_robot(robot: Robot) -> None:
    """Refuse a robot with more joints than Bullet has room for."""
    moving = len(robot.joint_names)
    if moving > MOST_JOINTS:
        raise RobotError(
            f"{robot.urdf}: has {moving} joints that move; Bullet allows {MOST_JOINTS}; `fixed_joints` of a "
            "robot.yaml fixes some, and --engine mujoco has no such limit"
        )
