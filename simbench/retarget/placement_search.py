"""Search of the place from which a path of the hands is followed farthest from all joint limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simbench.retarget.hand_reach import Grasps, HandReach, grasp_handles, least_clearance

Array = NDArray[np.float64]
Place = tuple[float, ...]
"""Numbers that say where the robot is; what they mean is the caller's."""

_STRICTNESS = 0.2
"""Share of the tolerances that the search uses, so that what follows it has the rest."""
_JUMP = 0.15
_SAMPLES = 200
"""Most a joint may move (rad) in one of so many steps along the path: more is a change of branch."""
_CLOSING = 0.02
_MARGIN_STEP = 0.004
_RANDOM_RESTS = 6
_WALKERS = 4
_FINEST = 0.1
"""Where the steps of the search end, as a share of the first ones."""
_COARSE, _FINE = 11, 31


@dataclass(frozen=True)
class Wanted:
    """What is asked of a path.

    Parameters
    ----------
    off, turned : float
        How far a palm may be from its place, m and rad.
    least_margin : float
        Joint-limit margin below which a path is not feasible, rad.
    ample_margin : float
        Beyond which more is not better, rad.
    """

    off: float = 1e-3
    turned: float = float(np.radians(0.5))
    least_margin: float = 0.03
    ample_margin: float = 0.5


@dataclass(frozen=True)
class Rest:
    """From where, and near what, postures are looked for.

    Parameters
    ----------
    box : int
        Which of the elbows' ways to bend.
    joints : (n,) array
        rad.
    """

    box: int
    joints: Array


@dataclass(frozen=True)
class Candidate:
    """What is known of a place.

    Parameters
    ----------
    place : tuple of float
    margin : float
        Joint-limit margin, rad; negative if the path cannot be followed.
    grasps : Grasps
    rest : Rest
    clearance : float
        Least distance between the robot's links, m; infinite where none come near each other.
    price : float
        What the place costs, rad of margin.
    """

    place: Place
    margin: float
    grasps: Grasps
    rest: Rest
    clearance: float
    price: float = 0.0

    @property
    def score(self) -> float:
        """The margin less the price, rad; where the path cannot be followed, -1 less what is missing."""
        if self.margin >= 0.0:
            return self.margin - self.price
        off, turned = (np.sqrt(np.mean(values**2)) for values in (self.grasps.off, self.grasps.turned))
        return float(-1.0 - off - 0.1 * turned + min(self.clearance, 0.0))


def followed(grasps: Grasps, points: Array, wanted: Wanted, strictness: float = 1.0) -> bool:
    """Whether all palms are where they should be, on one branch, and a closed path closes.

    Parameters
    ----------
    grasps : Grasps
    points : (K, P, 3) array
        The path, m.
    wanted : Wanted
    strictness : float
        Share of its tolerances that may be used.

    Returns
    -------
    bool
    """
    if grasps.off.max() > strictness * wanted.off or grasps.turned.max() > strictness * wanted.turned:
        return False
    joints = grasps.joints
    jump = min(_JUMP * max(1.0, _SAMPLES / max(len(points) - 1, 1)), 1.0)
    if len(points) > 1 and np.abs(np.diff(joints, axis=0)).max() > jump:
        return False
    closed = np.abs(points[0] - points[-1]).max() < 1e-6
    return not closed or bool(np.abs(joints[0] - joints[-1]).max() < _CLOSING)


def judge_place(
    reach: HandReach,
    place: Place,
    points: Array,
    rests: Sequence[Rest],
    wanted: Wanted,
    *,
    strictness: float = _STRICTNESS,
    beat: float = 0.0,
) -> Candidate:
    """Find the posture path at a place that keeps the largest margin.

    Parameters
    ----------
    reach : HandReach
    place : tuple of float
    points : (K, P, 3) array
        `handle_points` in the axes of the robot's root, m.
    rests : sequence of Rest
    wanted : Wanted
    strictness : float
        Share of the tolerances that may be used.
    beat : float
        Margins below this, rad, are of no interest.

    Returns
    -------
    Candidate
    """
    best: Candidate | None = None
    for rest in rests:
        enough = beat if best is None else max(beat, best.margin + _MARGIN_STEP)
        margin = max(wanted.least_margin, enough)
        candidate = _at_margin(
            reach, place, points, rest, wanted, margin, strictness, measure=enough < wanted.least_margin
        )
        if candidate.margin >= 0.0:
            candidate = _widest(reach, points, candidate, wanted, strictness)
        if best is None or candidate.score > best.score:
            best = candidate
        if best.margin >= wanted.ample_margin:
            break
    assert best is not None
    return best


def judge_path(reach: HandReach, points: Array, wanted: Wanted, likely: Rest | None = None) -> Candidate:
    """Find the posture path that keeps the largest margin in all poses, where the robot is.

    Parameters
    ----------
    reach : HandReach
    points : (K, P, 3) array
        `handle_points` in the axes of the robot's root, m.
    wanted : Wanted
    likely : Rest, optional
        If it serves, no other is tried.

    Returns
    -------
    Candidate
    """
    if likely is not None:
        found = judge_place(reach, (), points, [likely], wanted, strictness=1.0)
        if found.margin >= 0.0:
            return found
    rests = all_rests(reach)
    few = points[_samples(len(points), _FINE)]
    first = judge_place(reach, (), few, rests, wanted, strictness=1.0)
    found = judge_place(reach, (), points, [first.rest], wanted, strictness=1.0)
    if first.margin < 0.0 or found.margin >= 0.0:
        return found
    return judge_place(reach, (), points, rests, wanted, strictness=1.0)


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
    few, middles, rests = _samples(len(whole), _COARSE), middle_rests(reach), all_rests(reach)
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


def middle_rests(reach: HandReach) -> list[Rest]:
    """Take the middles of the boxes."""
    return [Rest(number, box.mean(axis=0)) for number, box in enumerate(reach.boxes)]


def all_rests(reach: HandReach) -> list[Rest]:
    """Take the middles of the boxes, and random postures in them."""
    random = np.random.default_rng(0)
    return middle_rests(reach) + [
        Rest(number, random.uniform(box[0], box[1]))
        for _ in range(_RANDOM_RESTS // len(reach.boxes) + 1)
        for number, box in enumerate(reach.boxes)
    ]


def _samples(count: int, wanted: int) -> NDArray[np.int64]:
    """Choose indices of some poses of a path, its ends among them."""
    return np.unique(np.linspace(0, count - 1, wanted).astype(np.int64))


def _at_margin(
    reach: HandReach,
    place: Place,
    points: Array,
    rest: Rest,
    wanted: Wanted,
    margin: float,
    strictness: float,
    *,
    measure: bool = False,
) -> Candidate:
    """Follow a path inside the limits with a margin; the candidate's is negative where that fails.

    How far it fails is only of interest to `measure`; else it is left where it does.
    """
    box = reach.boxes[rest.box]
    low = np.maximum(box[0], reach.limits[0] + margin)
    high = np.minimum(box[1], reach.limits[1] - margin)
    inside = np.stack([np.minimum(low, high), high])
    tolerance = (np.inf, np.inf) if measure else (strictness * wanted.off, strictness * wanted.turned)
    grasps = grasp_handles(reach, points, rest.joints, inside, tolerance=tolerance)
    if not followed(grasps, points, wanted, strictness):
        return Candidate(place, -1.0, grasps, rest, np.inf)
    clearance = least_clearance(reach, grasps.joints)
    return Candidate(place, margin if clearance >= 0.0 else -1.0, grasps, rest, clearance)


def _widest(
    reach: HandReach, points: Array, found: Candidate, wanted: Wanted, strictness: float
) -> Candidate:
    """Enlarge the margin of a path by bisection."""
    best, box = found, reach.boxes[found.rest.box]
    high = min(wanted.ample_margin, 0.5 * float((box[1] - box[0]).min()))
    first = _at_margin(reach, best.place, points, best.rest, wanted, high, strictness)
    if first.margin >= 0.0:
        return first
    while high - best.margin > _MARGIN_STEP:
        middle = 0.5 * (best.margin + high)
        other = _at_margin(reach, best.place, points, best.rest, wanted, middle, strictness)
        if other.margin >= 0.0:
            best = other
        else:
            high = middle
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
    for samples in (_samples(count, _COARSE), _samples(count, _FINE)):
        points = in_root_axes(walker.place)[samples]
        walker = judge_place(reach, walker.place, points, [walker.rest, *rests], wanted)
        walker = replace(walker, price=price(walker.place))
        length = min(1.0, 4.0 * length)
        while length > _FINEST and walker.margin < wanted.ample_margin:
            moved = walker
            for place in _neighbours(walker.place, steps, length, low, high):
                beat = max(moved.score + price(place) + 0.5 * _MARGIN_STEP, 0.0)
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
