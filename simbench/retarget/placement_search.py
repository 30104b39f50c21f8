"""Search of the place from which a path of the hands is followed farthest from all joint limits."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simbench.retarget.hand_reach import HandReach
from simbench.retarget.path_margin import (
    COARSE,
    FINE,
    MARGIN_STEP,
    Candidate,
    Place,
    Wanted,
    all_rests,
    judge_place,
    middle_rests,
    some_poses,
)

Array = NDArray[np.float64]

_WALKERS = 4
_FINEST = 0.1
"""Where the steps of the search end, as a share of the first ones."""


def search_place(
    reach: HandReach,
    in_root_axes: Callable[[Place], Array],
    price: Callable[[Place], float],
    grid: Sequence[Place],
    steps: Place,
    low: Place,
    high: Place,
    wanted: Wanted,
    progress: Callable[[int, int], None],
) -> Candidate:
    """Find the place with the largest margin, or that with the least missing.

    Every place of the grid is judged at a few poses of the path; the best few then walk in steps along each
    number, halved where none is better, and are judged at more poses; the best one at all of them.

    Parameters
    ----------
    reach : HandReach
    in_root_axes : callable
        Gives (K, P, 3), the path in the axes of the root of a robot at a place, m.
    price : callable
        Margin, rad, by which a place must be better than one that costs nothing.
    grid : sequence of Place
        The preferred one first, where others are no better.
    steps : Place
        First steps of the walk.
    low, high : Place
        Least and greatest numbers.
    wanted : Wanted
    progress : callable (done, total)

    Returns
    -------
    Candidate
        With all poses of the path.
    """
    share = len(grid) // _WALKERS
    total = len(grid) + share * _WALKERS
    whole = in_root_axes(grid[0])
    few, middles, rests = some_poses(len(whole), COARSE), middle_rests(reach), all_rests(reach)
    judged = []
    for number, place in enumerate(grid):
        candidate = judge_place(reach, place, in_root_axes(place)[few], middles, wanted)
        judged.append(replace(candidate, price=price(place)))
        progress(number, total)
    judged.sort(key=lambda candidate: -candidate.score)
    found = []
    for number, start in enumerate(_apart(judged, steps)):
        found.append(_walk(reach, in_root_axes, price, start, steps, low, high, wanted))
        progress(len(grid) + share * (number + 1), total)
        if found[-1].margin >= wanted.ample_margin:
            break
    found.sort(key=lambda candidate: -candidate.score)
    best = None
    for walker in found:
        points = in_root_axes(walker.place)
        final = judge_place(reach, walker.place, points, [walker.rest, *rests], wanted)
        final = replace(final, price=walker.price)
        if best is None or final.score > best.score:
            best = final
        if best.margin >= 0.0:
            break
    assert best is not None
    return best


def _walk(
    reach: HandReach,
    in_root_axes: Callable[[Place], Array],
    price: Callable[[Place], float],
    start: Candidate,
    steps: Place,
    low: Place,
    high: Place,
    wanted: Wanted,
) -> Candidate:
    """Go to better neighbours until there are none: at a few poses, and once they are followed at more."""
    count, middles, rests = len(in_root_axes(start.place)), middle_rests(reach), all_rests(reach)
    walker, length = start, 1.0
    for samples in (some_poses(count, COARSE), some_poses(count, FINE)):
        points = in_root_axes(walker.place)[samples]
        walker = judge_place(reach, walker.place, points, [walker.rest, *rests], wanted)
        walker = replace(walker, price=price(walker.place))
        length = min(1.0, 4.0 * length)
        while length > _FINEST and walker.margin < wanted.ample_margin:
            moved = walker
            for place in _neighbours(walker.place, steps, length, low, high):
                beat = max(moved.score + price(place) + 0.5 * MARGIN_STEP, 0.0)
                points = in_root_axes(place)[samples]
                likely = [walker.rest] if walker.margin >= 0.0 else [walker.rest, *middles]
                other = judge_place(reach, place, points, likely, wanted, beat=beat)
                other = replace(other, price=price(place))
                if other.score > moved.score + 1e-5:
                    moved = other
            if moved is walker:
                length *= 0.5
            walker = moved
    return walker


def _apart(judged: Sequence[Candidate], steps: Place) -> list[Candidate]:
    """Choose the best few that are not neighbours."""
    chosen: list[Candidate] = []
    for candidate in judged:
        away = [_distance(candidate.place, other.place, steps) for other in chosen]
        if min(away, default=np.inf) > 1.5:
            chosen.append(candidate)
        if len(chosen) == _WALKERS:
            break
    return chosen


def _distance(first: Place, second: Place, steps: Place) -> float:
    return max(abs(a - b) / step for a, b, step in zip(first, second, steps, strict=True) if step > 0.0)


def _neighbours(place: Place, steps: Place, length: float, low: Place, high: Place) -> list[Place]:
    """Places a step away along one number, or along two that can make up for each other."""
    unit = np.eye(len(steps))
    ways = [
        *unit,
        *-unit,
        *(a * unit[i] + b * unit[j] for i, j in ((0, 3), (1, 2)) for a in (1, -1) for b in (1, -1)),
    ]
    near = []
    for way in ways:
        other = np.clip(np.array(place) + length * way * steps, low, high)
        if np.abs(other - place).max() > 0.0:
            near.append(tuple(other.tolist()))
    return list(dict.fromkeys(near))
