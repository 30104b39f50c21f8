"""Phases of a recorded task, and the primitives its periodic phase consists of."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.motion.phases.hand_path import HandPath, hand_path
from simbench.motion.phases.initial_configuration import SWAYING, find_initial_configuration
from simbench.motion.phases.minimum_jerk_fit import fit_bell
from simbench.motion.phases.repetition import find_repetitions
from simbench.motion.phases.stops import Stops, find_stops

Span = tuple[float, float]

# How many times faster than the stops around it a movement is: first where the hands stop, else where they
# only slow down.
CONTRASTS = (3.0, 1.5)
# Hands stop where they are slower than this share of the top speeds before and after, between two
# repetitions and before the first or after the last, where they dwell.
STOPPED, DWELLING = 0.25, 0.10
# Shorter transitions and rests are none, s.
SHORTEST_PHASE = 0.1


@dataclass(frozen=True)
class Phases:
    """Phases of a recording (Tomić 2018, chapter 3), each from start to end in s; None where there is none.

    Parameters
    ----------
    icp : (float, float) or None
        Initial configuration: arms horizontally forward, palms down, still.
    tgp : (float, float) or None
        Transition and grasp, between the initial configuration and the first repetition.
    pmp : (float, float) or None
        Periodic motion: what repeats.
    rest : (float, float) or None
        Stillness after the periodic motion.
    boundaries : (N + 1,) array
        Times that cut the periodic motion into N primitives, s: the first's start, the middles of the dwells
        between two, the last's end. Empty if nothing repeats.
    """

    icp: Span | None
    tgp: Span | None
    pmp: Span | None
    rest: Span | None
    boundaries: Array


def find_phases(motion: HumanMotion) -> Phases:
    """Find the phases of a recording and the primitives of its periodic motion.

    Primitives are cut where the hands momentarily stop in a posture that recurs, at least twice and on the
    same way: a primitive may hold other stops. Where hands only slow down, they are cut there.

    Parameters
    ----------
    motion : HumanMotion

    Returns
    -------
    Phases
    """
    path = hand_path(motion)
    for contrast in CONTRASTS:
        found = find_stops(path.speed, contrast)
        chain = find_repetitions(path, found)
        if len(chain):
            break
    candidates = int(chain[0]) + 1 if len(chain) else len(found.peaks)
    icp = find_initial_configuration(motion, path, found, candidates)
    if len(chain) == 0:
        return Phases(icp=icp, tgp=None, pmp=None, rest=None, boundaries=np.empty(0))
    boundaries = _cut(path, found, chain)
    start, end = float(boundaries[0]), float(boundaries[-1])
    tgp = None
    if icp is not None:
        tgp = (icp[1], start) if start - icp[1] >= SHORTEST_PHASE else None
        icp = (icp[0], min(icp[1], start))
    return Phases(icp=icp, tgp=tgp, pmp=(start, end), rest=_rest(path, end), boundaries=boundaries)


def _cut(path: HandPath, found: Stops, chain: NDArray[np.int64]) -> Array:
    """Find the times (N + 1,) of the boundaries at stops (N + 1,)."""
    edges = {k: _edges(path, found, k) for k in {*chain[:-1].tolist(), *(chain[1:] - 1).tolist()}}
    starts = [edges[k][0] for k in chain[:-1].tolist()]
    ends = [edges[k - 1][1] for k in chain[1:].tolist()]
    cuts = np.array([starts[0], *(0.5 * np.add(ends[:-1], starts[1:])), ends[-1]])
    # Where the hands only slow down, or a movement is no bell, the speed tells more.
    peaks = np.concatenate([[0], found.peaks, [len(path.time) - 1]])
    before, after, stops = peaks[chain], peaks[chain + 1], found.stops[chain]
    tops = path.speed[peaks]
    tops[[0, -1]] = np.inf
    share = np.full(len(cuts), STOPPED)
    share[[0, -1]] = DWELLING
    slowing = path.speed[stops] > share * np.minimum(tops[chain], tops[chain + 1])
    outside = (cuts < path.time[before]) | (cuts > path.time[after])
    return np.where(slowing | outside, path.time[stops], cuts)


def _edges(path: HandPath, found: Stops, k: int) -> Span:
    """Onset and end of movement number k."""
    return fit_bell(path, int(found.stops[k]), int(found.peaks[k]), int(found.stops[k + 1]))


def _rest(path: HandPath, end: float) -> Span | None:
    """Stillness from the end of the periodic motion on."""
    still = (path.time > end) & (path.speed <= SWAYING)
    # The end is found to some milliseconds only: the last movement may fade out after it.
    begin = float(path.time[np.argmax(still)]) if still.any() else np.inf
    if begin - end >= SHORTEST_PHASE:
        return None
    moving = (path.time > begin) & (path.speed > SWAYING)
    until = float(path.time[np.argmax(moving)] if moving.any() else path.time[-1])
    return (end, until) if until - end >= SHORTEST_PHASE else None
