"""Motion of a person's body as a whole: heading, lean and centre of gravity."""

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES

# Part of the body's mass in the trunk with head and neck, and where on it from pelvis to shoulders its centre
# is; the same for the limbs (the forearm with the hand, the shank with the foot), each from its proximal to
# its distal joint (Winter 2009, table 4.1).
_TRUNK_MASS, _TRUNK_CENTRE = 0.578, 0.5
_LIMBS = (
    (0.028, 0.436, "shoulder", "elbow"),
    (0.022, 0.682, "elbow", "wrist"),
    (0.100, 0.433, "hip", "knee"),
    (0.061, 0.606, "knee", "ankle"),
)
# Bandwidths of the person's heading, Hz: a turn takes half a second, the pelvis' rotation in a step less; and
# of the trunk's lean.
_HEADING_BANDWIDTH, _LEAN_BANDWIDTH = 2.0, 3.0


class PersonBody(NamedTuple):
    """Motion of a person's body as a whole."""

    # (T, 3): middle of the hips, or the pelvis where no hips are recorded, in the world frame, m.
    pelvis: Array
    cog: Array  # (T, 3): centre of gravity, m.
    heading: Array  # (T,): direction in which the pelvis looks, rad about the vertical, without jumps.
    # `pitch`, `roll` (T,): lean of the trunk in the frame of the heading, rad: forward, and to the right.
    pitch: Array
    roll: Array


def measure_body(motion: HumanMotion) -> tuple[PersonBody, Array]:
    """Measure heading, lean and centre of gravity of a person, and the vector from pelvis to neck (T, 3), m.

    The vector ends between the shoulders where no neck is recorded. The centre of gravity is that of the
    segments that are recorded. It is a `MotionError` if neither hips nor a pelvis with its orientation are.
    """
    joints = motion.joints
    shoulders = np.mean([joints[f"{side}_shoulder"] for side in SIDES], axis=0)
    if all(f"{side}_hip" in joints for side in SIDES):
        pelvis = np.mean([joints[f"{side}_hip"] for side in SIDES], axis=0)
        left = joints["left_hip"] - joints["right_hip"]
        heading = np.unwrap(np.arctan2(-left[:, 0], left[:, 1]))
    elif "pelvis" in joints and "pelvis" in motion.segments:
        pelvis = joints["pelvis"]
        forward = motion.segments["pelvis"][:, :3, 0]
        heading = np.unwrap(np.arctan2(forward[:, 1], forward[:, 0]))
    else:
        raise MotionError(
            f"{motion.source}: the recording lacks left_hip and right_hip, from which the person's heading "
            "is taken; retarget.physics: steps needs them"
        )
    total, mass = _TRUNK_MASS * (pelvis + _TRUNK_CENTRE * (shoulders - pelvis)), _TRUNK_MASS
    for part, along, proximal, distal in _LIMBS:
        for side in SIDES:
            begin, end = joints.get(f"{side}_{proximal}"), joints.get(f"{side}_{distal}")
            if begin is not None and end is not None:
                total, mass = total + part * (begin + along * (end - begin)), mass + part
    up = joints.get("neck", shoulders) - pelvis
    ahead = np.cos(heading) * up[:, 0] + np.sin(heading) * up[:, 1]
    across = -np.sin(heading) * up[:, 0] + np.cos(heading) * up[:, 1]
    height = np.maximum(up[:, 2], 0.05)
    pitch = low_pass(np.arctan2(ahead, height), _LEAN_BANDWIDTH, motion.rate)
    roll = low_pass(-np.arctan2(across, height), _LEAN_BANDWIDTH, motion.rate)
    heading = low_pass(heading, _HEADING_BANDWIDTH, motion.rate)
    return PersonBody(pelvis, total / mass, heading, pitch, roll), up


def low_pass(values: Array, bandwidth: float, rate: float) -> Array:
    """Filter even samples (T, ...) at a rate, Hz, by a Gaussian without delay.

    The bandwidth, Hz, is the frequency at which half of an amplitude is left.
    """
    width = np.sqrt(np.log(4.0)) / (2.0 * np.pi * bandwidth) * rate
    return np.asarray(gaussian_filter1d(values, width, axis=0, mode="nearest"))


def leg_segments(motion: HumanMotion) -> float:
    """Measure thigh and shank together, hip to ankle: the median over time and the mean of both legs, m."""
    lengths = []
    for side in SIDES:
        hip, knee, ankle = (motion.joints[f"{side}_{name}"] for name in ("hip", "knee", "ankle"))
        lengths.append(np.median(np.linalg.norm(hip - knee, axis=1) + np.linalg.norm(knee - ankle, axis=1)))
    return float(np.mean(lengths))
