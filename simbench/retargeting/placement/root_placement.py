"""Postures along a path of the hands, and the root's pose where they stay farthest from all joint limits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.motion.human_motion import HandlePath
from simbench.retargeting.placement import posture_ik, reach_model

# Poses of a path that are looked at first, and then.
COARSE, FINE = 11, 31
# How exactly the largest margin is found, rad.
_MARGIN_STEP = 0.004
# Fraction of the tolerances that the search uses, so that what follows it has the rest.
_STRICTNESS = 0.2
# Most steps of the joints in a pose, and of a base pose.
_JOINT_ROUNDS, _BASE_ROUNDS = 12, 40
# A joint that moves more (rad) in one of so many steps along the path may have changed its branch.
_JUMP, _SAMPLES = 0.15, 200
# Then the step is taken in so many parts: none of them is more than this fraction of it on one branch.
_PARTS, _PART_FRACTION = 16, 0.3
# Distance of a joint's positions at both ends of a closed path, rad, from which on they are not the same.
_CLOSING = 0.02
_RANDOM_POSTURES = 6
# Margin, rad, that a base pose aside of the handles' middle or a rotation must gain.
_PRICE = 0.02
# Base poses from which the search starts: straight behind the handles, and all about.
_PLAIN_STARTS, _STARTS = 16, 48
# Different candidates whose margin is enlarged.
_CLIMBERS = 4
# Of the margin, rad.
_FIRST_STEP = 0.05
# Distance of a joint's nominal positions, rad, from which on two candidates are different.
_DIFFERENT = 0.3


@dataclass(frozen=True)
class ReachTolerances:
    """What is asked of a path."""

    position: float = 1e-3  # How far a palm may be from its target, m.
    rotation: float = float(np.radians(0.5))  # How far a palm may be rotated from its target, rad.
    least_margin: float = 0.03  # Joint-limit margin below which a path is not feasible, rad.
    ample_margin: float = 0.5  # Joint-limit margin beyond which more is not better, rad.


@dataclass(frozen=True)
class NominalPosture:
    """Posture from which, and near which, the postures of a path are looked for."""

    box: int  # Index of the elbows' branch in `ReachabilityModel.boxes`.
    joints: Array  # (n,): joint positions, rad.


@dataclass(frozen=True)
class Placement:
    """A root pose, and how the hands follow their handles from there.

    The last five say what it comes to in the world once a search has ended; then the margin is what all
    joints keep at once along the whole path, 0 if it cannot be followed. From `ample_margin` on more was not
    looked for. The errors are then 0 if the path can be followed; else the joints are those nearest to it.
    """

    base: Array  # (6,): base parameters, as in `HandPath`.
    margin: float  # Joint-limit margin, rad; negative if the path cannot be followed.
    joints: Array  # (K, n): joint positions along the path, rad.
    # (2, K): distance of the palm that is farthest from its target, m, and angle of the palm that is rotated
    # farthest from its target, rad.
    errors: Array
    nominal: NominalPosture  # From where the postures were found.
    clearance: float  # Least distance between the robot's links, m; infinite where none come near each other.
    # (K, 3): added to the root's position besides what follows, m, world.
    sway: Array = field(default_factory=lambda: np.empty((0, 3)))
    tightest: str = ""  # The joint that comes nearest to a limit.
    fault: str = ""  # Why the path cannot be followed; empty if it can.
    # (K, 3): position of the root link in each pose, which also sways against the arms, world frame, m.
    root_positions: Array = field(default_factory=lambda: np.empty((0, 3)))
    joint_names: tuple[str, ...] = ()  # Joints of trunk and arms.

    @property
    def score(self) -> float:
        """The margin, rad; where the path cannot be followed, -1 less what is missing."""
        if self.margin >= 0.0:
            return self.margin
        position, rotation = (np.sqrt(np.mean(values**2)) for values in self.errors)
        return float(-1.0 - position - 0.1 * rotation + min(self.clearance, 0.0))

    @property
    def feasible(self) -> bool:
        """Whether the path can be followed."""
        return not self.fault


def solve_posture_path(
    reach: reach_model.ReachabilityModel, points: Array, nominal: Array, box: Array, give_up: float = np.inf
) -> tuple[Array, Array]:
    """Bring the hands to their handles pose after pose; joints (K, n), rad, and errors as in `Placement`.

    The points (K, P, 3), m, are those of `handle_path_points` in the axes of the robot's root where it does
    not sway. The first pose is looked for from the nominal joints (n,), rad, near which all stay as far as
    they can inside `box` (2, n). With a point farther than `give_up`, m, from its target the path need not be
    followed any further; the palms then count as infinitely far off.
    """
    posture, targets = posture_ik.make_posture_range(box, nominal, 1.0), np.ascontiguousarray(points)
    joints, found = posture_ik.solve_path_ik(reach.hands, targets, posture, _JOINT_ROUNDS, give_up)
    if np.isinf(found).any():
        return joints, np.repeat([[np.inf], [np.pi]], len(points), axis=1)
    errors = np.zeros((2, len(points)))
    for columns in reach.columns.values():
        error = found[:, columns] - points[:, columns]
        errors[0] = np.maximum(errors[0], np.linalg.norm(error[:, 0], axis=1))
        chords = np.square(error[:, 1:] - error[:, :1]).sum(axis=(1, 2)) / ROTATION_WEIGHT**2
        # Three unit axes rotated by an angle a move by 8 sin²(a / 2) in sum of squares, a single one by 4.
        whole = 4.0 if error.shape[1] == 2 else 8.0
        errors[1] = np.maximum(errors[1], 2.0 * np.arcsin(np.sqrt(np.minimum(chords / whole, 1.0))))
    return joints, errors


def narrowed_box(reach: reach_model.ReachabilityModel, nominal: NominalPosture, margin: float) -> Array:
    """Narrow the joint limits (2, n), rad, by a margin, rad, the elbows on their branch."""
    box = reach.boxes[nominal.box]
    low = np.maximum(box[0], reach.limits[0] + margin)
    high = np.minimum(box[1], reach.limits[1] - margin)
    return np.stack([np.minimum(low, high), high])


def nominal_postures(reach: reach_model.ReachabilityModel) -> list[NominalPosture]:
    """Take the middles of the boxes, and random postures in them, the same in every run."""
    random, boxes = np.random.default_rng(0), list(enumerate(reach.boxes))
    middles = [NominalPosture(number, box.mean(axis=0)) for number, box in boxes]
    rounds = range(_RANDOM_POSTURES // len(boxes) + 1)
    return middles + [NominalPosture(k, random.uniform(box[0], box[1])) for _ in rounds for k, box in boxes]


def sample_indices(count: int, samples: int) -> NDArray[np.int64]:
    """Choose the indices of at most some of `count` poses in ascending order, the ends among them."""
    return np.unique(np.linspace(0, count - 1, samples).astype(np.int64))


@dataclass(frozen=True)
class ReachProblem:
    """Hands that are to follow a path."""

    reach: reach_model.ReachabilityModel  # Reachability model of the robot.
    hand_path: posture_ik.HandPath  # Path of the hands in K poses.
    # Largest palm errors that are accepted, and the margin at which a search ends.
    tolerances: ReachTolerances
    strictness: float = 1.0  # Fraction of the tolerances that may be used.

    def at_few_poses(self, samples: int) -> "ReachProblem":
        """Keep at most so many poses of the path, its ends among them."""
        poses = sample_indices(len(self.hand_path.points), samples)
        return replace(self, hand_path=reach_model.select_poses(self.hand_path, poses))

    def is_feasible(self, found: Placement, box: Array) -> bool:
        """Check that all palms are where they should be, on one branch, and that a closed path closes.

        Large joint steps are allowed if a finer interpolation stays continuous: small steps inside `box`
        (2, n), rad, then lead from one posture to the next.
        """
        tolerances, joints = self.tolerances, found.joints
        points = reach_model.from_base(found.base, self.hand_path)
        position, rotation = found.errors.max(axis=1)
        if (
            position > self.strictness * tolerances.position
            or rotation > self.strictness * tolerances.rotation
        ):
            return False
        steps = np.abs(np.diff(joints, axis=0)).max(axis=1, initial=0.0)
        far = min(_JUMP * max(1.0, _SAMPLES / max(len(points) - 1, 1)), 1.0)
        posture = posture_ik.make_posture_range(box, found.nominal.joints, posture_ik.STIFFNESS)
        fraction = np.linspace(0.0, 1.0, _PARTS + 1)[1:, None, None]
        for pose in np.flatnonzero(steps > far):
            now, most = joints[pose].copy(), _PART_FRACTION * steps[pose]
            for between in points[pose] + fraction * (points[pose + 1] - points[pose]):
                before = now.copy()
                posture_ik.solve_posture_ik(self.reach.hands, between, posture, now, _JOINT_ROUNDS)
                if np.abs(now - before).max() > most:
                    return False
            if not np.abs(now - joints[pose + 1]).max() < most:
                return False
        closed = np.abs(points[0] - points[-1]).max() < 1e-6
        return not closed or bool(np.abs(joints[0] - joints[-1]).max() < _CLOSING)

    def solve(
        self, base: Array, nominal: NominalPosture, margin: float, *, measure: bool = False
    ) -> Placement:
        """Follow the path from a base pose (6,) inside the limits with a margin, rad.

        `measure` says whether it matters how far a failure is off; else the path is left where it fails.
        Where following fails the margin is negative; only where links collide the clearance is.
        """
        box, tolerances = narrowed_box(self.reach, nominal, margin), self.tolerances
        share = self.strictness
        give_up = share * tolerances.position + ROTATION_WEIGHT * (share * tolerances.rotation)
        points = reach_model.from_base(base, self.hand_path)
        solution = solve_posture_path(self.reach, points, nominal.joints, box, np.inf if measure else give_up)
        found = Placement(base, -1.0, *solution, nominal, np.inf)
        if not self.is_feasible(found, box):
            return found
        clearance = reach_model.least_clearance(self.reach, found.joints)
        return Placement(base, margin if clearance >= 0.0 else -1.0, *solution, nominal, clearance)

    def evaluate(self, base: Array, nominals: Sequence[NominalPosture]) -> Placement:
        """Find the posture path from a base pose (6,) that keeps the largest margin, or misses the least.

        It is looked for from one nominal posture after the other; the margin is enlarged by bisection.
        """
        best: Placement | None = None
        least, ample = self.tolerances.least_margin, self.tolerances.ample_margin
        for nominal in nominals:
            enough = 0.0 if best is None else best.margin + _MARGIN_STEP
            found = self.solve(base, nominal, max(least, enough), measure=enough < least)
            if found.margin >= 0.0:
                box = self.reach.boxes[nominal.box]
                trial = high = min(ample, 0.5 * float((box[1] - box[0]).min()))
                while True:
                    other = self.solve(base, nominal, trial)
                    found, high = (other, high) if other.margin >= 0.0 else (found, trial)
                    if high - found.margin <= _MARGIN_STEP:
                        break
                    trial = 0.5 * (found.margin + high)
            if best is None or found.score > best.score:
                best = found
            if best.margin >= ample:
                break
        assert best is not None
        return best


def search_base_pose(
    problem: ReachProblem,
    bounds: Array,
    starts: Sequence[tuple[Array, NominalPosture]],
    progress: Callable[[int, int], None],
) -> Placement:
    """Find the base pose with the largest margin, or that with the least missing, evaluated with all poses.

    From every start, base pose and postures at a few poses of the path go together to where the palms miss
    their handles the least. The best of the results then climb: limits are narrowed, base pose and postures
    follow, as long as the palms stay on their handles and the links out of each other. Starts are base
    parameters to begin with, inside `bounds` (2, 6), and from where postures are looked for; `progress`
    (done, total) is told after every start.
    """
    part, reach, tolerances = len(starts) // _CLIMBERS, problem.reach, problem.tolerances
    total, least = len(starts) + part * _CLIMBERS, tolerances.least_margin
    few, more = (problem.at_few_poses(samples) for samples in (COARSE, FINE))

    def optimise(at: ReachProblem, base: Array, nominal: NominalPosture, margin: float) -> Placement:
        box, optimum = narrowed_box(reach, nominal, margin), np.clip(base, *bounds)
        joints, _ = solve_posture_path(reach, reach_model.from_base(base, at.hand_path), nominal.joints, box)
        posture = posture_ik.make_posture_range(box, nominal.joints, posture_ik.STIFFNESS)
        optimum, joints = posture_ik.optimise_base_pose(
            reach.hands, at.hand_path, posture, bounds, _BASE_ROUNDS, optimum, joints
        )
        return at.solve(optimum, NominalPosture(nominal.box, joints.mean(axis=0)), margin, measure=True)

    settled = []
    for number, (base, nominal) in enumerate(starts):
        settled.append(optimise(few, base, nominal, least))
        progress(number, total)
    different: list[Placement] = []
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
            near, points = climber.nominal, reach_model.from_base(climber.base, few.hand_path)
            box = narrowed_box(reach, near, least)
            joints, _ = solve_posture_path(reach, points, near.joints, box)
            base, joints = reach_model.separate_links(reach, few.hand_path, climber.base, joints, box, bounds)
            near = NominalPosture(near.box, joints.mean(axis=0))
            found.append(more.solve(base, near, least, measure=True))
    whole: list[Placement] = []
    for climber in sorted(found, key=lambda candidate: -candidate.score):
        nominals = [climber.nominal, *(nominal_postures(reach) if climber.margin < 0.0 else ())]
        whole.append(problem.evaluate(climber.base, nominals))
        if whole[-1].margin >= 0.0:
            break
    return max(whole, key=lambda candidate: candidate.score)


def evaluate_root(
    reach: reach_model.ReachabilityModel,
    handles: Mapping[str, HandlePath],
    base: Array,
    tolerances: ReachTolerances,
    sway: Array | None = None,
    likely: NominalPosture | None = None,
) -> Placement:
    """Evaluate whether the hands can follow their handles from where a robot's root is.

    The placement is the one with the largest margin, or the least missing, of base parameters (6,) and sway
    (K, 3), m. `likely` is from where postures were found nearby; if it still serves, no other is tried.
    """
    problem = ReachProblem(reach, reach_model.make_hand_path(reach, handles, sway), tolerances)
    found = None if likely is None else problem.evaluate(base, [likely])
    if found is None or found.margin < 0.0:
        nominals = nominal_postures(reach)
        first = problem.at_few_poses(FINE).evaluate(base, nominals)
        found = problem.evaluate(base, [first.nominal])
        if first.margin >= 0.0 > found.margin:
            found = problem.evaluate(base, nominals)
    return _make_placement(problem, found)


def find_root(
    reach: reach_model.ReachabilityModel,
    handles: Mapping[str, HandlePath],
    base: Array,
    heights: tuple[float, float],
    tolerances: ReachTolerances,
    progress: Callable[[int, int], None],
    sway: Array | None = None,
    most_follow: float = 0.0,
    most_advance: float = 0.0,
    *,
    nearby: bool = False,
) -> Placement:
    """Find where a robot's root is best for its hands to follow their handles.

    Varied are distance and lateral offset of the root from the middle of the handles' paths, its heading and
    its height, and how far it goes with the hands. `base` (6,) is the first guess, `heights` how far the root
    may be below and above it, m; the sway (K, 3), m, world, is kept. `follow` may also be from 0 to
    `most_follow`, `advance` up to `most_advance`, forwards or backwards. `nearby` looks only where small
    steps from the first guess lead. `progress` (done, total) is told after every start. If the path can be
    followed from nowhere, the placement is the one with the least missing.
    """
    about, length, nominals = (
        reach_model.rotation_about_z(base[3]),
        reach_model.arm_length(reach),
        nominal_postures(reach),
    )
    problem = ReachProblem(reach, reach_model.make_hand_path(reach, handles, sway), tolerances)
    turned = posture_ik.HandPath(*(values @ about for values in problem.hand_path))
    searched = replace(problem, hand_path=turned, strictness=_STRICTNESS)
    paths, middle = [handle.poses[:, :3, 3] for handle in handles.values()], np.zeros(6)
    middle[:3] = np.mean([0.5 * (path.min(axis=0) + path.max(axis=0)) for path in paths], axis=0) @ about
    here = np.array([*(base[:3] @ about), 0.0, base[4], base[5]])
    # The first joint of an arm on a pedestal turns it anywhere: from the side is as good as from behind.
    most_rotation = 0.9 if reach.robot.floating else 1.6
    found: list[Placement] = []
    # Straight behind the handles' middle and straight ahead, as people do; then anywhere.
    for count, free in ((_PLAIN_STARTS, 0.0), (_STARTS, 1.0)):
        room = np.array([1.5 * length, 1.5 * free * length, 0.0, free * most_rotation, 0.0, 0.0])
        bounds = np.stack([middle - room, middle + room])
        bounds[:, 2], bounds[:, 4:] = here[2] + np.array(heights), here[4:]
        if free:
            bounds[0, 4:] = np.minimum(here[4:], (0.0, -most_advance))
            bounds[1, 4:] = np.maximum(here[4:], (most_follow, most_advance))
        bases = [np.clip(here, *bounds)] * len(nominals)
        if not nearby:
            # Its import takes a third of a second of CPU time.
            from scipy.stats.qmc import Halton

            behind, spread = 0.5 * (bounds[0] + bounds[1]), 0.5 * (bounds[1] - bounds[0])
            behind[0] = middle[0] - 0.65 * length
            spread[[0, 1, 3]] = 0.5 * length, 0.5 * free * length, 0.9 * free * most_rotation
            bases = [bases[0], *(behind + spread * (2.0 * Halton(6, seed=0).random(count) - 1.0))]
        starts = [(each, nominals[number % len(nominals)]) for number, each in enumerate(bases)]
        starts += [(candidate.base, candidate.nominal) for candidate in found]
        found.append(search_base_pose(searched, bounds, starts, progress))
        if found[0].margin >= tolerances.ample_margin:
            break
    price = _PRICE if found[0].margin >= 0.0 else 0.0
    best = found[0] if found[0].score >= found[-1].score - price else found[-1]
    root = np.array([*(about @ best.base[:3]), base[3] + best.base[3], *best.base[4:]])
    return _make_placement(problem, replace(best, base=root))


def _make_placement(problem: ReachProblem, found: Placement) -> Placement:
    """Say what a candidate comes to in the world, and why its path cannot be followed."""
    reach, tolerances, base, joints = problem.reach, problem.tolerances, found.base, found.joints
    room = np.minimum(joints - reach.limits[0], reach.limits[1] - joints).min(axis=0)
    names, fault = tuple(reach.model.names[-len(room) :]), ""
    off, rotated = found.errors.max(axis=1).tolist()
    if found.margin < 0.0:
        fault = "a palm stays too far from its handle"
        if off > tolerances.position or rotated > tolerances.rotation:
            fault = f"a palm stays {1000 * off:.1f} mm and {np.degrees(rotated):.1f}° from its handle"
        elif found.clearance < 0.0:
            fault = f"links of the robot are {-1000 * found.clearance:.0f} mm inside each other"
        elif not problem.is_feasible(found, reach.boxes[found.nominal.box]):
            fault = "every pose can be reached, but not one after the other: the arms would have to jump"
    sway = reach_model.root_sway_path(reach, joints) @ reach_model.rotation_about_z(base[3]).T
    margin, errors = (0.0, found.errors) if fault else (float(room.min()), np.zeros_like(found.errors))
    return replace(
        found,
        margin=margin,
        errors=errors,
        sway=problem.hand_path.sway,
        tightest=names[int(room.argmin())],
        fault=fault,
        root_positions=reach_model.base_displacement(base, problem.hand_path) - sway,
        joint_names=names,
    )
