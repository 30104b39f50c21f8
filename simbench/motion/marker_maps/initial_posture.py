"""The calibration posture, arms horizontal forward and palms down: found in the recording or computed."""

from collections.abc import Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.motion.anatomy import HANGING_LIMB, mean_frame, transform
from simbench.motion.human_motion import InitialPose
from simbench.motion.marker_maps.centres import normalise
from simbench.robot.sides import SIDES

# A recording begins with the posture when the arms point straight forward for at least this time (s):
# shoulder to wrist within 25 degrees of the heading (cosine), at least this fraction of the arm's length
# apart, and the hands slower than this (m/s).
HOLD_TIME, HEADING_COSINE, STRAIGHTNESS, HOLD_SPEED = 0.5, 0.906, 0.96, 0.05
# A hand's speed is its mean over this time, s, so that noise does not count.
SPEED_WINDOW = 0.2
SEGMENT_JOINTS = {"upper_arm": ("shoulder", "elbow"), "forearm": ("elbow", "wrist"), "hand": ("wrist", None)}
# Joints that are placed relative to the trunk and to the pelvis, as far as they are known.
TRUNK_JOINTS = ("chest", "neck", "head", "left_shoulder", "right_shoulder")
PELVIS_JOINTS = ("left_hip", "right_hip")


def find_initial_pose(
    time: Array, joints: Mapping[str, Array], segments: Mapping[str, Array]
) -> tuple[InitialPose, str]:
    """Find or compute the calibration posture of a recording.

    `time` (T,): times of the samples, s; `joints` mapping of str to (T, 3) array: joint centres in the world
    frame (z up, x along the heading at the start), m; at least one arm; `segments` mapping of str to (T, 4,
    4) array: poses of the segment frames in the world frame: those of the arms whose joints are known, and of
    `trunk` and `pelvis` where known. Returns `pose`: mean over the first seconds if the arms are held there,
    else computed: upright, heading along x, arms straight and horizontal, palms down, with the recording's
    mean bone lengths and mean positions of the frames; `note`: which of the two it is, in words.
    """
    held = _held_samples(time, joints)
    if held is None:
        return _compute_pose(
            joints, segments
        ), "initial posture: computed, the recording does not begin with it"
    return (
        InitialPose(
            joints={name: track[held].mean(axis=0) for name, track in joints.items()},
            segments={name: mean_frame(frames[held]) for name, frames in segments.items()},
        ),
        f"initial posture: held until {time[held.stop - 1]:.2f} s, its mean",
    )


def _held_samples(time: Array, joints: Mapping[str, Array]) -> slice | None:
    """Find the samples from the first one on during which every known arm is held straight forward."""
    if len(time) < 2:
        return None
    held = np.ones(len(time), dtype=bool)
    reach = max(1, round(SPEED_WINDOW / 2 * (len(time) - 1) / (time[-1] - time[0])))
    index = np.arange(len(time))
    before, after = np.maximum(index - reach, 0), np.minimum(index + reach, len(time) - 1)
    for side in SIDES:
        if any(f"{side}_{joint}" not in joints for joint in ("shoulder", "elbow", "wrist")):
            continue
        shoulder, elbow, wrist = (joints[f"{side}_{joint}"] for joint in ("shoulder", "elbow", "wrist"))
        arm = wrist - shoulder
        length = np.linalg.norm(elbow - shoulder, axis=1) + np.linalg.norm(wrist - elbow, axis=1)
        speed = np.linalg.norm(wrist[after] - wrist[before], axis=1) / (time[after] - time[before])
        held &= normalise(arm)[:, 0] > HEADING_COSINE
        held &= np.linalg.norm(arm, axis=1) > STRAIGHTNESS * length
        held &= speed < HOLD_SPEED
    # The window looks ahead, so the hand leaves later than the first sample that fails.
    end = len(time) if held.all() else int(held.argmin())
    return slice(0, end) if end > 1 and time[end - 1] - time[0] >= HOLD_TIME else None


def _compute_pose(joints: Mapping[str, Array], segments: Mapping[str, Array]) -> InitialPose:
    """Compute the posture from mean lengths: upright, arms straight and horizontal forward, palms down."""
    position = _place_upright_body(joints, segments)
    frames: dict[str, Array] = {}
    for name in ("trunk", "pelvis"):
        if name in segments:
            frames[name] = transform(np.eye(3), position.pop(f"{name} frame"))
    forward = Rotation.from_euler("y", -np.pi / 2).as_matrix()
    for side in SIDES:
        if any(f"{side}_{joint}" not in joints for joint in ("shoulder", "elbow", "wrist")):
            continue
        start = position[f"{side}_shoulder"]
        for segment, (proximal, distal) in SEGMENT_JOINTS.items():
            position[f"{side}_{proximal}"] = start
            # Shoulders flexed by 90 degrees without axial rotation, forearms pronated by 90 degrees.
            rotation = forward @ HANGING_LIMB[side] if segment == "upper_arm" else np.eye(3)
            origin = -_mean_position_in_frame(joints[f"{side}_{proximal}"], segments[f"{side}_{segment}"])
            frames[f"{side}_{segment}"] = transform(rotation, start + rotation @ origin)
            if distal is not None:
                start = start + np.array([_mean_distance(joints, side, proximal, distal), 0.0, 0.0])
    return InitialPose(joints=position, segments=frames)


def _place_upright_body(joints: Mapping[str, Array], segments: Mapping[str, Array]) -> dict[str, Array]:
    """Place the joints of a standing body except elbows and wrists, and `trunk frame`, `pelvis frame`."""
    position = _place_pelvis(joints, segments)
    position |= _place_trunk(joints, segments, position)
    for side in SIDES:
        for proximal, distal in (("hip", "knee"), ("knee", "ankle")):
            if f"{side}_{proximal}" in position and f"{side}_{distal}" in joints:
                length = _mean_distance(joints, side, proximal, distal)
                position[f"{side}_{distal}"] = position[f"{side}_{proximal}"] - np.array([0.0, 0.0, length])
    return position


def _place_pelvis(joints: Mapping[str, Array], segments: Mapping[str, Array]) -> dict[str, Array]:
    """Place the pelvis where the recording begins, its frame, and the hips; as far as they are known."""
    position: dict[str, Array] = {}
    if "pelvis" in joints:
        position["pelvis"] = joints["pelvis"][0]
    if "pelvis" in segments:
        base = segments["pelvis"]
        root = position.get("pelvis", base[0, :3, 3])
        offset = -_mean_position_in_frame(joints["pelvis"], base) if "pelvis" in joints else np.zeros(3)
        position["pelvis frame"] = root + offset
        for name in PELVIS_JOINTS:
            if name in joints:
                position[name] = position["pelvis frame"] + _mean_position_in_frame(joints[name], base)
    return position


def _place_trunk(
    joints: Mapping[str, Array], segments: Mapping[str, Array], position: Mapping[str, Array]
) -> dict[str, Array]:
    """Place the frame of the trunk and its joints over the pelvis; without a trunk, only the shoulders."""
    shoulders = [joints[f"{side}_shoulder"] for side in SIDES if f"{side}_shoulder" in joints]
    centre = np.mean(shoulders, axis=0)
    if "trunk" in segments:
        base = segments["trunk"]
        if "pelvis" in segments:
            trunk = position["pelvis frame"] + _mean_position_in_frame(base[:, :3, 3], segments["pelvis"])
        else:
            trunk = centre[0] - _mean_position_in_frame(centre, base)
        placed = {"trunk frame": trunk}
        for name in TRUNK_JOINTS:
            if name in joints:
                placed[name] = trunk + _mean_position_in_frame(joints[name], base)
        return placed
    # Without a trunk only the shoulders' distance is known.
    across = np.array([0.0, 1.0, 0.0])
    distance = np.linalg.norm(shoulders[0] - shoulders[-1], axis=1).mean()
    return {
        f"{side}_shoulder": centre[0] + sign * distance * across
        for side, sign in (("left", 0.5), ("right", -0.5))
        if f"{side}_shoulder" in joints
    }


def _mean_distance(joints: Mapping[str, Array], side: str, proximal: str, distal: str) -> float:
    """Mean distance of two joints of one side, m."""
    return float(np.linalg.norm(joints[f"{side}_{distal}"] - joints[f"{side}_{proximal}"], axis=1).mean())


def _mean_position_in_frame(track: Array, frames: Array) -> Array:
    """Mean position (3,), m, of a track (T, 3) in moving frames (T, 4, 4), in their axes."""
    return np.asarray(np.einsum("tji,tj->ti", frames[:, :3, :3], track - frames[:, :3, 3]).mean(axis=0))
