"""From where a robot's hands follow their handles best: arms' reach, legs' range and COG over the feet."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from simbench.balance.standing.standing import Stance, height_range, stand
from simbench.kinematics.arrays import Array
from simbench.motion.handles import HandlePath
from simbench.retargeting.placement.hand_path import com_offset, hand_displacement
from simbench.retargeting.placement.limit_margin import ReachTolerances
from simbench.retargeting.placement.placement import RootPath, find_root
from simbench.retargeting.placement.reach_model import handle_way_points, make_reachability_model
from simbench.retargeting.placement.spot import (
    BasePlacement,
    Placed,
    ahead,
    evaluate_placement,
    half_soles,
    resting_root,
    rests,
    sway_gain,
)
from simbench.robot.robot import Robot

OnProgress = Callable[[str, int, int], None]

_SEARCH_ROUNDS = 6
_GAIN, _APPROACH = 0.01, 0.001
"""Of a round of the search after which another is worth it: margin, rad; or what is no longer missing, m."""
_HEIGHT_ROOM = 0.004
"""Kept from a height at which the legs could not sway, m; twice as much the next time."""
_SUPPORT_ROOM = 0.02
"""Between the COG's way and the edges of the soles' box, m, where another than the usual way is tried."""
_LEAN_ROOM = 0.01
"""The same where the legs can do the task only with the COG before or behind the middle of the soles, m."""


def find_spot(
    robot: Robot,
    handles: Mapping[str, HandlePath],
    start: BasePlacement,
    posture: str,
    on_progress: OnProgress,
    *,
    wanted: ReachTolerances = ReachTolerances(),  # noqa: B008
) -> Placed:
    """Find the spot from which a robot's hands follow their handles with the largest margin.

    The search places the root; where the feet then are depends on the balance of what the arms do, and so
    does the root's sway, with which the search goes on nearby.

    Parameters
    ----------
    robot : Robot
    handles : {side: HandlePath}
        From `handles_for`.
    start : BasePlacement
        First guess.
    posture : str
        Named posture whose legs and head are used.
    on_progress : callable (stage, done, total)
    wanted : ReachTolerances

    Returns
    -------
    Placed
        If there is no such spot, the one from which least is missing.
    """
    count = len(handle_way_points(handles))
    if rests(robot, posture):
        return _find_resting(robot, handles, replace(start, height=0.0), posture, on_progress, wanted)
    low, high = height_range(robot, posture)
    stance = stand(robot, start.position, start.heading, posture)
    gain = sway_gain(robot, stance)
    reach = make_reachability_model(robot, handles, stance.joints, gain)
    shares = _shares(robot, stance, handles)
    guess = RootPath(stance.base[:3], start.heading, np.zeros((count, 3)), start.follow, start.advance)
    offset = _turn(start.heading).T @ (stance.base[:2] - start.position)
    best: Placed | None = None
    leant: Placed | None = None
    height_room, legs_fault = _HEIGHT_ROOM, False
    for turn in range(_SEARCH_ROUNDS):
        before = -np.inf if best is None else _rank(best)
        lift = guess.position[2] - stance.base[2]
        placement = find_root(
            reach,
            handles,
            guess,
            (low - lift, high - lift),
            wanted,
            _stage(on_progress, f"place {turn + 1}"),
            shares=shares,
            # Where the legs were at fault, the arms have to do otherwise.
            nearby=turn > 0 and not legs_fault,
        )
        root = placement.root
        height = float(np.clip(root.position[2] - stance.base[2], low, high))
        for _ in range(2):
            feet = root.position[:2] - _turn(root.heading) @ offset
            spot = BasePlacement(
                (float(feet[0]), float(feet[1])), root.heading, height, root.follow, root.advance
            )
            placed = evaluate_placement(robot, handles, spot, posture, wanted=wanted)
            if best is None or _rank(placed) > _rank(best):
                best = placed
            balanced = placed.placement.root
            offset = offset + _turn(root.heading).T @ (balanced.position - root.position)[:2]
        assert best is not None
        legs_fault = placed.legs_fault
        if legs_fault and leant is None:
            leant = _leant(robot, handles, placed, posture, wanted)
        reach = make_reachability_model(
            robot, handles, stand(robot, (0.0, 0.0), 0.0, posture, height).joints, gain
        )
        if legs_fault:
            # The legs have room for the height, but not for the sway there.
            low, high = (low, height - height_room) if height > 0.0 else (height + height_room, high)
            low, high, height_room = min(low, 0.0), max(high, 0.0), 2.0 * height_room
        worth = _GAIN if best.placement.feasible else _APPROACH
        if turn > 0 and not legs_fault and _rank(best) < before + worth:
            break
        guess = replace(root, sway=balanced.sway)
    assert best is not None
    return leant if leant is not None and not best.placement.feasible else best


def _find_resting(
    robot: Robot,
    handles: Mapping[str, HandlePath],
    start: BasePlacement,
    posture: str,
    on_progress: OnProgress,
    wanted: ReachTolerances,
) -> Placed:
    """Find the spot of a robot whose root stays where it is."""
    place, joints = resting_root(robot, start, posture)
    offset = _turn(start.heading).T @ (place[:2] - start.position)
    reach = make_reachability_model(robot, handles, joints)
    guess = RootPath(place, start.heading, np.zeros((len(handle_way_points(handles)), 3)))
    placement = find_root(reach, handles, guess, (0.0, 0.0), wanted, _stage(on_progress, "place"))
    root = placement.root
    x, y = root.position[:2] - _turn(root.heading) @ offset
    return Placed(BasePlacement((float(x), float(y)), root.heading), placement)


def _leant(
    robot: Robot, handles: Mapping[str, HandlePath], placed: Placed, posture: str, wanted: ReachTolerances
) -> Placed | None:
    """Put the feet back or forth under a pelvis that stays: the legs bend farther one way than the other.

    None if that does not help. The COG comes nearer to the soles' edges: for where nothing else serves.
    """
    spot = placed.spot
    along = com_offset(hand_displacement(handles), spot.heading, spot.follow, spot.advance) @ ahead(
        spot.heading
    )
    stance = stand(robot, spot.position, spot.heading, posture)
    room = float(half_soles(robot, stance)[0] - _LEAN_ROOM - np.abs(along).max())
    gain = sway_gain(robot, stance)[0]
    for part in (0.25, -0.25, 0.5, -0.5, 0.75, -0.75, 1.0, -1.0) if room > 0.0 else ():
        lean = part * room
        feet = np.array(spot.position) - gain * (lean - spot.lean) * ahead(spot.heading)
        moved = replace(spot, position=(float(feet[0]), float(feet[1])), lean=lean)
        other = evaluate_placement(robot, handles, moved, posture, wanted=wanted)
        if other.placement.feasible:
            return other
    return None


def _shares(robot: Robot, stance: Stance, handles: Mapping[str, HandlePath]) -> tuple[float, float]:
    """Most of `follow` and of `advance` that together keep the COG inside the box about the soles."""
    room = float(half_soles(robot, stance).min()) - _SUPPORT_ROOM
    hands = hand_displacement(handles)
    across = max(float(np.linalg.norm(hands[:, :2], axis=1).max()), 1e-6)
    follow = float(np.clip(room / across, 0.0, 1.0))
    rise = max(float(np.abs(hands[:, 2]).max()), 1e-6)
    return follow, float(np.clip((room - follow * across) / rise, 0.0, 1.0))


def _rank(placed: Placed) -> float:
    placement = placed.placement
    if placement.feasible:
        return placement.margin
    return min(placement.clearance, 0.0) - placement.missing - 0.1 * placement.missing_turn


def _turn(heading: float) -> Array:
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s], [s, c]])


def _stage(on_progress: OnProgress, name: str) -> Callable[[int, int], None]:
    return lambda done, total: on_progress(name, done, total)
