"""Where the feet are put down: on the spot, forward, sideways, turning, one after another."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import shapely
from numpy.typing import NDArray

from simbench.balance.standing.standing import Stance, leg_columns
from simbench.errors import BalanceError
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_WAY = np.linspace(0.0, 1.0, 11)
"""Shares of a step at which soles must not overlap."""
_TOUCH = 1e-6
"""Overlap of two soles that rounding makes, m²."""


_MOST_STEPS = 1000
"""Of a command: a quarter of an hour."""


@dataclass(frozen=True)
class March:
    """So many steps on the spot."""

    count: int


@dataclass(frozen=True)
class Forward:
    """So far forward, negative backward, m, each foot put down at most `step`, m, ahead of the other."""

    distance: float
    step: float


@dataclass(frozen=True)
class Sideways:
    """So far to the left, negative to the right, m: a foot at most `step`, m, out, the other one after it."""

    distance: float
    step: float


@dataclass(frozen=True)
class Turn:
    """So far to the left, negative to the right, rad: a foot by at most `step`, rad, then the other one."""

    angle: float
    step: float


Command = March | Forward | Sideways | Turn


@dataclass(frozen=True)
class Footstep:
    """A foot is put down.

    Parameters
    ----------
    side : str
    position : (2,) array
        Of the foot frame in the world, m.
    yaw : float
        rad.
    """

    side: str
    position: NDArray[np.float64]
    yaw: float


@dataclass(frozen=True)
class StepLimits:
    """How far one foot may be put down from its place beside the other one.

    Parameters
    ----------
    reach : float
        m.
    inward, outward : float
        Turn towards the other foot and away from it, rad.
    """

    reach: float
    inward: float
    outward: float


def plan_footsteps(
    robot: Robot, stance: Stance, commands: Sequence[Command], first: str = "left"
) -> tuple[Footstep, ...]:
    """Put the feet down as commands say, each in the frame where the one before has left the robot.

    After every command the feet stand beside each other as in the stance. Distances are divided into equal
    steps, no longer than asked for. Marching and going forward start with the foot that did not step last,
    going sideways and turning with the foot on that side.

    Parameters
    ----------
    robot : Robot
    stance : Stance
        Where it stands before.
    commands : sequence of Command
    first : str
        Which foot starts.

    Returns
    -------
    tuple of Footstep

    Raises
    ------
    BalanceError
        If a command's numbers say nothing, or as `check_footsteps`.
    """
    yaws = [yaw_of(stance.soles[side]) for side in SIDES]
    heading = yaws[0] + 0.5 * math.remainder(yaws[1] - yaws[0], math.tau)
    middle = np.mean([stance.soles[side].translation for side in SIDES], axis=0)
    place = pin.SE3(pin.utils.rotate("z", heading), middle)
    home = {side: place.actInv(stance.soles[side]) for side in SIDES}
    turned = {side: yaw_of(home[side]) for side in SIDES}
    steps: list[Footstep] = []
    for number, command in enumerate(commands, 1):
        _check_command(command, number)
        following = other_side(steps[-1].side) if steps else first
        for side, ahead, turn in _course(command, following):
            at = place * pin.SE3(pin.utils.rotate("z", turn), np.array([*ahead, 0.0]))
            steps.append(
                Footstep(side, (at * home[side]).translation[:2].copy(), heading + turn + turned[side])
            )
        place, heading = at, heading + turn
    check_footsteps(robot, stance, steps)
    return tuple(steps)


def check_footsteps(robot: Robot, stance: Stance, footsteps: Sequence[Footstep]) -> None:
    """Refuse steps that legs cannot make, and soles that overlap, there or on the straight way.

    Parameters
    ----------
    robot : Robot
    stance : Stance
        Where it stands before.
    footsteps : sequence of Footstep

    Raises
    ------
    BalanceError
        With the first step that is out of range, and the range.
    """
    limits = step_limits(robot, stance)
    feet = dict(stance.soles)
    beside = {side: feet[other_side(side)].actInv(feet[side]) for side in SIDES}
    for number, step in enumerate(footsteps, 1):
        if step.side not in SIDES:
            raise BalanceError(f"step {number}: no foot {step.side!r}; allowed: {', '.join(SIDES)}")
        where = f"step {number} ({step.side})"
        if not (np.isfinite(step.position).all() and np.isfinite(step.yaw)):
            raise BalanceError(f"{where}: at {step.position}, {step.yaw} rad; allowed: finite numbers")
        standing = feet[other_side(step.side)]
        place = standing * beside[step.side]
        foot = pin.SE3(pin.utils.rotate("z", step.yaw), np.array([*step.position, place.translation[2]]))
        away = float(np.linalg.norm(foot.translation - place.translation))
        if away > limits.reach:
            raise BalanceError(
                f"{where}: {away:.3f} m from its place beside the other foot; allowed: {limits.reach:.3f} m"
            )
        outward = math.remainder(step.yaw - yaw_of(place), math.tau) * (1.0 if step.side == "left" else -1.0)
        if not -limits.inward <= outward <= limits.outward:
            raise BalanceError(
                f"{where}: turned {outward:+.3f} rad away from the other foot; "
                f"allowed: {-limits.inward:+.3f} to {limits.outward:+.3f} rad"
            )
        if _overlap_on_the_way(robot, step.side, feet[step.side], foot, standing):
            raise BalanceError(
                f"{where}: its sole comes over the other one; allowed: soles beside each other"
            )
        feet[step.side] = foot


def step_limits(robot: Robot, stance: Stance) -> StepLimits:
    """Find how long and how turned a step the legs allow at best, pelvis at the stance's height.

    The pelvis is in the middle between the feet, turned half as far as they are against each other: a foot
    is half a step from under its hip, and a straight leg of length ℓ, its hip h above the ankle, reaches
    √(ℓ² − h²). The leg's joint nearest to vertical turns the foot.

    Parameters
    ----------
    robot : Robot
    stance : Stance

    Returns
    -------
    StepLimits
    """
    model, data = robot.model, robot.model.createData()
    q = np.concatenate([stance.base, stance.joints])
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    reach, turns = [], []
    for side, away in zip(SIDES, (1.0, -1.0), strict=True):
        places = np.array(
            [data.oMi[model.getJointId(name)].translation for name in robot.groups[f"{side}_leg"]]
        )
        ends = np.linalg.norm(places[:, None] - places[[0, -1]], axis=2)
        knee = ends.min(axis=1).argmax()
        length, drop = ends[knee].sum(), places[0, 2] - places[-1, 2]
        reach.append(np.sqrt(max(length**2 - drop**2, 0.0)))
        columns = leg_columns(robot, side)
        frame = model.getFrameId(robot.frames[f"{side}_foot"])
        jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        about_vertical = jacobian[5, model.nv - len(robot.joint_names) + columns]
        joint = np.abs(about_vertical).argmax()
        limits = np.array([model.lowerPositionLimit, model.upperPositionLimit])
        ranges = limits[:, 7 + columns[joint]] - q[7 + columns[joint]]
        turns.append(np.sort(away * about_vertical[joint] * ranges))
    inward, outward = np.abs(turns).min(axis=0)
    return StepLimits(2.0 * float(min(reach)), 2.0 * float(inward), 2.0 * float(outward))


def other_side(side: str) -> str:
    """Name the other foot.

    Parameters
    ----------
    side : str

    Returns
    -------
    str
    """
    return SIDES[1 - SIDES.index(side)]


def yaw_of(pose: pin.SE3) -> float:
    """Find where the x axis of an upright pose points.

    Parameters
    ----------
    pose : pinocchio.SE3

    Returns
    -------
    float
        rad about z, −π to π.
    """
    return math.atan2(pose.rotation[1, 0], pose.rotation[0, 0])


def _course(command: Command, following: str) -> list[tuple[str, tuple[float, float], float]]:
    """Take a command apart: which foot steps to where it belongs when the robot is moved and turned so."""
    match command:
        case March(count):
            feet = (following, other_side(following))
            return [(feet[step % 2], (0.0, 0.0), 0.0) for step in range(count)]
        case Forward(distance, step):
            count = _count(distance, step)
            feet = (following, other_side(following))
            # One more closes up.
            return [(feet[k % 2], (distance * min(k + 1, count) / count, 0.0), 0.0) for k in range(count + 1)]
        case Sideways(distance, step):
            shares, feet = _pairs(distance, step)
            return [(side, (0.0, distance * share), 0.0) for share in shares for side in feet]
        case Turn(angle, step):
            shares, feet = _pairs(angle, step)
            return [(side, (0.0, 0.0), angle * share) for share in shares for side in feet]


def _pairs(whole: float, step: float) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Shares of a whole that both feet go one after the other, the foot on that side first."""
    count = _count(whole, step)
    return np.arange(1, count + 1) / count, ("left", "right") if whole > 0.0 else ("right", "left")


def _count(whole: float, step: float) -> int:
    """How many equal steps no longer than one make a whole."""
    return int(np.ceil(abs(whole) / step - 1e-9))


def _check_command(command: Command, number: int) -> None:
    kind = type(command).__name__.lower()
    where = f"command {number} ({kind})"
    if isinstance(command, March):
        if not 1 <= command.count <= _MOST_STEPS:
            raise BalanceError(f"{where}: {command.count} steps; allowed: 1 to {_MOST_STEPS}")
        return
    whole, unit = (command.angle, "rad") if isinstance(command, Turn) else (command.distance, "m")
    if not (np.isfinite(whole) and whole != 0.0):
        raise BalanceError(f"{where}: {whole:g} {unit}; allowed: a finite number other than 0")
    if not (np.isfinite(command.step) and command.step > 0.0):
        raise BalanceError(f"{where}: steps of {command.step:g} {unit}; allowed: above 0 {unit}")
    if abs(whole) / command.step > _MOST_STEPS:
        raise BalanceError(
            f"{where}: {whole:g} {unit} in steps of {command.step:g} {unit} are too many; "
            f"allowed: {_MOST_STEPS} steps"
        )


def _overlap_on_the_way(robot: Robot, side: str, start: pin.SE3, end: pin.SE3, standing: pin.SE3) -> bool:
    """Whether a sole that is moved and turned evenly comes over the one that stands."""
    other = robot.soles[f"{other_side(side)}_foot"] @ standing.rotation.T + standing.translation
    yaws = yaw_of(start) + _WAY * math.remainder(yaw_of(end) - yaw_of(start), math.tau)
    turns = np.moveaxis(np.array([[np.cos(yaws), -np.sin(yaws)], [np.sin(yaws), np.cos(yaws)]]), 2, 0)
    spots = start.translation[:2] + _WAY[:, None] * (end.translation - start.translation)[:2]
    soles = robot.soles[f"{side}_foot"][:, :2] @ turns.transpose(0, 2, 1) + spots[:, None]
    shared = shapely.area(shapely.intersection(shapely.polygons(soles), shapely.Polygon(other[:, :2])))
    return bool(shared.max() > _TOUCH)
