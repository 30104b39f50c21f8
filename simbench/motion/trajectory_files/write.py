"""Writing of a robot's motion in the formats that other programs read."""

from collections.abc import Callable, Mapping
from pathlib import Path

from simbench.errors import MotionError
from simbench.kinematics.tree import kinematic_tree
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.native import write_trajectory_csv, write_trajectory_netcdf
from simbench.robot.robot import Robot

Attributes = Mapping[str, str | float]


def write_robot_motion(
    trajectory: JointTrajectory,
    robot: Robot,
    path: Path,
    format: str,
    attributes: Attributes,
) -> None:
    """Write a robot's motion in a format.

    Parameters
    ----------
    trajectory : JointTrajectory
        The motion, joints in the order of the robot.
    robot : Robot
        The robot.
    path : Path
        File to write.
    format : str
        Name of the format, a key of `WRITERS`.
    attributes : mapping of str to str or number
        Attributes that say where the trajectory comes from, for formats that have a place for them.

    Raises
    ------
    MotionError
        The format is unknown, or cannot hold the motion.
    OSError
        If the file cannot be written.
    """
    if format not in WRITERS:
        raise MotionError(f"format {format!r}: unknown; allowed: {', '.join(WRITERS)}")
    WRITERS[format](trajectory, robot, path, attributes)


def units_of_joints(robot: Robot) -> tuple[str, ...]:
    """Find the units of the robot's joint positions.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.

    Returns
    -------
    tuple of n str
        `rad` for a revolute joint, `m` for a prismatic one.
    """
    return tuple("m" if slides else "rad" for slides in kinematic_tree(robot.model).sliding)


def _write_csv(trajectory: JointTrajectory, robot: Robot, path: Path, attributes: Attributes) -> None:
    """Write simbench's CSV, which has no place for attributes."""
    del attributes
    write_trajectory_csv(trajectory, path, units_of_joints(robot))


def _write_netcdf(trajectory: JointTrajectory, robot: Robot, path: Path, attributes: Attributes) -> None:
    """Write simbench's NetCDF."""
    write_trajectory_netcdf(trajectory, path, units_of_joints(robot), attributes)


WRITERS: dict[str, Callable[[JointTrajectory, Robot, Path, Attributes], None]] = {
    "csv": _write_csv,
    "nc": _write_netcdf,
}
"""Writer of each format by its name."""
