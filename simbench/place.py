"""Where a robot is to stand for a task: the arms' reach, the legs' range and the COG over the feet."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.standing import Stance, balance, height_range, leg_columns, stand
from simbench.errors import RetargetError
from simbench.motion.handles import Handle
from simbench.retarget.course import going_along, hands_way
from simbench.retarget.hand_reach import hand_reach, handle_points
from simbench.retarget.path_margin import Wanted
from simbench.retarget.placement import Placement, RootPath, find_root, judge_root
from simbench.retarget.scaling import SIDES
from simbench.robot.robot import Robot

Array = NDArray[np.float64]
OnProgress = Callable[[str, int, int], None]

_BALANCE_ROUNDS = 5
_SETTLED = 2e-4
"""Change of the pelvis' way, m, after which arms and balance agree."""
_SEARCH_ROUNDS = 5
_GAIN, _APPROACH = 0.01, 0.001
"""Of a round of the search after which another is worth it: margin, rad; or what is no longer missing, m."""
_HEIGHT_ROOM = 0.01
"""Kept from a height at which the legs could not sway, m."""
_SUPPORT_ROOM = 0.02
"""Between the COG's way and the edges of the soles' box, m, where another than the usual way is tried."""


@dataclass(frozen=True)
class Spot:
    """Where a robot stands, and how its COG goes with its hands.

    Parameters
    ----------
    position : (float, float)
        Middle between the feet, or of a fixed base; m, world.
    heading : float
        rad about z.
    height : float
        How much higher the pelvis is than in the posture, m; 0 for a fixed base.
    follow : float
        Part of the hands' horizontal motion that the COG goes with.
    advance : float
        How far the COG goes forward, m, for each metre that the hands rise.
    """

    position: tuple[float, float] = (0.0, 0.0)
    heading: float = 0.0
    height: float = 0.0
    follow: float = 0.4
    advance: float = 0.0


@dataclass(frozen=True)
class Placed:
    """A spot and what the hands can do from there.

    Parameters
    ----------
    spot : Spot
    placement : Placement
        With the root link where balance has it.
    legs_fault : bool
        Whether the legs are at fault, not the arms.
    """

    spot: Spot
    placement: Placement
    legs_fault: bool = False


def handles_for(robot: Robot, handles: Mapping[str, Handle], side: str | None = None) -> dict[str, Handle]:
    """Choose which of a robot's hands holds what.

    Parameters
    ----------
    robot : Robot
    handles : {side: Handle}
        Those of a recording.
    side : str, optional
        Take only the handle of this side: with the hand of that side, or with the only one there is. By
        default every hand takes its own.

    Returns
    -------
    {side of the robot: Handle}

    Raises
    ------
    RetargetError
        If the recording has no such handle, or the robot no hand.
    """
    hands = [hand for hand in SIDES if f"{hand}_hand" in robot.frames]
    if side is not None and side not in SIDES:
        raise RetargetError(f"no side `{side}`; allowed: {', '.join(SIDES)}")
    wanted = [side] if side is not None else [hand for hand in hands if hand in handles] or list(SIDES)
    lacking = [one for one in wanted if one not in handles]
    if lacking or not hands:
        what = f"a handle for the {lacking[0]} hand" if hands else "a robot with a hand"
        raise RetargetError(
            f"{robot.name}: placement needs {what}; the recording has: {', '.join(handles) or 'no handles'}"
        )
    if side is not None:
        return {side if side in hands else hands[0]: handles[side]}
    return {hand: handles[hand] for hand in wanted}


def choose_posture(robot: Robot, name: str | None = None) -> str:
    """Choose the posture that gives legs and head: a named one, or else `standing` or the robot's first.

    Raises
    ------
    RetargetError
        If the robot has no such posture.
    """
    chosen = name or ("standing" if "standing" in robot.postures else next(iter(robot.postures), ""))
    if chosen not in robot.postures:
        allowed = ", ".join(robot.postures) or "none"
        raise RetargetError(f"{robot.name}: no posture `{chosen}`; allowed: {allowed}")
    return chosen


def judge_spot(
    robot: Robot,
    handles: Mapping[str, Handle],
    spot: Spot,
    posture: str,
    *,
    wanted: Wanted = Wanted(),  # noqa: B008
) -> Placed:
    """Judge whether a robot's hands can follow their handles from a spot, its COG kept over its feet.

    Arms and balance are solved in turn, as in `plan_motion`.

    Parameters
    ----------
    robot : Robot
    handles : {side: Handle}
        From `handles_for`.
    spot : Spot
    posture : str
        Named posture whose legs and head are used.
    wanted : Wanted

    Returns
    -------
    Placed

    Raises
    ------
    RetargetError
        If the legs do not allow the height.
    """
    count = len(handle_points(handles))
    if not robot.floating:
        reach = hand_reach(robot, handles, robot.postures[posture])
        root = RootPath(np.array([*spot.position, 0.0]), spot.heading, np.zeros((count, 3)))
        return Placed(spot, judge_root(reach, handles, root, wanted))
    stance = stand(robot, spot.position, spot.heading, posture, spot.height)
    reach = hand_reach(robot, handles, stance.joints)
    targets = cog_targets(stance, handles, spot)
    base = np.tile(stance.base, (count, 1))
    base[:, :2] += targets - stance.target
    likely = None
    for turn in range(_BALANCE_ROUNDS):
        placement = judge_root(reach, handles, _root_path(base, spot.heading), wanted, likely)
        likely = placement.rest
        try:
            moved, joints = _balanced(robot, stance, placement, targets)
        except RetargetError as error:
            return Placed(spot, _faulty(placement, str(error)), legs_fault=True)
        change = float(np.abs(moved - base).max())
        base = moved
        if change < _SETTLED or (turn > 0 and not placement.feasible):
            break
    legs = _legs_fault(robot, joints)
    return Placed(spot, _faulty(placement, legs) if legs else placement, legs_fault=bool(legs))


def find_spot(
    robot: Robot,
    handles: Mapping[str, Handle],
    start: Spot,
    posture: str,
    on_progress: OnProgress,
    *,
    wanted: Wanted = Wanted(),  # noqa: B008
) -> Placed:
    """Find the spot from which a robot's hands follow their handles with the largest margin.

    The search places the root; where the feet then are depends on the balance of what the arms do, and so
    does the root's sway, with which the search goes on nearby.

    Parameters
    ----------
    robot : Robot
    handles : {side: Handle}
        From `handles_for`.
    start : Spot
        First guess.
    posture : str
        Named posture whose legs and head are used.
    on_progress : callable (stage, done, total)
    wanted : Wanted

    Returns
    -------
    Placed
        If there is no such spot, the one from which least is missing.
    """
    count = len(handle_points(handles))
    if not robot.floating:
        reach = hand_reach(robot, handles, robot.postures[posture])
        guess = RootPath(np.array([*start.position, 0.0]), start.heading, np.zeros((count, 3)))
        placement = find_root(reach, handles, guess, (0.0, 0.0), wanted, _stage(on_progress, "place"))
        place = placement.root.position
        return Placed(Spot((float(place[0]), float(place[1])), placement.root.heading), placement)
    low, high = height_range(robot, posture)
    stance = stand(robot, start.position, start.heading, posture)
    reach = hand_reach(robot, handles, stance.joints)
    shares = _shares(robot, stance, handles)
    guess = RootPath(stance.base[:3], start.heading, np.zeros((count, 3)), start.follow, start.advance)
    offset = _turn(start.heading).T @ (stance.base[:2] - start.position)
    best: Placed | None = None
    for turn in range(_SEARCH_ROUNDS):
        before = -np.inf if best is None else _rank(best)
        lift = guess.position[2] - stance.base[2]
        placement = find_root(
            reach,
            handles,
            guess,
            (min(low - lift, 0.0), max(high - lift, 0.0)),
            wanted,
            _stage(on_progress, f"place {turn + 1}"),
            shares=shares,
            nearby=turn > 0,
        )
        root = placement.root
        height = float(np.clip(root.position[2] - stance.base[2], low, high))
        for _ in range(2):
            feet = root.position[:2] - _turn(root.heading) @ offset
            spot = Spot((float(feet[0]), float(feet[1])), root.heading, height, root.follow, root.advance)
            placed = judge_spot(robot, handles, spot, posture, wanted=wanted)
            if best is None or _rank(placed) > _rank(best):
                best = placed
            balanced = placed.placement.root
            offset = offset + _turn(root.heading).T @ (balanced.position - root.position)[:2]
        reach = hand_reach(robot, handles, stand(robot, (0.0, 0.0), 0.0, posture, height).joints)
        if placed.legs_fault:
            # The legs have room for the height, but not for the sway there.
            low, high = (low, height - _HEIGHT_ROOM) if height > 0.0 else (height + _HEIGHT_ROOM, high)
            low, high = min(low, 0.0), max(high, 0.0)
        assert best is not None
        worth = _GAIN if best.placement.feasible else _APPROACH
        if turn > 0 and not placed.legs_fault and _rank(best) < before + worth:
            break
        along = going_along(hands_way(handles), root.heading, root.follow, root.advance)
        sway = balanced.sway - np.column_stack([along, np.zeros(count)])
        guess = RootPath(root.position, root.heading, sway, root.follow, root.advance)
    assert best is not None
    return best


def cog_targets(stance: Stance, handles: Mapping[str, Handle], spot: Spot) -> Array:
    """Let the COG go a part of the way with the hands.

    Parameters
    ----------
    stance : Stance
    handles : {side: Handle}
    spot : Spot
        Its heading, `follow` and `advance` are used.

    Returns
    -------
    (K, 2) array
        m, world.
    """
    return stance.target + going_along(hands_way(handles), spot.heading, spot.follow, spot.advance)


def _shares(robot: Robot, stance: Stance, handles: Mapping[str, Handle]) -> tuple[float, float]:
    """Most of `follow` and of `advance` that together keep the COG inside the box about the soles."""
    corners = [
        sole.act(corner)[:2] for side, sole in stance.soles.items() for corner in robot.soles[f"{side}_foot"]
    ]
    own = np.array(corners) @ pin.XYZQUATToSE3(stance.base).rotation[:2, :2]
    room = 0.5 * float(np.ptp(own, axis=0).min()) - _SUPPORT_ROOM
    hands = hands_way(handles)
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


def _root_path(base: Array, heading: float) -> RootPath:
    """Split the way of the root link into its middle and a sway."""
    middle = base[:, :3].mean(axis=0)
    return RootPath(middle, heading, base[:, :3] - middle)


def _balanced(robot: Robot, stance: Stance, placement: Placement, targets: Array) -> tuple[Array, Array]:
    joints = np.tile(stance.joints, (len(targets), 1))
    columns = [robot.joint_names.index(name) for name in placement.joint_names]
    joints[:, columns] = placement.postures
    return balance(robot, stance, joints, targets)


def _legs_fault(robot: Robot, joints: Array) -> str:
    """Say which leg joint is beyond its limits, if one is."""
    for side in SIDES:
        for column in leg_columns(robot, side):
            low, high = robot.model.lowerPositionLimit[7 + column], robot.model.upperPositionLimit[7 + column]
            beyond = max(low - joints[:, column].min(), joints[:, column].max() - high)
            if beyond > 0.0:
                return f"keeping balance takes {robot.joint_names[column]} {beyond:.3f} rad beyond its limit"
    return ""


def _faulty(placement: Placement, fault: str) -> Placement:
    return placement if placement.fault else replace(placement, fault=fault, margin=0.0)
