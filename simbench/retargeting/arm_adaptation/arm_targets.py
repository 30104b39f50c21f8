"""Targets of an arm in the axes of the trunk: a person's hand points, and the upper arm's direction."""

from dataclasses import dataclass

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion

HAND_POINTS = ("wrist_marker", "thumb", "pinky")
# Along the fingers, toward the thumb, out of the back of the hand, from the wrist's centre, m: where the
# markers would be on a hand of average size.
_USUAL_POINTS = np.array([[0.0, 0.0, 0.025], [0.075, 0.043, 0.025], [0.075, -0.043, 0.025]])


@dataclass(frozen=True)
class ArmTargets:
    """The arm of a person, in the axes of the trunk as it is in the initial pose (x forward, z up).

    Parameters
    ----------
    hand : (T, 3, 3) array
        Wrist, thumb and pinky from the shoulder, m.
    upper_arm : (T, 3) array
        Unit vector from shoulder to elbow.
    hand_points : (3, 3) array
        The hand's points from the wrist in the initial pose, m.
    length : float
        Upper arm and forearm, m.
    """

    hand: Array
    upper_arm: Array
    hand_points: Array
    length: float


def arm_targets(motion: HumanMotion, side: str) -> ArmTargets:
    """Take one arm out of a recording.

    The hand's points are the markers `wrist_marker`, `thumb` and `pinky` of the side where they were
    recorded, else three points fixed in the hand. Vectors are turned back by the trunk's rotation since the
    initial pose; where no trunk was recorded, by the rotation of the shoulders' line about the vertical.

    Parameters
    ----------
    motion : HumanMotion
        With shoulder, elbow, wrist and hand of that arm.
    side : str
        `left` or `right`.

    Returns
    -------
    ArmTargets
        Targets in every frame of the recording.

    Raises
    ------
    MotionError
        If the arm was not recorded, is not finite, or shoulder, elbow and wrist coincide.
    """
    needed = [f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist")]
    lacks = [name for name in needed if name not in motion.joints]
    lacks += [f"{side}_hand"] if f"{side}_hand" not in motion.segments else []
    if lacks:
        raise MotionError(f"{motion.source}: the recording lacks {', '.join(lacks)}, needed to adapt the arm")
    shoulder, elbow, _ = (motion.joints[name] for name in needed)
    rest = [motion.initial.joints[name] for name in needed]
    limbs = np.linalg.norm(np.diff(rest, axis=0), axis=1)
    reach = np.linalg.norm(elbow - shoulder, axis=1)
    if not (limbs.min() > 1e-3 and reach.min() > 1e-6):
        raise MotionError(f"{motion.source}: the {side} shoulder, elbow and wrist must be apart")

    hand, start = motion.segments[f"{side}_hand"], motion.initial.segments[f"{side}_hand"]
    rotation, middle = hand[:, :3, :3], hand[:, :3, 3]
    names = [f"{side}_{point}" for point in HAND_POINTS]
    recorded = all(name in motion.markers for name in names)
    if recorded:
        tracks = np.stack([motion.markers[name] for name in names], axis=1)
        local = np.einsum("tji,tpj->pi", rotation, tracks - middle[:, None]) / len(rotation)
        hand_points = local @ start[:3, :3].T + start[:3, 3] - rest[2]
    else:
        hand_points = _USUAL_POINTS * [1.0, 1.0 if side == "right" else -1.0, 1.0]
        local = (hand_points + rest[2] - start[:3, 3]) @ start[:3, :3]
        tracks = middle[:, None] + np.einsum("tij,pj->tpi", rotation, local)
    trunk = trunk_rotation(motion)
    seen = np.einsum("tji,tpj->tpi", trunk, tracks - shoulder[:, None])
    direction = np.einsum("tji,tj->ti", trunk, (elbow - shoulder) / reach[:, None])
    bad = np.flatnonzero(~(np.isfinite(seen).all(axis=(1, 2)) & np.isfinite(direction).all(axis=1)))
    if bad.size:
        raise MotionError(
            f"{motion.source}: the {side} arm is NaN or infinite at frame {bad[0]} "
            f"({motion.time[bad[0]]:.3f} s); every sample must be a finite number"
        )
    return ArmTargets(seen, direction, hand_points, float(limbs.sum()))


def trunk_rotation(motion: HumanMotion) -> Array:
    """Compute the rotation of the trunk since the initial pose.

    Parameters
    ----------
    motion : HumanMotion
        With the trunk, or the shoulders, or neither.

    Returns
    -------
    (T, 3, 3) array
        In world axes; the identity if neither was recorded.
    """
    if "trunk" in motion.segments and "trunk" in motion.initial.segments:
        return since_initial(motion, "trunk")
    sides = ("left_shoulder", "right_shoulder")
    result = np.tile(np.eye(3), (len(motion.time), 1, 1))
    if all(name in motion.joints for name in sides):
        now, then = (joints[sides[0]] - joints[sides[1]] for joints in (motion.joints, motion.initial.joints))
        yaw = np.arctan2(now[:, 1], now[:, 0]) - np.arctan2(then[1], then[0])
        result[:, 0, 0] = result[:, 1, 1] = np.cos(yaw)
        result[:, 1, 0] = np.sin(yaw)
        result[:, 0, 1] = -result[:, 1, 0]
    return result


def since_initial(motion: HumanMotion, segment: str) -> Array:
    """Compute the rotation of a segment since the initial pose.

    Parameters
    ----------
    motion : HumanMotion
        Recording with the orientation of this segment.
    segment : str
        Name of the segment.

    Returns
    -------
    (T, 3, 3) array
        Rotation since the initial posture, in world axes.
    """
    return np.asarray(
        motion.segments[segment][:, :3, :3] @ motion.initial.segments[segment][:3, :3].T, dtype=np.float64
    )


def waist_yaw(motion: HumanMotion) -> Array | None:
    """Compute the rotation of the trunk on the pelvis about the vertical since the initial pose.

    The twist about the pelvis' vertical axis of the rotation between them, continuous over time.

    Parameters
    ----------
    motion : HumanMotion
        Recording, with or without trunk and pelvis.

    Returns
    -------
    (T,) array or None
        Angle, rad; None if not recorded.
    """
    if any(
        name not in segments
        for name in ("trunk", "pelvis")
        for segments in (motion.segments, motion.initial.segments)
    ):
        return None
    pelvis, trunk = since_initial(motion, "pelvis"), since_initial(motion, "trunk")
    relative = np.einsum("tji,tjk->tik", pelvis, trunk)
    # Twist about z: of the quaternion, (z, w) normalised.
    return np.unwrap(np.arctan2(relative[:, 1, 0] - relative[:, 0, 1], relative[:, 0, 0] + relative[:, 1, 1]))
