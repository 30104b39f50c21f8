"""Inspection of a recording: its measures and phases, and warnings about what looks wrong."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simbench.motion.body_measures import (
    Feet,
    HandSpeed,
    Spread,
    measure_bone_lengths,
    measure_foot_heights,
    measure_hand_speeds,
    measure_joint_angles,
)
from simbench.motion.human_motion import Gap, HumanMotion
from simbench.motion.phases import Phases, find_phases

# Lengths between joint centres, m, of adults from the 5th percentile of women to the 95th of men and a little
# more.
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
class MarkerGaps:
    """The gaps of one marker that were filled."""

    marker: str  # Name of the marker.
    gaps: tuple[Gap, ...]  # Its gaps in the order of time.
    # Duration of the longest gap, s: the number of missing samples times the mean sampling interval.
    longest: float


@dataclass(frozen=True)
class MotionInspection:
    """Measures and phases of a recording, and warnings about it."""

    motion: HumanMotion
    gaps: tuple[MarkerGaps, ...]  # Gaps that were filled, one entry for each marker that had any.
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
    lengths, feet = measure_bone_lengths(motion), measure_foot_heights(motion)
    return MotionInspection(
        motion=motion,
        gaps=_marker_gaps(motion),
        lengths=lengths,
        angles=measure_joint_angles(motion),
        hands=measure_hand_speeds(motion),
        feet=feet,
        phases=find_phases(motion),
        warnings=_find_doubts(motion, lengths, feet),
    )


def find_doubts(motion: HumanMotion) -> tuple[str, ...]:
    """List everything about a recording that may well be wrong: the reader's doubts, and what looks wrong.

    `motion`: the recording as it was read, before it is resampled: frames are named by their numbers. Returns
    the warnings of `inspect_motion`, one line each.
    """
    return _find_doubts(motion, measure_bone_lengths(motion), measure_foot_heights(motion))


def with_doubts(motion: HumanMotion) -> HumanMotion:
    """Add everything that looks wrong about a recording to its doubts, so that later steps can repeat it.

    `motion`: the recording as it was read. Returns the same motion, with the warnings of `inspect_motion` as
    its doubts.
    """
    return replace(motion, doubts=find_doubts(motion))


def human_length_range(bone: str) -> tuple[float, float] | None:
    """Look up the range of a bone's length among adults.

    `bone`: name of a bone as in `measure_bone_lengths`, for example `left upper arm`. Returns shortest and
    longest length, m; None for a bone of which no range is known.
    """
    return HUMAN_LENGTHS.get(bone.partition(" ")[2])


def is_human_length(length: Spread) -> bool:
    """Tell whether the length of a bone is in the range of adults.

    `length`: length of a bone from `measure_bone_lengths`. Returns whether the median is in the range; True
    for a bone of which no range is known.
    """
    allowed = human_length_range(length.name)
    return allowed is None or allowed[0] <= length.median <= allowed[1]


def _find_doubts(motion: HumanMotion, lengths: tuple[Spread, ...], feet: Feet | None) -> tuple[str, ...]:
    """List the reader's doubts and what looks wrong, each once."""
    tracks = {f"marker {name}": track for name, track in motion.markers.items()}
    tracks |= {f"joint {name}": track for name, track in motion.joints.items()}
    found = [
        *motion.doubts,
        *_length_warnings(lengths),
        *_foot_warnings(feet),
        *_jump_warnings(motion.time, tracks),
    ]
    return tuple(dict.fromkeys(found))


def _marker_gaps(motion: HumanMotion) -> tuple[MarkerGaps, ...]:
    """Group the filled gaps by marker."""
    markers = dict.fromkeys(gap.marker for gap in motion.filled)
    found = []
    for marker in markers:
        gaps = sorted((gap for gap in motion.filled if gap.marker == marker), key=lambda gap: gap.first)
        samples = max(gap.last - gap.first + 1 for gap in gaps)
        found.append(MarkerGaps(marker, tuple(gaps), samples / motion.rate))
    return tuple(found)


def _length_warnings(lengths: tuple[Spread, ...]) -> Iterator[str]:
    """Warn of bones that no adult has, and of bones whose length changes."""
    for length in lengths:
        allowed = human_length_range(length.name)
        if allowed is not None and not is_human_length(length):
            yield f"{length.name} is {length.median:.3f} m long; people have {allowed[0]} to {allowed[1]} m"
        change = length.high - length.low
        if not length.name.endswith("width") and change > LENGTH_CHANGE * length.median:
            yield (
                f"{length.name} changes by {1000 * change:.0f} mm ({change / length.median:.0%}); "
                "a bone keeps its length"
            )


def _foot_warnings(feet: Feet | None) -> Iterator[str]:
    """Warn of feet below the floor or always above it."""
    if feet is None:
        return
    if feet.lowest < SINKING:
        yield f"feet sink {-feet.lowest:.3f} m into the floor at {feet.lowest_time:.2f} s"
    if feet.lowest > FLOATING:
        yield f"feet stay {feet.lowest:.3f} m or more above the floor"


def _jump_warnings(time: NDArray[np.float64], tracks: Mapping[str, NDArray[np.float64]]) -> Iterator[str]:
    """Warn of steps from frame to frame that are too fast for a person; consecutive ones give one warning."""
    names = list(tracks)
    # Track by track: all of their positions at once are three times as large as the speeds.
    moved = [np.linalg.norm(np.diff(track, axis=0), axis=1) for track in tracks.values()]
    speeds = np.stack(moved, axis=1) / np.diff(time)[:, None]
    steps = np.flatnonzero((speeds > JUMP_SPEED).any(axis=1))
    if not steps.size:
        return
    runs = np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1)
    for run in runs[:JUMPS_LISTED]:
        fastest = speeds[run].max(axis=0)
        order = np.argsort(-fastest, kind="stable")[: int((fastest > JUMP_SPEED).sum())]
        named = ", ".join(names[k] for k in order[:TRACKS_NAMED])
        more = f" and {len(order) - TRACKS_NAMED} more" if len(order) > TRACKS_NAMED else ""
        yield (
            f"{named}{more}: jump between frames {run[0]} and {run[-1] + 1}, at {fastest[order[0]]:.0f} m/s; "
            f"no person is faster than {JUMP_SPEED:.0f} m/s"
        )
    if len(runs) > JUMPS_LISTED:
        yield f"{len(runs) - JUMPS_LISTED} more jumps, the last one at frame {runs[-1][-1] + 1}"
