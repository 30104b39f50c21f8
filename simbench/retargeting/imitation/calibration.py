"""Calibration: scaled model, its posture in the initial configuration pose (ICP), and its virtual markers."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS, HumanMotion
from simbench.retargeting.imitation.scaling import SegmentLengths, actor_lengths, scale_model
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.robot.upper_body import upper_body, upper_body_joints

_FLEXED_RAD = 0.35
_REST_WEIGHT = 1e-3
_ELBOW_AXIS_WEIGHT = 0.05


@dataclass(frozen=True)
class ScaledActor:
    """The robot's upper body at the actor's size, calibrated on the initial configuration.

    Parameters
    ----------
    model : pinocchio.Model
        Floating base, trunk and arms; every role, joint and virtual marker is a frame of it.
    lengths : SegmentLengths
        Lengths of the actor's segments, m.
    basic : (n,) array
        Positions of trunk and arms in the robot's basic posture, rad.
    q : (nq,) array
        q_init: configuration of the model that matches the actor's initial configuration.
    joints : {str: int}
        Frame id of each joint of the recording.
    markers : {str: int}
        Frame id of the virtual marker of each segment of the recording.
    """

    model: pin.Model
    lengths: SegmentLengths
    basic: Array
    q: Array
    joints: Mapping[str, int]
    markers: Mapping[str, int]


def calibrate(robot: Robot, motion: HumanMotion) -> ScaledActor:
    """Scale the robot to the actor, find q_init and fix the virtual markers (Tomić 2018, §3.3.2 and §3.4).

    q_init minimises the squared distances of shoulders, elbows and wrists and the wrists' orientation error
    from the basic configuration. That leaves the axial rotation of the humerus undetermined while the elbow
    is straight; the elbow's flexion axis, measured over the flexed part of the recording, determines it.

    Parameters
    ----------
    robot : Robot
        Robot of human form.
    motion : HumanMotion
        Recording whose initial configuration is matched.

    Returns
    -------
    ScaledActor
        Model of the actor with q_init and virtual markers.

    Raises
    ------
    MotionError
        If joints of the initial configuration coincide.
    """
    lengths = actor_lengths(motion.initial)
    model = scale_model(upper_body(robot), robot.frames, lengths)
    joints = {name: model.getFrameId(robot.frames[name]) for name in ARM_JOINTS}
    hands = [joints[f"{side}_wrist"] for side in SIDES]
    data = model.createData()

    basic = pin.neutral(model)
    basic[7:] = upper_body_joints(robot, model, robot.postures["basic"])
    pin.framesForwardKinematics(model, data, basic)
    upright = [data.oMf[hand].rotation.copy() for hand in hands]
    shoulders = [data.oMf[joints[f"{side}_shoulder"]].translation for side in SIDES]
    actor_shoulders = [motion.initial.joints[f"{side}_shoulder"] for side in SIDES]
    basic[:3] = np.mean(actor_shoulders, axis=0) - np.mean(shoulders, axis=0)
    targets = np.array([motion.initial.joints[name] for name in ARM_JOINTS])
    elbows = [elbow_joint(model, robot, side) for side in SIDES]
    actor_axes = [_actor_flexion_axis(motion, side) for side in SIDES]
    signs = [_flexion_sign(model, robot, side) for side in SIDES]
    model_axes = [_local_flexion_axis(model, elbow, sign) for elbow, sign in zip(elbows, signs, strict=True)]

    def residual(step: Array) -> Array:
        pin.framesForwardKinematics(model, data, pin.integrate(model, basic, step))
        positions = np.array([data.oMf[joints[name]].translation for name in ARM_JOINTS])
        rotation_errors = [
            orientation_error(rotation, data.oMf[hand].rotation)[0]
            for rotation, hand in zip(upright, hands, strict=True)
        ]
        axis_errors = [
            _ELBOW_AXIS_WEIGHT * (axis - data.oMi[elbow].rotation @ local)
            for axis, elbow, local in zip(actor_axes, elbows, model_axes, strict=True)
            if axis is not None
        ]
        return np.concatenate(
            [(targets - positions).ravel(), *rotation_errors, *axis_errors, _REST_WEIGHT * step]
        )

    def jacobian(step: Array) -> Array:
        """Derive the residual; difference quotients leave the turn of straight arms open by 1e-4 rad."""
        pin.computeJointJacobians(model, data, pin.integrate(model, basic, step))
        pin.updateFramePlacements(model, data)
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        rows = [-pin.getFrameJacobian(model, data, joints[name], aligned)[:3] for name in ARM_JOINTS]
        for rotation, hand in zip(upright, hands, strict=True):
            vector, scalar = orientation_error(rotation, data.oMf[hand].rotation)
            turn = pin.getFrameJacobian(model, data, hand, aligned)[3:]
            rows.append(-0.5 * (scalar * np.eye(3) + pin.skew(vector)) @ turn)
        for axis, elbow, local in zip(actor_axes, elbows, model_axes, strict=True):
            if axis is not None:
                turn = pin.getJointJacobian(model, data, elbow, aligned)[3:]
                rows.append(_ELBOW_AXIS_WEIGHT * pin.skew(data.oMi[elbow].rotation @ local) @ turn)
        rates = pin.dIntegrate(model, basic, step, pin.ArgumentPosition.ARG1)
        return np.vstack([np.vstack(rows) @ rates, _REST_WEIGHT * np.eye(model.nv)])

    # From straight arms the elbow could bend either way; start on the side the robot can bend to.
    start = np.zeros(model.nv)
    for elbow, sign in zip(elbows, signs, strict=True):
        start[model.joints[elbow].idx_v] = 0.2 * sign
    solved = least_squares(residual, start, jacobian, xtol=1e-15, ftol=None, gtol=None)
    q = pin.integrate(model, basic, solved.x)
    pin.framesForwardKinematics(model, data, q)
    markers = {}
    for segment, pose in motion.initial.segments.items():
        joint = _marker_joint(model, robot, segment)
        if joint is not None:
            offset = data.oMi[joint].inverse() * pin.SE3(np.asarray(pose))
            frame = pin.Frame(f"virtual_{segment}", joint, offset, pin.FrameType.OP_FRAME)
            markers[segment] = model.addFrame(frame, False)
    return ScaledActor(model, lengths, basic[7:], q, joints, markers)


def orientation_error(reference: Array, current: Array) -> tuple[Array, float]:
    """Compute the quaternion that rotates one orientation into another.

    Δe = η e_ref − η_ref e − S(e_ref) e (Tomić 2018, eq. 3.4), expressed in the world frame.

    Parameters
    ----------
    reference : (3, 3) array
        Orientation to be reached, in the world frame.
    current : (3, 3) array
        Orientation to be rotated, in the world frame.

    Returns
    -------
    vector : (3,) array
        Vector part of the quaternion, Δe.
    scalar : float
        Scalar part, not negative.
    """
    x, y, z, w = pin.Quaternion(reference @ current.T).coeffs()
    return np.copysign(1.0, w) * np.array([x, y, z]), abs(float(w))


def elbow_joint(model: pin.Model, robot: Robot, side: str) -> int:
    """Find the joint of an arm that bends the elbow: the one that changes the shoulder-wrist distance most.

    A joint with shoulder and wrist at distances a and b from its axis changes the square of their distance by
    up to 4ab. That is little for rotations of the upper arm and of the forearm about themselves, whose axes
    pass near shoulder or wrist, and for joints of the wrist.
    """
    arm = _joints_between(model, robot, side)
    offsets = [_offsets_from_axis(model, robot, side, joint) for joint in arm]
    changes = [np.linalg.norm(shoulder) * np.linalg.norm(wrist) for shoulder, wrist, _ in offsets]
    return arm[int(np.argmax(changes))]


def straight_elbow(model: pin.Model, robot: Robot, side: str) -> float:
    """Position of the elbow's joint at which the wrist is farthest from the shoulder, rad.

    Of the positions that differ by full turns, the one nearest to the middle of the joint's range.
    """
    joint = elbow_joint(model, robot, side)
    shoulder, wrist, axis = _offsets_from_axis(model, robot, side, joint)
    angle = float(np.arctan2(axis @ np.cross(wrist, -shoulder), -(wrist @ shoulder)))
    index = model.joints[joint].idx_q
    middle = 0.5 * (model.lowerPositionLimit[index] + model.upperPositionLimit[index])
    return angle + 2.0 * np.pi * round(float(middle - angle) / (2.0 * np.pi))


def _joints_between(model: pin.Model, robot: Robot, side: str) -> list[int]:
    """Joints that move an arm's wrist relative to its shoulder, from the shoulder on."""
    shoulder, joint = (
        int(model.frames[model.getFrameId(robot.frames[f"{side}_{role}"])].parentJoint)
        for role in ("shoulder", "wrist")
    )
    found = []
    while joint not in (shoulder, 0):
        found.append(joint)
        joint = int(model.parents[joint])
    return found[::-1]


def _offsets_from_axis(model: pin.Model, robot: Robot, side: str, joint: int) -> tuple[Array, Array, Array]:
    """Perpendiculars (3,) from a joint's axis to shoulder and wrist, m, and the axis, all joints at zero."""
    data = model.createData()
    axes = pin.computeJointJacobians(model, data, pin.neutral(model))[3:]
    pin.updateFramePlacements(model, data)
    axis = axes[:, model.joints[joint].idx_v]
    shoulder, wrist = (
        data.oMf[model.getFrameId(robot.frames[f"{side}_{role}"])].translation - data.oMi[joint].translation
        for role in ("shoulder", "wrist")
    )
    return shoulder - axis * (axis @ shoulder), wrist - axis * (axis @ wrist), axis


def _marker_joint(model: pin.Model, robot: Robot, segment: str) -> int | None:
    """Find the joint whose link carries a segment's marker; None for segments that are not imitated."""
    if segment == "trunk":
        return int(model.frames[model.getFrameId(robot.frames["trunk"])].parentJoint)
    if segment not in ARM_SEGMENTS:
        return None
    side, _, part = segment.partition("_")
    if part == "upper_arm":
        return int(model.parents[elbow_joint(model, robot, side)])
    if part == "forearm":
        return elbow_joint(model, robot, side)
    return int(model.frames[model.getFrameId(robot.frames[f"{side}_wrist"])].parentJoint)


def _flexion_sign(model: pin.Model, robot: Robot, side: str) -> float:
    """+1 if an elbow bends by positive rotations of its joint out of the straight arm, else -1."""
    index = model.joints[elbow_joint(model, robot, side)].idx_q
    middle = 0.5 * (model.upperPositionLimit[index] + model.lowerPositionLimit[index])
    return 1.0 if middle > straight_elbow(model, robot, side) else -1.0


def _local_flexion_axis(model: pin.Model, joint: int, sign: float) -> Array:
    """Axis about which the model's elbow bends by a positive angle, in the joint's frame."""
    jacobian = pin.computeJointJacobian(model, model.createData(), pin.neutral(model), joint)
    return np.asarray(jacobian[3:, model.joints[joint].idx_v]) * sign


def _actor_flexion_axis(motion: HumanMotion, side: str) -> Array | None:
    """World direction of the actor's elbow axis in the initial configuration, from the flexed samples.

    The axis is the mean of upper arm × forearm in the upper-arm marker's frame; None if the elbow never
    bends by more than 20°.
    """
    shoulder, elbow, wrist = (motion.joints[f"{side}_{name}"] for name in ("shoulder", "elbow", "wrist"))
    upper, fore = elbow - shoulder, wrist - elbow
    upper = upper / np.linalg.norm(upper, axis=1, keepdims=True)
    fore = fore / np.linalg.norm(fore, axis=1, keepdims=True)
    axis = np.cross(upper, fore)
    flexed = np.linalg.norm(axis, axis=1) > np.sin(_FLEXED_RAD)
    if not flexed.any():
        return None
    rotations = motion.segments[f"{side}_upper_arm"][flexed, :3, :3]
    local = np.einsum("tji,tj->i", rotations, axis[flexed])
    initial = motion.initial.segments[f"{side}_upper_arm"][:3, :3] @ local
    return np.asarray(initial / np.linalg.norm(initial))
