"""Search of the place from which a path of the hands is followed farthest from all joint limits."""

from collections.abc import Callable, Sequence

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.retargeting.placement.base_gauss_newton import settle_place
from simbench.retargeting.placement.hand_path import Course, seen_from
from simbench.retargeting.placement.limit_margin import (
    COARSE,
    FINE,
    MARGIN_STEP,
    Candidate,
    Rest,
    Wanted,
    all_rests,
    at_margin,
    judge_place,
    narrowed_box,
    some_poses,
)
from simbench.retargeting.placement.path_ik import grasp_handles
from simbench.retargeting.placement.reach_model import HandReach
from simbench.retargeting.placement.separation import part_links

_CLIMBERS = 4
_FIRST_STEP = 0.05
"""Of the margin, rad."""
_ROUNDS = 40


def search_place(
    reach: HandReach,
    course: Course,
    starts: Sequence[tuple[Sequence[float], Rest]],
    low: Array,
    high: Array,
    wanted: Wanted,
    progress: Callable[[int, int], None],
) -> Candidate:
    """Find the place with the largest margin, or that with the least missing.

    From every start, place and postures at a few poses of the path go together to where the palms miss their
    handles the least. The best of what they come to then climb: limits are narrowed, place and postures
    follow, as long as the palms stay on their handles and the links out of each other.

    Parameters
    ----------
    reach : HandReach
    course : Course
    starts : sequence of (place, Rest)
        The six numbers of the root; and from where postures are looked for.
    low, high : (6,) array
        Least and greatest numbers of the place.
    wanted : Wanted
    progress : callable (done, total)

    Returns
    -------
    Candidate
        With all poses of the path; its place is the six numbers of the root.
    """
    share = len(starts) // _CLIMBERS
    total = len(starts) + share * _CLIMBERS
    few, more = (course.some(some_poses(len(course.points), count)) for count in (COARSE, FINE))
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
        rests = [climber.rest] if climber.margin >= 0.0 else [climber.rest, *all_rests(reach)]
        final = judge_place(reach, climber.place, seen_from(climber.place, course), rests, wanted)
        if best is None or final.score > best.score:
            best = final
        if best.margin >= 0.0:
            break
    assert best is not None
    return best


def _settled(
    reach: HandReach,
    course: Course,
    place: Sequence[float],
    rest: Rest,
    margin: float,
    low: Array,
    high: Array,
    wanted: Wanted,
) -> Candidate:
    """Let place and postures go to where the least is missing with a margin."""
    box = narrowed_box(reach, rest, margin)
    path = grasp_handles(reach, seen_from(place, course), rest.joints, box).joints
    there = np.clip(np.array(place), low, high)
    settle_place(
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
    near = Rest(rest.box, path.mean(axis=0))
    come = tuple(there.tolist())
    return at_margin(reach, come, seen_from(come, course), near, wanted, margin, measure=True)


def _parted(
    reach: HandReach,
    few: Course,
    more: Course,
    start: Candidate,
    low: Array,
    high: Array,
    wanted: Wanted,
) -> Candidate:
    """Get the links of a candidate out of each other."""
    margin = wanted.least_margin
    box = narrowed_box(reach, start.rest, margin)
    near = grasp_handles(reach, seen_from(start.place, few), start.rest.joints, box).joints
    place, path = part_links(reach, few, np.array(start.place), near, box, low, high)
    come, rest = tuple(place.tolist()), Rest(start.rest.box, path.mean(axis=0))
    return at_margin(reach, come, seen_from(come, more), rest, wanted, margin, measure=True)


def _climb(
    reach: HandReach, course: Course, start: Candidate, low: Array, high: Array, wanted: Wanted
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
