"""Search of the place from which a path of the hands is followed farthest from all joint limits."""

from collections.abc import Callable, Sequence

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.retargeting.placement.base_gauss_newton import optimise_base_pose
from simbench.retargeting.placement.hand_path import HandPath, from_base
from simbench.retargeting.placement.limit_margin import (
    COARSE,
    FINE,
    MARGIN_STEP,
    Candidate,
    NominalPosture,
    ReachTolerances,
    evaluate_base_pose,
    narrowed_box,
    nominal_postures,
    sample_indices,
    solve_at_margin,
)
from simbench.retargeting.placement.path_ik import grasp_handles
from simbench.retargeting.placement.reach_model import ReachabilityModel
from simbench.retargeting.placement.separation import separate_links

_CLIMBERS = 4
_FIRST_STEP = 0.05
"""Of the margin, rad."""
_ROUNDS = 40


def search_place(
    reach: ReachabilityModel,
    course: HandPath,
    starts: Sequence[tuple[Sequence[float], NominalPosture]],
    low: Array,
    high: Array,
    wanted: ReachTolerances,
    progress: Callable[[int, int], None],
) -> Candidate:
    """Find the place with the largest margin, or that with the least missing.

    From every start, place and postures at a few poses of the path go together to where the palms miss their
    handles the least. The best of what they come to then climb: limits are narrowed, place and postures
    follow, as long as the palms stay on their handles and the links out of each other.

    Parameters
    ----------
    reach : ReachabilityModel
    course : HandPath
    starts : sequence of (place, Rest)
        The six numbers of the root; and from where postures are looked for.
    low, high : (6,) array
        Least and greatest numbers of the place.
    wanted : ReachTolerances
    progress : callable (done, total)

    Returns
    -------
    Candidate
        With all poses of the path; its place is the six numbers of the root.
    """
    share = len(starts) // _CLIMBERS
    total = len(starts) + share * _CLIMBERS
    few, more = (course.some(sample_indices(len(course.points), count)) for count in (COARSE, FINE))
    settled = []
    for number, (place, rest) in enumerate(starts):
        settled.append(_settled(reach, few, place, rest, wanted.least_margin, low, high, wanted))
        progress(number, total)
    settled.sort(key=lambda candidate: -candidate.score)
    found = []
    for number, start in enumerate(_different(settled)):
        found.append(_climb(reach, more, start, low, high, wanted))
        progress(len(starts) + share * (number + 1), total)
        if found[-1].margin >= wanted.ample_margin:
            break
    if max(climber.margin for climber in found) < 0.0:
        found += [
            _parted(reach, few, more, climber, low, high, wanted)
            for climber in found
            if climber.clearance < 0.0
        ]
    found.sort(key=lambda candidate: -candidate.score)
    best = None
    for climber in found:
        rests = [climber.rest] if climber.margin >= 0.0 else [climber.rest, *nominal_postures(reach)]
        final = evaluate_base_pose(reach, climber.place, from_base(climber.place, course), rests, wanted)
        if best is None or final.score > best.score:
            best = final
        if best.margin >= 0.0:
            break
    assert best is not None
    return best


def _settled(
    reach: ReachabilityModel,
    course: HandPath,
    place: Sequence[float],
    rest: NominalPosture,
    margin: float,
    low: Array,
    high: Array,
    wanted: ReachTolerances,
) -> Candidate:
    """Let place and postures go to where the least is missing with a margin."""
    box = narrowed_box(reach, rest, margin)
    path = grasp_handles(reach, from_base(place, course), rest.joints, box).joints
    there = np.clip(np.array(place), low, high)
    optimise_base_pose(
        reach.tree,
        reach.tasks,
        reach.counter,
        course.points,
        course.sway,
        course.hands,
        box[0],
        box[1],
        rest.joints,
        low,
        high,
        reach.work,
        _ROUNDS,
        there,
        path,
    )
    near = NominalPosture(rest.box, path.mean(axis=0))
    come = tuple(there.tolist())
    return solve_at_margin(reach, come, from_base(come, course), near, wanted, margin, measure=True)


def _parted(
    reach: ReachabilityModel,
    few: HandPath,
    more: HandPath,
    start: Candidate,
    low: Array,
    high: Array,
    wanted: ReachTolerances,
) -> Candidate:
    """Get the links of a candidate out of each other."""
    margin = wanted.least_margin
    box = narrowed_box(reach, start.rest, margin)
    near = grasp_handles(reach, from_base(start.place, few), start.rest.joints, box).joints
    place, path = separate_links(reach, few, np.array(start.place), near, box, low, high)
    come, rest = tuple(place.tolist()), NominalPosture(start.rest.box, path.mean(axis=0))
    return solve_at_margin(reach, come, from_base(come, more), rest, wanted, margin, measure=True)


def _climb(
    reach: ReachabilityModel,
    course: HandPath,
    start: Candidate,
    low: Array,
    high: Array,
    wanted: ReachTolerances,
) -> Candidate:
    """Narrow the limits as far as place and postures can follow."""
    margin, step = wanted.least_margin, _FIRST_STEP
    best = _settled(reach, course, start.place, start.rest, margin, low, high, wanted)
    while step > MARGIN_STEP and margin < wanted.ample_margin:
        higher = min(margin + step, wanted.ample_margin)
        other = _settled(reach, course, best.place, best.rest, higher, low, high, wanted)
        # Links that are inside each other may part farther from the limits.
        if other.margin >= 0.0 or (best.clearance < 0.0 and other.clearance < 0.0):
            best, margin, step = other, higher, 1.5 * step
        else:
            step *= 0.5
    return best


def _different(settled: Sequence[Candidate]) -> list[Candidate]:
    """Choose the best few whose elbows bend in another way or whose joints are elsewhere."""
    chosen: list[Candidate] = []
    for candidate in settled:
        away = [np.abs(candidate.rest.joints - other.rest.joints).max() for other in chosen]
        if min(away, default=np.inf) > 0.3:
            chosen.append(candidate)
        if len(chosen) == _CLIMBERS:
            break
    return chosen
