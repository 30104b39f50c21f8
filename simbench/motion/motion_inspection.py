"""Inspection of a recording: measures of the body, phases, and warnings about what looks wrong."""

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import savgol_filter
from simbench.motion.human_motion import PALM_OFFSET, Gap, HumanMotion, complete_arms
from simbench.motion.phases import Phases, find_phases
from simbench.robot.sides import SIDES

# Name of a bone and the joints at its two ends, on each side.
LIMBS = {
    "upper arm": ("shoulder", "elbow"),
    "forearm": ("elbow", "wrist"),
    "thigh": ("hip", "knee"),
    "shank": ("knee", "ankle"),
}
WIDTHS = {"shoulder width": ("left_shoulder", "right_shoulder"), "hip width": ("left_hip", "right_hip")}
FLEXIONS = {"elbow flexion": ("shoulder", "elbow", "wrist"), "knee flexion": ("hip", "knee", "ankle")}
FOOT_WORDS = ("ankle", "foot", "heel", "toe", "sole")
# Positions are smoothed over this time before they are differentiated, s: short compared with any reach, long
# enough that half a millimetre of noise at 100 Hz gives a speed error of only a centimetre a second.
SMOOTHING = 0.10
# A foot that moves slower than this stands on the floor, m/s.
STANDING_SPEED = 0.2


class Spread:
    """Median and range of a length, m, or an angle, rad, of the body over a recording, (T,) `values`."""

    def __init__(self, name: str, values: Array) -> None:
        # Which length or angle it is: `left upper arm`, `right knee flexion`,.
        self.name = name
        self.median, self.low, self.high = float(np.median(values)), float(values.min()), float(values.max())


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
        Spread(name, np.linalg.norm(motion.joints[second] - motion.joints[first], axis=1))
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
    for side in complete_arms(motion.joints):
        upper_arm = joints[f"{side}_elbow"] - joints[f"{side}_shoulder"]
        angles.append(Spread(f"{side} shoulder elevation", _angle(upper_arm, down)))
    for name, bones in FLEXIONS.items():
        for side in SIDES:
            first, middle, last = (f"{side}_{joint}" for joint in bones)
            if {first, middle, last} <= joints.keys():
                flexion = _angle(joints[middle] - joints[first], joints[last] - joints[middle])
                angles.append(Spread(f"{side} {name}", flexion))
    return tuple(angles)


def measure_hand_speeds(motion: HumanMotion) -> tuple[HandSpeed, ...]:
    """Measure the speed of each palm's centre by a Savitzky-Golay filter of 4th order over 0.1 s.

    In the first and last 0.05 s the speed is held at the value at their inner end. `motion`: the recording.
    Returns speeds of the palms, one entry for each recorded arm.
    """
    speeds = []
    for side in complete_arms(motion.joints):
        rotation = motion.segments[f"{side}_hand"][:, :3, :3]
        positions = motion.joints[f"{side}_wrist"] + rotation @ PALM_OFFSET
        count = len(motion.time)
        if count < 3:
            values = np.linalg.norm(np.gradient(positions, motion.time, axis=0), axis=1)
        else:
            # The filter needs equal time steps, which a few recordings do not have.
            even, step = np.linspace(motion.time[0], motion.time[-1], count, retstep=True)
            window = min(2 * max(1, round(0.5 * SMOOTHING / float(step))) + 1, count - (count + 1) % 2)
            positions = CubicSpline(motion.time, positions)(even)
            velocity = savgol_filter(positions, window, min(4, window - 1), deriv=1, delta=float(step))
            # At the ends, where half the window is empty, the fitted polynomial would be four times as noisy.
            end = window // 2
            velocity[:end], velocity[-end:] = velocity[end], velocity[-end - 1]
            values = np.linalg.norm(CubicSpline(even, velocity)(motion.time), axis=1)
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


def _angle(first: Array, second: Array) -> Array:
    """Angles (T,) between vectors (T, 3), rad; accurate near 0 and pi, where the arc cosine is not."""
    return np.arctan2(np.linalg.norm(np.cross(first, second), axis=1), np.sum(first * second, axis=1))


# Lengths between joint centres by bone, m, of adults from the 5th percentile of women to the 95th of men and
# a little more.
HUMAN_LENGTHS = {"upper arm": (0.22, 0.36), "forearm": (0.20, 0.30)}
# Fraction by which the length of a bone may change; skin motion moves joint centres by about a centimetre.
LENGTH_CHANGE = 0.10
# No part of a person moves faster from one frame to the next, m/s; a boxer's fist reaches 10.
JUMP_SPEED = 15.0
# Lowest and highest believable height of the feet over the floor, m: an ankle in a thick shoe is not higher.
SINKING, FLOATING = -0.03, 0.15
# At most this many jumps are listed one by one, and at most this many tracks of each are named.
JUMPS_LISTED, TRACKS_NAMED = 5, 3


@dataclass(frozen=True)
class MotionInspection:
    """Measures and phases of a recording, and warnings about it."""

    motion: HumanMotion
    # Gaps that were filled: each marker that had any, its gaps in the order of time, and the duration of the
    # longest, s: the number of missing samples times the mean sampling interval.
    gaps: tuple[tuple[str, list[Gap], float], ...]
    lengths: tuple[Spread, ...]  # Lengths of the bones, m.
    angles: tuple[Spread, ...]  # Joint angles, rad.
    hands: tuple[HandSpeed, ...]  # Speed of the palm of each recorded arm.
    feet: Feet | None  # Height of the feet; None where none are recorded.
    phases: Phases  # Phases of the task and its primitives.
    warnings: tuple[str, ...]  # Everything that looks wrong, one line each.


def inspect_motion(motion: HumanMotion) -> MotionInspection:
    """Measure a recording, find its phases, and look for what is wrong with it.

    Returns measures, phases and warnings.
    """
    gaps = []
    for marker in dict.fromkeys(gap.marker for gap in motion.filled):
        own = sorted((gap for gap in motion.filled if gap.marker == marker), key=lambda gap: gap.first)
        longest = max(gap.last - gap.first + 1 for gap in own) / motion.rate
        gaps.append((marker, own, longest))
    return MotionInspection(
        motion=motion,
        gaps=tuple(gaps),
        lengths=measure_bone_lengths(motion),
        angles=measure_joint_angles(motion),
        hands=measure_hand_speeds(motion),
        feet=measure_foot_heights(motion),
        phases=find_phases(motion),
        warnings=find_doubts(motion),
    )


def find_doubts(motion: HumanMotion) -> tuple[str, ...]:
    """List everything about a recording that may well be wrong: the reader's doubts, and what looks wrong.

    `motion`: the recording as it was read, before it is resampled: frames are named by their numbers. Returns
    the warnings of `inspect_motion`, one line each.
    """
    found = [*motion.doubts]
    for length in measure_bone_lengths(motion):
        low, high = HUMAN_LENGTHS.get(length.name.partition(" ")[2], (0.0, np.inf))
        if not low <= length.median <= high:
            found.append(f"{length.name} is {length.median:.3f} m long; people have {low} to {high} m")
        change = length.high - length.low
        if not length.name.endswith("width") and change > LENGTH_CHANGE * length.median:
            found.append(
                f"{length.name} changes by {1000 * change:.0f} mm ({change / length.median:.0%}); a bone "
                "keeps its length"
            )
    feet = measure_foot_heights(motion)
    if feet is not None and feet.lowest < SINKING:
        found.append(f"feet sink {-feet.lowest:.3f} m into the floor at {feet.lowest_time:.2f} s")
    if feet is not None and feet.lowest > FLOATING:
        found.append(f"feet stay {feet.lowest:.3f} m or more above the floor")

    # Steps from frame to frame that are too fast for a person; consecutive ones give one warning.
    tracks = {f"marker {name}": track for name, track in motion.markers.items()}
    tracks |= {f"joint {name}": track for name, track in motion.joints.items()}
    names = list(tracks)
    # Track by track: all of their positions at once are three times as large as the speeds.
    moved = [np.linalg.norm(np.diff(track, axis=0), axis=1) for track in tracks.values()]
    speeds = np.stack(moved, axis=1) / np.diff(motion.time)[:, None]
    steps = np.flatnonzero((speeds > JUMP_SPEED).any(axis=1))
    runs = np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1) if steps.size else []
    for run in runs[:JUMPS_LISTED]:
        fastest = speeds[run].max(axis=0)
        order = np.argsort(-fastest, kind="stable")[: int((fastest > JUMP_SPEED).sum())]
        named = ", ".join(names[k] for k in order[:TRACKS_NAMED])
        more = f" and {len(order) - TRACKS_NAMED} more" if len(order) > TRACKS_NAMED else ""
        found.append(
            f"{named}{more}: jump between frames {run[0]} and {run[-1] + 1}, at {fastest[order[0]]:.0f} m/s; "
            f"no person is faster than {JUMP_SPEED:.0f} m/s"
        )
    if len(runs) > JUMPS_LISTED:
        found.append(f"{len(runs) - JUMPS_LISTED} more jumps, the last one at frame {runs[-1][-1] + 1}")
    return tuple(dict.fromkeys(found))
