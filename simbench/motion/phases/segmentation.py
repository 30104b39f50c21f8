"""Phases of a recorded task, and the primitives of its periodic phase."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.motion.phases.hand_trajectory import HandTrajectory, compute_hand_trajectory
from simbench.motion.phases.initial_configuration import SWAYING, find_initial_configuration
from simbench.motion.phases.minimum_jerk_fit import fit_minimum_jerk
from simbench.motion.phases.repetition import find_repetitions
from simbench.motion.phases.stops import Stops, find_stops

Span = tuple[float, float]

# Smallest ratio of a movement's top speed to the speed at the stops around it: tried first for hands that
# stop, then for hands that only slow down.
CONTRASTS = (3.0, 1.5)
# Hands stop where they are slower than this fraction of the top speeds before and after: between two
# repetitions, and before the first or after the last one, where they dwell.
STOP_FRACTION, DWELL_FRACTION = 0.25, 0.10
# Transitions and rests that are shorter than this are ignored, s.
SHORTEST_PHASE = 0.1


@dataclass(frozen=True)
class Phases:
    """Phases of a recording (Tomić 2018, chapter 3), each as its start and end, s, or None."""

    icp: Span | None  # Initial configuration phase (ICP): arms held horizontally forward, palms down.
    # Transition and grasp phase (TGP), between the initial configuration and the first repetition.
    tgp: Span | None
    pmp: Span | None  # Periodic motion phase (PMP), which consists of the repetitions.
    rest: Span | None  # Rest after the periodic motion.
    # (N + 1,): times that divide the periodic motion into N primitives, s: start of the first, midpoints of
    # the dwells between two, end of the last. Empty if nothing repeats.
    boundaries: Array


def find_phases(motion: HumanMotion) -> Phases:
    """Find the phases of a recording and the primitives of its periodic motion.

    Boundaries between primitives are the times at which the hands momentarily stop in a posture that recurs,
    at least twice and along the same path; a primitive may contain other stops. If the hands only slow down,
    these times are the boundaries.
    """
    hands = compute_hand_trajectory(motion)
    for contrast in CONTRASTS:
        found = find_stops(hands.speed, contrast)
        chain = find_repetitions(hands, found)
        if len(chain):
            break
    candidates = int(chain[0]) + 1 if len(chain) else len(found.peaks)
    icp = find_initial_configuration(motion, hands, found, candidates)
    if len(chain) == 0:
        return Phases(icp=icp, tgp=None, pmp=None, rest=None, boundaries=np.empty(0))
    boundaries = _cut(hands, found, chain)
    start, end = float(boundaries[0]), float(boundaries[-1])
    tgp = None
    if icp is not None:
        tgp = (icp[1], start) if start - icp[1] >= SHORTEST_PHASE else None
        icp = (icp[0], min(icp[1], start))
    return Phases(icp=icp, tgp=tgp, pmp=(start, end), rest=_rest(hands, end), boundaries=boundaries)


def _cut(hands: HandTrajectory, found: Stops, chain: NDArray[np.int64]) -> Array:
    """Find the times (N + 1,) of the boundaries at stops (N + 1,)."""
    edges = {k: _edges(hands, found, k) for k in {*chain[:-1].tolist(), *(chain[1:] - 1).tolist()}}
    starts = [edges[k][0] for k in chain[:-1].tolist()]
    ends = [edges[k - 1][1] for k in chain[1:].tolist()]
    cuts = np.array([starts[0], *(0.5 * np.add(ends[:-1], starts[1:])), ends[-1]])
    # Where the hands only slow down, or a movement has no minimum-jerk profile, the lowest speed is more
    # accurate.
    peaks = np.concatenate([[0], found.peaks, [len(hands.time) - 1]])
    before, after, stops = peaks[chain], peaks[chain + 1], found.stops[chain]
    tops = hands.speed[peaks]
    tops[[0, -1]] = np.inf
    fraction = np.full(len(cuts), STOP_FRACTION)
    fraction[[0, -1]] = DWELL_FRACTION
    slowing = hands.speed[stops] > fraction * np.minimum(tops[chain], tops[chain + 1])
    outside = (cuts < hands.time[before]) | (cuts > hands.time[after])
    return np.where(slowing | outside, hands.time[stops], cuts)


def _edges(hands: HandTrajectory, found: Stops, k: int) -> Span:
    """Onset and end of movement number k, s."""
    return fit_minimum_jerk(hands, int(found.stops[k]), int(found.peaks[k]), int(found.stops[k + 1]))


def _rest(hands: HandTrajectory, end: float) -> Span | None:
    """Rest from the end of the periodic motion on; None if there is none."""
    still = (hands.time > end) & (hands.speed <= SWAYING)
    # The end is known only to some milliseconds: the last movement may fade out after it.
    begin = float(hands.time[np.argmax(still)]) if still.any() else np.inf
    if begin - end >= SHORTEST_PHASE:
        return None
    moving = (hands.time > begin) & (hands.speed > SWAYING)
    until = float(hands.time[np.argmax(moving)] if moving.any() else hands.time[-1])
    return (end, until) if until - end >= SHORTEST_PHASE else None
