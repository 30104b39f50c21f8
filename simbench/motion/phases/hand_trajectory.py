"""Trajectory of the hands, which combines their translation and rotation, and its speed."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.motion.anatomy import PALM_OFFSET
from simbench.motion.human_motion import HumanMotion, recorded_arms

# A rotation counts as much as the displacement of a point at this distance, m: little compared with the
# travel of hands that move equipment, as people rotate their grip freely; enough for a hand that only
# rotates.
LEVER = 0.05
# Standard deviation of the Gaussian smoothing, s: short compared with the 0.5 s of a quick stroke.
SMOOTHING = 0.04
# A person travels if the pelvis moves farther (m) or turns farther (rad) than this.
TRAVEL, TURN = 0.5, np.radians(60.0)


@dataclass(frozen=True)
class HandTrajectory:
    """Trajectory of the hands, uniformly sampled."""

    time: Array  # (T,): times of the samples, s.
    # (T, D): for each arm the palm's centre and two axes of the hand with length `LEVER`, m: in the world
    # frame, or in the axes of the pelvis for a person who travels.
    points: Array
    smooth: Array  # (T, D): the same, smoothed to remove measurement noise.
    speed: Array  # (T,): speed of the faster arm, m/s.


def compute_hand_trajectory(motion: HumanMotion) -> HandTrajectory:
    """Compute the trajectory of the hands of a recording. Returns the trajectory, sampled uniformly."""
    arms = recorded_arms(motion)
    origin, rotation = _axes(motion)
    parts = []
    for side in arms:
        hand = motion.segments[f"{side}_hand"]
        # The palm is placed relative to the wrist joint, because the hand's markers may sit anywhere on it.
        palm = motion.joints[f"{side}_wrist"] + hand[:, :3, :3] @ PALM_OFFSET - origin
        parts.append(rotation @ np.stack([palm, LEVER * hand[:, :3, 0], LEVER * hand[:, :3, 1]], axis=2))
    points = np.concatenate(parts, axis=2).reshape(len(motion.time), -1)
    time = np.linspace(motion.time[0], motion.time[-1], len(motion.time))
    step = (time[-1] - time[0]) / (len(time) - 1)
    if np.abs(time - motion.time).max() > 0.01 * step:
        points = np.stack([np.interp(time, motion.time, column) for column in points.T], axis=1)
    width = max(SMOOTHING / step, 0.7)
    velocity = gaussian_filter1d(points, width, axis=0, order=1, mode="nearest") / step
    # The columns are x of all vectors, then y, then z.
    squares = (velocity**2).reshape(len(time), 3, len(arms), 3).sum(axis=(1, 3))
    return HandTrajectory(
        time=time,
        points=points,
        smooth=gaussian_filter1d(points, width, axis=0, mode="nearest"),
        speed=np.sqrt(squares.max(axis=1)),
    )


def _axes(motion: HumanMotion) -> tuple[Array, Array]:
    """Origin (T, 3) and rotation (T, 3, 3) of the axes: the world's, or those of a person who travels."""
    shoulders = [motion.joints[f"{side}_shoulder"] for side in recorded_arms(motion)]
    origin = motion.joints.get("pelvis", np.mean(shoulders, axis=0))
    frames = motion.segments.get("pelvis", motion.segments.get("trunk"))
    if frames is not None:
        left = frames[:, :2, 1]
    elif len(shoulders) == 2:
        left = (shoulders[0] - shoulders[1])[:, :2]
    else:
        left = np.tile([0.0, 1.0], (len(origin), 1))
    heading = np.unwrap(np.arctan2(-left[:, 0], left[:, 1]))
    if np.ptp(origin[:, :2], axis=0).max() < TRAVEL and np.ptp(heading) < TURN:
        return np.zeros((len(origin), 3)), np.tile(np.eye(3), (len(origin), 1, 1))
    return origin, Rotation.from_euler("z", -heading[:, None]).as_matrix()
