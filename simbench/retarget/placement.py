"""Placement: whether a robot's hands can follow handles from where it is, and from where they can best."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.motion.handles import Handle
from simbench.retarget.hand_reach import HandReach, arm_length, handle_points
from simbench.retarget.path_margin import Candidate, Place, Rest, Wanted, followed, judge_path
from simbench.retarget.placement_search import search_place

Array = NDArray[np.float64]


_PRICE = 0.02
"""Margin, rad, that a step aside or a turn must gain."""


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
        Added to the position in each pose, m, world.
    """

    position: Array
    heading: float
    sway: Array


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
    postures : (K, n) array
        Positions of `joint_names` along the path, rad; where it cannot be followed, the nearest to it.
    joint_names : tuple of str
        Trunk and arms.
    rest : Rest
        From where the postures were found.
    """

    root: RootPath
    margin: float
    tightest: str
    missing: float
    missing_turn: float
    fault: str
    clearance: float
    postures: Array
    joint_names: tuple[str, ...]
    rest: Rest

    @property
    def feasible(self) -> bool:
        """Whether the path can be followed."""
        return not self.fault


def judge_root(
    reach: HandReach,
    handles: Mapping[str, Handle],
    root: RootPath,
    wanted: Wanted,
    likely: Rest | None = None,
) -> Placement:
    """Judge whether the hands can follow their handles from where a robot's root is.

    Parameters
    ----------
    reach : HandReach
    handles : {side: Handle}
    root : RootPath
    wanted : Wanted
    likely : Rest, optional
        From where postures were found nearby; if it still serves, no other is tried.

    Returns
    -------
    Placement
    """
    points = _in_axes(handle_points(handles), root)
    found = judge_path(reach, points, wanted, likely)
    return _placement(reach, points, root, found, wanted)


def find_root(
    reach: HandReach,
    handles: Mapping[str, Handle],
    start: RootPath,
    heights: tuple[float, float],
    wanted: Wanted,
    progress: Callable[[int, int], None],
    *,
    nearby: bool = False,
) -> Placement:
    """Find where a robot's root is best for its hands to follow their handles.

    Looked for are distance and lateral offset of the root from the middle of the handles' ways, its heading,
    and its height.

    Parameters
    ----------
    reach : HandReach
    handles : {side: Handle}
    start : RootPath
        First guess; the sway is kept.
    heights : (float, float)
        How far the root may be below and above the first guess, m.
    wanted : Wanted
    progress : callable (done, total)
    nearby : bool
        Whether to look only where small steps from the first guess lead.

    Returns
    -------
    Placement
        The one with the largest margin; if there is none, the one with the least missing.
    """
    points = handle_points(handles)
    ways = [handle.poses[:, :3, 3] for handle in handles.values()]
    middle = np.mean([0.5 * (way.min(axis=0) + way.max(axis=0)) for way in ways], axis=0)

    def root_at(place: Place) -> RootPath:
        ahead, aside, turn, lift = place
        heading = start.heading + turn
        position = middle - _turned(heading) @ (ahead, aside, 0.0)
        position[2] = start.position[2] + lift
        return RootPath(position, heading, start.sway)

    def in_root_axes(place: Place) -> Array:
        return _in_axes(points, root_at(place))

    def price(place: Place) -> float:
        # Turning the root back against the trunk changes nothing: straight ahead is what people do.
        return _PRICE * (abs(place[1]) / steps[1] + abs(place[2]) / steps[2])

    length = arm_length(reach)
    ahead, aside, _ = _turned(start.heading).T @ (middle - start.position)
    low, high = heights
    if reach.robot.floating:
        steps: Place = (0.12 * length, 0.12 * length, 0.2, 0.03)
        numbers = (np.linspace(0.2, 1.1, 6) * length, np.array([0, -0.25, 0.25]) * length, (0, -0.4, 0.4))
        least: Place = (0.1 * length, -0.6 * length, -0.9, low)
        greatest: Place = (1.2 * length, 0.6 * length, 0.9, high)
    else:
        # The first joint of an arm on a pedestal turns it anywhere: from the side is as good as from behind.
        steps = (0.12 * length, 0.12 * length, 0.4, 0.0)
        numbers = (np.linspace(0.2, 1.0, 6) * length, np.linspace(-0.6, 0.6, 5) * length, (0, -0.75, 0.75))
        least, greatest = (-length, -length, -1.6, 0.0), (length, length, 1.6, 0.0)
    lifts = sorted({0.0, low, high}, key=abs)
    here = (float(ahead), float(aside), 0.0, 0.0)
    grid = [here] if nearby else [here, *itertools.product(*numbers, lifts)]
    scale = np.array([*steps[:3], max(steps[3], 1.0)])
    grid.sort(key=lambda place: float(np.abs((np.array(place) - here) / scale).max()))
    best = search_place(reach, in_root_axes, price, grid, steps, least, greatest, wanted, progress)
    return _placement(reach, in_root_axes(best.place), root_at(best.place), best, wanted)


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
    reach: HandReach, points: Array, root: RootPath, found: Candidate, wanted: Wanted
) -> Placement:
    grasps = found.grasps
    room = np.minimum(grasps.joints - reach.limits[0], reach.limits[1] - grasps.joints).min(axis=0)
    names = tuple(reach.model.names[-len(room) :])
    fault = "" if found.margin >= 0.0 else _fault(points, found, wanted)
    return Placement(
        root=root,
        margin=float(room.min()) if not fault else 0.0,
        tightest=names[int(room.argmin())],
        missing=float(grasps.off.max()) if fault else 0.0,
        missing_turn=float(grasps.turned.max()) if fault else 0.0,
        fault=fault,
        clearance=found.clearance,
        postures=grasps.joints,
        joint_names=names,
        rest=found.rest,
    )


def _fault(points: Array, found: Candidate, wanted: Wanted) -> str:
    off, turned = float(found.grasps.off.max()), float(found.grasps.turned.max())
    if off > wanted.off or turned > wanted.turned:
        return f"a palm stays {1000 * off:.1f} mm and {np.degrees(turned):.1f}° from its handle"
    if found.clearance < 0.0:
        return f"links of the robot are {-1000 * found.clearance:.0f} mm inside each other"
    if not followed(found.grasps, points, wanted):
        return "every pose can be reached, but not one after the other: the arms would have to jump"
    return "a palm stays too far from its handle"


def _in_axes(points: Array, root: RootPath) -> Array:
    """Points (K, P, 3) in the axes of the root."""
    turn = _turned(root.heading)
    return np.asarray((points - root.position - root.sway[:, None]) @ turn)


def _turned(heading: float) -> Array:
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
