"""Postures along a path of the hands, and how far from all joint limits they can stay."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.retargeting.placement.posture_ik import (
    STIFFNESS,
    make_posture_range,
    solve_path_ik,
    solve_posture_ik,
)
from simbench.retargeting.placement.reach_model import ReachabilityModel, least_clearance

BaseParameters = tuple[float, ...]
"""Numbers that say where the robot is; what they mean is the caller's."""

COARSE, FINE = 11, 31
"""Poses of a path that are looked at first, and then."""
MARGIN_STEP = 0.004
"""How exactly the largest margin is found, rad."""
STRICTNESS = 0.2
"""Fraction of the tolerances that the search uses, so that what follows it has the rest."""
_ROUNDS = 12
"""Most steps of the joints in a pose."""
_JUMP = 0.15
_SAMPLES = 200
"""A joint that moves more (rad) in one of so many steps along the path may have changed its branch."""
_PARTS, _PART_FRACTION = 16, 0.3
"""Then the step is taken in so many parts: none of them is more than this fraction of it on one branch."""
_CLOSING = 0.02
"""Distance of a joint's positions at both ends of a closed path, rad, from which on they are not the same."""
_RANDOM_POSTURES = 6


@dataclass(frozen=True)
class ReachTolerances:
    """What is asked of a path.

    Parameters
    ----------
    position : float
        How far a palm may be from its target, m.
    rotation : float
        How far a palm may be rotated from its target, rad.
    least_margin : float
        Joint-limit margin below which a path is not feasible, rad.
    ample_margin : float
        Joint-limit margin beyond which more is not better, rad.
    """

    position: float = 1e-3
    rotation: float = float(np.radians(0.5))
    least_margin: float = 0.03
    ample_margin: float = 0.5


@dataclass(frozen=True)
class NominalPosture:
    """Posture from which, and near which, the postures of a path are looked for.

    Parameters
    ----------
    box : int
        Index of the elbows' branch in `ReachabilityModel.boxes`.
    joints : (n,) array
        Joint positions, rad.
    """

    box: int
    joints: Array


@dataclass(frozen=True)
class PosturePath:
    """Postures along a path of the hands, and what the palms miss.

    Parameters
    ----------
    joints : (K, n) array
        Joint positions, rad.
    position_error : (K,) array
        Distance of the palm that is farthest from its target, m.
    rotation_error : (K,) array
        Angle of the palm that is rotated farthest from its target, rad.
    """

    joints: Array
    position_error: Array
    rotation_error: Array


@dataclass(frozen=True)
class Candidate:
    """A base pose and what is known of the path from there.

    Parameters
    ----------
    base : tuple of float
        Base pose of the robot.
    margin : float
        Joint-limit margin, rad; negative if the path cannot be followed.
    solution : PosturePath
        Postures along the path.
    nominal : NominalPosture
        From where they were found.
    clearance : float
        Least distance between the robot's links, m; infinite where none come near each other.
    """

    base: BaseParameters
    margin: float
    solution: PosturePath
    nominal: NominalPosture
    clearance: float

    @property
    def score(self) -> float:
        """The margin, rad; where the path cannot be followed, -1 less what is missing."""
        if self.margin >= 0.0:
            return self.margin
        errors = (self.solution.position_error, self.solution.rotation_error)
        position, rotation = (np.sqrt(np.mean(values**2)) for values in errors)
        return float(-1.0 - position - 0.1 * rotation + min(self.clearance, 0.0))


def solve_posture_path(
    reach: ReachabilityModel,
    points: Array,
    nominal: Array,
    box: Array,
    *,
    tolerance: tuple[float, float] = (np.inf, np.inf),
) -> PosturePath:
    """Bring the hands to their handles pose after pose.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    points : (K, P, 3) array
        From `handle_path_points`, in the axes of the robot's root where it does not sway, m.
    nominal : (n,) array
        Joints from which the first pose is looked for, and near which all stay as far as they can, rad.
    box : (2, n) array
        Least and greatest positions of the joints, rad.
    tolerance : (float, float)
        Distance (m) and rotation (rad) of a palm from its target beyond which the path need not be followed
        any further; the palms then count as infinitely far off.

    Returns
    -------
    PosturePath
        Postures, and the errors that are left.
    """
    joints, found = np.empty((len(points), len(nominal))), np.empty(points.shape)
    posture = make_posture_range(np.ascontiguousarray(box), np.ascontiguousarray(nominal), 1.0)
    give_up = tolerance[0] + ROTATION_WEIGHT * tolerance[1]
    solve_path_ik(reach.hands, np.ascontiguousarray(points), posture, _ROUNDS, give_up, joints, found)
    position, rotation = np.zeros(len(points)), np.zeros(len(points))
    for side, columns in reach.columns.items():
        error = found[:, columns] - points[:, columns]
        if np.isinf(error).any():
            return PosturePath(joints, np.full(len(points), np.inf), np.full(len(points), np.pi))
        position = np.maximum(position, np.linalg.norm(error[:, 0], axis=1))
        chords = np.square(error[:, 1:] - error[:, :1]).sum(axis=(1, 2)) / ROTATION_WEIGHT**2
        # Three unit axes rotated by an angle a move by 8 sin²(a / 2) in sum of squares, a single one by 4.
        whole = 4.0 if reach.free[side] else 8.0
        rotation = np.maximum(rotation, 2.0 * np.arcsin(np.sqrt(np.minimum(chords / whole, 1.0))))
    return PosturePath(joints, position, rotation)


def is_path_feasible(
    reach: ReachabilityModel,
    solution: PosturePath,
    points: Array,
    nominal: Array,
    box: Array,
    tolerances: ReachTolerances,
    strictness: float = 1.0,
) -> bool:
    """Check that all palms are where they should be, on one branch, and that a closed path closes.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    solution : PosturePath
        Postures along the path.
    points : (K, P, 3) array
        Targets along the path, in the axes of the robot's root where it does not sway, m.
    nominal : (n,) array
        Joint positions near which the postures stay, rad.
    box : (2, n) array
        Least and greatest positions of the joints, rad.
    tolerances : ReachTolerances
        How far the palms may be off.
    strictness : float
        Fraction of the tolerances that may be used.

    Returns
    -------
    bool
        True if the path can be followed.
    """
    if solution.position_error.max() > strictness * tolerances.position:
        return False
    if solution.rotation_error.max() > strictness * tolerances.rotation:
        return False
    joints = solution.joints
    steps = np.abs(np.diff(joints, axis=0)).max(axis=1, initial=0.0)
    far = min(_JUMP * max(1.0, _SAMPLES / max(len(points) - 1, 1)), 1.0)
    for pose in np.flatnonzero(steps > far):
        pair = slice(pose, pose + 2)
        if not _is_continuous(reach, points[pair], joints[pair], nominal, box):
            return False
    closed = np.abs(points[0] - points[-1]).max() < 1e-6
    return not closed or bool(np.abs(joints[0] - joints[-1]).max() < _CLOSING)


def _is_continuous(
    reach: ReachabilityModel, points: Array, joints: Array, nominal: Array, box: Array
) -> bool:
    """Check that small steps lead from one posture (2, n) to the next.

    Large joint steps are allowed if a finer interpolation stays continuous.
    """
    fraction = np.linspace(0.0, 1.0, _PARTS + 1)[1:, None, None]
    far = float(np.abs(joints[1] - joints[0]).max())
    posture = make_posture_range(np.ascontiguousarray(box), nominal, STIFFNESS)
    now = joints[0].copy()
    for between in points[0] + fraction * (points[1] - points[0]):
        before = now.copy()
        solve_posture_ik(reach.hands, between, posture, now, _ROUNDS)
        if np.abs(now - before).max() > _PART_FRACTION * far:
            return False
    return float(np.abs(now - joints[1]).max()) < _PART_FRACTION * far


def evaluate_base_pose(
    reach: ReachabilityModel,
    base: BaseParameters,
    points: Array,
    nominals: Sequence[NominalPosture],
    tolerances: ReachTolerances,
    *,
    strictness: float = STRICTNESS,
) -> Candidate:
    """Find the posture path from a base pose that keeps the largest margin.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    base : tuple of float
        Base pose of the robot; only passed on to the result.
    points : (K, P, 3) array
        From `handle_path_points`, in the axes of the robot's root where it does not sway, m.
    nominals : sequence of NominalPosture
        Postures from which to look, one after the other.
    tolerances : ReachTolerances
        Largest palm errors that are accepted, and the margin at which the search ends.
    strictness : float
        Fraction of the tolerances that may be used.

    Returns
    -------
    Candidate
        With the largest margin, or the least missing.
    """
    best: Candidate | None = None
    for nominal in nominals:
        enough = 0.0 if best is None else best.margin + MARGIN_STEP
        margin = max(tolerances.least_margin, enough)
        measure = enough < tolerances.least_margin
        candidate = solve_at_margin(
            reach, base, points, nominal, tolerances, margin, strictness, measure=measure
        )
        if candidate.margin >= 0.0:
            candidate = _maximise_limit_margin(reach, points, candidate, tolerances, strictness)
        if best is None or candidate.score > best.score:
            best = candidate
        if best.margin >= tolerances.ample_margin:
            break
    assert best is not None
    return best


def evaluate_path(
    reach: ReachabilityModel,
    points: Array,
    tolerances: ReachTolerances,
    likely: NominalPosture | None = None,
) -> Candidate:
    """Find the posture path that keeps the largest margin in all poses, where the robot is.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    points : (K, P, 3) array
        From `handle_path_points`, in the axes of the robot's root where it does not sway, m.
    tolerances : ReachTolerances
        Largest palm errors that are accepted, and the margin at which the search ends.
    likely : NominalPosture, optional
        Posture from which to look first; if it serves, no other is tried.

    Returns
    -------
    Candidate
        Without base parameters; with the largest margin, or the least missing.
    """
    if likely is not None:
        found = evaluate_base_pose(reach, (), points, [likely], tolerances, strictness=1.0)
        if found.margin >= 0.0:
            return found
    nominals = nominal_postures(reach)
    few = points[sample_indices(len(points), FINE)]
    first = evaluate_base_pose(reach, (), few, nominals, tolerances, strictness=1.0)
    found = evaluate_base_pose(reach, (), points, [first.nominal], tolerances, strictness=1.0)
    if first.margin < 0.0 or found.margin >= 0.0:
        return found
    return evaluate_base_pose(reach, (), points, nominals, tolerances, strictness=1.0)


def nominal_postures(reach: ReachabilityModel) -> list[NominalPosture]:
    """Take the middles of the boxes of `ReachabilityModel`, and random postures in them.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.

    Returns
    -------
    list of NominalPosture
        The same in every run.
    """
    random = np.random.default_rng(0)
    middles = [NominalPosture(number, box.mean(axis=0)) for number, box in enumerate(reach.boxes)]
    return middles + [
        NominalPosture(number, random.uniform(box[0], box[1]))
        for _ in range(_RANDOM_POSTURES // len(reach.boxes) + 1)
        for number, box in enumerate(reach.boxes)
    ]


def solve_at_margin(
    reach: ReachabilityModel,
    base: BaseParameters,
    points: Array,
    nominal: NominalPosture,
    tolerances: ReachTolerances,
    margin: float,
    strictness: float = STRICTNESS,
    *,
    measure: bool = False,
) -> Candidate:
    """Follow a path inside the limits with a margin.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    base : tuple of float
        Base pose of the robot; only passed on to the result.
    points : (K, P, 3) array
        From `handle_path_points`, in the axes of the robot's root where it does not sway, m.
    nominal : NominalPosture
        Posture from which to look.
    tolerances : ReachTolerances
        Largest palm errors that are accepted, and the margin at which the search ends.
    margin : float
        Kept from the joint limits, rad.
    strictness : float
        Fraction of the tolerances that may be used.
    measure : bool
        Whether it matters how far a failure is off; else the path is left where it fails.

    Returns
    -------
    Candidate
        With a negative margin where that fails; only where links collide its clearance is negative.
    """
    box = narrowed_box(reach, nominal, margin)
    tolerance = (np.inf, np.inf)
    if not measure:
        tolerance = (strictness * tolerances.position, strictness * tolerances.rotation)
    solution = solve_posture_path(reach, points, nominal.joints, box, tolerance=tolerance)
    if not is_path_feasible(reach, solution, points, nominal.joints, box, tolerances, strictness):
        return Candidate(base, -1.0, solution, nominal, np.inf)
    clearance = least_clearance(reach, solution.joints)
    return Candidate(base, margin if clearance >= 0.0 else -1.0, solution, nominal, clearance)


def narrowed_box(reach: ReachabilityModel, nominal: NominalPosture, margin: float) -> Array:
    """Narrow the joint limits by a margin, the elbows on their branch.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    nominal : NominalPosture
        Says on which branch the elbows are.
    margin : float
        Kept from the joint limits, rad.

    Returns
    -------
    (2, n) array
        Least and greatest positions of the joints, rad.
    """
    box = reach.boxes[nominal.box]
    low = np.maximum(box[0], reach.limits[0] + margin)
    high = np.minimum(box[1], reach.limits[1] - margin)
    return np.stack([np.minimum(low, high), high])


def _maximise_limit_margin(
    reach: ReachabilityModel, points: Array, found: Candidate, tolerances: ReachTolerances, strictness: float
) -> Candidate:
    """Enlarge the margin of a path by bisection."""
    best, box = found, reach.boxes[found.nominal.box]
    high = min(tolerances.ample_margin, 0.5 * float((box[1] - box[0]).min()))
    first = solve_at_margin(reach, best.base, points, best.nominal, tolerances, high, strictness)
    if first.margin >= 0.0:
        return first
    while high - best.margin > MARGIN_STEP:
        middle = 0.5 * (best.margin + high)
        other = solve_at_margin(reach, best.base, points, best.nominal, tolerances, middle, strictness)
        if other.margin >= 0.0:
            best = other
        else:
            high = middle
    return best


def sample_indices(count: int, samples: int) -> NDArray[np.int64]:
    """Choose the indices of some poses of a path, its ends among them.

    Parameters
    ----------
    count : int
        Number of poses of the path.
    samples : int
        Number of poses to choose, at most.

    Returns
    -------
    (S,) int array
        Indices in ascending order.
    """
    return np.unique(np.linspace(0, count - 1, samples).astype(np.int64))
