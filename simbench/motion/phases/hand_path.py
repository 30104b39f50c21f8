"""The path of the hands, of which both travel and turning are part, and its speed."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.motion.anatomy import PALM_OFFSET
from simbench.motion.human_motion import HumanMotion, recorded_arms

# A turn counts as much as the travel of a point at this distance, m: little against the travel of hands that
# move equipment, as people turn in their grip as they like; enough where a hand does nothing but turn.
LEVER = 0.05
# Standard deviation of the smoothing, s: short against the 0.5 s of a quick stroke.
SMOOTHING = 0.04
# A pelvis that goes farther (m) or turns farther (rad) belongs to a person who travels.
TRAVEL, TURN = 0.5, np.radians(60.0)


@dataclass(frozen=True)
class HandPath:
    """Hands over uniformly sampled time.

    Parameters
    ----------
    time : (T,) array
        s.
    points : (T, D) array
        For each arm the palm centre, and two axes of the hand as long as `LEVER`, m: in the world, or in the
        axes of the pelvis of a person who travels.
    smooth : (T, D) array
        The same without measurement noise.
    speed : (T,) array
        Of the faster arm, m/s.
    """

    time: Array
    points: Array
    smooth: Array
    speed: Array


def hand_path(motion: HumanMotion) -> HandPath:
    """Follow the hands of a recording.

    Parameters
    ----------
    motion : HumanMotion

    Returns
    -------
    HandPath
    """
    arms = recorded_arms(motion)
    origin, rotation = _axes(motion)
    parts = []
    for side in arms:
        hand = motion.segments[f"{side}_hand"]
        # From the joint, because the hand's markers may sit anywhere on it.
        palm = motion.joints[f"{side}_wrist"] + hand[:, :3, :3] @ PALM_OFFSET - origin
        parts.append(rotation @ np.stack([palm, LEVER * hand[:, :3, 0], LEVER * hand[:, :3, 1]], axis=2))
    points = np.concatenate(parts, axis=2).reshape(len(motion.time), -1)
    time = np.linspace(motion.time[0], motion.time[-1], len(motion.time))
    step = (time[-1] - time[0]) / (len(time) - 1)
    if np.abs(time - motion.time).max() > 0.01 * step:
        points = np.stack([np.interp(time, motion.time, column) for column in points.T], axis=1)
    width = max(SMOOTHING / step, 0.7)
    velocity = gaussian_filter1d(points, width, axis=0, order=1, mode="nearest") / step
    # Columns are x, y, z of all vectors in turn.
    squares = (velocity**2).reshape(len(time), 3, len(arms), 3).sum(axis=(1, 3))
    return HandPath(
        time=time,
        points=points,
        smooth=gaussian_filter1d(points, width, axis=0, mode="nearest"),
        speed=np.sqrt(squares.max(axis=1)),
    )


def _axes(motion: HumanMotion) -> tuple[Array, Array]:
    """Origin (T, 3) and rotation (T, 3, 3) into the axes hands are seen in: the world's or a traveller's."""
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
