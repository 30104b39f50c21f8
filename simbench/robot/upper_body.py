"""Trunk and arms of a robot: the joints that imitate a person."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.robot import Robot


def upper_body(robot: Robot) -> pin.Model:
    """Reduce a robot to trunk and arms on a floating base: the coordinates that imitate a person.

    Legs, head and grips are locked at zero; they ride on the links that carry them.
    """
    return pin.buildReducedModel(robot.model, upper_body_locks(robot), pin.neutral(robot.model))


def upper_body_joints(robot: Robot, model: pin.Model, joints: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions of trunk and arms, in the order of an upper-body model, from those of all joints, rad."""
    return joints[[robot.joint_names.index(name) for name in model.names[2:]]]


def upper_body_locks(robot: Robot) -> list[int]:
    """Joint ids of what does not imitate: legs, head and grips."""
    keep = {
        "universe",
        "root_joint",
        *robot.groups.get("trunk", ()),
        *robot.groups["left_arm"],
        *robot.groups["right_arm"],
    }
    return [robot.model.getJointId(name) for name in robot.model.names if name not in keep]
