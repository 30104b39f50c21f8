"""Trunk and arms of a robot: the joints that imitate a person."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES


def has_both_arms(robot: Robot) -> bool:
    """Tell whether a robot has a left and a right arm. Returns whether it does."""
    return all(f"{side}_arm" in robot.groups for side in SIDES)


def upper_body(robot: Robot) -> pin.Model:
    """Reduce a robot's model to trunk and arms on a floating base: the coordinates that imitate a person.

    Legs, head and grips are locked at zero and become part of the links that carry them.
    """
    return pin.buildReducedModel(robot.model, upper_body_locks(robot), pin.neutral(robot.model))


def upper_body_joints(robot: Robot, model: pin.Model, joints: NDArray[np.float64]) -> NDArray[np.float64]:
    """Select the positions of trunk and arms from those of all joints.

    `joints` (n,): positions of all joints in the robot's order, rad. Returns (m,): positions of the joints of
    the upper-body model in its order, rad.
    """
    return joints[[robot.joint_names.index(name) for name in model.names[2:]]]


def upper_body_locks(robot: Robot) -> list[int]:
    """List the joints that do not imitate a person: legs, head and grips.

    Returns indices of these joints in the robot's model.
    """
    keep = {
        "universe",
        "root_joint",
        *robot.groups.get("trunk", ()),
        *robot.groups["left_arm"],
        *robot.groups["right_arm"],
    }
    return [robot.model.getJointId(name) for name in robot.model.names if name not in keep]
