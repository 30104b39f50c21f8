"""The planned motion of a robot with a fixed base."""

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.body_errors import RobotErrors
from simbench.retargeting.collision.interference import Interference
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.retargeting.imitation.imitation import Imitation
from simbench.robot.robot import Robot


@dataclass(frozen=True)
class ArmPlan:
    """Planned motion of a robot on a fixed base, before it is simulated.

    Parameters
    ----------
    trajectory : JointTrajectory
        All joints of the robot, slowed so that speed limits hold.
    base : (7,) array
        Pose of the root link in the world frame: position, m, and quaternion.
    home : (n,) array
        Posture at rest, rad.
    hands : HandPlan
        Desired motion of the hands at the samples of `trajectory`.
    interferences : tuple of Interference
        Links that penetrate each other or the equipment.
    metrics : dict of str to float
        Metrics `retarget.*`, and `imitation.*` of two arms.
    errors : RobotErrors
        Errors of the hands against the person, and of arms and trunk that imitate, at the same samples.
    imitation : Imitation or None
        Motion of the scaled model that two arms imitate.
    leads : bool
        Whether the robot comes from its posture at rest and returns to it; otherwise it begins in the
        motion's first posture and stays in its last.
    detours : (2, S, n) array
        Displacement of the joints, rad, on the way to the motion and on the way back, at evenly spaced
        fractions of a lead's duration from rest on; empty (2, 0, n) for straight ways.
    upper : (m,) int array
        Columns of the trunk and the arms that imitate, in the trajectory.
    limits : (2, m) array
        Lower and upper limits of those joints, margin included, rad.
    notes : tuple of str
        What slows the motion, one line each.
    """

    trajectory: JointTrajectory
    base: Array
    home: Array
    hands: HandPlan
    interferences: tuple[Interference, ...]
    metrics: dict[str, float]
    errors: RobotErrors
    imitation: Imitation | None = None
    leads: bool = True
    detours: Array = field(default_factory=lambda: np.zeros((2, 0, 0)))
    upper: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    limits: Array = field(default_factory=lambda: np.zeros((2, 0)))
    notes: tuple[str, ...] = ()


def free_hands(scene: Robot, joints: Array) -> HandPlan:
    """Describe the motion of hands that hold nothing.

    Parameters
    ----------
    scene : Robot
        Placed robot.
    joints : (T, n) array
        Planned positions of its joints, rad.

    Returns
    -------
    HandPlan
        Paths of the palms, without contact.
    """
    model, data = scene.model, scene.model.createData()
    sides = [role.removesuffix("_hand") for role in scene.hands]
    frames = {side: model.getFrameId(scene.frames[f"{side}_hand"]) for side in sides}
    palms = {side: np.empty((len(joints), 4, 4)) for side in sides}
    for sample, q in enumerate(joints):
        pin.framesForwardKinematics(model, data, q)
        for side, frame in frames.items():
            palms[side][sample] = data.oMf[frame].homogeneous
    none = {side: np.zeros(len(joints)) for side in sides}
    contact = {side: np.zeros(len(joints), dtype=bool) for side in sides}
    return HandPlan(none, contact, none, palms, palms, dict.fromkeys(sides))
