"""Whether hands can follow their handles from where a robot sits, or stands with its COG over its feet."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from simbench.balance.standing.standing import Stance, least_knee_bend, leg_columns, solve_com_ik, stand
from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.handles import HandlePath
from simbench.retargeting.placement.hand_path import com_offset, hand_displacement
from simbench.retargeting.placement.limit_margin import NominalPosture, ReachTolerances
from simbench.retargeting.placement.placement import Placement, RootPath, evaluate_root
from simbench.retargeting.placement.reach_model import handle_path_points, make_reachability_model
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES

_BALANCE_ROUNDS = 5
_SETTLED = 2e-4
"""Change of the pelvis' path, m, after which arms and balance agree."""
_LEAST_KNEE = 0.2
"""Bend of the knees while the pelvis sways, rad: nearer to straight the legs' joints become too fast."""
_SMALL_SWAY = 0.005
"""m, over which the pelvis' displacement is taken to be in proportion to the COG's."""


@dataclass(frozen=True)
class BasePlacement:
    """Where a robot stands or sits, and how its COG goes with its hands.

    Parameters
    ----------
    position : (float, float)
        Middle between the feet, or of a fixed base; m, world.
    heading : float
        Heading, rad about z.
    height : float
        How much higher the pelvis is than in the posture, m; 0 for a seated robot. Of a fixed base: height of
        the root link above the floor, m.
    follow : float
        Part of the hands' horizontal motion that the COG goes with.
    advance : float
        How far the COG goes forward, m, for each metre that the hands rise.
    lean : float
        How far before the middle of the soles the COG is in the middle of its path, m.

    Raises
    ------
    RetargetError
        If a number is not finite, or a part is not one.
    """

    position: tuple[float, float] = (0.0, 0.0)
    heading: float = 0.0
    height: float = 0.0
    follow: float = 0.4
    advance: float = 0.0
    lean: float = 0.0

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
    """A base placement and what the hands can do from there.

    Parameters
    ----------
    spot : BasePlacement
        Base placement of the standing or seated robot.
    placement : Placement
        Placement, with the root link at the position that balance requires.
    legs_fault : bool
        Whether the legs are at fault, not the arms.
    """

    spot: BasePlacement
    placement: Placement
    legs_fault: bool = False


def handles_for(
    robot: Robot, handles: Mapping[str, HandlePath], side: str | None = None
) -> dict[str, HandlePath]:
    """Choose which of a robot's hands holds what.

    Parameters
    ----------
    robot : Robot
        Robot with one hand or two.
    handles : {side: HandlePath}
        Those of a recording.
    side : str, optional
        Take only the handle of this side: with the hand of that side, or with the only one there is. By
        default every hand takes its own.

    Returns
    -------
    {side: HandlePath}
        Paths of the handles by the side of the robot's hand.

    Raises
    ------
    RetargetError
        If the recording has no such handle, or the robot no hand.
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
    """Choose the posture that gives legs and head: a named one, or else `standing` or the robot's first.

    Parameters
    ----------
    robot : Robot
        Robot with named postures.
    name : str, optional
        Named posture.

    Returns
    -------
    str
        Name of a posture that the robot has.

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

    Parameters
    ----------
    robot : Robot
        Robot with the hands that hold the handles.
    handles : {side: HandlePath}
        From `handles_for`.
    spot : BasePlacement
        Base placement of the standing or seated robot.
    posture : str
        Named posture whose legs and head are used.
    tolerances : ReachTolerances
        Largest palm errors that are accepted, and the margin at which the search ends.
    likely : NominalPosture, optional
        Posture from which the arms of a root that stays where it is are looked for first; if it serves, no
        other is tried.

    Returns
    -------
    Placed
        With the largest joint-limit margin, or the least missing.

    Raises
    ------
    RetargetError
        If the legs do not allow the height.
    """
    count = len(handle_path_points(handles))
    if is_root_fixed(robot, posture):
        position, joints = fixed_root(robot, spot, posture)
        reach = make_reachability_model(robot, handles, joints)
        root = RootPath(position, spot.heading, np.zeros((count, 3)))
        return Placed(spot, evaluate_root(reach, handles, root, tolerances, likely))
    stance = stand(robot, spot.position, spot.heading, posture, spot.height)
    targets = cog_targets(stance, handles, spot)
    gain = sway_gain(robot, stance)
    reach = make_reachability_model(robot, handles, stance.joints, gain)
    position = stance.base[:3].copy()
    position[:2] += gain[0] * spot.lean * forward(spot.heading)
    root = RootPath(position, spot.heading, np.zeros((count, 3)), spot.follow, spot.advance)
    likely = None
    for attempt in range(_BALANCE_ROUNDS):
        placement = evaluate_root(reach, handles, root, tolerances, likely)
        likely = placement.nominal
        try:
            base, joints = _balanced(robot, stance, placement, targets)
        except RetargetError as error:
            return Placed(spot, _faulty(placement, str(error)), legs_fault=True)
        off = base[:, :3] - placement.root_positions
        if np.abs(off).max() < _SETTLED or (attempt > 0 and not placement.feasible):
            break
        middle = off.mean(axis=0)
        root = replace(root, position=root.position + middle, sway=root.sway + off - middle)
    along = (targets - stance.target) @ np.column_stack(
        [forward(spot.heading), forward(spot.heading + 0.5 * np.pi)]
    )
    beyond = float((np.abs(along) - half_soles(robot, stance)).max())
    if beyond > 0.0:
        placement = _faulty(placement, f"the COG would go {1000 * beyond:.0f} mm beyond the soles")
    legs = _legs_fault(robot, joints)
    return Placed(spot, _faulty(placement, legs) if legs else placement, legs_fault=bool(legs))


def is_root_fixed(robot: Robot, posture: str) -> bool:
    """Check whether a robot's root stays where it is.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base or a floating one.
    posture : str
        Named posture.

    Returns
    -------
    bool
        True if the base is fixed, or the robot sits.
    """
    return not robot.floating or posture == SEATED


def fixed_root(robot: Robot, spot: BasePlacement, posture: str) -> tuple[Array, Array]:
    """Find where a root that stays where it is (`is_root_fixed`) is.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base, or a seated one.
    spot : BasePlacement
        Base placement of the robot.
    posture : str
        Named posture.

    Returns
    -------
    position : (3,) array
        Position of the root, m, world.
    joints : (n,) array
        The posture, rad.

    Raises
    ------
    RetargetError
        If the base placement has a height and the robot sits.
    """
    if not robot.floating:
        return np.array([*spot.position, spot.height]), robot.postures[posture]
    stance = stand(robot, spot.position, spot.heading, posture, spot.height)
    return stance.base[:3], stance.joints


def cog_targets(stance: Stance, handles: Mapping[str, HandlePath], spot: BasePlacement) -> Array:
    """Let the COG go with the hands in part.

    Parameters
    ----------
    stance : Stance
        Stance of the robot.
    handles : {side: HandlePath}
        Path of the handle that each hand holds.
    spot : BasePlacement
        Its heading, `follow`, `advance` and `lean` are used.

    Returns
    -------
    (K, 2) array
        Targets of the COG in the world, m.
    """
    along = com_offset(hand_displacement(handles), spot.heading, spot.follow, spot.advance)
    return stance.target + along + spot.lean * forward(spot.heading)


def forward(heading: float) -> Array:
    """Compute the unit vector of a heading.

    Parameters
    ----------
    heading : float
        Heading, rad about z.

    Returns
    -------
    (2,) array
        Unit vector in the world.
    """
    return np.array([np.cos(heading), np.sin(heading)])


def half_soles(robot: Robot, stance: Stance) -> Array:
    """Measure half the length and half the width of the box about the soles.

    Parameters
    ----------
    robot : Robot
        Robot with the outlines of its soles.
    stance : Stance
        Stance of the robot, with the poses of its soles.

    Returns
    -------
    (2,) array
        Half length and half width of the sole in the stance's axes, m.
    """
    corners = [
        sole.act(corner)[:2] for side, sole in stance.soles.items() for corner in robot.soles[f"{side}_foot"]
    ]
    turned = np.array(corners) @ pin.XYZQUATToSE3(stance.base).rotation[:2, :2]
    return np.asarray(0.5 * np.ptp(turned, axis=0))


def sway_gain(robot: Robot, stance: Stance) -> tuple[float, float]:
    """Measure how far the pelvis goes, along its x and y, for each metre that it is to take the COG.

    Parameters
    ----------
    robot : Robot
        On two legs.
    stance : Stance
        Stance of the robot.

    Returns
    -------
    (float, float)
        More than 1, as the legs' mass goes along in part only.
    """
    rotation = pin.XYZQUATToSE3(stance.base).rotation[:2, :2]
    steps = _SMALL_SWAY * np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    base, _ = solve_com_ik(robot, stance, np.tile(stance.joints, (4, 1)), stance.target + steps @ rotation.T)
    displacement = base[:, :2] @ rotation / (2.0 * _SMALL_SWAY)
    return (
        float(displacement[0, 0] - displacement[1, 0]),
        float(displacement[2, 1] - displacement[3, 1]),
    )


def _balanced(robot: Robot, stance: Stance, placement: Placement, targets: Array) -> tuple[Array, Array]:
    """Solve base (K, 7) and joints (K, n) that bring the COG to its targets while the arms follow."""
    joints = np.tile(stance.joints, (len(targets), 1))
    columns = [robot.joint_names.index(name) for name in placement.joint_names]
    joints[:, columns] = placement.postures
    return solve_com_ik(robot, stance, joints, targets)


def _legs_fault(robot: Robot, joints: Array) -> str:
    """Say which leg joint is beyond its limits, if one is, or that a knee is too straight."""
    for side in SIDES:
        for column in leg_columns(robot, side):
            low, high = robot.model.lowerPositionLimit[7 + column], robot.model.upperPositionLimit[7 + column]
            beyond = max(low - joints[:, column].min(), joints[:, column].max() - high)
            if beyond > 0.0:
                return f"keeping balance takes {robot.joint_names[column]} {beyond:.3f} rad beyond its limit"
    bend = least_knee_bend(robot, joints)
    if bend < _LEAST_KNEE:
        return f"keeping balance stretches a knee to {bend:.3f} rad of bend (least allowed: {_LEAST_KNEE})"
    return ""


def _faulty(placement: Placement, fault: str) -> Placement:
    """Note a fault where there is none yet."""
    return placement if placement.fault else replace(placement, fault=fault, margin=0.0)
