"""A robot's upper body for the weighted criteria: its masses, rotors, joint limits and ergonomic posture."""

import numpy as np
import pinocchio as pin

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.joint_inertia import body_masses
from simbench.kinematics.redundancy.anatomy import make_plain_anatomy
from simbench.kinematics.redundancy.body import SkillBody
from simbench.kinematics.tree import frame_on_body, kinematic_tree
from simbench.retargeting.imitation.tasks import INNER_JOINTS
from simbench.retargeting.redundancy.virtual_joints import (
    joints_that_carry,
    masses_on_virtual_joints,
    tree_on_virtual_joints,
)
from simbench.robot.dh.romeo_table import ARM_JOINTS, BASE_JOINTS
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

# q_erg of Tomić (2018, §4.1.3), left arm, degrees; the right arm mirrors all but the pitch angles. The thesis
# prints -80 for the right wrist's yaw, which neither mirrors the left one nor is within the joint's range: 0.
ERGONOMIC_ARM = dict(zip(ARM_JOINTS, (20.0, 5.0, 10.0, -80.0, 30.0, 0.0, 15.0), strict=True))


def ergonomic_angle(name: str) -> float:
    """Look up a joint's angle in the ergonomic posture: the middle of a person's range of comfort.

    Parameters
    ----------
    name : str
        Joint of ROMEO: L or R, and the joint's name.

    Returns
    -------
    float
        q_erg, rad; 0 for a joint that is none of an arm.
    """
    side, joint = name[0], name[1:]
    if joint not in ERGONOMIC_ARM:
        return 0.0
    sign = -1.0 if side == "R" and not joint.endswith("Pitch") else 1.0
    return float(np.radians(sign * ERGONOMIC_ARM[joint]))


def robot_body(robot: Robot, model: pin.Model, lower: Array, upper: Array) -> SkillBody:
    """Put a robot's trunk and arms on virtual joints, which are prescribed: balance moves the pelvis.

    Parameters
    ----------
    robot : Robot
        Robot with two arms on a floating root.
    model : pinocchio.Model
        Its `upper_body`.
    lower : (n,) array
        Lower limits of trunk and arms, rad.
    upper : (n,) array
        Upper limits of trunk and arms, rad.

    Returns
    -------
    SkillBody
        Its hands are the palms. Legs, head and grips are fixed to the links that carry them.
    """
    tree = tree_on_virtual_joints(kinematic_tree(model))
    palms, points = (
        [frame_on_body(model, model.getFrameId(robot.frames[role])) for role in roles]
        for roles in ([f"{side}_hand" for side in SIDES], INNER_JOINTS)
    )
    shift = len(BASE_JOINTS)
    hand_body = np.array([body + shift for body, _, _ in palms])
    free = np.full(shift, np.inf)
    return SkillBody(
        tree,
        masses_on_virtual_joints(body_masses(model)),
        np.concatenate([np.zeros(shift), model.armature[6:]]),
        np.arange(shift, shift + len(lower)),
        np.arange(shift, shift + len(lower)),
        hand_body,
        np.array([position for _, _, position in palms]),
        np.array([joints_that_carry(tree, int(body)) for body in hand_body]),
        np.array([body + shift for body, _, _ in points]),
        np.array([position for _, _, position in points]),
        np.concatenate([np.zeros(shift), [ergonomic_angle(name) for name in model.names[2:]]]),
        np.concatenate([-free, lower]),
        np.concatenate([free, upper]),
        make_plain_anatomy(shift + len(lower)),
    )


def require_ergonomic(robot: Robot) -> None:
    """Refuse a robot for whose arms no ergonomic posture is known: it is given in ROMEO's joints.

    Parameters
    ----------
    robot : Robot
        Robot with two arms.

    Raises
    ------
    SkillError
        If its arms do not have ROMEO's joints.
    """
    arms = {*robot.groups["left_arm"], *robot.groups["right_arm"]}
    if arms != {f"{side}{joint}" for side in "LR" for joint in ARM_JOINTS}:
        raise SkillError(
            f"{robot.name}: no ergonomic posture is known for its arms; allowed: retarget.weights.ergonomy 0"
        )
