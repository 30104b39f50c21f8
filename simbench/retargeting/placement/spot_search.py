"""Search of the base placement from which hands follow their handles best, the COG over the feet."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from simbench.balance.standing.standing import Stance, height_range, stand
from simbench.kinematics.arrays import Array
from simbench.motion.handles import HandlePath
from simbench.retargeting.placement.hand_path import com_offset, hand_displacement
from simbench.retargeting.placement.limit_margin import ReachTolerances
from simbench.retargeting.placement.placement import RootPath, RootSearch, find_root
from simbench.retargeting.placement.reach_model import handle_path_points, make_reachability_model
from simbench.retargeting.placement.spot import (
    BasePlacement,
    Placed,
    evaluate_placement,
    fixed_root,
    forward,
    half_soles,
    is_root_fixed,
    sway_gain,
)
from simbench.robot.robot import Robot

OnProgress = Callable[[str, int, int], None]

_SEARCH_ROUNDS = 6
_GAIN, _APPROACH = 0.01, 0.001
"""Gain of a round of the search after which another is worth it: margin, rad; or what is missing, m."""
_HEIGHT_ROOM = 0.004
"""Kept from a height at which the legs could not sway, m; twice as much the next time."""
_SUPPORT_ROOM = 0.02
"""Between the COG's path and the edges of the soles' box, m, in all that the search may choose."""
_LEAN_ROOM = 0.01
"""The same where the legs can do the task only with the COG before or behind the middle of the soles, m."""


def find_spot(
    robot: Robot,
    handles: Mapping[str, HandlePath],
    start: BasePlacement,
    posture: str,
    on_progress: OnProgress,
    *,
    tolerances: ReachTolerances = ReachTolerances(),  # noqa: B008
    any_height: bool = False,
) -> Placed:
    """Find the base placement from which hands follow their handles with the largest joint-limit margin.

    The search places the root; where the feet then are depends on the balance of what the arms do, and so
    does the root's sway, with which the search goes on nearby.

    Parameters
    ----------
    robot : Robot
        Robot with the hands that hold the handles.
    handles : {side: HandlePath}
        From `handles_for`.
    start : BasePlacement
        First guess.
    posture : str
        Named posture whose legs and head are used.
    on_progress : callable (stage, done, total)
        Told after every start of a stage.
    tolerances : ReachTolerances
        Largest palm errors that are accepted, and the margin at which the search ends.
    any_height : bool
        Whether the height of a fixed base is searched for too: the robot stands on a pedestal.

    Returns
    -------
    Placed
        If hands can follow their handles from nowhere, the one from which least is missing.
    """
    if is_root_fixed(robot, posture):
        start = replace(start, height=0.0) if robot.floating else start
        heights = _pedestal_heights(handles, start) if any_height and not robot.floating else (0.0, 0.0)
        return _find_fixed(robot, handles, start, posture, heights, on_progress, tolerances)
    low, high = height_range(robot, posture)
    stance = stand(robot, start.position, start.heading, posture)
    gain = sway_gain(robot, stance)
    reach = make_reachability_model(robot, handles, stance.joints, gain)
    most_follow, most_advance = _com_range(robot, stance, handles)
    still = np.zeros((len(handle_path_points(handles)), 3))
    guess = RootPath(stance.base[:3], start.heading, still, start.follow, start.advance)
    offset = _rotation(start.heading).T @ (stance.base[:2] - start.position)
    best: Placed | None = None
    leant: Placed | None = None
    height_room, legs_fault = _HEIGHT_ROOM, False
    for attempt in range(_SEARCH_ROUNDS):
        before = -np.inf if best is None else _rank(best)
        lift = guess.position[2] - stance.base[2]
        # Where the legs were at fault, the arms have to do otherwise.
        nearby = attempt > 0 and not legs_fault
        search = RootSearch(guess, (low - lift, high - lift), most_follow, most_advance, nearby)
        placement = find_root(reach, handles, search, tolerances, _stage(on_progress, f"place {attempt + 1}"))
        root = placement.root
        height = float(np.clip(root.position[2] - stance.base[2], low, high))
        for _ in range(2):
            feet = root.position[:2] - _rotation(root.heading) @ offset
            spot = BasePlacement(
                (float(feet[0]), float(feet[1])), root.heading, height, root.follow, root.advance
            )
            placed = evaluate_placement(robot, handles, spot, posture, tolerances=tolerances)
            if best is None or _rank(placed) > _rank(best):
                best = placed
            balanced = placed.placement.root
            offset = offset + _rotation(root.heading).T @ (balanced.position - root.position)[:2]
        assert best is not None
        legs_fault = placed.legs_fault
        if legs_fault and leant is None:
            leant = _leant(robot, handles, placed, posture, tolerances)
        reach = make_reachability_model(
            robot, handles, stand(robot, (0.0, 0.0), 0.0, posture, height).joints, gain
        )
        if legs_fault:
            # The legs have room for the height, but not for the sway there.
            low, high = (low, height - height_room) if height > 0.0 else (height + height_room, high)
            low, high, height_room = min(low, 0.0), max(high, 0.0), 2.0 * height_room
        worth = _GAIN if best.placement.feasible else _APPROACH
        if attempt > 0 and not legs_fault and _rank(best) < before + worth:
            break
        guess = replace(root, sway=balanced.sway)
    assert best is not None
    return leant if leant is not None and not best.placement.feasible else best


def _find_fixed(
    robot: Robot,
    handles: Mapping[str, HandlePath],
    start: BasePlacement,
    posture: str,
    heights: tuple[float, float],
    on_progress: OnProgress,
    tolerances: ReachTolerances,
) -> Placed:
    """Find the base placement of a robot whose root stays where it is."""
    position, joints = fixed_root(robot, start, posture)
    offset = _rotation(start.heading).T @ (position[:2] - start.position)
    reach = make_reachability_model(robot, handles, joints)
    guess = RootPath(position, start.heading, np.zeros((len(handle_path_points(handles)), 3)))
    search = RootSearch(guess, heights)
    placement = find_root(reach, handles, search, tolerances, _stage(on_progress, "place"))
    root = placement.root
    x, y = root.position[:2] - _rotation(root.heading) @ offset
    height = start.height if robot.floating else float(root.position[2])
    return Placed(BasePlacement((float(x), float(y)), root.heading, height), placement)


def _pedestal_heights(handles: Mapping[str, HandlePath], start: BasePlacement) -> tuple[float, float]:
    """How far a base may be below and above its first height: from the floor to the highest handle, m."""
    highest = max(float(handle.poses[:, 2, 3].max()) for handle in handles.values())
    return -start.height, max(highest - start.height, 0.0)


def _leant(
    robot: Robot, handles: Mapping[str, HandlePath], placed: Placed, posture: str, tolerances: ReachTolerances
) -> Placed | None:
    """Put the feet back or forth under a pelvis that stays: the legs bend farther one way than the other.

    None if that does not help. The COG comes nearer to the soles' edges: for where nothing else serves.
    """
    spot = placed.spot
    along = com_offset(hand_displacement(handles), spot.heading, spot.follow, spot.advance) @ forward(
        spot.heading
    )
    stance = stand(robot, spot.position, spot.heading, posture)
    room = float(half_soles(robot, stance)[0] - _LEAN_ROOM - np.abs(along).max())
    gain = sway_gain(robot, stance)[0]
    for fraction in (0.25, -0.25, 0.5, -0.5, 0.75, -0.75, 1.0, -1.0) if room > 0.0 else ():
        lean = fraction * room
        feet = np.array(spot.position) - gain * (lean - spot.lean) * forward(spot.heading)
        moved = replace(spot, position=(float(feet[0]), float(feet[1])), lean=lean)
        other = evaluate_placement(robot, handles, moved, posture, tolerances=tolerances)
        if other.placement.feasible:
            return other
    return None


def _com_range(robot: Robot, stance: Stance, handles: Mapping[str, HandlePath]) -> tuple[float, float]:
    """Most of `follow` and of `advance` that together keep the COG inside the box about the soles."""
    room = float(half_soles(robot, stance).min()) - _SUPPORT_ROOM
    hands = hand_displacement(handles)
    across = max(float(np.linalg.norm(hands[:, :2], axis=1).max()), 1e-6)
    follow = float(np.clip(room / across, 0.0, 1.0))
    rise = max(float(np.abs(hands[:, 2]).max()), 1e-6)
    return follow, float(np.clip((room - follow * across) / rise, 0.0, 1.0))


def _rank(placed: Placed) -> float:
    """Rank by the margin, rad; where the path cannot be followed, less than 0 by what is missing."""
    placement = placed.placement
    if placement.feasible:
        return placement.margin
    return min(placement.clearance, 0.0) - placement.missing - 0.1 * placement.missing_rotation


def _rotation(heading: float) -> Array:
    """Compute the rotation matrix (2, 2) of a heading."""
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s], [s, c]])


def _stage(on_progress: OnProgress, name: str) -> Callable[[int, int], None]:
    """Report the progress of one stage."""
    return lambda done, total: on_progress(name, done, total)
