"""Numbers of a moving body: lengths of bones, angles of joints, speed of the hands, height of the feet."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import savgol_filter

from simbench.kinematics.arrays import Array
from simbench.motion.anatomy import PALM_OFFSET
from simbench.motion.human_motion import HumanMotion, recorded_arms
from simbench.robot.sides import SIDES

# Bone: its two joints, on each side.
LIMBS = {
    "upper arm": ("shoulder", "elbow"),
    "forearm": ("elbow", "wrist"),
    "thigh": ("hip", "knee"),
    "shank": ("knee", "ankle"),
}
WIDTHS = {
    "shoulder width": ("left_shoulder", "right_shoulder"),
    "hip width": ("left_hip", "right_hip"),
}
FLEXIONS = {
    "elbow flexion": ("shoulder", "elbow", "wrist"),
    "knee flexion": ("hip", "knee", "ankle"),
}
FOOT_WORDS = ("ankle", "foot", "heel", "toe", "sole")
# Positions are smoothed over this time before they are differentiated, s: short beside any reach, long enough
# that half a millimetre of noise at 100 Hz is a centimetre a second.
SMOOTHING = 0.10
# A foot that moves slower stands, m/s.
STANDING_SPEED = 0.2


@dataclass(frozen=True)
class Spread:
    """How a number of the body behaves over time.

    Parameters
    ----------
    name : str
    median, low, high : float
        m for lengths, rad for angles.
    """

    name: str
    median: float
    low: float
    high: float


@dataclass(frozen=True)
class HandSpeed:
    """How fast a palm moves.

    Parameters
    ----------
    side : str
    values : (T,) array
        m/s, at the motion's times.
    rms, peak : float
        m/s.
    peak_time : float
        s.
    """

    side: str
    values: Array
    rms: float
    peak: float
    peak_time: float


@dataclass(frozen=True)
class Feet:
    """How high the lowest recorded point of both feet is.

    Parameters
    ----------
    points : tuple of str
        The joints that count as feet.
    lowest : float
        Over the whole recording, m.
    lowest_time : float
        When, s.
    standing : float or None
        Median while that point hardly moves, m; None if it always moves.
    """

    points: tuple[str, ...]
    lowest: float
    lowest_time: float
    standing: float | None


def bone_lengths(motion: HumanMotion) -> tuple[Spread, ...]:
    """Measure the bones whose both ends are recorded, m.

    Parameters
    ----------
    motion : HumanMotion

    Returns
    -------
    tuple of Spread
        `left upper arm`, ..., `shoulder width`, `hip width`.
    """
    ends = {
        f"{side} {limb}": (f"{side}_{proximal}", f"{side}_{distal}")
        for limb, (proximal, distal) in LIMBS.items()
        for side in SIDES
    }
    return tuple(
        _spread(name, np.linalg.norm(motion.joints[second] - motion.joints[first], axis=1))
        for name, (first, second) in {**ends, **WIDTHS}.items()
        if first in motion.joints and second in motion.joints
    )


def joint_angles(motion: HumanMotion) -> tuple[Spread, ...]:
    """Measure the angles that need no convention, rad.

    Parameters
    ----------
    motion : HumanMotion

    Returns
    -------
    tuple of Spread
        Flexion of elbows and knees, 0 when straight; elevation of the upper arms from the trunk's downward
        axis, or from the vertical where no trunk is recorded.
    """
    joints, angles = motion.joints, []
    trunk = motion.segments.get("trunk")
    down = np.array([0.0, 0.0, -1.0]) if trunk is None else -trunk[:, :3, 2]
    for side in recorded_arms(motion):
        upper_arm = joints[f"{side}_elbow"] - joints[f"{side}_shoulder"]
        angles.append(_spread(f"{side} shoulder elevation", _angle(upper_arm, down)))
    for name, bones in FLEXIONS.items():
        for side in SIDES:
            first, middle, last = (f"{side}_{joint}" for joint in bones)
            if {first, middle, last} <= joints.keys():
                flexion = _angle(joints[middle] - joints[first], joints[last] - joints[middle])
                angles.append(_spread(f"{side} {name}", flexion))
    return tuple(angles)


def hand_speeds(motion: HumanMotion) -> tuple[HandSpeed, ...]:
    """Differentiate the path of each palm's centre, smoothed over 0.1 s (Savitzky and Golay, 4th order).

    In the first and last 0.05 s the speed is the one at their inner end.

    Parameters
    ----------
    motion : HumanMotion

    Returns
    -------
    tuple of HandSpeed
        One for each arm.
    """
    speeds = []
    for side in recorded_arms(motion):
        rotation = motion.segments[f"{side}_hand"][:, :3, :3]
        values = _speed(motion.time, motion.joints[f"{side}_wrist"] + rotation @ PALM_OFFSET)
        fastest = int(values.argmax())
        rms = float(np.sqrt(np.mean(values**2)))
        speeds.append(HandSpeed(side, values, rms, float(values[fastest]), float(motion.time[fastest])))
    return tuple(speeds)


def foot_heights(motion: HumanMotion) -> Feet | None:
    """Find how far the feet are from the floor, which is at z = 0.

    Parameters
    ----------
    motion : HumanMotion

    Returns
    -------
    Feet or None
        None where no ankle, heel, toe or sole is recorded.
    """
    points = tuple(name for name in motion.joints if any(word in name for word in FOOT_WORDS))
    if not points:
        return None
    positions = np.stack([motion.joints[name] for name in points], axis=1)
    speeds = np.linalg.norm(np.gradient(positions, motion.time, axis=0), axis=2)
    frames, support = np.arange(len(positions)), positions[..., 2].argmin(axis=1)
    heights = positions[frames, support, 2]
    stands = speeds[frames, support] < STANDING_SPEED
    lowest = int(heights.argmin())
    standing = float(np.median(heights[stands])) if stands.any() else None
    return Feet(points, float(heights[lowest]), float(motion.time[lowest]), standing)


def _spread(name: str, values: Array) -> Spread:
    return Spread(name, float(np.median(values)), float(values.min()), float(values.max()))


def _angle(first: Array, second: Array) -> Array:
    """Angles (T,) between vectors (T, 3), rad; exact near 0 and pi, where the arc cosine is not."""
    return np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), np.sum(first * second, axis=1))


def _speed(time: Array, positions: Array) -> Array:
    """Speed (T,) of a point (T, 3), m/s."""
    count = len(time)
    if count < 3:
        return np.linalg.norm(np.gradient(positions, time, axis=0), axis=1)
    # The filter needs equal steps, which few recordings lack.
    even, step = np.linspace(time[0], time[-1], count, retstep=True)
    window = min(2 * max(1, round(0.5 * SMOOTHING / float(step))) + 1, count - (count + 1) % 2)
    positions = CubicSpline(time, positions)(even)
    velocity = savgol_filter(positions, window, min(4, window - 1), deriv=1, delta=float(step), axis=0)
    # Where half the window is empty, a polynomial would be four times as noisy.
    end = window // 2
    velocity[:end], velocity[-end:] = velocity[end], velocity[-end - 1]
    return np.linalg.norm(CubicSpline(even, velocity)(time), axis=1)
