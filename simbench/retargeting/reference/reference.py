"""Reference of the joints at every physics step, and how the recording lies in it."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.motion_fidelity import FollowedSteps
from simbench.robot.robot import Robot


@dataclass(frozen=True)
class Reference:
    """Reference of the joints at every physics step; row k holds for the end of step k.

    Parameters
    ----------
    position : (N, n) array
        Joint positions in the order of `robot.joint_names`, rad.
    velocity : (N, n) array
        Joint velocities, rad/s.
    feedforward : (N, n) array
        Feed-forward torques, N·m.
    acceleration : (N, n) array
        Joint accelerations, rad/s².
    grip : (N, H) bool array
        Whether each of `robot.hands` is meant to hold.
    """

    position: Array
    velocity: Array
    feedforward: Array
    acceleration: Array
    grip: NDArray[np.bool_]


@dataclass(frozen=True)
class Timeline:
    """A reference, how the recording lies in it, and the planned base, ZMP and COG.

    Parameters
    ----------
    reference : Reference
        Reference of the joints at N physics steps.
    base : (7,) array
        Pose of the root link in the world frame at the start: position, m, and quaternion.
    start : float
        Time of the recording's first sample, s.
    time : (T,) array
        Times of the recording's samples, s.
    hands : HandPlan or None
        Desired motion of the palms at these samples; None if nothing is asked of them.
    base_path : (N, 7) array
        Pose of the root link in the world frame at the end of every physics step; empty for a robot with a
        fixed base.
    zmp : (N, 2) array
        Desired ZMP in the world frame at the end of every physics step, m.
    cog : (N, 3) array
        Planned COG in the world frame, m.
    cog_velocity : (N, 3) array
        Planned velocity of the COG in the world frame, m/s.
    steps : FollowedSteps or None
        Steps of the person that the robot follows; None if its legs do not.
    """

    reference: Reference
    base: Array
    start: float
    time: Array
    hands: HandPlan | None = None
    base_path: Array = field(default_factory=lambda: np.empty((0, 7)))
    zmp: Array = field(default_factory=lambda: np.empty((0, 2)))
    cog: Array = field(default_factory=lambda: np.empty((0, 3)))
    cog_velocity: Array = field(default_factory=lambda: np.empty((0, 3)))
    steps: FollowedSteps | None = None


def require_finite(timeline: Timeline, robot: Robot, timestep: float) -> None:
    """Refuse a planned motion that is not a finite number everywhere.

    Parameters
    ----------
    timeline : Timeline
        The planned motion.
    robot : Robot
        Robot whose joints it moves.
    timestep : float
        Duration of a physics step, s.

    Raises
    ------
    RetargetError
        With the time and the joint where it first is not.
    """
    reference = timeline.reference
    rows = (reference.position, reference.velocity, reference.feedforward, reference.acceleration)
    finite = np.logical_and.reduce([np.isfinite(each) for each in rows])
    if finite.all():
        return
    step = int((~finite).any(axis=1).argmax())
    joint = robot.joint_names[int((~finite[step]).argmax())]
    raise RetargetError(
        f"the planned motion is not a finite number from {step * timestep:.3f} s on, first joint {joint}; "
        f"the recording begins at {timeline.start:.3f} s"
    )
