"""Heading, lean and centre of gravity of a recorded person, and the person seen from their trunk."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES

_SEGMENTS = (
    ("trunk", 0.578, 0.5),
    ("upper_arm", 0.028, 0.436),
    ("forearm", 0.022, 0.682),
    ("thigh", 0.100, 0.433),
    ("shank", 0.061, 0.606),
)
"""Segment, its part of the body's mass, and where on it from the proximal to the distal joint its centre is
(Winter 2009, table 4.1; the forearm with the hand, the shank with the foot, the trunk with head and neck)."""
_ENDS = {
    "upper_arm": ("shoulder", "elbow"),
    "forearm": ("elbow", "wrist"),
    "thigh": ("hip", "knee"),
    "shank": ("knee", "ankle"),
}
HEADING_BANDWIDTH = 2.0
"""Bandwidth of the person's heading, Hz: a turn takes half a second, the pelvis' rotation in a step less."""
_LEAN_BANDWIDTH = 3.0
"""Bandwidth of the trunk's lean, Hz."""
MAX_PITCH, MAX_ROLL = 0.4, 0.12
"""Largest lean of the robot's root forward or back and to a side, rad; waist joints take the rest. To a side,
the hips' range is small, and steps need it."""


class PersonBody(NamedTuple):
    """Motion of a person's body as a whole.

    Parameters
    ----------
    pelvis : (T, 3) array
        Middle of the hips, or the pelvis where no hips are recorded, in the world frame, m.
    cog : (T, 3) array
        Centre of gravity, m.
    heading : (T,) array
        Direction in which the pelvis looks, rad about the vertical, without jumps.
    pitch, roll : (T,) array
        Lean of the trunk in the frame of the heading, rad: forward, and to the right.
    inverted : (T,) bool array
        Whether the shoulders are below the pelvis.
    """

    pelvis: Array
    cog: Array
    heading: Array
    pitch: Array
    roll: Array
    inverted: Array


def measure_body(motion: HumanMotion) -> PersonBody:
    """Measure heading, lean and centre of gravity of a person.

    Parameters
    ----------
    motion : HumanMotion
        Recording with hips or a pelvis, and shoulders.

    Returns
    -------
    PersonBody
        Motion of the body.

    Raises
    ------
    MotionError
        If neither hips nor a pelvis with its orientation are recorded.
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
            f"{motion.source}: the recording lacks left_hip and right_hip, from which the person's "
            f"heading is "
            "taken; retarget.physics: steps needs them"
        )
    up = joints.get("neck", shoulders) - pelvis
    along = np.cos(heading) * up[:, 0] + np.sin(heading) * up[:, 1]
    across = -np.sin(heading) * up[:, 0] + np.cos(heading) * up[:, 1]
    height = np.maximum(up[:, 2], 0.05)
    return PersonBody(
        pelvis,
        _centre_of_gravity(motion, pelvis, shoulders),
        low_pass(heading, HEADING_BANDWIDTH, motion.rate),
        low_pass(np.arctan2(along, height), _LEAN_BANDWIDTH, motion.rate),
        low_pass(-np.arctan2(across, height), _LEAN_BANDWIDTH, motion.rate),
        up[:, 2] < 0.0,
    )


def root_rotations(body: PersonBody, part: float = 1.0) -> Rotation:
    """Choose the orientation of the robot's root link that the person's heading and lean ask for.

    Parameters
    ----------
    body : PersonBody
        Motion of the person's body, T samples.
    part : float
        Part of the lean that is followed.

    Returns
    -------
    scipy.spatial.transform.Rotation
        T orientations in the recording's world frame; the lean is bounded smoothly to 0.4 rad forward and
        0.12 rad to a side.
    """
    pitch = part * MAX_PITCH * np.tanh(body.pitch / MAX_PITCH)
    roll = part * MAX_ROLL * np.tanh(body.roll / MAX_ROLL)
    return Rotation.from_euler("ZYX", np.column_stack([body.heading, pitch, roll]))


def seen_from_root(motion: HumanMotion, pelvis: Array, rotation: Rotation) -> HumanMotion:
    """Express a recording in axes that turn and lean with the robot's root, the pelvis above the origin.

    Parameters
    ----------
    motion : HumanMotion
        Recording with T samples.
    pelvis : (T, 3) array
        Point about which it is turned, m.
    rotation : scipy.spatial.transform.Rotation
        T orientations of the root.

    Returns
    -------
    HumanMotion
        What trunk and arms do relative to the root, as if the person stood upright and looked along x.
    """
    back = rotation.inv()
    height = pelvis * [0.0, 0.0, 1.0]

    def turned(points: Array) -> Array:
        return np.asarray(back.apply(points - pelvis) + height)

    segments = {}
    for name, frames in motion.segments.items():
        moved = frames.copy()
        moved[:, :3, 3] = turned(frames[:, :3, 3])
        moved[:, :3, :3] = back.as_matrix() @ frames[:, :3, :3]
        segments[name] = moved
    return replace(
        motion,
        joints={name: turned(points) for name, points in motion.joints.items()},
        segments=segments,
        markers={name: turned(points) for name, points in motion.markers.items()},
    )


def low_pass(values: Array, bandwidth: float, rate: float) -> Array:
    """Filter even samples by a Gaussian without delay, half as strong at its bandwidth.

    Parameters
    ----------
    values : (T, ...) array
        Samples.
    bandwidth : float
        Frequency at which half of an amplitude is left, Hz.
    rate : float
        Sampling rate, Hz.

    Returns
    -------
    (T, ...) array
        Filtered samples.
    """
    width = np.sqrt(np.log(4.0)) / (2.0 * np.pi * bandwidth) * rate
    return np.asarray(gaussian_filter1d(values, width, axis=0, mode="nearest"))


def _centre_of_gravity(motion: HumanMotion, pelvis: Array, shoulders: Array) -> Array:
    """Centre of gravity (T, 3) from the segments that are recorded, m."""
    total, mass = np.zeros_like(pelvis), 0.0
    for name, part, along in _SEGMENTS:
        if name == "trunk":
            total, mass = total + part * (pelvis + along * (shoulders - pelvis)), mass + part
            continue
        for side in SIDES:
            ends = [motion.joints.get(f"{side}_{joint}") for joint in _ENDS[name]]
            if ends[0] is not None and ends[1] is not None:
                total, mass = total + part * (ends[0] + along * (ends[1] - ends[0])), mass + part
    return np.asarray(total / mass)
