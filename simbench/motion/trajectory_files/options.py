"""What a user declares about a file of a robot's motion, and what was read from one."""

from dataclasses import dataclass

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory

QUATERNIONS = ("xyzw", "wxyz")
"""Orders of the parts of a quaternion in files."""


@dataclass(frozen=True)
class TrajectoryOptions:
    """What the user declares about a file of a robot's motion; None leaves a property to the file.

    Parameters
    ----------
    joint_order : str or None
        Path of a file that lists the names of the file's joint columns, one a line, or as a YAML or JSON
        list.
    quaternion : str or None
        Order of the parts of the base's quaternion, `xyzw` or `wxyz`.
    fps : float or None
        Samples per second of a file that does not say it; overrules what the file says.
    format : str or None
        Name of the format, for a file whose suffix or content does not say it.

    Raises
    ------
    MotionError
        An unknown order of the quaternion, or a rate that is not between 1 and 10000.
    """

    joint_order: str | None = None
    quaternion: str | None = None
    fps: float | None = None
    format: str | None = None

    def __post_init__(self) -> None:
        if self.quaternion is not None and self.quaternion not in QUATERNIONS:
            raise MotionError(
                f"quaternion {self.quaternion!r}: unknown order; allowed: {', '.join(QUATERNIONS)}"
            )
        if self.fps is not None and not 1.0 <= self.fps <= 10_000.0:
            raise MotionError(f"fps {self.fps:g}: allowed: 1 to 10000")


@dataclass(frozen=True)
class RobotMotion:
    """A robot's motion as read from a file, with what was found out and what was assumed.

    Parameters
    ----------
    trajectory : JointTrajectory
        The motion from 0 s, joints in the order of the robot; with a base if and only if the robot's floats.
    notes : tuple of str
        What was found out about the file or changed, one line each.
    doubts : tuple of str
        Assumptions that may well be wrong, one line each.
    format : str
        Format of the file.
    """

    trajectory: JointTrajectory
    notes: tuple[str, ...]
    doubts: tuple[str, ...]
    format: str
