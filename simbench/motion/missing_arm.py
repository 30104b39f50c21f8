"""An arm that was not recorded: it hangs beside the trunk, so that the other arm can be retargeted."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.anatomy import HANGING_LIMB, transform
from simbench.motion.human_motion import HumanMotion, InitialPose, recorded_arms
from simbench.robot.sides import SIDES

# Distance of a shoulder's centre from the middle of the body, as a fraction of the arm, shoulder to wrist:
# half the biacromial breadth of 0.259 statures for an arm of 0.332 (Drillis and Contini 1966).
SHOULDER_SHARE = 0.5 * 0.259 / 0.332
# A relaxed arm is flexed a little at the elbow, rad.
ELBOW_FLEXION = 0.25
# Points in the middle of the body, the nearest to the shoulders first.
MIDDLE = ("neck", "chest", "pelvis")
SEGMENTS = ("upper_arm", "forearm", "hand")
# Mirroring in the plane between left and right; the axes of a limb's frame keep their signs in it.
MIRROR = np.diag([1.0, -1.0, 1.0])


class _Arm(NamedTuple):
    """Joints and frames of an arm over time, or in one pose."""

    joints: dict[str, Array]
    segments: dict[str, Array]


def hang_missing_arm(motion: HumanMotion) -> HumanMotion:
    """Add the arm that a recording lacks, hanging beside the trunk, and say so.

    Its bones are as long as those of the recorded arm, and its shoulder is the mirror image of the other one.
    A recording with both arms is returned as it is. `motion`: the recording, in the world frame, with at
    least one complete arm. Returns the recording with both arms; `missing` still lists the parts that were
    not recorded.
    """
    arms = recorded_arms(motion)
    if len(arms) != 1:
        return motion
    (own,) = arms
    side = SIDES[1 - SIDES.index(own)]
    arm = _hanging_arm(motion, own, side)
    initial = _mirrored_initial_arm(motion.initial, own, side)
    doubt = f"the {side} arm was not recorded: it hangs, and only the {own} arm follows the person"
    return replace(
        motion,
        joints={**motion.joints, **arm.joints},
        segments={**motion.segments, **arm.segments},
        initial=InitialPose(
            {**motion.initial.joints, **initial.joints}, {**motion.initial.segments, **initial.segments}
        ),
        doubts=(*motion.doubts, doubt),
    )


def _hanging_arm(motion: HumanMotion, own: str, side: str) -> _Arm:
    """Let an arm hang from the mirror image of the other shoulder, palm at the thigh."""
    heading = _heading(motion, own)
    upper, fore = (
        float(np.median(np.linalg.norm(motion.joints[f"{own}_{b}"] - motion.joints[f"{own}_{a}"], axis=1)))
        for a, b in (("shoulder", "elbow"), ("elbow", "wrist"))
    )
    shoulder = motion.joints.get(f"{side}_shoulder")
    if shoulder is None:
        inward = _inward_vectors(motion.joints, own, heading, upper + fore)
        shoulder = motion.joints[f"{own}_shoulder"] + 2.0 * inward
    cosine, sine = np.cos(ELBOW_FLEXION), np.sin(ELBOW_FLEXION)
    # Flexion turns the hanging forearm forward, about the axis to the right.
    flexion = np.array([[cosine, 0.0, -sine], [0.0, 1.0, 0.0], [sine, 0.0, cosine]])
    frames = heading @ HANGING_LIMB[side], heading @ flexion @ HANGING_LIMB[side]
    elbow = shoulder + upper * frames[0][:, :, 0]
    wrist = elbow + fore * frames[1][:, :, 0]
    origins = {"upper_arm": (shoulder + elbow) / 2.0, "forearm": (elbow + wrist) / 2.0, "hand": wrist}
    return _Arm(
        {f"{side}_shoulder": shoulder, f"{side}_elbow": elbow, f"{side}_wrist": wrist},
        {
            f"{side}_{name}": transform(frames[0 if name == "upper_arm" else 1], origin)
            for name, origin in origins.items()
        },
    )


def _heading(motion: HumanMotion, own: str) -> Array:
    """Rotations (T, 3, 3) about the vertical to where the trunk faces, or else the body."""
    frames = motion.segments.get("trunk", motion.segments.get("pelvis"))
    if frames is None:
        return np.tile(np.eye(3), (len(motion.time), 1, 1))
    left = frames[:, :3, 1]
    angle = np.arctan2(-left[:, 0], left[:, 1])
    rotation = np.zeros((len(angle), 3, 3))
    rotation[:, 0, 0] = rotation[:, 1, 1] = np.cos(angle)
    rotation[:, 1, 0] = np.sin(angle)
    rotation[:, 0, 1] = -rotation[:, 1, 0]
    rotation[:, 2, 2] = 1.0
    return rotation


def _inward_vectors(joints: Mapping[str, Array], own: str, heading: Array, arm: float) -> Array:
    """Vectors (T, 3) from the recorded shoulder to the middle of the body, along left or right."""
    left = heading[:, :, 1]
    middle = next((joints[name] for name in MIDDLE if name in joints), None)
    if middle is None:
        return (-1.0 if own == "left" else 1.0) * SHOULDER_SHARE * arm * left
    return ((middle - joints[f"{own}_shoulder"]) * left).sum(axis=1)[:, None] * left


def _mirrored_initial_arm(initial: InitialPose, own: str, side: str) -> _Arm:
    """Mirror the recorded arm of the initial posture, which faces along x, in the middle of the body."""
    known = initial.joints
    shoulder = known[f"{own}_shoulder"]
    arm = sum(
        float(np.linalg.norm(known[f"{own}_{b}"] - known[f"{own}_{a}"]))
        for a, b in (("shoulder", "elbow"), ("elbow", "wrist"))
    )
    away = 1.0 if own == "left" else -1.0
    middle = next(
        (known[name][1] for name in MIDDLE if name in known), shoulder[1] - away * SHOULDER_SHARE * arm
    )
    offset = np.array([0.0, 2.0 * middle, 0.0])
    joints = {
        f"{side}_{name}": MIRROR @ known[f"{own}_{name}"] + offset for name in ("shoulder", "elbow", "wrist")
    }
    segments = {}
    for name in SEGMENTS:
        frame = initial.segments[f"{own}_{name}"]
        rotation = MIRROR @ frame[:3, :3] @ MIRROR
        segments[f"{side}_{name}"] = transform(rotation, MIRROR @ frame[:3, 3] + offset)
    return _Arm(joints, segments)
