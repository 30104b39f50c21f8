"""Base placement: from where hands follow handles, the robot seated, fixed, or with its COG over its feet."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pinocchio as pin

from simbench.balance.leg_ik import Stance, height_range, least_knee_bend, leg_columns, solve_com_ik, stand
from simbench.errors import RetargetError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HandlePath
from simbench.options import RetargetSection, RobotSection
from simbench.retargeting.placement.reach_model import (
    ReachabilityModel,
    com_offset,
    hand_displacement,
    rotation_about_z,
)
from simbench.retargeting.placement.root_placement import (
    NominalPosture,
    Placement,
    ReachTolerances,
    evaluate_root,
    find_root,
)
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES
from simbench.system.progress import OnProgress

# Most rounds of arms and balance, and change of the pelvis' path, m, after which they agree.
_BALANCE_ROUNDS, _SETTLED = 5, 2e-4
# Bend of the knees while the pelvis sways, rad: nearer to straight the legs' joints become too fast.
_LEAST_KNEE = 0.2
# m, over which the pelvis' displacement is taken to be in proportion to the COG's.
_SMALL_SWAY = 0.005
_SEARCH_ROUNDS = 6
# Gain of a round of the search after which another is worth it: margin, rad; or what is missing, m.
_GAIN, _APPROACH = 0.01, 0.001
# Kept from a height at which the legs could not sway, m; twice as much the next time.
_HEIGHT_ROOM = 0.004
# Between the COG's path and the edges of the soles' box, m: in all that the search may choose, and where the
# legs can do the task only with the COG before or behind the middle of the soles.
_SUPPORT_ROOM, _LEAN_ROOM = 0.02, 0.01


@dataclass(frozen=True)
class BasePlacement:
    """Where a robot stands or sits, and how its COG goes with its hands.

    Raises RetargetError if a number is not finite, or a part is not one.
    """

    position: tuple[float, float] = (0.0, 0.0)  # Middle between the feet, or of a fixed base; m, world.
    heading: float = 0.0  # Heading, rad about z.
    # How much higher the pelvis is than in the posture, m; 0 for a seated robot. Of a fixed base: height of
    # the root link above the floor, m.
    height: float = 0.0
    follow: float = 0.4  # Part of the hands' horizontal motion that the COG goes with.
    advance: float = 0.0  # How far the COG goes forward, m, for each metre that the hands rise.
    lean: float = 0.0  # How far before the middle of the soles the COG is in the middle of its path, m.

    def __post_init__(self) -> None:
        """Refuse numbers that are not finite or out of range."""
        numbers = (*self.position, self.heading, self.height, self.follow, self.advance, self.lean)
        if not np.isfinite(numbers).all():
            raise RetargetError(f"a robot's place must be given in finite numbers; given: {numbers}")
        if not (0.0 <= self.follow <= 1.0 and -1.0 <= self.advance <= 1.0):
            raise RetargetError(
                "the COG may follow the hands by 0 to 1 and advance by -1 to 1 m per m; given: "
                f"{self.follow:g} and {self.advance:g}"
            )


@dataclass(frozen=True)
class Placed:
    """A base placement and what the hands can do from there."""

    spot: BasePlacement  # Base placement of the standing or seated robot.
    placement: Placement  # Placement, with the root link at the position that balance requires.
    legs_fault: bool = False  # Whether the legs are at fault, not the arms.

    @property
    def rank(self) -> float:
        """The margin, rad; where the path cannot be followed, less than 0 by what is missing."""
        placement = self.placement
        if placement.feasible:
            return placement.margin
        position, rotation = placement.errors.max(axis=1).tolist()
        return min(placement.clearance, 0.0) - position - 0.1 * rotation

    def with_fault(self, fault: str, *, legs: bool = False) -> "Placed":
        """Note a fault where there is none yet, and whether it is the legs'."""
        placement = self.placement
        if not placement.fault:
            placement = replace(placement, fault=fault, margin=0.0)
        return Placed(self.spot, placement, legs)


def handles_for(
    robot: Robot, handles: Mapping[str, HandlePath], side: str | None = None
) -> dict[str, HandlePath]:
    """Choose which of a robot's hands, one or two, holds which of a recording's handles.

    With a side only the handle of this side is taken: with the hand of that side, or with the only one there
    is. By default every hand takes its own.
    """
    hands = [hand for hand in SIDES if f"{hand}_hand" in robot.frames]
    if side is not None and side not in SIDES:
        raise RetargetError(f"no side `{side}`; allowed: {', '.join(SIDES)}")
    asked = [side] if side is not None else [hand for hand in hands if hand in handles] or list(SIDES)
    lacking = [one for one in asked if one not in handles]
    if lacking or not hands:
        what = f"a handle for the {lacking[0]} hand" if hands else "a robot with a hand"
        raise RetargetError(
            f"{robot.name}: placement needs {what}; the recording has: {', '.join(handles) or 'no handles'}"
        )
    if side is not None:
        return {side if side in hands else hands[0]: handles[side]}
    return {hand: handles[hand] for hand in asked}


def choose_posture(robot: Robot, name: str | None = None) -> str:
    """Choose the posture that gives legs and head: a named one, or else `standing` or the robot's first."""
    chosen = name or ("standing" if "standing" in robot.postures else next(iter(robot.postures), ""))
    if chosen not in robot.postures:
        allowed = ", ".join(robot.postures) or "none"
        raise RetargetError(f"{robot.name}: no posture `{chosen}`; allowed: {allowed}")
    return chosen


def base_height(robot: Robot, section: RobotSection) -> float:
    """Say how high the root link of a robot with a fixed base is above the floor, m."""
    if section.height_m is None:
        return robot.base_height
    if section.height_m < 0.0:
        raise ScenarioError(
            f"robot.height_m: {robot.name} has a fixed base, which is not below the floor; allowed: from 0, "
            f"got {section.height_m:g}"
        )
    return section.height_m


def evaluate_placement(
    robot: Robot,
    handles: Mapping[str, HandlePath],
    spot: BasePlacement,
    posture: str,
    *,
    tolerances: ReachTolerances = ReachTolerances(),  # noqa: B008
    likely: NominalPosture | None = None,
) -> Placed:
    """Evaluate whether hands can follow their handles from a base placement, the COG kept over the feet.

    The pelvis sways against the arms; by how much more or less than assumed, the balance of the whole body
    tells, and both are solved in turn. The pelvis of a seated robot does not move.

    Handles are those of `handles_for`, the named posture gives legs and head. `likely` is from where the arms
    of a root that stays where it is are looked for first; if it serves, no other posture is tried. Raises an
    error if the legs do not allow the height.
    """
    if not robot.floating or posture == SEATED:
        position, joints = fixed_root(robot, spot, posture)
        reach, base = ReachabilityModel(robot, handles, joints), np.array([*position, spot.heading, 0.0, 0.0])
        return Placed(spot, evaluate_root(reach, handles, base, tolerances, likely=likely))
    stance = stand(robot, spot.position, spot.heading, posture, spot.height)
    targets, gain = cog_targets(stance, handles, spot), sway_gain(robot, stance)
    reach = ReachabilityModel(robot, handles, stance.joints, gain)
    base = np.array([*stance.base[:3], spot.heading, spot.follow, spot.advance])
    base[:2] += gain[0] * spot.lean * forward(spot.heading)
    likely, sway = None, np.zeros((len(targets), 3))
    for attempt in range(_BALANCE_ROUNDS):
        placed = Placed(spot, evaluate_root(reach, handles, base, tolerances, sway, likely))
        placement = placed.placement
        likely, joints = placement.nominal, np.tile(stance.joints, (len(targets), 1))
        joints[:, [robot.joint_names.index(name) for name in placement.joint_names]] = placement.joints
        try:
            root, joints = solve_com_ik(robot, stance, joints, targets)
        except RetargetError as error:
            return placed.with_fault(str(error), legs=True)
        off = root[:, :3] - placement.root_positions
        if np.abs(off).max() < _SETTLED or (attempt > 0 and not placement.feasible):
            break
        middle = off.mean(axis=0)
        base, sway = np.concatenate([base[:3] + middle, base[3:]]), sway + off - middle
    axes = np.column_stack([forward(spot.heading), forward(spot.heading + 0.5 * np.pi)])
    along = (targets - stance.target) @ axes
    beyond = float((np.abs(along) - half_soles(robot, stance)).max())
    if beyond > 0.0:
        placed = placed.with_fault(f"the COG would go {1000 * beyond:.0f} mm beyond the soles")
    low, high = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    for column in [column for side in SIDES for column in leg_columns(robot, side)]:
        excess = max(low[column] - joints[:, column].min(), joints[:, column].max() - high[column])
        if excess > 0.0:
            name = robot.joint_names[column]
            fault = f"keeping balance takes {name} {excess:.3f} rad beyond its limit"
            return placed.with_fault(fault, legs=True)
    bend = least_knee_bend(robot, joints)
    if bend < _LEAST_KNEE:
        fault = f"keeping balance stretches a knee to {bend:.3f} rad of bend (least allowed: {_LEAST_KNEE})"
        return placed.with_fault(fault, legs=True)
    return placed


def fixed_root(robot: Robot, spot: BasePlacement, posture: str) -> tuple[Array, Array]:
    """Find the position (3,), m, world, and the posture (n,), rad, of a root that stays where it is.

    The base is fixed, or the robot sits; then the base placement may have no height.
    """
    if not robot.floating:
        return np.array([*spot.position, spot.height]), robot.postures[posture]
    stance = stand(robot, spot.position, spot.heading, posture, spot.height)
    return stance.base[:3], stance.joints


def cog_targets(stance: Stance, handles: Mapping[str, HandlePath], spot: BasePlacement) -> Array:
    """Let the COG go with the hands in part, as the base placement says: targets (K, 2), m, world."""
    along = com_offset(hand_displacement(handles), spot.heading, spot.follow, spot.advance)
    return stance.target + along + spot.lean * forward(spot.heading)


def forward(heading: float) -> Array:
    """Compute the unit vector (2,) of a heading, rad about z."""
    return np.array([np.cos(heading), np.sin(heading)])


def half_soles(robot: Robot, stance: Stance) -> Array:
    """Measure half the length and half the width of the box about the soles, in the stance's axes, m."""
    corners = [
        sole.act(corner)[:2] for side, sole in stance.soles.items() for corner in robot.soles[f"{side}_foot"]
    ]
    turned = np.array(corners) @ pin.XYZQUATToSE3(stance.base).rotation[:2, :2]
    return np.asarray(0.5 * np.ptp(turned, axis=0))


def sway_gain(robot: Robot, stance: Stance) -> tuple[float, float]:
    """Measure how far the pelvis goes, along its x and y, for each metre that it is to take the COG.

    More than 1, as the legs' mass goes along in part only.
    """
    rotation = pin.XYZQUATToSE3(stance.base).rotation[:2, :2]
    steps = _SMALL_SWAY * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    base, _ = solve_com_ik(robot, stance, np.tile(stance.joints, (4, 1)), stance.target + steps @ rotation.T)
    moved = base[:, :2] @ rotation / (2.0 * _SMALL_SWAY)
    return float(moved[0, 0] - moved[1, 0]), float(moved[2, 1] - moved[3, 1])


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

    Handles are those of `handles_for`, the named posture gives legs and head; `start` is the first guess.
    `on_progress` (stage, done, total) is told after every start of a stage. With `any_height` the height of a
    fixed base is searched for too: the robot stands on a pedestal. If hands can follow their handles from
    nowhere, it is the placement from which least is missing.
    """
    turned = rotation_about_z(start.heading)[:2, :2]
    if not robot.floating or posture == SEATED:
        start, heights = replace(start, height=0.0) if robot.floating else start, (0.0, 0.0)
        if any_height and not robot.floating:
            # From the floor to the highest handle.
            highest = max(float(handle.poses[:, 2, 3].max()) for handle in handles.values())
            heights = -start.height, max(highest - start.height, 0.0)
        position, joints = fixed_root(robot, start, posture)
        offset = turned.T @ (position[:2] - start.position)
        reach = ReachabilityModel(robot, handles, joints)
        base = np.array([*position, start.heading, 0.0, 0.0])
        progress = partial(on_progress, "place")
        placement = find_root(reach, handles, base, heights, tolerances, progress)
        _, _, z, heading, *_ = placement.base.tolist()
        x, y = (placement.base[:2] - rotation_about_z(heading)[:2, :2] @ offset).tolist()
        return Placed(BasePlacement((x, y), heading, start.height if robot.floating else z), placement)
    low, high = height_range(robot, posture)
    stance = stand(robot, start.position, start.heading, posture)
    gain, sway = sway_gain(robot, stance), None
    reach = ReachabilityModel(robot, handles, stance.joints, gain)
    # Together `follow` and `advance` keep the COG inside the box about the soles.
    room, hands = float(half_soles(robot, stance).min()) - _SUPPORT_ROOM, hand_displacement(handles)
    across = max(float(np.linalg.norm(hands[:, :2], axis=1).max()), 1e-6)
    rise = max(float(np.abs(hands[:, 2]).max()), 1e-6)
    most_follow = float(np.clip(room / across, 0.0, 1.0))
    most_advance = float(np.clip((room - most_follow * across) / rise, 0.0, 1.0))
    base = np.array([*stance.base[:3], start.heading, start.follow, start.advance])
    offset = turned.T @ (stance.base[:2] - start.position)
    best: Placed | None = None
    leant: Placed | None = None
    height_room, legs_fault = _HEIGHT_ROOM, False
    for attempt in range(_SEARCH_ROUNDS):
        before, lift = -np.inf if best is None else best.rank, base[2] - stance.base[2]
        heights, progress = (low - lift, high - lift), partial(on_progress, f"place {attempt + 1}")
        # Where the legs were at fault, the arms have to do otherwise.
        nearby = attempt > 0 and not legs_fault
        motion = sway, most_follow, most_advance
        placement = find_root(reach, handles, base, heights, tolerances, progress, *motion, nearby=nearby)
        base = placement.base
        _, _, z, heading, follow, advance = base.tolist()
        height, turned = float(np.clip(z - stance.base[2], low, high)), rotation_about_z(heading)[:2, :2]
        for _ in range(2):
            x, y = (base[:2] - turned @ offset).tolist()
            spot = BasePlacement((x, y), heading, height, follow, advance)
            placed = evaluate_placement(robot, handles, spot, posture, tolerances=tolerances)
            if best is None or placed.rank > best.rank:
                best = placed
            offset = offset + turned.T @ (placed.placement.base - base)[:2]
        assert best is not None
        legs_fault, sway = placed.legs_fault, placed.placement.sway
        if legs_fault and leant is None:
            # The feet are put back or forth under a pelvis that stays, if that helps: the legs bend farther
            # one way than the other. The COG comes nearer to the soles' edges: for where nothing else serves.
            spot, ahead = placed.spot, forward(placed.spot.heading)
            along = com_offset(hands, spot.heading, spot.follow, spot.advance) @ ahead
            upright = stand(robot, spot.position, spot.heading, posture)
            room = float(half_soles(robot, upright)[0] - _LEAN_ROOM - np.abs(along).max())
            sway_ahead = sway_gain(robot, upright)[0]
            for fraction in (0.25, -0.25, 0.5, -0.5, 0.75, -0.75, 1.0, -1.0) if room > 0.0 else ():
                lean = fraction * room
                x, y = (np.array(spot.position) - sway_ahead * (lean - spot.lean) * ahead).tolist()
                moved = replace(spot, position=(x, y), lean=lean)
                other = evaluate_placement(robot, handles, moved, posture, tolerances=tolerances)
                if other.placement.feasible:
                    leant = other
                    break
        joints = stand(robot, (0.0, 0.0), 0.0, posture, height).joints
        reach = ReachabilityModel(robot, handles, joints, gain)
        if legs_fault:
            # The legs have room for the height, but not for the sway there.
            low, high = (low, height - height_room) if height > 0.0 else (height + height_room, high)
            low, high, height_room = min(low, 0.0), max(high, 0.0), 2.0 * height_room
        worth = _GAIN if best.placement.feasible else _APPROACH
        if attempt > 0 and not legs_fault and best.rank < before + worth:
            break
    assert best is not None
    return leant if leant is not None and not best.placement.feasible else best


def choose_placement(
    robot: Robot,
    section: RobotSection,
    settings: RetargetSection,
    handles: Mapping[str, HandlePath],
    on_progress: OnProgress,
) -> BasePlacement:
    """Take the base placement that a scenario gives a robot, or find the best one for its equipment.

    `handles` holds the handle of each hand; it is empty for free motion. It is a `RetargetError` if a
    placement is to be found without equipment, or none is feasible.
    """
    given = given_placement(robot, section, settings)
    if section.place == "given":
        return given
    if not handles:
        raise RetargetError(f"{robot.name}: robot.place auto needs equipment whose handles are known")
    free = section.height_m is None and robot.base_height > 0.0
    found = find_spot(robot, handles, given, section.posture, on_progress, any_height=free)
    if not found.placement.feasible:
        best = found.spot
        raise RetargetError(
            f"{robot.name}: has no place to follow the handles from; least is missing at "
            f"({best.position[0]:.3f}, {best.position[1]:.3f}) m, turned {best.heading:.3f} rad, "
            f"{best.height:.3f} m higher: {found.placement.fault}"
        )
    return found.spot


def given_placement(robot: Robot, section: RobotSection, settings: RetargetSection) -> BasePlacement:
    """Take position, heading, height and motion of the COG with the hands as a scenario gives them."""
    height = (section.height_m or 0.0) if robot.floating else base_height(robot, section)
    motion = (settings.pelvis_follow, settings.pelvis_advance, settings.pelvis_lean_m)
    return BasePlacement(section.position_m, section.heading_rad, height, *motion)
