"""The plan of a robot trajectory, and the trajectory itself beside it, at every physics step."""

from dataclasses import dataclass

from simbench.balance.controller.whole_body import WholeBodyPlan
from simbench.kinematics.arrays import Array
from simbench.retargeting.reference.reference import Timeline
from simbench.retargeting.trajectory.curves import Flags


@dataclass(frozen=True)
class TrackedMotion:
    """The trajectory that a run is to follow, in the world, at every physics step.

    Parameters
    ----------
    joints : (N, n) array
        Joint positions, rad; NaN before and after the motion.
    base : (N, 7) array
        Pose of the root link: position, m, and quaternion x, y, z, w; NaN before and after. Without columns
        for a robot with a fixed base.
    feet : (N, 2, 4) array
        Positions of the foot frames (m) and their rotation about the vertical (rad); NaN before and after.
        Empty for a robot with a fixed base.
    contact : (N, 2) bool array
        Whether each foot is in contact in the trajectory; empty for a robot with a fixed base.
    """

    joints: Array
    base: Array
    feet: Array
    contact: Flags


@dataclass(frozen=True)
class TrajectoryPlan:
    """Planned motion of a robot that follows a trajectory.

    Parameters
    ----------
    timeline : Timeline
        Reference at every physics step.
    whole : WholeBodyPlan or None
        Plan of the balance controller; None for a robot with a fixed base.
    tracked : TrackedMotion
        The trajectory as the file has it, placed in the world.
    metrics : dict of str to float
        Metrics of the planning.
    notes : tuple of str
        What was changed, one line each.
    doubts : tuple of str
        What the robot cannot do as the trajectory has it, one line each.
    """

    timeline: Timeline
    whole: WholeBodyPlan | None
    tracked: TrackedMotion
    metrics: dict[str, float]
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
