"""Postures along a path of the hands, and the base pose where they stay farthest from all joint limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import least_squares

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.kinematics.tree import first_joint
from simbench.retargeting.collision.clearance import clearance_rows
from simbench.retargeting.placement.posture_ik import (
    STIFFNESS,
    HandPath,
    make_posture_range,
    optimise_base_pose,
    solve_path_ik,
    solve_posture_ik,
)
from simbench.retargeting.placement.reach_model import (
    ReachabilityModel,
    from_base,
    least_clearance,
    rotation_about_z,
    select_poses,
)

COARSE, FINE = 11, 31
"""Poses of a path that are looked at first, and then."""
_MARGIN_STEP = 0.004
"""How exactly the largest margin is found, rad."""
_STRICTNESS = 0.2
"""Fraction of the tolerances that the search uses, so that what follows it has the rest."""
_JOINT_ROUNDS, _BASE_ROUNDS = 12, 40
"""Most steps of the joints in a pose, and of a base pose."""
_JUMP, _SAMPLES = 0.15, 200
"""A joint that moves more (rad) in one of so many steps along the path may have changed its branch."""
_PARTS, _PART_FRACTION = 16, 0.3
"""Then the step is taken in so many parts: none of them is more than this fraction of it on one branch."""
_CLOSING = 0.02
"""Distance of a joint's positions at both ends of a closed path, rad, from which on they are not the same."""
_RANDOM_POSTURES = 6
_CLIMBERS = 4
"""Different candidates whose margin is enlarged."""
_FIRST_STEP = 0.05
"""Of the margin, rad."""
_DIFFERENT = 0.3
"""Distance of a joint's nominal positions, rad, from which on two candidates are different."""
_CLEARANCE = 0.002
"""Distance of links that is aimed at where they are separated, m."""
_MOST_PAIRS = 16
"""Pairs of links that are looked at in a pose then, the deepest."""


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
class Candidate:
    """A base pose and what is known of the path from there.

    Parameters
    ----------
    base : (6,) array
        Base parameters, as in `HandPath`.
    margin : float
        Joint-limit margin, rad; negative if the path cannot be followed.
    joints : (K, n) array
        Joint positions along the path, rad.
    errors : (2, K) array
        Distance of the palm that is farthest from its target, m, and angle of the palm that is rotated
        farthest from its target, rad.
    nominal : NominalPosture
        From where the postures were found.
    clearance : float
        Least distance between the robot's links, m; infinite where none come near each other.
    """

    base: Array
    margin: float
    joints: Array
    errors: Array
    nominal: NominalPosture
    clearance: float

    @property
    def score(self) -> float:
        """The margin, rad; where the path cannot be followed, -1 less what is missing."""
        if self.margin >= 0.0:
            return self.margin
        position, rotation = (np.sqrt(np.mean(values**2)) for values in self.errors)
        return float(-1.0 - position - 0.1 * rotation + min(self.clearance, 0.0))


def solve_posture_path(
    reach: ReachabilityModel,
    points: Array,
    nominal: Array,
    box: Array,
    tolerance: tuple[float, float] = (np.inf, np.inf),
) -> tuple[Array, Array]:
    """Bring the hands to their handles pose after pose; joints (K, n), rad, and errors as in `Candidate`.

    The points (K, P, 3), m, are those of `handle_path_points` in the axes of the robot's root where it does
    not sway. The first pose is looked for from the nominal joints (n,), rad, near which all stay as far as
    they can inside `box` (2, n). Beyond a tolerance of a palm's distance (m) and rotation (rad) the path need
    not be followed any further; the palms then count as infinitely far off.
    """
    joints, found = np.empty((len(points), len(nominal))), np.empty(points.shape)
    posture = make_posture_range(box, nominal, 1.0)
    give_up = tolerance[0] + ROTATION_WEIGHT * tolerance[1]
    solve_path_ik(reach.hands, np.ascontiguousarray(points), posture, _JOINT_ROUNDS, give_up, joints, found)
    if np.isinf(found).any():
        return joints, np.repeat([[np.inf], [np.pi]], len(points), axis=1)
    errors = np.zeros((2, len(points)))
    for side, columns in reach.columns.items():
        error = found[:, columns] - points[:, columns]
        errors[0] = np.maximum(errors[0], np.linalg.norm(error[:, 0], axis=1))
        chords = np.square(error[:, 1:] - error[:, :1]).sum(axis=(1, 2)) / ROTATION_WEIGHT**2
        # Three unit axes rotated by an angle a move by 8 sin²(a / 2) in sum of squares, a single one by 4.
        whole = 4.0 if reach.free[side] else 8.0
        errors[1] = np.maximum(errors[1], 2.0 * np.arcsin(np.sqrt(np.minimum(chords / whole, 1.0))))
    return joints, errors


def is_path_feasible(
    reach: ReachabilityModel,
    points: Array,
    joints: Array,
    errors: Array,
    nominal: Array,
    box: Array,
    tolerances: ReachTolerances,
    strictness: float = 1.0,
) -> bool:
    """Check that all palms are where they should be, on one branch, and that a closed path closes.

    Large joint steps are allowed if a finer interpolation stays continuous: small steps then lead from one
    posture to the next. Arguments as in `solve_posture_path` and its results; `strictness` is the fraction of
    the tolerances that may be used.
    """
    if errors[0].max() > strictness * tolerances.position:
        return False
    if errors[1].max() > strictness * tolerances.rotation:
        return False
    steps = np.abs(np.diff(joints, axis=0)).max(axis=1, initial=0.0)
    far = min(_JUMP * max(1.0, _SAMPLES / max(len(points) - 1, 1)), 1.0)
    posture = make_posture_range(box, nominal, STIFFNESS)
    fraction = np.linspace(0.0, 1.0, _PARTS + 1)[1:, None, None]
    for pose in np.flatnonzero(steps > far):
        now, most = joints[pose].copy(), _PART_FRACTION * steps[pose]
        for between in points[pose] + fraction * (points[pose + 1] - points[pose]):
            before = now.copy()
            solve_posture_ik(reach.hands, between, posture, now, _JOINT_ROUNDS)
            if np.abs(now - before).max() > most:
                return False
        if not np.abs(now - joints[pose + 1]).max() < most:
            return False
    closed = np.abs(points[0] - points[-1]).max() < 1e-6
    return not closed or bool(np.abs(joints[0] - joints[-1]).max() < _CLOSING)


def narrowed_box(reach: ReachabilityModel, nominal: NominalPosture, margin: float) -> Array:
    """Narrow the joint limits (2, n), rad, by a margin, rad, the elbows on their branch."""
    box = reach.boxes[nominal.box]
    low = np.maximum(box[0], reach.limits[0] + margin)
    high = np.minimum(box[1], reach.limits[1] - margin)
    return np.stack([np.minimum(low, high), high])


def nominal_postures(reach: ReachabilityModel) -> list[NominalPosture]:
    """Take the middles of the boxes, and random postures in them, the same in every run."""
    random, boxes = np.random.default_rng(0), list(enumerate(reach.boxes))
    middles = [NominalPosture(number, box.mean(axis=0)) for number, box in boxes]
    rounds = range(_RANDOM_POSTURES // len(boxes) + 1)
    return middles + [NominalPosture(k, random.uniform(box[0], box[1])) for _ in rounds for k, box in boxes]


def sample_indices(count: int, samples: int) -> NDArray[np.int64]:
    """Choose the indices of at most some of `count` poses in ascending order, the ends among them."""
    return np.unique(np.linspace(0, count - 1, samples).astype(np.int64))


def solve_at_margin(
    reach: ReachabilityModel,
    hand_path: HandPath,
    base: Array,
    nominal: NominalPosture,
    tolerances: ReachTolerances,
    margin: float,
    strictness: float = _STRICTNESS,
    *,
    measure: bool = False,
) -> Candidate:
    """Follow a path from a base pose inside the limits with a margin, rad, from a nominal posture on.

    `measure` says whether it matters how far a failure is off; else the path is left where it fails. Where
    following fails the margin is negative; only where links collide the clearance is.
    """
    points, box = from_base(base, hand_path), narrowed_box(reach, nominal, margin)
    tolerance = strictness * tolerances.position, strictness * tolerances.rotation
    solution = solve_posture_path(
        reach, points, nominal.joints, box, (np.inf, np.inf) if measure else tolerance
    )
    if not is_path_feasible(reach, points, *solution, nominal.joints, box, tolerances, strictness):
        return Candidate(base, -1.0, *solution, nominal, np.inf)
    clearance = least_clearance(reach, solution[0])
    return Candidate(base, margin if clearance >= 0.0 else -1.0, *solution, nominal, clearance)


def evaluate_base_pose(
    reach: ReachabilityModel,
    hand_path: HandPath,
    base: Array,
    nominals: Sequence[NominalPosture],
    tolerances: ReachTolerances,
    strictness: float = _STRICTNESS,
) -> Candidate:
    """Find the posture path from a base pose that keeps the largest margin, or misses the least.

    It is looked for from one nominal posture after the other; the margin is enlarged by bisection.
    """
    best: Candidate | None = None
    for nominal in nominals:
        enough = 0.0 if best is None else best.margin + _MARGIN_STEP
        margin, measure = max(tolerances.least_margin, enough), enough < tolerances.least_margin
        found = solve_at_margin(
            reach, hand_path, base, nominal, tolerances, margin, strictness, measure=measure
        )
        if found.margin >= 0.0:
            box = reach.boxes[nominal.box]
            trial = high = min(tolerances.ample_margin, 0.5 * float((box[1] - box[0]).min()))
            while True:
                other = solve_at_margin(reach, hand_path, base, nominal, tolerances, trial, strictness)
                found, high = (other, high) if other.margin >= 0.0 else (found, trial)
                if high - found.margin <= _MARGIN_STEP:
                    break
                trial = 0.5 * (found.margin + high)
        if best is None or found.score > best.score:
            best = found
        if best.margin >= tolerances.ample_margin:
            break
    assert best is not None
    return best


def search_base_pose(
    reach: ReachabilityModel,
    hand_path: HandPath,
    bounds: Array,
    tolerances: ReachTolerances,
    starts: Sequence[tuple[Array, NominalPosture]],
    progress: Callable[[int, int], None],
) -> Candidate:
    """Find the base pose with the largest margin, or that with the least missing, evaluated with all poses.

    From every start, base pose and postures at a few poses of the path go together to where the palms miss
    their handles the least. The best of the results then climb: limits are narrowed, base pose and postures
    follow, as long as the palms stay on their handles and the links out of each other. Starts are base
    parameters to begin with, inside `bounds` (2, 6), and from where postures are looked for; `progress`
    (done, total) is told after every start.
    """
    part = len(starts) // _CLIMBERS
    total, count, least = len(starts) + part * _CLIMBERS, len(hand_path.points), tolerances.least_margin
    few, more = (select_poses(hand_path, sample_indices(count, samples)) for samples in (COARSE, FINE))

    def optimise(path: HandPath, base: Array, nominal: NominalPosture, margin: float) -> Candidate:
        box, optimum = narrowed_box(reach, nominal, margin), np.clip(base, *bounds)
        joints, _ = solve_posture_path(reach, from_base(base, path), nominal.joints, box)
        posture = make_posture_range(box, nominal.joints, STIFFNESS)
        optimise_base_pose(reach.hands, path, posture, bounds, _BASE_ROUNDS, optimum, joints)
        near = NominalPosture(nominal.box, joints.mean(axis=0))
        return solve_at_margin(reach, path, optimum, near, tolerances, margin, measure=True)

    settled = []
    for number, (base, nominal) in enumerate(starts):
        settled.append(optimise(few, base, nominal, least))
        progress(number, total)
    different: list[Candidate] = []
    # Elbows on other branches, or joints elsewhere.
    for best in sorted(settled, key=lambda candidate: -candidate.score):
        distances = [np.abs(best.nominal.joints - other.nominal.joints).max() for other in different]
        if len(different) < _CLIMBERS and min(distances, default=np.inf) > _DIFFERENT:
            different.append(best)
    found = []
    for number, start in enumerate(different):
        margin, step = least, _FIRST_STEP
        best = optimise(more, start.base, start.nominal, margin)
        while step > _MARGIN_STEP and margin < tolerances.ample_margin:
            higher = min(margin + step, tolerances.ample_margin)
            other = optimise(more, best.base, best.nominal, higher)
            # Links that are inside each other may separate farther from the limits.
            if other.margin >= 0.0 or (best.clearance < 0.0 and other.clearance < 0.0):
                best, margin, step = other, higher, 1.5 * step
            else:
                step *= 0.5
        found.append(best)
        progress(len(starts) + part * (number + 1), total)
        if best.margin >= tolerances.ample_margin:
            break
    if max(climber.margin for climber in found) < 0.0:
        for climber in [each for each in found if each.clearance < 0.0]:
            box = narrowed_box(reach, climber.nominal, least)
            joints, _ = solve_posture_path(reach, from_base(climber.base, few), climber.nominal.joints, box)
            base, joints = separate_links(reach, few, climber.base, joints, box, bounds)
            near = NominalPosture(climber.nominal.box, joints.mean(axis=0))
            found.append(solve_at_margin(reach, more, base, near, tolerances, least, measure=True))
    whole: list[Candidate] = []
    for climber in sorted(found, key=lambda candidate: -candidate.score):
        nominals = [climber.nominal, *(nominal_postures(reach) if climber.margin < 0.0 else ())]
        whole.append(evaluate_base_pose(reach, hand_path, climber.base, nominals, tolerances))
        if whole[-1].margin >= 0.0:
            break
    return max(whole, key=lambda candidate: candidate.score)


def separate_links(
    reach: ReachabilityModel, hand_path: HandPath, base: Array, path: Array, box: Array, bounds: Array
) -> tuple[Array, Array]:
    """Find the base pose (6,) and the postures (K, n) where points and clearances together miss the least.

        min Σ_k Σ_p w_p² ‖p_k,p - p(q_k)‖² + Σ_k Σ_pairs max(0, 2 mm - d(q_k))²

    Unlike the placement's other problems it is solved by scipy's trust region: the base and the joints of all
    poses are unknowns together, as the links of one pose may have to be separated by moving the base. It
    begins with the given ones, inside `bounds` (2, 6) and `box` (2, n).
    """
    count, n = path.shape
    least = np.concatenate([bounds[0], np.tile(box[0], count)]) - 1e-9
    most = np.concatenate([bounds[1], np.tile(box[1], count)]) + 1e-9
    start = np.concatenate([base, path.ravel()]).clip(least + 1e-10, most - 1e-10)
    last: list[Array] = []

    def residuals(unknowns: Array) -> list[Array]:
        # Value and derivative are asked for one after the other.
        if not last or not np.array_equal(last[0], unknowns):
            last[:] = unknowns.copy(), *_residuals(reach, hand_path, unknowns.copy())
        return last

    solved = least_squares(
        lambda unknowns: residuals(unknowns)[1],
        start,
        lambda unknowns: residuals(unknowns)[2],
        bounds=(least, most),
        max_nfev=_BASE_ROUNDS,
    ).x
    return solved[:6].clip(*bounds), solved[6:].reshape(count, n).clip(*box)


def _residuals(reach: ReachabilityModel, hand_path: HandPath, unknowns: Array) -> tuple[Array, Array]:
    """Compute what is missing and its derivatives, the pairs' rows filled up with zeros."""
    model, data, hands, tasks = reach.model, reach.pairs.data, reach.hands, reach.hands.tasks
    base, joints = unknowns[:6], unknowns[6:].reshape(len(hand_path.points), -1)
    n, root, first = joints.shape[1], pin.neutral(model)[: reach.robot.root_q], first_joint(model) - 1
    targets, rotation = from_base(base, hand_path), rotation_about_z(base[3])
    # How the base parameters move the root, in its own axes.
    moves = np.zeros((3, 6))
    moves[:, :3] = rotation.T
    errors, slopes = [], []
    for pose, posture in enumerate(joints):
        q = np.concatenate([root, posture])
        columns = slice(6 + pose * n, 6 + (pose + 1) * n)
        x, y, z = hand_path.hands[pose]
        moves[:, 3] = rotation.T @ (base[5] * z * np.array([-np.sin(base[3]), np.cos(base[3]), 0.0]))
        moves[:, 4], moves[:, 5] = rotation.T @ (x, y, 0.0), (z, 0.0, 0.0)
        sway, sway_slope = np.zeros(3), np.zeros((3, n))
        com_jacobian = pin.jacobianCenterOfMass(model, data, q)[:2, -n:]
        sway[:2] = hands.gain * (data.com[0][:2] - hands.reference)
        sway_slope[:2] = hands.gain[:, None] * com_jacobian
        for target, body, point, weight in zip(
            targets[pose], tasks.point_body.tolist(), tasks.point, tasks.point_weight, strict=True
        ):
            axes, placed = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, data.oMi[first + body]
            jacobian = pin.getJointJacobian(model, data, first + body, axes)[:, -n:]
            arm = placed.rotation @ point
            slope = np.zeros((3, len(unknowns)))
            slope[:, columns] = jacobian[:3] - pin.skew(arm) @ jacobian[3:] - sway_slope
            slope[:, :6] = moves
            # The rotation of the root moves the targets in its axes, too.
            slope[:2, 3] += (-target[1], target[0])
            errors.append(weight * (placed.translation + arm - sway - target))
            slopes.append(weight * slope)
        away, missing = clearance_rows(reach.pairs, posture, _CLEARANCE, root)
        deepest = np.argsort(-missing)[:_MOST_PAIRS]
        rows, short = np.zeros((_MOST_PAIRS, len(unknowns))), np.zeros(_MOST_PAIRS)
        rows[: len(deepest), columns], short[: len(deepest)] = -away[deepest], missing[deepest]
        errors.append(short)
        slopes.append(rows)
    return np.concatenate(errors), np.vstack(slopes)
