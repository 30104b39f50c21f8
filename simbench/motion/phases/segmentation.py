"""Phases of a recorded task, and the primitives its periodic phase consists of."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.motion.anatomy import mean_frame
from simbench.motion.human_motion import HumanMotion, recorded_arms
from simbench.motion.phases.bells import fit_bell
from simbench.motion.phases.hand_path import HandPath, hand_path
from simbench.motion.phases.repetition import find_repetitions
from simbench.motion.phases.stops import Stops, find_stops

Array = NDArray[np.float64]
Span = tuple[float, float]

# How many times faster than the stops around it a movement is: first where the hands stop, else where they
# only slow down.
CONTRASTS = (3.0, 1.5)
# A dip to less than this share of the top speeds beside it is a stop.
STOPPED = 0.25
# Arms stretched forward sway this fast, m/s.
SWAYING = 0.05
# The initial configuration is still for at least this time (s) with the arms this near to horizontal and the
# limbs this near to the recording's initial pose.
SHORTEST_STILLNESS, LEVEL, NEAR = 0.3, np.radians(25.0), np.radians(35.0)


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
    icp = _initial_configuration(motion, path, found, int(chain[0]) if len(chain) else len(found.peaks))
    if len(chain) == 0:
        return Phases(icp=icp, tgp=None, pmp=None, rest=None, boundaries=np.empty(0))
    start, end = float(path.time[0]), float(path.time[-1])
    boundaries = np.clip(_cut(path, found, chain), start, end)
    following = int(chain[-1])
    after = _edges(path, found, following)[0] if following < len(found.peaks) else end
    return Phases(
        icp=icp,
        tgp=None if icp is None else (icp[1], float(boundaries[0])),
        pmp=(float(boundaries[0]), float(boundaries[-1])),
        rest=(float(boundaries[-1]), after) if after - boundaries[-1] > path.time[1] - path.time[0] else None,
        boundaries=boundaries,
    )


def _cut(path: HandPath, found: Stops, chain: NDArray[np.int64]) -> Array:
    """Times (N + 1,) of the boundaries at stops (N + 1,)."""
    starts = [_edges(path, found, int(k))[0] for k in chain[:-1]]
    ends = [_edges(path, found, int(k) - 1)[1] for k in chain[1:]]
    cuts = np.array([starts[0], *(0.5 * np.add(ends[:-1], starts[1:])), ends[-1]])
    # No movement tells more where the hands only slow down, nor where it is no bell.
    stops, peaks = found.stops[chain], found.peaks
    before, after = peaks[np.maximum(chain - 1, 0)], peaks[np.minimum(chain, len(peaks) - 1)]
    slowing = path.speed[stops] > STOPPED * np.minimum(path.speed[before], path.speed[after])
    outside = (cuts < path.time[np.minimum(before, stops)]) | (cuts > path.time[np.maximum(after, stops)])
    return np.where(slowing | outside, path.time[stops], cuts)


def _edges(path: HandPath, found: Stops, k: int) -> Span:
    """Onset and end of movement number k."""
    return fit_bell(path, int(found.stops[k]), int(found.peaks[k]), int(found.stops[k + 1]))


def _initial_configuration(motion: HumanMotion, path: HandPath, found: Stops, last: int) -> Span | None:
    """The first stillness in the initial configuration, up to stop number `last`."""
    for k in range(last):
        stop = int(found.stops[k])
        moving = np.flatnonzero(path.speed[: stop + 1] > SWAYING)
        first = int(moving[-1]) + 1 if moving.size else 0
        if not (first <= stop and _arms_forward(motion, slice(first, stop + 1))):
            continue
        span = float(path.time[first]), _edges(path, found, k)[0]
        if span[1] - span[0] >= SHORTEST_STILLNESS:
            return span
    return None


def _arms_forward(motion: HumanMotion, still: slice) -> bool:
    """Whether arms are horizontal and all limbs as in the initial pose, on average over samples."""
    for side in recorded_arms(motion):
        joints = {
            name: motion.joints[f"{side}_{name}"][still].mean(axis=0) for name in ("shoulder", "elbow", "wrist")
        }
        reach = joints["wrist"] - joints["shoulder"]
        if abs(reach[2]) > np.sin(LEVEL) * np.linalg.norm(reach):
            return False
        for proximal, distal in (("shoulder", "elbow"), ("elbow", "wrist")):
            limb = joints[distal] - joints[proximal]
            wanted = motion.initial.joints[f"{side}_{distal}"] - motion.initial.joints[f"{side}_{proximal}"]
            if limb @ wanted < np.cos(NEAR) * np.linalg.norm(limb) * np.linalg.norm(wanted):
                return False
        hand = mean_frame(motion.segments[f"{side}_hand"][still])[:3, :3]
        turn = hand @ motion.initial.segments[f"{side}_hand"][:3, :3].T
        if np.trace(turn) < 1.0 + 2.0 * np.cos(NEAR):
            return False
    return True
