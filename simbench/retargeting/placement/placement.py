"""Placement: whether a robot's hands can follow handles from where it is, and from where they can best."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats.qmc import Halton

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.handles import HandlePath
from simbench.retargeting.placement.hand_path import (
    PLACE_SIZE,
    HandPath,
    base_displacement,
    from_base,
    make_hand_path,
    rotated_path,
)
from simbench.retargeting.placement.limit_margin import (
    Candidate,
    NominalPosture,
    ReachTolerances,
    evaluate_path,
    is_path_feasible,
    nominal_postures,
)
from simbench.retargeting.placement.placement_search import search_place
from simbench.retargeting.placement.reach_model import ReachabilityModel, arm_length, counter_way

_PRICE = 0.02
"""Margin, rad, that a place aside of the handles' middle or a turn must gain."""
_PLAIN_STARTS, _STARTS = 16, 48
"""Places from which the search starts: straight behind the handles, and all about."""


@dataclass(frozen=True)
class RootPath:
    """Where the root link is while the hands go along their way: a place, and a sway about it.

    Parameters
    ----------
    position : (3,) array
        m, world.
    heading : float
        rad about z.
    sway : (K, 3) array
        Added to the position in each pose, besides what follows, m, world.
    follow, advance : float
        How far the COG goes with the hands; the root goes along, as in `HandPath`. It also sways against the
        arms, as in `ComCompensation`.
    """

    position: Array
    heading: float
    sway: Array
    follow: float = 0.0
    advance: float = 0.0

    @property
    def numbers(self) -> Array:
        """The six numbers of its place."""
        return np.array([*self.position, self.heading, self.follow, self.advance])


@dataclass(frozen=True)
class Placement:
    """A place for a robot, and how its hands follow their handles from there.

    Parameters
    ----------
    root : RootPath
    margin : float
        Joint-limit margin that all joints keep at once along the whole path, rad; 0 if it cannot be followed.
        From 0.5 rad on more was not looked for.
    tightest : str
        The joint that comes nearest to a limit.
    missing : float
        Distance of the palm that is farthest from its handle, m; 0 if the path can be followed.
    missing_turn : float
        Angle of the palm that is turned farthest from what its handle wants, rad; 0 likewise.
    fault : str
        Why the path cannot be followed; empty if it can.
    clearance : float
        Least distance between the robot's links, m; infinite where none come near each other.
    way : (K, 3) array
        Where the root is in each pose, m, world.
    postures : (K, n) array
        Positions of `joint_names` along the path, rad; where it cannot be followed, the nearest to it.
    joint_names : tuple of str
        Trunk and arms.
    rest : NominalPosture
        From where the postures were found.
    """

    root: RootPath
    margin: float
    tightest: str
    missing: float
    missing_turn: float
    fault: str
    clearance: float
    way: Array
    postures: Array
    joint_names: tuple[str, ...]
    rest: NominalPosture

    @property
    def feasible(self) -> bool:
        """Whether the path can be followed."""
        return not self.fault


def judge_root(
    reach: ReachabilityModel,
    handles: Mapping[str, HandlePath],
    root: RootPath,
    wanted: ReachTolerances,
    likely: NominalPosture | None = None,
) -> Placement:
    """Judge whether the hands can follow their handles from where a robot's root is.

    Parameters
    ----------
    reach : ReachabilityModel
    handles : {side: HandlePath}
    root : RootPath
    wanted : ReachTolerances
    likely : NominalPosture, optional
        From where postures were found nearby; if it still serves, no other is tried.

    Returns
    -------
    Placement
    """
    course = make_hand_path(reach, handles, root.sway)
    found = evaluate_path(reach, from_base(root.numbers, course), wanted, likely)
    return _placement(reach, course, root, found, wanted)


def find_root(
    reach: ReachabilityModel,
    handles: Mapping[str, HandlePath],
    start: RootPath,
    heights: tuple[float, float],
    wanted: ReachTolerances,
    progress: Callable[[int, int], None],
    *,
    shares: tuple[float, float] = (0.0, 0.0),
    nearby: bool = False,
) -> Placement:
    """Find where a robot's root is best for its hands to follow their handles.

    Looked for are distance and lateral offset of the root from the middle of the handles' ways, its heading
    and its height, and how far it goes with the hands.

    Parameters
    ----------
    reach : ReachabilityModel
    handles : {side: HandlePath}
    start : RootPath
        First guess; the sway is kept.
    heights : (float, float)
        How far the root may be below and above the first guess, m.
    wanted : ReachTolerances
    progress : callable (done, total)
    shares : (float, float)
        `follow` may also be from 0 to the first of them, `advance` up to the second, either way.
    nearby : bool
        Whether to look only where small steps from the first guess lead.

    Returns
    -------
    Placement
        The one with the largest margin; if there is none, the one with the least missing.
    """
    about = _turned(start.heading)
    world = make_hand_path(reach, handles, start.sway)
    course = rotated_path(world, start.heading)
    ways = [handle.poses[:, :3, 3] for handle in handles.values()]
    middle = np.zeros(PLACE_SIZE)
    middle[:3] = np.mean([0.5 * (way.min(axis=0) + way.max(axis=0)) for way in ways], axis=0) @ about
    here = np.array([*(start.position @ about), 0.0, start.follow, start.advance])
    length = arm_length(reach)
    # The first joint of an arm on a pedestal turns it anywhere: from the side is as good as from behind.
    turn = 0.9 if reach.robot.floating else 1.6
    rests = nominal_postures(reach)
    found: list[Candidate] = []
    # Straight behind the handles' middle and straight ahead, as people do; then anywhere.
    for count, free in ((_PLAIN_STARTS, 0.0), (_STARTS, 1.0)):
        room = np.array([1.5 * length, 1.5 * free * length, 0.0, free * turn, 0.0, 0.0])
        low, high = middle - room, middle + room
        low[2], high[2] = here[2] + heights[0], here[2] + heights[1]
        low[4:] = np.minimum(here[4:], (0.0, -shares[1])) if free else here[4:]
        high[4:] = np.maximum(here[4:], shares) if free else here[4:]
        places = [np.clip(here, low, high)] * len(rests)
        if not nearby:
            behind = 0.5 * (low + high)
            behind[0] = middle[0] - 0.65 * length
            spread = 0.5 * (high - low)
            spread[[0, 1, 3]] = 0.5 * length, 0.5 * free * length, 0.9 * free * turn
            random = Halton(PLACE_SIZE, seed=0).random(count)
            places = [places[0], *(behind + spread * (2.0 * random - 1.0))]
        starts = [(place.tolist(), rests[number % len(rests)]) for number, place in enumerate(places)]
        starts += [(candidate.place, candidate.rest) for candidate in found]
        found.append(search_place(reach, course, starts, low, high, wanted, progress))
        if found[0].margin >= wanted.ample_margin:
            break
    price = _PRICE if found[0].margin >= 0.0 else 0.0
    best = found[0] if found[0].score >= found[-1].score - price else found[-1]
    x, y, z, heading, follow, advance = best.place
    root = RootPath(about @ (x, y, z), start.heading + heading, start.sway, follow, advance)
    return _placement(reach, world, root, best, wanted)


def require_feasible(robot_name: str, placement: Placement) -> None:
    """Refuse a place from which the hands cannot follow their handles.

    Raises
    ------
    RetargetError
        Says what is missing.
    """
    if not placement.feasible:
        raise RetargetError(f"{robot_name}: no place to follow the handles from: {placement.fault}")


def _placement(
    reach: ReachabilityModel, course: HandPath, root: RootPath, found: Candidate, wanted: ReachTolerances
) -> Placement:
    grasps, points = found.grasps, from_base(root.numbers, course)
    room = np.minimum(grasps.joints - reach.limits[0], reach.limits[1] - grasps.joints).min(axis=0)
    names = tuple(reach.model.names[-len(room) :])
    fault = "" if found.margin >= 0.0 else _fault(reach, points, found, wanted)
    return Placement(
        root=root,
        margin=float(room.min()) if not fault else 0.0,
        tightest=names[int(room.argmin())],
        missing=float(grasps.off.max()) if fault else 0.0,
        missing_turn=float(grasps.turned.max()) if fault else 0.0,
        fault=fault,
        clearance=found.clearance,
        way=base_displacement(root.numbers, course)
        - counter_way(reach, grasps.joints) @ _turned(root.heading).T,
        postures=grasps.joints,
        joint_names=names,
        rest=found.rest,
    )


def _fault(reach: ReachabilityModel, points: Array, found: Candidate, wanted: ReachTolerances) -> str:
    off, turned = float(found.grasps.off.max()), float(found.grasps.turned.max())
    if off > wanted.off or turned > wanted.turned:
        return f"a palm stays {1000 * off:.1f} mm and {np.degrees(turned):.1f}° from its handle"
    if found.clearance < 0.0:
        return f"links of the robot are {-1000 * found.clearance:.0f} mm inside each other"
    if not is_path_feasible(
        reach, found.grasps, points, found.rest.joints, reach.boxes[found.rest.box], wanted
    ):
        return "every pose can be reached, but not one after the other: the arms would have to jump"
    return "a palm stays too far from its handle"


def _turned(heading: float) -> Array:
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
