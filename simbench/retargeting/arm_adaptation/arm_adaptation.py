"""Adapt a person's arm motion to a robot's arms inside its joints' bounds (Kim & Kim 2005)."""

from collections.abc import Mapping
from dataclasses import astuple, dataclass

import numpy as np
import pinocchio as pin

from simbench.errors import MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion, recorded_arms, require_both_arms
from simbench.retargeting.arm_adaptation.arm_chain import arm_chain, arm_joints
from simbench.retargeting.arm_adaptation.arm_path import arm_path, first_posture
from simbench.retargeting.arm_adaptation.arm_targets import arm_targets, waist_yaw
from simbench.retargeting.arm_adaptation.joint_bounds import JointBounds, follow, joint_bounds
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.robot.upper_body import upper_body

_UNEVEN = 0.1


@dataclass(frozen=True)
class ArmWeights:
    """Weights of the criterion (Kim & Kim 2005, eq. 2 and 3); the paper does not give its own.

    Parameters
    ----------
    wrist, thumb, pinky : float
        W, the same for the three coordinates of a point.
    upper_arm : float
        w₁₀.
    """

    wrist: float = 1.0
    thumb: float = 1.0
    pinky: float = 1.0
    upper_arm: float = 0.1


@dataclass(frozen=True)
class ArmAdaptation:
    """Joint motion of a robot's arms, and what is left of the criterion.

    Parameters
    ----------
    time : (T,) array
        Time, s.
    joint_names : tuple of str
        The left arm's, then the right arm's, as far as both robot and recording have them.
    q : (T, n) array
        Joint positions, rad.
    bounds : JointBounds
        That q keeps, with velocity and acceleration by backward differences from rest.
    hand_errors : {side: (T, 3, 3) array}
        Person minus stretched robot, by point (wrist, thumb, pinky) and coordinate, m.
    upper_arm_errors : {side: (T,) array}
        Angle between the upper arms, rad.
    """

    time: Array
    joint_names: tuple[str, ...]
    q: Array
    bounds: JointBounds
    hand_errors: Mapping[str, Array]
    upper_arm_errors: Mapping[str, Array]


def adapt_arms(
    robot: Robot,
    motion: HumanMotion,
    *,
    weights: ArmWeights | None = None,
    margin: float = 0.0,
    acceleration: Mapping[str, float] | float | None = None,
) -> ArmAdaptation:
    """Adapt the arms that both robot and recording have, at the recording's rate (Kim & Kim 2005).

    At each frame `arm_criterion` is least over the increments Δq that `increment_bounds` allows, from the
    posture of the frame before (`arm_path`). The first posture is the best of all, and the robot at rest in
    it. The same weights serve both arms; each has its own ratio of lengths.

    Parameters
    ----------
    robot : Robot
        Robot with at least one arm.
    motion : HumanMotion
        Evenly sampled.
    weights : ArmWeights, optional
        Weights of the criterion; by default 1 for the hand points and 0.1 for the upper arm.
    margin : float
        Kept from the position limits, rad.
    acceleration : mapping of str to float, or float, optional
        rad/s² by joint or for all, infinite for none as in the paper; otherwise `acceleration_limits`.

    Returns
    -------
    ArmAdaptation
        Joint motion of all arms that both robot and person have.

    Raises
    ------
    MotionError
        If no arm was recorded that the robot has, an arm lacks its hand, is not finite, or has joints that
        coincide.
    RetargetError
        If the robot has no arm, bounds leave no range, or the frames are not evenly spaced.
    """
    arms = [side for side in SIDES if f"{side}_arm" in robot.groups]
    if not arms:
        raise RetargetError(f"{robot.name}: has no arm to adapt a motion to (group left_arm or right_arm)")
    sides = [side for side in recorded_arms(motion) if side in arms]
    if not sides:
        raise MotionError(
            f"{motion.source}: holds no arm that {robot.name} has; it needs shoulder, elbow and wrist of the "
            f"{' or '.join(arms)} arm"
        )
    period = _period(motion)
    weighting = np.array(astuple(weights or ArmWeights()), dtype=np.float64)
    names: tuple[str, ...] = ()
    paths, bounds, hand_errors, upper_arm_errors = [], [], {}, {}
    for side in sides:
        joints = arm_joints(robot, side)
        targets = arm_targets(motion, side)
        chain = arm_chain(robot, side, targets.length, targets.hand_points)
        limits = joint_bounds(robot, joints, margin=margin, acceleration=acceleration)
        first = first_posture(chain, targets, weighting, limits, _basic_posture(robot, joints))
        path, hand_errors[side], upper_arm_errors[side] = arm_path(
            chain, targets.hand, targets.upper_arm, weighting, limits, period, first
        )
        names += joints
        paths.append(path)
        bounds.append(limits)
    return ArmAdaptation(
        motion.time,
        names,
        np.hstack(paths),
        JointBounds(*(np.concatenate(parts) for parts in zip(*bounds, strict=True))),
        hand_errors,
        upper_arm_errors,
    )


def adapted_posture(
    robot: Robot,
    motion: HumanMotion,
    *,
    weights: ArmWeights | None = None,
    margin: float = 0.0,
    acceleration: Mapping[str, float] | float | None = None,
) -> Array:
    """Adapt arms and trunk: positions of the joints of the robot's upper body.

    The arms are those of `adapt_arms`. A joint of the trunk with a vertical axis follows the rotation of the
    person's trunk on the pelvis, inside the same kinds of bounds; others, and all where trunk or pelvis were
    not recorded, stay at zero or the limit next to it.

    Parameters
    ----------
    robot : Robot
        Robot with two arms.
    motion : HumanMotion
        Recording of both arms.
    weights : ArmWeights, optional
        Weights of the criterion; by default 1 for the hand points and 0.1 for the upper arm.
    margin : float
        Kept from the position limits, rad.
    acceleration : mapping of str to float, or float, optional
        rad/s² by joint or for all, infinite for none as in the paper; otherwise `acceleration_limits`.

    Returns
    -------
    (T, n) array
        Positions of trunk and arms in the order of `upper_body`, rad.

    Raises
    ------
    MotionError, RetargetError
        As `adapt_arms`, or if one of both arms is missing.
    """
    require_both_arms(motion)
    for side in SIDES:
        arm_joints(robot, side)
    arms = adapt_arms(robot, motion, weights=weights, margin=margin, acceleration=acceleration)
    model = upper_body(robot)
    names = list(model.names[2:])
    q = np.zeros((len(motion.time), len(names)))
    q[:, [names.index(name) for name in arms.joint_names]] = arms.q
    trunk = [name for name in names if name not in arms.joint_names]
    if trunk:
        targets = np.zeros((len(motion.time), len(trunk)))
        yaw = waist_yaw(motion)
        if yaw is not None:
            targets += np.outer(yaw, _first_vertical(model, trunk))
        limits = joint_bounds(robot, trunk, margin=margin, acceleration=acceleration)
        q[:, [names.index(name) for name in trunk]] = follow(targets, limits, _period(motion))
    return q


def _period(motion: HumanMotion) -> float:
    """Time between frames, s; backward differences mean something on an even grid only."""
    if len(motion.time) < 2:
        return 1.0
    period = float(motion.time[-1] - motion.time[0]) / (len(motion.time) - 1)
    away = np.abs(motion.time - motion.time[0] - period * np.arange(len(motion.time)))
    if not away.max() <= _UNEVEN * period:
        worst = int(away.argmax())
        raise RetargetError(
            f"{motion.source}: frame {worst} is {1e3 * away[worst]:.3g} ms off the even spacing of "
            f"{1e3 * period:.3g} ms; arm adaptation allows {1e3 * _UNEVEN * period:.3g} ms: resample it"
        )
    return period


def _basic_posture(robot: Robot, names: tuple[str, ...]) -> Array:
    """Joint positions in the posture `basic`, or else zero, rad."""
    columns = [robot.joint_names.index(name) for name in names]
    return np.asarray(robot.postures.get("basic", np.zeros(len(robot.joint_names)))[columns])


def _first_vertical(model: pin.Model, names: list[str]) -> Array:
    """Find the first joint with a vertical axis: its sense, and zero for all others (n,)."""
    data, result = model.createData(), np.zeros(len(names))
    jacobian = pin.computeJointJacobians(model, data, pin.neutral(model))
    for k, name in enumerate(names):
        up = jacobian[5, model.joints[model.getJointId(name)].idx_v]
        if abs(up) > np.cos(np.radians(20.0)):
            result[k] = np.sign(up)
            break
    return result
