"""Placement of the root: whether hands can follow handles from where it is, and from where they do best."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.handles import HandlePath
from simbench.retargeting.placement.base_gauss_newton import BaseRange
from simbench.retargeting.placement.hand_path import (
    BASE_SIZE,
    HandPath,
    base_displacement,
    from_base,
    make_hand_path,
    rotated_path,
    rotation_about_z,
)
from simbench.retargeting.placement.limit_margin import (
    Candidate,
    NominalPosture,
    ReachTolerances,
    evaluate_path,
    is_path_feasible,
    nominal_postures,
)
from simbench.retargeting.placement.placement_search import PlacementProblem, search_base_pose
from simbench.retargeting.placement.reach_model import ReachabilityModel, arm_length, root_sway_path

_PRICE = 0.02
"""Margin, rad, that a base pose aside of the handles' middle or a rotation must gain."""
_PLAIN_STARTS, _STARTS = 16, 48
"""Base poses from which the search starts: straight behind the handles, and all about."""


@dataclass(frozen=True)
class RootPath:
    """Where the root link is while the hands move along their path: a base pose, and a sway about it.

    Parameters
    ----------
    position : (3,) array
        Position in the world, m.
    heading : float
        Heading, rad about z.
    sway : (K, 3) array
        Added to the position in each pose, besides what follows, m, world.
    follow : float
        Part of the hands' horizontal motion that the COG goes with; the root goes along, as in `HandPath`. It
        also sways against the arms, as in `ComCompensation`.
    advance : float
        How far the COG goes forward, m, for each metre that the hands rise; the root goes along likewise.
    """

    position: Array
    heading: float
    sway: Array
    follow: float = 0.0
    advance: float = 0.0

    @property
    def parameters(self) -> Array:
        """The six base parameters."""
        return np.array([*self.position, self.heading, self.follow, self.advance])


@dataclass(frozen=True)
class Placement:
    """A base pose of a robot, and how its hands follow their handles from there.

    Parameters
    ----------
    root : RootPath
        Pose and sway of the root link.
    margin : float
        Joint-limit margin that all joints keep at once along the whole path, rad; 0 if it cannot be followed.
        From 0.5 rad on more was not looked for.
    tightest : str
        The joint that comes nearest to a limit.
    missing : float
        Distance of the palm that is farthest from its handle, m; 0 if the path can be followed.
    missing_rotation : float
        Angle of the palm that is rotated farthest from its handle, rad; 0 likewise.
    fault : str
        Why the path cannot be followed; empty if it can.
    clearance : float
        Least distance between the robot's links, m; infinite where none come near each other.
    root_positions : (K, 3) array
        Position of the root link in each pose, world frame, m.
    postures : (K, n) array
        Positions of `joint_names` along the path, rad; where it cannot be followed, the nearest to it.
    joint_names : tuple of str
        Joints of trunk and arms.
    nominal : NominalPosture
        From where the postures were found.
    """

    root: RootPath
    margin: float
    tightest: str
    missing: float
    missing_rotation: float
    fault: str
    clearance: float
    root_positions: Array
    postures: Array
    joint_names: tuple[str, ...]
    nominal: NominalPosture

    @property
    def feasible(self) -> bool:
        """Whether the path can be followed."""
        return not self.fault


def evaluate_root(
    reach: ReachabilityModel,
    handles: Mapping[str, HandlePath],
    root: RootPath,
    tolerances: ReachTolerances,
    likely: NominalPosture | None = None,
) -> Placement:
    """Evaluate whether the hands can follow their handles from where a robot's root is.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    handles : {side: HandlePath}
        Path of the handle that each hand holds.
    root : RootPath
        Pose and sway of the root link.
    tolerances : ReachTolerances
        Largest palm errors that are accepted, and the margin at which the search ends.
    likely : NominalPosture, optional
        From where postures were found nearby; if it still serves, no other is tried.

    Returns
    -------
    Placement
        With the largest margin, or the least missing.
    """
    hand_path = make_hand_path(reach, handles, root.sway)
    found = evaluate_path(reach, from_base(root.parameters, hand_path), tolerances, likely)
    return _make_placement(reach, hand_path, root, found, tolerances)


@dataclass(frozen=True)
class RootSearch:
    """From where, and how far, the root's base pose is searched for.

    Parameters
    ----------
    start : RootPath
        First guess; the sway is kept.
    heights : (float, float)
        How far the root may be below and above the first guess, m.
    most_follow : float
        `follow` may also be from 0 to this.
    most_advance : float
        `advance` may also be up to this, forwards or backwards.
    nearby : bool
        Whether to look only where small steps from the first guess lead.
    """

    start: RootPath
    heights: tuple[float, float]
    most_follow: float = 0.0
    most_advance: float = 0.0
    nearby: bool = False


def find_root(
    reach: ReachabilityModel,
    handles: Mapping[str, HandlePath],
    search: RootSearch,
    tolerances: ReachTolerances,
    progress: Callable[[int, int], None],
) -> Placement:
    """Find where a robot's root is best for its hands to follow their handles.

    Varied are distance and lateral offset of the root from the middle of the handles' paths, its heading and
    its height, and how far it goes with the hands.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    handles : {side: HandlePath}
        Path of the handle that each hand holds.
    search : RootSearch
        First guess and range.
    tolerances : ReachTolerances
        Largest palm errors that are accepted, and the margin at which the search ends.
    progress : callable (done, total)
        Told after every start.

    Returns
    -------
    Placement
        The one with the largest margin; if there is none, the one with the least missing.
    """
    start = search.start
    about = rotation_about_z(start.heading)
    world = make_hand_path(reach, handles, start.sway)
    hand_path = rotated_path(world, start.heading)
    paths = [handle.poses[:, :3, 3] for handle in handles.values()]
    middle = np.zeros(BASE_SIZE)
    middle[:3] = np.mean([0.5 * (path.min(axis=0) + path.max(axis=0)) for path in paths], axis=0) @ about
    here = np.array([*(start.position @ about), 0.0, start.follow, start.advance])
    length = arm_length(reach)
    nominals = nominal_postures(reach)
    found: list[Candidate] = []
    # Straight behind the handles' middle and straight ahead, as people do; then anywhere.
    for count, free in ((_PLAIN_STARTS, 0.0), (_STARTS, 1.0)):
        base_range = _base_range(reach, search, middle, here, length, free)
        bases = [np.clip(here, *base_range)] * len(nominals)
        if not search.nearby:
            bases = [bases[0], *_spread_bases(reach, base_range, middle, length, free, count)]
        starts = [(base.tolist(), nominals[number % len(nominals)]) for number, base in enumerate(bases)]
        starts += [(candidate.base, candidate.nominal) for candidate in found]
        problem = PlacementProblem(reach, hand_path, base_range, tolerances)
        found.append(search_base_pose(problem, starts, progress))
        if found[0].margin >= tolerances.ample_margin:
            break
    price = _PRICE if found[0].margin >= 0.0 else 0.0
    best = found[0] if found[0].score >= found[-1].score - price else found[-1]
    x, y, z, heading, follow, advance = best.base
    root = RootPath(about @ (x, y, z), start.heading + heading, start.sway, follow, advance)
    return _make_placement(reach, world, root, best, tolerances)


def _base_range(
    reach: ReachabilityModel, search: RootSearch, middle: Array, here: Array, length: float, free: float
) -> BaseRange:
    """Say where the root may be: straight behind the handles' middle, or, if `free` is 1, anywhere."""
    room = np.array([1.5 * length, 1.5 * free * length, 0.0, free * _most_rotation(reach), 0.0, 0.0])
    low, high = middle - room, middle + room
    low[2], high[2] = here[2] + search.heights[0], here[2] + search.heights[1]
    low[4:] = np.minimum(here[4:], (0.0, -search.most_advance)) if free else here[4:]
    high[4:] = np.maximum(here[4:], (search.most_follow, search.most_advance)) if free else here[4:]
    return BaseRange(low, high)


def _spread_bases(
    reach: ReachabilityModel, base_range: BaseRange, middle: Array, length: float, free: float, count: int
) -> list[Array]:
    """Spread base parameters (6,) evenly over a range, behind the handles' middle."""
    # Its import takes a third of a second of CPU time.
    from scipy.stats.qmc import Halton

    behind = 0.5 * (base_range.low + base_range.high)
    behind[0] = middle[0] - 0.65 * length
    spread = 0.5 * (base_range.high - base_range.low)
    spread[[0, 1, 3]] = 0.5 * length, 0.5 * free * length, 0.9 * free * _most_rotation(reach)
    random = Halton(BASE_SIZE, seed=0).random(count)
    return [*(behind + spread * (2.0 * random - 1.0))]


def _most_rotation(reach: ReachabilityModel) -> float:
    """How far the root may be rotated from straight ahead, rad."""
    # The first joint of an arm on a pedestal turns it anywhere: from the side is as good as from behind.
    return 0.9 if reach.robot.floating else 1.6


def require_feasible(robot_name: str, placement: Placement) -> None:
    """Refuse a base pose from which the hands cannot follow their handles.

    Parameters
    ----------
    robot_name : str
        Named in the error.
    placement : Placement
        From `evaluate_root` or `find_root`.

    Raises
    ------
    RetargetError
        Says what is missing.
    """
    if not placement.feasible:
        raise RetargetError(f"{robot_name}: no place to follow the handles from: {placement.fault}")


def _make_placement(
    reach: ReachabilityModel,
    hand_path: HandPath,
    root: RootPath,
    found: Candidate,
    tolerances: ReachTolerances,
) -> Placement:
    """Say what a candidate comes to in the world."""
    solution, points = found.solution, from_base(root.parameters, hand_path)
    room = np.minimum(solution.joints - reach.limits[0], reach.limits[1] - solution.joints).min(axis=0)
    names = tuple(reach.model.names[-len(room) :])
    fault = "" if found.margin >= 0.0 else _find_fault(reach, points, found, tolerances)
    sway = root_sway_path(reach, solution.joints) @ rotation_about_z(root.heading).T
    return Placement(
        root=root,
        margin=float(room.min()) if not fault else 0.0,
        tightest=names[int(room.argmin())],
        missing=float(solution.position_error.max()) if fault else 0.0,
        missing_rotation=float(solution.rotation_error.max()) if fault else 0.0,
        fault=fault,
        clearance=found.clearance,
        root_positions=base_displacement(root.parameters, hand_path) - sway,
        postures=solution.joints,
        joint_names=names,
        nominal=found.nominal,
    )


def _find_fault(
    reach: ReachabilityModel, points: Array, found: Candidate, tolerances: ReachTolerances
) -> str:
    """Say why a path cannot be followed."""
    solution, nominal = found.solution, found.nominal
    off, rotated = float(solution.position_error.max()), float(solution.rotation_error.max())
    if off > tolerances.position or rotated > tolerances.rotation:
        return f"a palm stays {1000 * off:.1f} mm and {np.degrees(rotated):.1f}° from its handle"
    if found.clearance < 0.0:
        return f"links of the robot are {-1000 * found.clearance:.0f} mm inside each other"
    box = reach.boxes[nominal.box]
    if not is_path_feasible(reach, solution, points, nominal.joints, box, tolerances):
        return "every pose can be reached, but not one after the other: the arms would have to jump"
    return "a palm stays too far from its handle"
