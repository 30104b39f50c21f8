"""Measures of a recorded body: bone lengths, joint angles, speed of the hands, height of the feet."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import savgol_filter
from simbench.motion.anatomy import PALM_OFFSET
from simbench.motion.human_motion import HumanMotion, recorded_arms
from simbench.robot.sides import SIDES

# Name of a bone and the joints at its two ends, on each side.
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
# Positions are smoothed over this time before they are differentiated, s: short compared with any reach, long
# enough that half a millimetre of noise at 100 Hz gives a speed error of only a centimetre a second.
SMOOTHING = 0.10
# A foot that moves slower than this stands on the floor, m/s.
STANDING_SPEED = 0.2


@dataclass(frozen=True)
class Spread:
    """Median and range of a length or an angle of the body over a recording."""

    name: str  # Which length or angle it is: `left upper arm`, `right knee flexion`,.
    # `median`, `low`, `high`: median, smallest and largest value over time, m for lengths, rad for angles.
    median: float
    low: float
    high: float


@dataclass(frozen=True)
class HandSpeed:
    """Speed of one palm over time."""

    side: str  # `left` or `right`.
    values: Array  # (T,): speed at the motion's times, m/s.
    rms: float  # `rms`, `peak`: root mean square and maximum of the speed, m/s.
    peak: float
    peak_time: float  # Time of the maximum, s.


@dataclass(frozen=True)
class Feet:
    """Height of the lowest recorded point of both feet."""

    points: tuple[str, ...]  # Names of the joints that count as feet.
    lowest: float  # Smallest height over the whole recording, m.
    lowest_time: float  # Time of the smallest height, s.
    standing: float | None  # Median height while that point hardly moves, m; None if it always moves.


def measure_bone_lengths(motion: HumanMotion) -> tuple[Spread, ...]:
    """Measure the length of every bone of which both ends are recorded.

    Returns lengths of `left upper arm`, ..., `shoulder width`, `hip width`, m.
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


def measure_joint_angles(motion: HumanMotion) -> tuple[Spread, ...]:
    """Measure the joint angles that do not depend on a convention of joint axes.

    `motion`: the recording. Returns flexion of elbows and knees, rad, 0 when straight; elevation of the upper
    arms from the trunk's downward axis, rad, or from the vertical where no trunk is recorded.
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


def measure_hand_speeds(motion: HumanMotion) -> tuple[HandSpeed, ...]:
    """Measure the speed of each palm's centre by a Savitzky-Golay filter of 4th order over 0.1 s.

    In the first and last 0.05 s the speed is held at the value at their inner end. `motion`: the recording.
    Returns speeds of the palms, one entry for each recorded arm.
    """
    speeds = []
    for side in recorded_arms(motion):
        rotation = motion.segments[f"{side}_hand"][:, :3, :3]
        values = _speed(motion.time, motion.joints[f"{side}_wrist"] + rotation @ PALM_OFFSET)
        fastest = int(values.argmax())
        rms = float(np.sqrt(np.mean(values**2)))
        speeds.append(HandSpeed(side, values, rms, float(values[fastest]), float(motion.time[fastest])))
    return tuple(speeds)


def measure_foot_heights(motion: HumanMotion) -> Feet | None:
    """Measure how far the feet are above the floor, which is at z = 0.

    `motion`: the recording. Returns heights of the feet; None where no ankle, heel, toe or sole is recorded.
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
    """Summarise values (T,) over time."""
    return Spread(name, float(np.median(values)), float(values.min()), float(values.max()))


def _angle(first: Array, second: Array) -> Array:
    """Angles (T,) between vectors (T, 3), rad; accurate near 0 and pi, where the arc cosine is not."""
    return np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), np.sum(first * second, axis=1))


def _speed(time: Array, positions: Array) -> Array:
    """Speed (T,) of a point (T, 3), m/s."""
    count = len(time)
    if count < 3:
        return np.linalg.norm(np.gradient(positions, time, axis=0), axis=1)
    # The filter needs equal time steps, which a few recordings do not have.
    even, step = np.linspace(time[0], time[-1], count, retstep=True)
    window = min(2 * max(1, round(0.5 * SMOOTHING / float(step))) + 1, count - (count + 1) % 2)
    positions = CubicSpline(time, positions)(even)
    velocity = savgol_filter(positions, window, min(4, window - 1), deriv=1, delta=float(step))
    # At the ends, where half the window is empty, the fitted polynomial would be four times as noisy.
    end = window // 2
    velocity[:end], velocity[-end:] = velocity[end], velocity[-end - 1]
    return np.linalg.norm(CubicSpline(even, velocity)(time), axis=1)
