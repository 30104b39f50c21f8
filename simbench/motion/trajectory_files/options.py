"""What a user declares about a file of a robot's motion, and what was read from one."""

from dataclasses import dataclass

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory

QUATERNIONS = ("xyzw", "wxyz")
"""Orders of the parts of a quaternion in files."""


@dataclass(frozen=True)
class TrajectoryOptions:
    """What the user declares about a file of a robot's motion; None leaves a property to the file.

    Raises MotionError an unknown order of the quaternion, or a rate that is not between 1 and 10000.
    """

    # Path of a file that lists the names of the file's joint columns, one a line, or as a YAML or JSON list.
    joint_order: str | None = None
    quaternion: str | None = None  # Order of the parts of the base's quaternion, `xyzw` or `wxyz`.
    # Samples per second of a file that does not say it; overrules what the file says.
    fps: float | None = None
    format: str | None = None  # Name of the format, for a file whose suffix or content does not say it.

    def __post_init__(self) -> None:
        if self.quaternion is not None and self.quaternion not in QUATERNIONS:
            raise MotionError(
                f"quaternion {self.quaternion!r}: unknown order; allowed: {', '.join(QUATERNIONS)}"
            )
        if self.fps is not None and not 1.0 <= self.fps <= 10_000.0:
            raise MotionError(f"fps {self.fps:g}: allowed: 1 to 10000")


@dataclass(frozen=True)
class RobotMotion:
    """A robot's motion as read from a file, with what was found out and what was assumed."""

    # The motion from 0 s, joints in the order of the robot; with a base if and only if the robot's floats.
    trajectory: JointTrajectory
    notes: tuple[str, ...]  # What was found out about the file or changed, one line each.
    doubts: tuple[str, ...]  # Assumptions that may well be wrong, one line each.
    format: str
