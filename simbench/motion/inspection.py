"""What a recording holds in numbers, and everything about it that is doubtful."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.motion.body_measures import (
    Feet,
    HandSpeed,
    Spread,
    bone_lengths,
    foot_heights,
    hand_speeds,
    joint_angles,
)
from simbench.motion.human_motion import Gap, HumanMotion
from simbench.motion.phases import Phases, find_phases

# Between joint centres, m: adults, from the 5th percentile of women to the 95th of men and a little more.
HUMAN_LENGTHS = {"upper arm": (0.22, 0.36), "forearm": (0.20, 0.30)}
# A bone's length may change by this share of itself; skin motion moves joint centres by about a centimetre.
LENGTH_CHANGE = 0.10
# Nothing of a person gets from one frame to the next faster, m/s; a boxer's fist reaches 10.
JUMP_SPEED = 15.0
# How deep feet may sink, and how high an ankle is over the floor in a thick shoe, m.
SINKING, FLOATING = -0.03, 0.15
# So many jumps are told one by one, and so many tracks of each are named.
JUMPS_TOLD, TRACKS_NAMED = 5, 3


@dataclass(frozen=True)
class MarkerGaps:
    """The gaps of one marker that were filled.

    Parameters
    ----------
    marker : str
    gaps : tuple of Gap
        In the order of time.
    longest : float
        s: the number of samples missing times the mean interval.
    """

    marker: str
    gaps: tuple[Gap, ...]
    longest: float


@dataclass(frozen=True)
class Inspection:
    """A recording in numbers.

    Parameters
    ----------
    motion : HumanMotion
    gaps : tuple of MarkerGaps
        One for each marker that had any.
    lengths : tuple of Spread
        Of bones, m.
    angles : tuple of Spread
        rad.
    hands : tuple of HandSpeed
    feet : Feet or None
    phases : Phases
    doubts : tuple of str
        Whatever looks wrong, one line each.
    """

    motion: HumanMotion
    gaps: tuple[MarkerGaps, ...]
    lengths: tuple[Spread, ...]
    angles: tuple[Spread, ...]
    hands: tuple[HandSpeed, ...]
    feet: Feet | None
    phases: Phases
    doubts: tuple[str, ...]


def inspect(motion: HumanMotion) -> Inspection:
    """Measure a recording and look for what is wrong with it.

    Parameters
    ----------
    motion : HumanMotion

    Returns
    -------
    Inspection
    """
    lengths, feet = bone_lengths(motion), foot_heights(motion)
    tracks = {f"marker {name}": track for name, track in motion.markers.items()}
    tracks |= {f"joint {name}": track for name, track in motion.joints.items()}
    doubts = [*_length_doubts(lengths), *_foot_doubts(feet), *_jump_doubts(motion.time, tracks)]
    return Inspection(
        motion=motion,
        gaps=_marker_gaps(motion),
        lengths=lengths,
        angles=joint_angles(motion),
        hands=hand_speeds(motion),
        feet=feet,
        phases=find_phases(motion),
        doubts=tuple(doubts),
    )


def human_length(bone: str) -> tuple[float, float] | None:
    """Shortest and longest that people have of a bone of `bone_lengths`, m; None where nobody was asked."""
    return HUMAN_LENGTHS.get(bone.partition(" ")[2])


def is_human(length: Spread) -> bool:
    """Whether a bone is as long as people's, as far as that is known."""
    allowed = human_length(length.name)
    return allowed is None or allowed[0] <= length.median <= allowed[1]


def _marker_gaps(motion: HumanMotion) -> tuple[MarkerGaps, ...]:
    markers = dict.fromkeys(gap.marker for gap in motion.filled)
    found = []
    for marker in markers:
        gaps = sorted((gap for gap in motion.filled if gap.marker == marker), key=lambda gap: gap.first)
        samples = max(gap.last - gap.first + 1 for gap in gaps)
        found.append(MarkerGaps(marker, tuple(gaps), samples / motion.rate))
    return tuple(found)


def _length_doubts(lengths: tuple[Spread, ...]) -> Iterator[str]:
    for length in lengths:
        allowed = human_length(length.name)
        if allowed is not None and not is_human(length):
            yield f"{length.name} is {length.median:.3f} m long; people have {allowed[0]} to {allowed[1]} m"
        change = length.high - length.low
        if not length.name.endswith("width") and change > LENGTH_CHANGE * length.median:
            yield (
                f"{length.name} changes by {1000 * change:.0f} mm ({change / length.median:.0%}); "
                "a bone keeps its length"
            )


def _foot_doubts(feet: Feet | None) -> Iterator[str]:
    if feet is None:
        return
    if feet.lowest < SINKING:
        yield f"feet sink {-feet.lowest:.3f} m into the floor at {feet.lowest_time:.2f} s"
    if feet.lowest > FLOATING:
        yield f"feet stay {feet.lowest:.3f} m or more above the floor"


def _jump_doubts(time: NDArray[np.float64], tracks: Mapping[str, NDArray[np.float64]]) -> Iterator[str]:
    """Find steps from frame to frame that nobody makes; those in a row are one doubt."""
    names = list(tracks)
    moved = np.linalg.norm(np.diff(np.stack([tracks[name] for name in names], axis=1), axis=0), axis=2)
    speeds = moved / np.diff(time)[:, None]
    steps = np.flatnonzero((speeds > JUMP_SPEED).any(axis=1))
    if not steps.size:
        return
    runs = np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1)
    for run in runs[:JUMPS_TOLD]:
        fastest = speeds[run].max(axis=0)
        order = np.argsort(-fastest, kind="stable")[: int((fastest > JUMP_SPEED).sum())]
        told = ", ".join(names[k] for k in order[:TRACKS_NAMED])
        more = f" and {len(order) - TRACKS_NAMED} more" if len(order) > TRACKS_NAMED else ""
        yield (
            f"{told}{more}: jump between frames {run[0]} and {run[-1] + 1}, at {fastest[order[0]]:.0f} m/s; "
            f"no person is faster than {JUMP_SPEED:.0f} m/s"
        )
    if len(runs) > JUMPS_TOLD:
        yield f"{len(runs) - JUMPS_TOLD} more jumps, the last one at frame {runs[-1][-1] + 1}"
