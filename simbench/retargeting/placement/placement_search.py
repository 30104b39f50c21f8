"""Search of the base pose from which a path of the hands is followed farthest from all joint limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.retargeting.placement.base_gauss_newton import BaseRange, optimise_base_pose
from simbench.retargeting.placement.hand_path import HandPath, from_base, select_poses
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
    solve_posture_path,
)
from simbench.retargeting.placement.posture_ik import STIFFNESS, make_posture_range
from simbench.retargeting.placement.reach_model import ReachabilityModel
from simbench.retargeting.placement.separation import separate_links

_CLIMBERS = 4
"""Different candidates whose margin is enlarged."""
_FIRST_STEP = 0.05
"""Of the margin, rad."""
_ROUNDS = 40
"""Most steps of a base pose."""
_DIFFERENT = 0.3
"""Distance of a joint's nominal positions, rad, from which on two candidates are different."""


@dataclass(frozen=True)
class PlacementProblem:
    """What a base pose is searched for.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    hand_path : HandPath
        Target positions of the palms.
    base_range : BaseRange
        Bounds of the base pose.
    tolerances : ReachTolerances
        Largest palm errors that are accepted, and the margin at which the search ends.
    """

    reach: ReachabilityModel
    hand_path: HandPath
    base_range: BaseRange
    tolerances: ReachTolerances


def search_base_pose(
    problem: PlacementProblem,
    starts: Sequence[tuple[Sequence[float], NominalPosture]],
    progress: Callable[[int, int], None],
) -> Candidate:
    """Find the base pose with the largest margin, or that with the least missing.

    From every start, base pose and postures at a few poses of the path go together to where the palms miss
    their handles the least. The best of the results then climb: limits are narrowed, base pose and postures
    follow, as long as the palms stay on their handles and the links out of each other.

    Parameters
    ----------
    problem : PlacementProblem
        Robot, path of the hands, and where the root may be.
    starts : sequence of (sequence of float, NominalPosture)
        Base parameters to begin with; and from where postures are looked for.
    progress : callable (done, total)
        Told after every start.

    Returns
    -------
    Candidate
        With all poses of the path, and the six base parameters.
    """
    part = len(starts) // _CLIMBERS
    total = len(starts) + part * _CLIMBERS
    few, more = (
        select_poses(problem.hand_path, sample_indices(len(problem.hand_path.points), count))
        for count in (COARSE, FINE)
    )
    tolerances = problem.tolerances
    settled = []
    for number, (base, nominal) in enumerate(starts):
        settled.append(_optimise(problem, few, base, nominal, tolerances.least_margin))
        progress(number, total)
    settled.sort(key=lambda candidate: -candidate.score)
    found = []
    for number, start in enumerate(_different(settled)):
        found.append(_climb(problem, more, start))
        progress(len(starts) + part * (number + 1), total)
        if found[-1].margin >= tolerances.ample_margin:
            break
    if max(climber.margin for climber in found) < 0.0:
        found += [_separate(problem, few, more, climber) for climber in found if climber.clearance < 0.0]
    found.sort(key=lambda candidate: -candidate.score)
    return _evaluate_all_poses(problem, found)


def _evaluate_all_poses(problem: PlacementProblem, found: Sequence[Candidate]) -> Candidate:
    """Evaluate candidates, the best first, with all poses of the path until one can follow it."""
    reach = problem.reach
    best: Candidate | None = None
    for climber in found:
        nominals = [climber.nominal]
        if climber.margin < 0.0:
            nominals += nominal_postures(reach)
        points = from_base(climber.base, problem.hand_path)
        final = evaluate_base_pose(reach, climber.base, points, nominals, problem.tolerances)
        if best is None or final.score > best.score:
            best = final
        if best.margin >= 0.0:
            break
    assert best is not None
    return best


def _optimise(
    problem: PlacementProblem,
    hand_path: HandPath,
    base: Sequence[float],
    nominal: NominalPosture,
    margin: float,
) -> Candidate:
    """Let base pose and postures go to where the least is missing with a margin."""
    reach, base_range = problem.reach, problem.base_range
    box = narrowed_box(reach, nominal, margin)
    path = solve_posture_path(reach, from_base(base, hand_path), nominal.joints, box).joints
    optimum = np.clip(np.array(base), base_range.low, base_range.high)
    posture = make_posture_range(box, nominal.joints, STIFFNESS)
    optimise_base_pose(reach.hands, hand_path, posture, base_range, _ROUNDS, optimum, path)
    return _evaluate(problem, hand_path, optimum, path, nominal.box, margin)


def _separate(problem: PlacementProblem, few: HandPath, more: HandPath, start: Candidate) -> Candidate:
    """Separate the links of a candidate that are inside each other."""
    reach, margin = problem.reach, problem.tolerances.least_margin
    box = narrowed_box(reach, start.nominal, margin)
    near = solve_posture_path(reach, from_base(start.base, few), start.nominal.joints, box).joints
    base, path = separate_links(reach, few, np.array(start.base), near, box, problem.base_range)
    return _evaluate(problem, more, base, path, start.nominal.box, margin)


def _evaluate(
    problem: PlacementProblem, hand_path: HandPath, base: Array, path: Array, box: int, margin: float
) -> Candidate:
    """Follow a path from a base pose, the mean of given postures (K, n) being the nominal one."""
    nominal, parameters = NominalPosture(box, path.mean(axis=0)), tuple(base.tolist())
    points = from_base(parameters, hand_path)
    return solve_at_margin(
        problem.reach, parameters, points, nominal, problem.tolerances, margin, measure=True
    )


def _climb(problem: PlacementProblem, hand_path: HandPath, start: Candidate) -> Candidate:
    """Narrow the limits as far as base pose and postures can follow."""
    tolerances = problem.tolerances
    margin, step = tolerances.least_margin, _FIRST_STEP
    best = _optimise(problem, hand_path, start.base, start.nominal, margin)
    while step > MARGIN_STEP and margin < tolerances.ample_margin:
        higher = min(margin + step, tolerances.ample_margin)
        other = _optimise(problem, hand_path, best.base, best.nominal, higher)
        # Links that are inside each other may separate farther from the limits.
        if other.margin >= 0.0 or (best.clearance < 0.0 and other.clearance < 0.0):
            best, margin, step = other, higher, 1.5 * step
        else:
            step *= 0.5
    return best


def _different(settled: Sequence[Candidate]) -> list[Candidate]:
    """Choose the best few whose elbows are on other branches or whose joints are elsewhere."""
    chosen: list[Candidate] = []
    for candidate in settled:
        distances = [np.abs(candidate.nominal.joints - other.nominal.joints).max() for other in chosen]
        if min(distances, default=np.inf) > _DIFFERENT:
            chosen.append(candidate)
        if len(chosen) == _CLIMBERS:
            break
    return chosen
