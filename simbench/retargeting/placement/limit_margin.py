"""How far from all joint limits a path of the hands is followed, from where the robot is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.retargeting.placement.path_ik import Grasps, grasp_handles, step_towards
from simbench.retargeting.placement.reach_model import ReachabilityModel, least_clearance

Place = tuple[float, ...]
"""Numbers that say where the robot is; what they mean is the caller's."""

COARSE, FINE = 11, 31
"""Poses of a path that are looked at first, and then."""
MARGIN_STEP = 0.004
"""How exactly the largest margin is found, rad."""
STRICTNESS = 0.2
"""Share of the tolerances that the search uses, so that what follows it has the rest."""
_JUMP = 0.15
_SAMPLES = 200
"""A joint that moves more (rad) in one of so many steps along the path may have changed its branch."""
_PARTS, _PART_SHARE = 16, 0.3
"""Then the step is taken in so many parts: none of them is more than this share of it on one branch."""
_CLOSING = 0.02
_RANDOM_RESTS = 6


@dataclass(frozen=True)
class ReachTolerances:
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
class NominalPosture:
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
    rest : NominalPosture
    clearance : float
        Least distance between the robot's links, m; infinite where none come near each other.
    """

    place: Place
    margin: float
    grasps: Grasps
    rest: NominalPosture
    clearance: float

    @property
    def score(self) -> float:
        """The margin, rad; where the path cannot be followed, -1 less what is missing."""
        if self.margin >= 0.0:
            return self.margin
        off, turned = (np.sqrt(np.mean(values**2)) for values in (self.grasps.off, self.grasps.turned))
        return float(-1.0 - off - 0.1 * turned + min(self.clearance, 0.0))


def is_path_feasible(
    reach: ReachabilityModel,
    grasps: Grasps,
    points: Array,
    rest: Array,
    box: Array,
    wanted: ReachTolerances,
    strictness: float = 1.0,
) -> bool:
    """Whether all palms are where they should be, on one branch, and a closed path closes.

    Parameters
    ----------
    reach : ReachabilityModel
    grasps : Grasps
    points : (K, P, 3) array
        The path, m.
    rest : (n,) array
        Near what the joints stay, rad.
    box : (2, n) array
        Least and greatest positions of the joints, rad.
    wanted : ReachTolerances
    strictness : float
        Share of its tolerances that may be used.

    Returns
    -------
    bool
    """
    if grasps.off.max() > strictness * wanted.off or grasps.turned.max() > strictness * wanted.turned:
        return False
    joints = grasps.joints
    steps = np.abs(np.diff(joints, axis=0)).max(axis=1, initial=0.0)
    far = min(_JUMP * max(1.0, _SAMPLES / max(len(points) - 1, 1)), 1.0)
    for pose in np.flatnonzero(steps > far):
        pair = slice(pose, pose + 2)
        if not _leads_on(reach, points[pair], joints[pair], rest, box):
            return False
    closed = np.abs(points[0] - points[-1]).max() < 1e-6
    return not closed or bool(np.abs(joints[0] - joints[-1]).max() < _CLOSING)


def _leads_on(reach: ReachabilityModel, points: Array, joints: Array, rest: Array, box: Array) -> bool:
    """Whether small steps lead from one posture (2, n) to the next: arms that race, but do not jump."""
    share = np.linspace(0.0, 1.0, _PARTS + 1)[1:, None, None]
    far = float(np.abs(joints[1] - joints[0]).max())
    now = joints[0].copy()
    for between in points[0] + share * (points[1] - points[0]):
        before = now.copy()
        step_towards(reach, between, rest, box, now)
        if np.abs(now - before).max() > _PART_SHARE * far:
            return False
    return float(np.abs(now - joints[1]).max()) < _PART_SHARE * far


def evaluate_base_pose(
    reach: ReachabilityModel,
    place: Place,
    points: Array,
    rests: Sequence[NominalPosture],
    wanted: ReachTolerances,
    *,
    strictness: float = STRICTNESS,
) -> Candidate:
    """Find the posture path at a place that keeps the largest margin.

    Parameters
    ----------
    reach : ReachabilityModel
    place : tuple of float
    points : (K, P, 3) array
        `handle_points` in the axes of the robot's root, m.
    rests : sequence of NominalPosture
    wanted : ReachTolerances
    strictness : float
        Share of the tolerances that may be used.

    Returns
    -------
    Candidate
    """
    best: Candidate | None = None
    for rest in rests:
        enough = 0.0 if best is None else best.margin + MARGIN_STEP
        margin = max(wanted.least_margin, enough)
        candidate = solve_at_margin(
            reach, place, points, rest, wanted, margin, strictness, measure=enough < wanted.least_margin
        )
        if candidate.margin >= 0.0:
            candidate = _maximise_limit_margin(reach, points, candidate, wanted, strictness)
        if best is None or candidate.score > best.score:
            best = candidate
        if best.margin >= wanted.ample_margin:
            break
    assert best is not None
    return best


def evaluate_path(
    reach: ReachabilityModel, points: Array, wanted: ReachTolerances, likely: NominalPosture | None = None
) -> Candidate:
    """Find the posture path that keeps the largest margin in all poses, where the robot is.

    Parameters
    ----------
    reach : ReachabilityModel
    points : (K, P, 3) array
        `handle_points` in the axes of the robot's root, m.
    wanted : ReachTolerances
    likely : NominalPosture, optional
        If it serves, no other is tried.

    Returns
    -------
    Candidate
    """
    if likely is not None:
        found = evaluate_base_pose(reach, (), points, [likely], wanted, strictness=1.0)
        if found.margin >= 0.0:
            return found
    rests = nominal_postures(reach)
    few = points[sample_indices(len(points), FINE)]
    first = evaluate_base_pose(reach, (), few, rests, wanted, strictness=1.0)
    found = evaluate_base_pose(reach, (), points, [first.rest], wanted, strictness=1.0)
    if first.margin < 0.0 or found.margin >= 0.0:
        return found
    return evaluate_base_pose(reach, (), points, rests, wanted, strictness=1.0)


def mid_range_postures(reach: ReachabilityModel) -> list[NominalPosture]:
    """Take the middles of the boxes."""
    return [NominalPosture(number, box.mean(axis=0)) for number, box in enumerate(reach.boxes)]


def nominal_postures(reach: ReachabilityModel) -> list[NominalPosture]:
    """Take the middles of the boxes, and random postures in them."""
    random = np.random.default_rng(0)
    return mid_range_postures(reach) + [
        NominalPosture(number, random.uniform(box[0], box[1]))
        for _ in range(_RANDOM_RESTS // len(reach.boxes) + 1)
        for number, box in enumerate(reach.boxes)
    ]


def solve_at_margin(
    reach: ReachabilityModel,
    place: Place,
    points: Array,
    rest: NominalPosture,
    wanted: ReachTolerances,
    margin: float,
    strictness: float = STRICTNESS,
    *,
    measure: bool = False,
) -> Candidate:
    """Follow a path inside the limits with a margin.

    Parameters
    ----------
    reach : ReachabilityModel
    place : tuple of float
    points : (K, P, 3) array
        `handle_points` in the axes of the robot's root, m.
    rest : NominalPosture
    wanted : ReachTolerances
    margin : float
        rad.
    strictness : float
        Share of the tolerances that may be used.
    measure : bool
        Whether it matters how far a failure is off; else the path is left where it fails.

    Returns
    -------
    Candidate
        With a negative margin where that fails; only where links collide its clearance is negative.
    """
    inside = narrowed_box(reach, rest, margin)
    tolerance = (np.inf, np.inf) if measure else (strictness * wanted.off, strictness * wanted.turned)
    grasps = grasp_handles(reach, points, rest.joints, inside, tolerance=tolerance)
    if not is_path_feasible(reach, grasps, points, rest.joints, inside, wanted, strictness):
        return Candidate(place, -1.0, grasps, rest, np.inf)
    clearance = least_clearance(reach, grasps.joints)
    return Candidate(place, margin if clearance >= 0.0 else -1.0, grasps, rest, clearance)


def narrowed_box(reach: ReachabilityModel, rest: NominalPosture, margin: float) -> Array:
    """Joint limits (2, n), rad, with a margin, and the elbows bent as `rest` has them."""
    box = reach.boxes[rest.box]
    low = np.maximum(box[0], reach.limits[0] + margin)
    high = np.minimum(box[1], reach.limits[1] - margin)
    return np.stack([np.minimum(low, high), high])


def _maximise_limit_margin(
    reach: ReachabilityModel, points: Array, found: Candidate, wanted: ReachTolerances, strictness: float
) -> Candidate:
    """Enlarge the margin of a path by bisection."""
    best, box = found, reach.boxes[found.rest.box]
    high = min(wanted.ample_margin, 0.5 * float((box[1] - box[0]).min()))
    first = solve_at_margin(reach, best.place, points, best.rest, wanted, high, strictness)
    if first.margin >= 0.0:
        return first
    while high - best.margin > MARGIN_STEP:
        middle = 0.5 * (best.margin + high)
        other = solve_at_margin(reach, best.place, points, best.rest, wanted, middle, strictness)
        if other.margin >= 0.0:
            best = other
        else:
            high = middle
    return best


def sample_indices(count: int, wanted: int) -> NDArray[np.int64]:
    """Choose the indices of some poses of a path, its ends among them."""
    return np.unique(np.linspace(0, count - 1, wanted).astype(np.int64))
