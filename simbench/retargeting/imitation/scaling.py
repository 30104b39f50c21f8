"""The scaled model: the robot's upper body with the actor's segment lengths, on a floating base."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import InitialPose
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES


@dataclass(frozen=True)
class SegmentLengths:
    """Distances between adjacent joints, m.

    Parameters
    ----------
    shoulder_width : float
        L4, left to right shoulder.
    upper_arm : {side: float}
        L6, shoulder to elbow.
    forearm : {side: float}
        L7, elbow to wrist.
    """

    shoulder_width: float
    upper_arm: Mapping[str, float]
    forearm: Mapping[str, float]


def actor_lengths(initial: InitialPose) -> SegmentLengths:
    """Compute the segment lengths of an actor in the initial configuration (Tomić 2018, §3.3.2).

    The paper gives both arms the mean of left and right. A person's arms differ, a measured skeleton's by
    centimetres; each arm keeps its own lengths.

    Parameters
    ----------
    initial : InitialPose
        Joint positions of the actor in the initial configuration, m.

    Returns
    -------
    SegmentLengths
        Lengths of both arms and the shoulder width, m.

    Raises
    ------
    MotionError
        If two joints coincide.
    """
    return _lengths(initial.joints, "the actor's initial configuration")


def robot_lengths(robot: Robot) -> SegmentLengths:
    """Compute the segment lengths of a robot from its model.

    Parameters
    ----------
    robot : Robot
        Robot of human form.

    Returns
    -------
    SegmentLengths
        Lengths of both arms and the shoulder width, m.
    """
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, pin.neutral(robot.model))
    joints = {
        f"{side}_{joint}": data.oMf[robot.model.getFrameId(robot.frames[f"{side}_{joint}"])].translation
        for side in SIDES
        for joint in ("shoulder", "elbow", "wrist")
    }
    return _lengths(joints, robot.name)


def scale_model(model: pin.Model, frames: Mapping[str, str], lengths: SegmentLengths) -> pin.Model:
    """Give an upper-body model other segment lengths.

    Along each arm the joint placements between two role frames are stretched by the ratio of lengths; the
    shoulders move sideways. The hand keeps the robot's size.

    Parameters
    ----------
    model : pinocchio.Model
        From `upper_body`; not changed.
    frames : mapping of str to str
        Frame of each role of the robot.
    lengths : SegmentLengths
        Lengths to give it, m.

    Returns
    -------
    pinocchio.Model
        Model with these lengths.
    """
    scaled = model.copy()
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))

    def joint(role: str) -> int:
        return int(model.frames[model.getFrameId(frames[role])].parentJoint)

    def position(role: str) -> Array:
        return np.asarray(data.oMf[model.getFrameId(frames[role])].translation)

    width = float(np.linalg.norm(position("left_shoulder") - position("right_shoulder")))
    for side in SIDES:
        shoulder, elbow, wrist = (f"{side}_{name}" for name in ("shoulder", "elbow", "wrist"))
        placement = scaled.jointPlacements[joint(shoulder)]
        across = placement.translation.copy()
        across[1] *= lengths.shoulder_width / width
        placement.translation = across
        for start, end, length in (
            (shoulder, elbow, lengths.upper_arm[side]),
            (elbow, wrist, lengths.forearm[side]),
        ):
            ratio = length / float(np.linalg.norm(position(end) - position(start)))
            link = joint(end)
            while link != joint(start):
                scaled.jointPlacements[link].translation = scaled.jointPlacements[link].translation * ratio
                link = int(model.parents[link])
    return scaled


def _lengths(joints: Mapping[str, Array], where: str) -> SegmentLengths:
    """Distances of shoulders, elbows and wrists, m; refuse joints that coincide."""

    def distance(a: str, b: str) -> float:
        return float(np.linalg.norm(np.asarray(joints[a]) - np.asarray(joints[b])))

    def both(proximal: str, distal: str) -> dict[str, float]:
        return {side: distance(f"{side}_{proximal}", f"{side}_{distal}") for side in SIDES}

    lengths = SegmentLengths(
        distance("left_shoulder", "right_shoulder"), both("shoulder", "elbow"), both("elbow", "wrist")
    )
    if min(lengths.shoulder_width, *lengths.upper_arm.values(), *lengths.forearm.values()) < 1e-3:
        raise MotionError(
            f"{where}: two arm joints coincide (shoulder, elbow, wrist must be apart): {lengths}"
        )
    return lengths
