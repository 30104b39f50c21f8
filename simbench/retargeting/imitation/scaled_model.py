"""The scaled model: the robot's upper body with the actor's segment lengths, calibrated on a recording."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from simbench.balance.sections import FULL_LEG, LEAST_LEG
from simbench.errors import MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import ARM_JOINTS, HumanMotion
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES

_FLEXED_RAD = 0.35
_REST_WEIGHT = 1e-3
_ELBOW_AXIS_WEIGHT = 0.05

# Distances of shoulders (L4), and by side of shoulder and elbow (L6) and of elbow and wrist (L7), m.
SegmentLengths: TypeAlias = tuple[float, Mapping[str, float], Mapping[str, float]]


@dataclass(frozen=True)
class ScaledActor:
    """The robot's upper body at the actor's size, calibrated on the initial configuration."""

    model: pin.Model  # Floating base, trunk and arms; every role, joint and virtual marker is a frame of it.
    lengths: SegmentLengths  # Lengths of the actor's segments, m.
    basic: Array  # (n,): positions of trunk and arms in the robot's basic posture, rad.
    q: Array  # (nq,): q_init: configuration of the model that matches the actor's initial configuration.
    joints: Mapping[str, int]  # {str: int}: frame id of each joint of the recording.
    markers: Mapping[str, int]  # {str: int}: frame id of the virtual marker of each segment of the recording.


def require_human_form(robot: Robot, *, standing: bool = True) -> None:
    """Refuse a robot without two arms, and if it is to stand, two feet; the error names all that it lacks."""
    parts = ("shoulder", "elbow", "wrist", "hand")
    feet = [f"{side}_foot" for side in SIDES] if standing else []
    limbs = ("arm", "leg") if standing else ("arm",)
    needed = {
        "frames": ["trunk", *(f"{side}_{part}" for side in SIDES for part in parts), *feet],
        "groups": [f"{side}_{limb}" for side in SIDES for limb in limbs],
        "soles": feet,
        "postures": ["basic"],
    }
    lacks = ["a free base"] if standing and not robot.floating else []
    for what, required in needed.items():
        missing = [name for name in required if name not in getattr(robot, what)]
        if missing:
            lacks.append(f"{what} {', '.join(missing)}")
    for side in SIDES if standing else ():
        legs = robot.groups.get(f"{side}_leg")
        if legs is not None and not LEAST_LEG <= len(legs) <= FULL_LEG:
            lacks.append(f"{LEAST_LEG} to {FULL_LEG} joints in groups.{side}_leg (it has {len(legs)})")
    if not lacks:
        supports = robot.model.supports
        for side in SIDES:
            arm = {robot.model.getJointId(name) for name in robot.groups[f"{side}_arm"]}
            for upper, lower in pairwise(f"{side}_{part}" for part in parts):
                above, below = (
                    robot.model.frames[robot.model.getFrameId(robot.frames[role])].parentJoint
                    for role in (upper, lower)
                )
                between = set(supports[below]) - set(supports[above])
                # A forearm may be one with the hand.
                apart = lower.endswith(("_hand", "_wrist")) or not between.isdisjoint(arm)
                if above not in supports[below] or not apart:
                    lacks.append(f"a joint of groups.{side}_arm from frame {upper} to frame {lower}")
    if lacks:
        what = "to imitate a person with both arms, a robot with a fixed base lacks"
        if standing:
            what = "a human motion needs a robot that stands on two feet and has two arms; it lacks"
        raise RetargetError(f"{robot.name}: {what}: {'; '.join(lacks)}")


def segment_lengths(
    joints: Mapping[str, Array], source: str = "the actor's initial configuration"
) -> SegmentLengths:
    """Measure the lengths between shoulders, elbows and wrists at (3,) positions, m (Tomić 2018, §3.3.2).

    The paper gives both arms the mean of left and right. A person's arms differ, a measured skeleton's by
    centimetres; each arm keeps its own lengths.
    """
    upper_arm, forearm = (
        {side: float(np.linalg.norm(joints[f"{side}_{a}"] - joints[f"{side}_{b}"])) for side in SIDES}
        for a, b in (("shoulder", "elbow"), ("elbow", "wrist"))
    )
    shoulder_width = float(np.linalg.norm(joints["left_shoulder"] - joints["right_shoulder"]))
    if min(shoulder_width, *upper_arm.values(), *forearm.values()) < 1e-3:
        raise MotionError(
            f"{source}: two arm joints coincide (shoulder, elbow, wrist must be apart): "
            f"SegmentLengths({shoulder_width=}, {upper_arm=}, {forearm=})"
        )
    return shoulder_width, upper_arm, forearm


def robot_lengths(robot: Robot, model: pin.Model) -> SegmentLengths:
    """Compute the segment lengths of a robot's model, or of its upper body's."""
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    frames = {name: model.getFrameId(robot.frames[name]) for name in ARM_JOINTS}
    return segment_lengths({name: data.oMf[frame].translation for name, frame in frames.items()}, robot.name)


def scale_model(robot: Robot, model: pin.Model, lengths: SegmentLengths) -> pin.Model:
    """Give a copy of a robot's upper-body model other segment lengths.

    Along each arm the joint placements between two role frames are stretched by the ratio of lengths; the
    shoulders move sideways. The hand keeps the robot's size.
    """
    scaled, (width, upper_arm, forearm) = model.copy(), lengths
    own_width, own_upper_arm, own_forearm = robot_lengths(robot, model)
    for side in SIDES:
        shoulder, elbow, wrist = (
            int(model.frames[model.getFrameId(robot.frames[f"{side}_{name}"])].parentJoint)
            for name in ("shoulder", "elbow", "wrist")
        )
        across = scaled.jointPlacements[shoulder].translation.copy()
        across[1] *= width / own_width
        scaled.jointPlacements[shoulder].translation = across
        for start, link, ratio in (
            (shoulder, elbow, upper_arm[side] / own_upper_arm[side]),
            (elbow, wrist, forearm[side] / own_forearm[side]),
        ):
            while link != start:
                scaled.jointPlacements[link].translation = scaled.jointPlacements[link].translation * ratio
                link = int(model.parents[link])
        if elbow == wrist:
            # No joint follows the elbow: wrist and hand are places on the forearm.
            frames = [model.getFrameId(robot.frames[f"{side}_{name}"]) for name in ("elbow", "wrist", "hand")]
            places = [model.frames[frame].placement.translation for frame in frames]
            longer = (forearm[side] / own_forearm[side] - 1.0) * (places[1] - places[0])
            for frame in dict.fromkeys(frames[1:]):
                scaled.frames[frame].placement.translation += longer
    return scaled


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
    lengths = segment_lengths(motion.initial.joints)
    model = scale_model(robot, upper_body(robot), lengths)
    joints = {name: model.getFrameId(robot.frames[name]) for name in ARM_JOINTS}
    data = model.createData()

    basic = pin.neutral(model)
    basic[7:] = robot.postures["basic"][[robot.joint_names.index(name) for name in model.names[2:]]]
    pin.framesForwardKinematics(model, data, basic)
    hands = [(hand, data.oMf[hand].rotation.copy()) for hand in (joints["left_wrist"], joints["right_wrist"])]
    shoulders = [data.oMf[joints[f"{side}_shoulder"]].translation for side in SIDES]
    actor_shoulders = [motion.initial.joints[f"{side}_shoulder"] for side in SIDES]
    basic[:3] = np.mean(actor_shoulders, axis=0) - np.mean(shoulders, axis=0)
    targets = np.array([motion.initial.joints[name] for name in ARM_JOINTS])

    # From straight arms the elbow could bend either way; start on the side the robot can bend to.
    trunk = model.frames[model.getFrameId(robot.frames["trunk"])]
    # Joint that carries the marker of each segment.
    start, carriers, elbows = np.zeros(model.nv), {"trunk": int(trunk.parentJoint)}, []
    for side in SIDES:
        elbow, straight = elbow_joint(model, robot, side)
        index = model.joints[elbow].idx_q
        middle = 0.5 * (model.upperPositionLimit[index] + model.lowerPositionLimit[index])
        sign = 1.0 if middle > straight else -1.0
        start[model.joints[elbow].idx_v] = 0.2 * sign
        jacobian = pin.computeJointJacobian(model, model.createData(), pin.neutral(model), elbow)
        # Axis about which the model's elbow bends by a positive angle, in the joint's frame.
        local = np.asarray(jacobian[3:, model.joints[elbow].idx_v]) * sign
        # The actor's elbow axis in the initial configuration: the mean of upper arm × forearm in the
        # upper-arm marker's frame, over the samples at which the elbow is bent by more than 20°, if any.
        at = [motion.joints[f"{side}_{name}"] for name in ("shoulder", "elbow", "wrist")]
        bones = at[1] - at[0], at[2] - at[1]
        upper, fore = (bone / np.linalg.norm(bone, axis=1, keepdims=True) for bone in bones)
        axes = np.cross(upper, fore)
        flexed = np.linalg.norm(axes, axis=1) > np.sin(_FLEXED_RAD)
        if flexed.any():
            turns = motion.segments[f"{side}_upper_arm"][flexed, :3, :3]
            mean = np.einsum("tji,tj->i", turns, axes[flexed])
            axis = motion.initial.segments[f"{side}_upper_arm"][:3, :3] @ mean
            elbows.append((elbow, local, axis / np.linalg.norm(axis)))
        carriers[f"{side}_upper_arm"], carriers[f"{side}_forearm"] = int(model.parents[elbow]), elbow
        carriers[f"{side}_hand"] = int(model.frames[joints[f"{side}_wrist"]].parentJoint)

    def residual(step: Array) -> Array:
        pin.framesForwardKinematics(model, data, pin.integrate(model, basic, step))
        positions = np.array([data.oMf[joints[name]].translation for name in ARM_JOINTS])
        turned = [orientation_error(upright, data.oMf[hand].rotation)[0] for hand, upright in hands]
        bent = [_ELBOW_AXIS_WEIGHT * (axis - data.oMi[at].rotation @ local) for at, local, axis in elbows]
        return np.concatenate([(targets - positions).ravel(), *turned, *bent, _REST_WEIGHT * step])

    def derive(step: Array) -> Array:
        """Derive the residual; difference quotients leave the turn of straight arms open by 1e-4 rad."""
        pin.computeJointJacobians(model, data, pin.integrate(model, basic, step))
        pin.updateFramePlacements(model, data)
        aligned = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        rows = [-pin.getFrameJacobian(model, data, joints[name], aligned)[:3] for name in ARM_JOINTS]
        for hand, upright in hands:
            vector, scalar = orientation_error(upright, data.oMf[hand].rotation)
            turn = pin.getFrameJacobian(model, data, hand, aligned)[3:]
            rows.append(-0.5 * (scalar * np.eye(3) + pin.skew(vector)) @ turn)
        for elbow, local, _ in elbows:
            turn = pin.getJointJacobian(model, data, elbow, aligned)[3:]
            rows.append(_ELBOW_AXIS_WEIGHT * pin.skew(data.oMi[elbow].rotation @ local) @ turn)
        rates = pin.dIntegrate(model, basic, step, pin.ArgumentPosition.ARG1)
        return np.vstack([np.vstack(rows) @ rates, _REST_WEIGHT * np.eye(model.nv)])

    solved = least_squares(residual, start, derive, xtol=1e-15, ftol=None, gtol=None)
    q = pin.integrate(model, basic, solved.x)
    pin.framesForwardKinematics(model, data, q)
    markers = {}
    for segment, pose in motion.initial.segments.items():
        if segment in carriers:
            offset = data.oMi[carriers[segment]].inverse() * pin.SE3(np.asarray(pose))
            frame = pin.Frame(f"virtual_{segment}", carriers[segment], offset, pin.FrameType.OP_FRAME)
            markers[segment] = model.addFrame(frame, False)
    return ScaledActor(model, lengths, basic[7:], q, joints, markers)


def orientation_error(reference: Array, current: Array) -> tuple[Array, float]:
    """Compute the quaternion that rotates one orientation (3, 3) into another: vector (3,) and scalar ≥ 0.

    Δe = η e_ref − η_ref e − S(e_ref) e (Tomić 2018, eq. 3.4), expressed in the world frame, as both are.
    """
    x, y, z, w = pin.Quaternion(reference @ current.T).coeffs()
    return np.copysign(1.0, w) * np.array([x, y, z]), abs(float(w))


def elbow_joint(model: pin.Model, robot: Robot, side: str) -> tuple[int, float]:
    """Find the joint that bends an elbow, and its position, rad, with the wrist farthest from the shoulder.

    The joint is the one that changes the distance of shoulder and wrist most. A joint with them at distances
    a and b from its axis changes the square of their distance by up to 4ab. That is little for rotations of
    the upper arm and of the forearm about themselves, whose axes pass near shoulder or wrist, and for joints
    of the wrist. Of the positions that differ by full turns, it is the one nearest to the middle of the
    joint's range.
    """
    data = model.createData()
    axes = pin.computeJointJacobians(model, data, pin.neutral(model))[3:]
    pin.updateFramePlacements(model, data)
    ends = [model.frames[model.getFrameId(robot.frames[f"{side}_{role}"])] for role in ("shoulder", "wrist")]
    first, joint = (int(frame.parentJoint) for frame in ends)
    places = [data.oMf[model.getFrameId(frame.name)].translation for frame in ends]
    arm: list[tuple[float, int, Array, Array, Array]] = []
    while joint not in (first, 0):
        axis = axes[:, model.joints[joint].idx_v]
        # Perpendiculars from the joint's axis, m, all joints at zero.
        offsets = [place - data.oMi[joint].translation for place in places]
        shoulder, wrist = (offset - axis * (axis @ offset) for offset in offsets)
        reach = float(np.linalg.norm(shoulder) * np.linalg.norm(wrist))
        arm.insert(0, (reach, joint, shoulder, wrist, axis))
        joint = int(model.parents[joint])
    _, joint, shoulder, wrist, axis = max(arm, key=lambda each: each[0])
    angle = float(np.arctan2(axis @ np.cross(wrist, -shoulder), -(wrist @ shoulder)))
    index = model.joints[joint].idx_q
    middle = 0.5 * (model.lowerPositionLimit[index] + model.upperPositionLimit[index])
    return joint, angle + 2.0 * np.pi * round(float(middle - angle) / (2.0 * np.pi))
