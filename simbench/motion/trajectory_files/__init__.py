"""Files of robot motions: one module for each format, found out by content, assigned to a robot.

A new format needs one module with a function from a path to a `StoredMotion`, and one line in `robot_motion`.
"""

from simbench.motion.trajectory_files.native import read_trajectory, write_trajectory
from simbench.motion.trajectory_files.options import RobotMotion, TrajectoryOptions
from simbench.motion.trajectory_files.robot_motion import read_robot_motion
from simbench.motion.trajectory_files.write import write_robot_motion

__all__ = [
    "RobotMotion",
    "TrajectoryOptions",
    "read_robot_motion",
    "read_trajectory",
    "write_robot_motion",
    "write_trajectory",
]
