"""Reading of a robot's motion from a file of any known format, assigned to a robot."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.files.input_files import require_regular_file
from simbench.motion.trajectory import JointTrajectory, validate_trajectory
from simbench.motion.trajectory_files.base_pose import unit_quaternions
from simbench.motion.trajectory_files.derived_base import derive_base
from simbench.motion.trajectory_files.joint_order import match_joint_names, resting_posture
from simbench.motion.trajectory_files.native import read_trajectory_csv, read_trajectory_netcdf, to_stored
from simbench.motion.trajectory_files.options import RobotMotion, TrajectoryOptions
from simbench.motion.trajectory_files.sole_heights import foot_poses
from simbench.motion.trajectory_files.stored_motion import StoredMotion
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

_READERS = {
    ".csv": lambda path: to_stored(read_trajectory_csv(path), "csv"),
    ".nc": lambda path: to_stored(read_trajectory_netcdf(path), "nc"),
}


def read_robot_motion(
    path: Path,
    robot: Robot,
    options: TrajectoryOptions = TrajectoryOptions(),  # noqa: B008
) -> RobotMotion:
    """Read a robot's motion from a file and assign it to a robot.

    Parameters
    ----------
    path : Path
        The file.
    robot : Robot
        Robot whose motion it is.
    options : TrajectoryOptions
        What the user declares about the file.

    Returns
    -------
    RobotMotion
        The motion: joints in the order of `robot.joint_names`, time from 0, base (T, 7) with quaternions
        x, y, z, w for a floating robot and None for a fixed one.

    Raises
    ------
    MotionError
        The file cannot be read, is not a robot's motion, or does not fit the robot.
    """
    where = str(path)
    stored = read_stored_motion(path, options)
    notes, doubts = [*stored.notes], [*stored.doubts]
    if stored.time is None:
        raise MotionError(f"{where}: holds no times")
    time = np.asarray(stored.time, dtype=float)
    joints = _assign_joints(stored, robot, where)
    notes += joints.notes
    base = _assign_base(stored, robot, joints.q, where)
    trajectory = JointTrajectory(time - time[0], joints.q, robot.joint_names, base.pose)
    return RobotMotion(
        validate_trajectory(trajectory, where),
        (*notes, *base.notes),
        (*doubts, *base.doubts),
        stored.format,
    )


def read_stored_motion(path: Path, options: TrajectoryOptions) -> StoredMotion:
    """Read what a file holds, by its format.

    Parameters
    ----------
    path : Path
        The file.
    options : TrajectoryOptions
        What the user declares about the file.

    Returns
    -------
    StoredMotion
        The content, not yet assigned to a robot.

    Raises
    ------
    MotionError
        There is no such file, no reader for it, or it cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix not in _READERS:
        raise MotionError(
            f"{path}: no reader of robot motions for {suffix or 'a name without suffix'}; "
            f"give a file ending in {', '.join(_READERS)}"
        )
    if not require_regular_file(path, MotionError).exists():
        raise MotionError(f"{path}: no such file")
    return _READERS[suffix](path)


class _Joints(NamedTuple):
    """Joint positions in the robot's order, and what was said about them."""

    q: Array
    notes: tuple[str, ...]


class _Base(NamedTuple):
    """Pose of the base, and what was said about it."""

    pose: Array | None
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def _assign_joints(stored: StoredMotion, robot: Robot, where: str) -> _Joints:
    """Bring the joints into the robot's order; those that the file lacks stay at rest."""
    if stored.joint_names is None:
        raise MotionError(f"{where}: does not name its joints")
    columns = match_joint_names(stored.joint_names, robot, where)
    q = np.tile(resting_posture(robot), (len(stored.joints), 1))
    q[:, columns] = stored.joints
    missing = [name for index, name in enumerate(robot.joint_names) if index not in set(columns)]
    notes = (f"not in the file, held at rest: {', '.join(missing)}",) if missing else ()
    return _Joints(q, notes)


def _assign_base(stored: StoredMotion, robot: Robot, q: Array, where: str) -> _Base:
    """Bring the base into the robot's form, or derive it."""
    if not robot.floating:
        ignored = stored.position is not None
        return _Base(None, ("the base's pose is ignored: the robot's base is fixed",) if ignored else ())
    if stored.position is not None and stored.quaternion is not None:
        quaternions = unit_quaternions(stored.quaternion, where)
        return _Base(np.hstack([stored.position, quaternions.values]), quaternions.notes)
    feet = foot_poses(robot, q)
    if feet is None:
        raise MotionError(
            f"{where}: holds no pose of the base, and {robot.name} has no soles from which it could be "
            "derived; give a file with the base's position and quaternion"
        )
    doubt = "no pose of the base in the file: derived, with the lower foot flat and still on the floor"
    return _Base(derive_base(feet), (), (doubt,))
