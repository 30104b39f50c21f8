"""A robot's arm stretched to the length of a person's (Kim & Kim 2005, §2)."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import (
    KinematicTree,
    first_joint,
    frame_on_body,
    kinematic_tree,
)
from simbench.robot.robot import Robot


class ArmChain(NamedTuple):
    """An arm alone, in the axes of the robot's root; the trunk's joints are at zero.

    Parameters
    ----------
    tree : KinematicTree
        Kinematic tree of the arm's joints in the model's order.
    body : (5,) int array
        Body that carries the points: three of the hand, elbow, shoulder.
    point : (5, 3) array
        Positions of these points on their bodies, m.
    length : float
        Upper arm and forearm after stretching, m.
    """

    tree: KinematicTree
    body: NDArray[np.int64]
    point: Array
    length: float


def arm_joints(robot: Robot, side: str) -> tuple[str, ...]:
    """Find an arm's joints in the model's order.

    Parameters
    ----------
    robot : Robot
        Robot that has this arm.
    side : str
        `left` or `right`.

    Returns
    -------
    tuple of str
        Names of the joints.

    Raises
    ------
    RetargetError
        If the robot lacks the arm or its frames.
    """
    needed = [f"{side}_{part}" for part in ("shoulder", "elbow", "wrist", "hand")]
    lacks = [f"group {side}_arm"] if f"{side}_arm" not in robot.groups else []
    lacks += [f"frame {role}" for role in needed if role not in robot.frames]
    if lacks:
        raise RetargetError(f"{robot.name}: has no {side} arm to adapt a motion to: no {', '.join(lacks)}")
    return tuple(sorted(robot.groups[f"{side}_arm"], key=robot.joint_names.index))


def arm_chain(robot: Robot, side: str, length: float, hand_points: Array) -> ArmChain:
    """Stretch a robot's arm between shoulder and wrist by ρ = L_human / L_robot (Kim & Kim 2005, §2).

    The hand keeps the size of the person's: its points are placed from the robot's wrist, along the axes of
    its hand frame, as they are from the person's wrist.

    Parameters
    ----------
    robot : Robot
        Robot that has this arm.
    side : str
        `left` or `right`.
    length : float
        L_human, upper arm and forearm, m.
    hand_points : (3, 3) array
        Wrist, thumb, pinky from the wrist: along the fingers, to the left and out of the back of a hand held
        forward with its palm down, m.

    Returns
    -------
    ArmChain
        With the person's length, and the person's hand.

    Raises
    ------
    RetargetError
        If the robot lacks the arm, or its upper arm or forearm has no length.
    """
    names = arm_joints(robot, side)
    locked = [
        joint
        for joint in range(first_joint(robot.model), robot.model.njoints)
        if robot.model.names[joint] not in names
    ]
    model = pin.buildReducedModel(robot.model, locked, pin.neutral(robot.model))
    frames = {
        part: model.getFrameId(robot.frames[f"{side}_{part}"])
        for part in ("shoulder", "elbow", "wrist", "hand")
    }
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    position = {part: np.asarray(data.oMf[frame].translation) for part, frame in frames.items()}
    limbs = np.linalg.norm(
        [position["elbow"] - position["shoulder"], position["wrist"] - position["elbow"]], axis=1
    )
    if limbs.min() < 1e-3:
        raise RetargetError(f"{robot.name}: the {side} shoulder, elbow and wrist must be apart: {limbs} m")
    ratio = length / float(limbs.sum())

    hand_joint = model.frames[frames["hand"]].parentJoint
    rotation = data.oMi[hand_joint].rotation.T @ data.oMf[frames["hand"]].rotation
    # Beyond the wrist the robot keeps its size.
    wrist = data.oMi[hand_joint].actInv(position["wrist"])
    start, end = (int(model.frames[frames[part]].parentJoint) for part in ("shoulder", "wrist"))
    stretched = [joint for joint in model.supports[end] if joint not in list(model.supports[start])]
    for joint in stretched:
        placement = model.jointPlacements[joint]
        placement.translation = placement.translation * ratio
    if hand_joint in stretched:
        wrist = wrist * ratio
    hand_body = frame_on_body(model, frames["hand"])[0]
    elbow_body, _, elbow = frame_on_body(model, frames["elbow"])
    shoulder_body, _, shoulder = frame_on_body(model, frames["shoulder"])
    if elbow_body != shoulder_body:
        elbow = elbow * ratio
    return ArmChain(
        kinematic_tree(model),
        np.array([hand_body] * 3 + [elbow_body, shoulder_body], dtype=np.int64),
        np.vstack([wrist + hand_points @ rotation.T, elbow, shoulder]),
        length,
    )
