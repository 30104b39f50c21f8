"""The path of the hands as points, which both their travel and their turning move, and its speed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from simbench.motion.human_motion import HumanMotion, recorded_arms

Array = NDArray[np.float64]

# Two points at this distance from the hand's origin, m, make its turning comparable with its travel.
LEVER = 0.1
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
        Coordinates of the wrist and two points of the hand of each arm, m: in the world, or beside the pelvis
        of a person who travels.
    smooth : (T, D) array
        The same without measurement noise.
    speed : (T,) array
        Root mean square over the points of the faster arm, m/s.
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
    tracks = []
    for side in arms:
        hand = motion.segments[f"{side}_hand"]
        tips = hand[:, None, :3, 3] + LEVER * hand[:, :3, :2].transpose(0, 2, 1)
        tracks += [motion.joints[f"{side}_wrist"][:, None], tips]
    points = _beside_traveller(motion, np.concatenate(tracks, axis=1)).reshape(len(motion.time), -1)
    time = np.linspace(motion.time[0], motion.time[-1], len(motion.time))
    step = (time[-1] - time[0]) / (len(time) - 1)
    if np.abs(time - motion.time).max() > 0.01 * step:
        points = np.stack([np.interp(time, motion.time, column) for column in points.T], axis=1)
    width = max(SMOOTHING / step, 0.7)
    velocity = gaussian_filter1d(points, width, axis=0, order=1, mode="nearest") / step
    squares = (velocity**2).reshape(len(time), len(arms), -1).sum(axis=2) / 3.0
    return HandPath(
        time=time,
        points=points,
        smooth=gaussian_filter1d(points, width, axis=0, mode="nearest"),
        speed=np.sqrt(squares.max(axis=1)),
    )


def _beside_traveller(motion: HumanMotion, points: Array) -> Array:
    """Points (T, P, 3) relative to a pelvis that travels or turns; unchanged for a person who stays."""
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
        return points
    offset = points - origin[:, None]
    cosine, sine = np.cos(heading)[:, None], np.sin(heading)[:, None]
    return np.stack(
        [
            cosine * offset[..., 0] + sine * offset[..., 1],
            cosine * offset[..., 1] - sine * offset[..., 0],
            offset[..., 2],
        ],
        axis=2,
    )
