"""A robot's motion by weighted criteria: the hands keep their path, eq. 4.23 of Tomić (2018) does the rest.

Root and legs are six virtual joints: three prismatic and three revolute ones.
"""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_body import SkillBody, make_plain_anatomy
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.kinematics.redundancy_law import ERGONOMY, LawConstants, TaskPath, make_scratch, roll_out
from simbench.kinematics.task_matrix import BodyMasses, body_masses
from simbench.kinematics.tree import KinematicTree, ancestors, frame_on_body, kinematic_tree
from simbench.retargeting.imitation.imitation import INNER_JOINTS
from simbench.retargeting.imitation.limited_posture import rounded_posture
from simbench.robot.human_skeleton import ARM_JOINTS, BASE_JOINTS
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES

# Gain p of the manipulability criterion for a robot's trunk yaw and arms; like a person's, it mostly moves
# them as the joint-velocity criterion alone does.
GAIN = 400.0
# Time after contact, s, over which the posture goes back to the person's.
RETURN_TIME = 2.5
# q_erg of Tomić (2018, §4.1.3), left arm, degrees; the right arm mirrors all but the pitch angles. The thesis
# prints -80 for the right wrist's yaw, which neither mirrors the left one nor is within the joint's range: 0.
_ERGONOMIC_ARM = dict(zip(ARM_JOINTS, (20.0, 5.0, 10.0, -80.0, 30.0, 0.0, 15.0), strict=True))
_COUNT = len(BASE_JOINTS)


def weighted_posture(
    robot: Robot,
    time: Array,
    joints: Array,
    base: Array,
    held: NDArray[np.bool_],
    returning: Array,
    weights: Array,
    lower: Array,
    upper: Array,
) -> Array:
    """Let weighted criteria move trunk and arms while hands hold something (Tomić 2018, §4.4, eq. 4.23).

    The resolution begins in the posture that the motion `joints` (T, n), rad, on `base` (T, 7) has at the
    first sample in contact (`held`, of any hand). From there on both palms keep the path that they have in
    that motion, and among all joint motions that do so the one with the least Φ = Σ k_i φ_i is taken, sample
    by sample, with the robot's own inertia matrix, rotors included, inside its joint limits. k are `weights`
    in the order of `CRITERIA`: not negative, sum 1. After contact the posture returns to the given one as
    `returning` (T,) goes from 1 to 0. Where the resolved motion has a corner, as at its beginning and where a
    joint meets a limit, it is smoothed, which moves the palms a little. The ergonomic posture is given in
    ROMEO's joints: its weight is refused for arms with others.
    """
    arms = {*robot.groups["left_arm"], *robot.groups["right_arm"]}
    if weights[ERGONOMY] > 0.0 and arms != {f"{side}{joint}" for side in "LR" for joint in ARM_JOINTS}:
        raise SkillError(
            f"{robot.name}: no ergonomic posture is known for its arms; allowed: retarget.weights.ergonomy 0"
        )
    first, last = np.flatnonzero(held)[[0, -1]]
    part = slice(first, last + 1)
    model = upper_body(robot)
    path = palm_path(robot, model, np.hstack([base[part], joints[part]]))
    moved = follow_palms_by_law(robot, model, time[part], path, weights, lower, upper)
    posture = joints.copy()
    posture[part.stop :] += returning[part.stop :, None] * (moved[-1] - joints[last])
    posture[part] = moved
    return rounded_posture(time, np.clip(posture, lower, upper), lower, upper)


def follow_palms_by_law(
    robot: Robot, model: pin.Model, time: Array, path: TaskPath, weights: Array, lower: Array, upper: Array
) -> Array:
    """Move trunk and arms of `upper_body`'s model by weighted criteria along a path of both palms (eq. 4.23).

    The samples are evenly spaced. Of the positions (T, n), rad, that are returned the palms are within 1e-7 m
    and rad of the path; a motion that leads them to where they cannot go on is refused.
    """
    body = robot_body(robot, model, lower, upper)
    period = float(time[-1] - time[0]) / max(len(time) - 1, 1)
    # Null-space motion, which does not move the hands, need not slow the whole motion down.
    fastest = float(model.velocityLimit[6:].min())
    motion = np.empty_like(path.prescribed)
    reached = roll_out(body, path, LawConstants(period, GAIN, fastest), weights, make_scratch(body), motion)
    if reached < len(motion):
        shares = ", ".join(f"{name} {k:.4g}" for name, k in zip(CRITERIA, weights, strict=True))
        raise SkillError(
            f"{robot.name}: at {time[reached]:.2f} s of the recording the palms cannot follow their path "
            f"within the joint limits from where retarget.weights ({shares}) have led; allowed: other "
            "weights, or another place of the robot"
        )
    return motion[:, body.resolved]


def palm_path(robot: Robot, model: pin.Model, q: Array) -> TaskPath:
    """Compute the paths of root and palms in configurations (T, 7 + n) of `upper_body`'s model.

    Without shoulders and elbows, which no robot's criteria look at.
    """
    data = model.createData()
    frames = [model.getFrameId(robot.frames[f"{side}_hand"]) for side in SIDES]
    rotation, position = np.empty((len(q), len(frames), 3, 3)), np.empty((len(q), len(frames), 3))
    for t, at in enumerate(q):
        pin.framesForwardKinematics(model, data, at)
        for h, frame in enumerate(frames):
            rotation[t, h] = data.oMi[model.frames[frame].parentJoint].rotation
            position[t, h] = data.oMf[frame].translation
    prescribed = chain_coordinates(q)
    points = np.empty((len(q), 0, 3))
    return TaskPath(prescribed[0].copy(), prescribed, rotation, position, points, prescribed[0].copy())


def robot_body(robot: Robot, model: pin.Model, lower: Array, upper: Array) -> SkillBody:
    """Put a robot's trunk and arms on virtual joints, which are prescribed: balance moves the pelvis.

    Its hands are the palms. Legs, head and grips are fixed to the links that carry them.
    """
    tree = tree_on_virtual_joints(kinematic_tree(model))
    palms, points = (
        [frame_on_body(model, model.getFrameId(robot.frames[role])) for role in roles]
        for roles in ([f"{side}_hand" for side in SIDES], INNER_JOINTS)
    )
    hand_body, resolved = np.array([body + _COUNT for body, _, _ in palms]), _COUNT + np.arange(len(lower))
    free = np.full(_COUNT, np.inf)
    return SkillBody(
        tree,
        masses_on_virtual_joints(body_masses(model)),
        np.concatenate([np.zeros(_COUNT), model.armature[6:]]),
        resolved,
        resolved,
        hand_body,
        np.array([position for _, _, position in palms]),
        ancestors(tree)[hand_body] > 0.0,
        np.array([body + _COUNT for body, _, _ in points]),
        np.array([position for _, _, position in points]),
        np.concatenate([np.zeros(_COUNT), [ergonomic_angle(name) for name in model.names[2:]]]),
        np.concatenate([-free, lower]),
        np.concatenate([free, upper]),
        make_plain_anatomy(_COUNT + len(lower)),
    )


def ergonomic_angle(name: str) -> float:
    """Look up a ROMEO joint's angle in the ergonomic posture, the middle of a person's range of comfort, rad.

    0 for a joint that is none of an arm.
    """
    sign = -1.0 if name.startswith("R") and not name.endswith("Pitch") else 1.0
    return float(np.radians(sign * _ERGONOMIC_ARM[name[1:]])) if name[1:] in _ERGONOMIC_ARM else 0.0


def tree_on_virtual_joints(tree: KinematicTree) -> KinematicTree:
    """Let the root of a tree translate along z, y, x and rotate by yaw, roll and pitch, about z, x and y.

    The six virtual joints come first.
    """
    z, y, x = np.eye(3)[::-1]
    return KinematicTree(
        np.concatenate([np.arange(_COUNT), tree.parent + _COUNT]),
        np.concatenate([np.tile(np.eye(3), (_COUNT, 1, 1)), tree.rotation]),
        np.concatenate([np.zeros((_COUNT, 3)), tree.translation]),
        np.concatenate([np.array([z, y, x, z, x, y]), tree.axis]),
        np.concatenate([np.arange(_COUNT) < 3, tree.sliding]),
    )


def masses_on_virtual_joints(masses: BodyMasses) -> BodyMasses:
    """Add the massless bodies between the virtual joints."""
    return BodyMasses(*(np.concatenate([np.zeros((_COUNT, *values.shape[1:])), values]) for values in masses))


def chain_coordinates(q: Array) -> Array:
    """Convert configurations (T, 7 + j) with a floating base to coordinates on virtual joints (T, 6 + j).

    These are the base's position z, y, x, m, its yaw, roll and pitch about z, x and y, rad, and the joints
    (Tomić 2018).
    """
    angles = np.unwrap(Rotation.from_quat(q[:, 3:7]).as_euler("ZXY"), axis=0)
    return np.concatenate([q[:, 2::-1], angles, q[:, 7:]], axis=1)
