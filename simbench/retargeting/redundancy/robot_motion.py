"""A robot's motion by weighted criteria: the hands keep their path, eq. 4.23 resolves the redundancy."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy.criteria import CRITERIA
from simbench.kinematics.redundancy.objective import ERGONOMY, LawConstants, TaskPath, make_scratch
from simbench.kinematics.redundancy.rollout import roll_out
from simbench.retargeting.contact.hand_plan import near_contact
from simbench.retargeting.imitation.posture import rounded_posture
from simbench.retargeting.redundancy.robot_body import require_ergonomic, robot_body
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.robot.upper_body import upper_body

GAIN = 400.0
"""Gain p of the manipulability criterion for a robot's trunk yaw and arms; like a person's, it mostly moves
them as the joint-velocity criterion alone does."""
_RETURN_TIME = 2.5
"""Time after contact, s, over which the posture goes back to the person's."""


def weighted_posture(
    robot: Robot,
    time: Array,
    joints: Array,
    base: Array,
    held: NDArray[np.bool_],
    weights: Array,
    lower: Array,
    upper: Array,
) -> Array:
    """Let weighted criteria move trunk and arms while hands hold something (Tomić 2018, §4.4, eq. 4.23).

    The resolution begins in the posture that the motion has at the first sample in contact. From there on
    both palms keep the path that they have in that motion, and among all joint motions that do so the one
    with the least Φ = Σ k_i φ_i is taken, sample by sample, with the robot's own inertia matrix, rotors
    included, inside its joint limits. After contact the posture returns to the given one. Where the resolved
    motion has a corner, as at its beginning and where a joint meets a limit, it is smoothed.

    Parameters
    ----------
    robot : Robot
        Robot with two arms on a floating base.
    time : (T,) array
        Evenly spaced times of the samples, s.
    joints : (T, n) array
        Positions of trunk and arms in a motion whose palms are on their targets, rad.
    base : (T, 7) array
        Pose of the root link in the world frame: position, m, and quaternion.
    held : (T,) bool array
        Whether any hand holds something.
    weights : (4,) array
        Weights k in the order of `CRITERIA`: not negative, sum 1.
    lower : (n,) array
        Lower joint limits, rad.
    upper : (n,) array
        Upper joint limits, rad.

    Returns
    -------
    (T, n) array
        Positions of trunk and arms, rad, inside the limits. Smoothing moves the palms a little.

    Raises
    ------
    SkillError
        If the resolved motion leads the hands to where they cannot go on, or weights an ergonomic posture
        where none is known.
    """
    if weights[ERGONOMY] > 0.0:
        require_ergonomic(robot)
    first, last = np.flatnonzero(held)[[0, -1]]
    part = slice(first, last + 1)
    model = upper_body(robot)
    path = palm_path(robot, model, np.hstack([base[part], joints[part]]))
    moved = follow_palms_by_law(robot, model, time[part], path, weights, lower, upper)
    posture = joints.copy()
    weight = near_contact(time, held, _RETURN_TIME)[part.stop :, None]
    posture[part.stop :] += weight * (moved[-1] - joints[last])
    posture[part] = moved
    return rounded_posture(time, np.clip(posture, lower, upper), lower, upper)


def follow_palms_by_law(
    robot: Robot, model: pin.Model, time: Array, path: TaskPath, weights: Array, lower: Array, upper: Array
) -> Array:
    """Move trunk and arms by weighted criteria along a path of both palms (Tomić 2018, eq. 4.23).

    Parameters
    ----------
    robot : Robot
        Robot with two arms on a floating base.
    model : pinocchio.Model
        Its `upper_body`.
    time : (T,) array
        Evenly spaced times of the samples, s.
    path : TaskPath
        Prescribed path of root and palms, from `palm_path`.
    weights : (4,) array
        Weights k in the order of `CRITERIA`: not negative, sum 1.
    lower : (n,) array
        Lower joint limits, rad.
    upper : (n,) array
        Upper joint limits, rad.

    Returns
    -------
    (T, n) array
        Positions of trunk and arms, rad; the palms are within 1e-7 m and rad of their path.

    Raises
    ------
    SkillError
        If the resolved motion leads the palms to where they cannot go on.
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
    """Compute the paths of root and palms that a resolved motion has to follow.

    Parameters
    ----------
    robot : Robot
        Robot with two arms on a floating base.
    model : pinocchio.Model
        Its `upper_body`.
    q : (T, 7 + n) array
        Configurations of that model.

    Returns
    -------
    TaskPath
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


def chain_coordinates(q: Array) -> Array:
    """Convert configurations with a floating base to the coordinates on virtual joints (Tomić 2018).

    Parameters
    ----------
    q : (T, 7 + j) array
        Base position, m, base quaternion x, y, z, w, and joint positions, rad.

    Returns
    -------
    (T, 6 + j) array
        The base's position z, y, x, m, its yaw, roll and pitch about z, x and y, rad, and the joints.
    """
    angles = np.unwrap(Rotation.from_quat(q[:, 3:7]).as_euler("ZXY"), axis=0)
    return np.concatenate([q[:, 2::-1], angles, q[:, 7:]], axis=1)
