"""Footsteps and gaits.

Footsteps are planned on the spot, forward, sideways and turning, one command after another. A gait is
sampled: ZMP, COG and feet over time; `standing_gait` stands, `extend_gait` stands at the end.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pinocchio as pin
import shapely
from numpy.typing import NDArray

from simbench.balance.leg_ik import Stance, leg_columns
from simbench.errors import BalanceError
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_PATH_FRACTIONS = np.linspace(0.0, 1.0, 11)  # Fractions of a step at which soles must not overlap.
_MAX_OVERLAP = 1e-6  # Overlap of two soles that rounding makes, m².
_MAX_STEPS = 1000  # Largest number of steps of a command: a quarter of an hour.


@dataclass(frozen=True)
class Command:
    """Steps on the spot, forward or backward, to a side or turning.

    To a side, and where the robot turns, one foot moves out or turns, and the other one follows.
    """

    kind: Literal["march", "forward", "sideways", "turn"]
    # Number of steps on the spot; distance forward or to the left, m; or angle to the left, rad; negative the
    # other way.
    amount: float
    # Largest distance by which a foot is put down ahead of the other one or moves out, m, or angle by which
    # it turns, rad; a march has none.
    step: float = 0.0


@dataclass(frozen=True)
class Footstep:
    """Pose in which a foot is put down."""

    side: str  # The foot: left or right.
    position: Array  # (2,): horizontal position of the foot frame in the world frame, m.
    yaw: float  # Rotation of the foot frame about the vertical, rad.


def plan_footsteps(
    robot: Robot, stance: Stance, commands: Sequence[Command], first: str = "left"
) -> tuple[Footstep, ...]:
    """Plan the footsteps of commands, each in the frame where the one before has left the robot.

    After every command the feet stand beside each other as in the stance. Distances are divided into equal
    steps, no longer than asked for. Marching and going forward start with the foot that did not step last,
    going sideways and turning with the foot on that side. `robot`: robot with two legs; `stance`: stance of
    the robot before the first step; `commands`: commands, one after another; `first`: the foot that makes the
    first step: left or right. Raises BalanceError if a command's numbers are out of range, or as
    `check_footsteps`.
    """
    yaws = [yaw_of(stance.soles[side]) for side in SIDES]
    heading = yaws[0] + 0.5 * math.remainder(yaws[1] - yaws[0], math.tau)
    middle = np.mean([stance.soles[side].translation for side in SIDES], axis=0)
    pose = pin.SE3(pin.utils.rotate("z", heading), middle)
    foot_pose = {side: pose.actInv(stance.soles[side]) for side in SIDES}
    foot_yaw = {side: yaw_of(foot_pose[side]) for side in SIDES}
    steps: list[Footstep] = []
    for number, command in enumerate(commands, 1):
        where = f"command {number} ({command.kind})"
        whole, unit = command.amount, "rad" if command.kind == "turn" else "m"
        if command.kind == "march":
            if not 1 <= whole <= _MAX_STEPS:
                raise BalanceError(f"{where}: {whole} steps; allowed: 1 to {_MAX_STEPS}")
        else:
            if not (np.isfinite(whole) and whole != 0.0):
                raise BalanceError(f"{where}: {whole:g} {unit}; allowed: a finite number other than 0")
            if not (np.isfinite(command.step) and command.step > 0.0):
                raise BalanceError(f"{where}: steps of {command.step:g} {unit}; allowed: above 0 {unit}")
            if abs(whole) / command.step > _MAX_STEPS:
                raise BalanceError(
                    f"{where}: {whole:g} {unit} in steps of {command.step:g} {unit} are too many; "
                    f"allowed: {_MAX_STEPS} steps"
                )
        following = other_side(steps[-1].side) if steps else first
        for side, displacement, rotation in _split_command(command, following):
            moved = pose * pin.SE3(pin.utils.rotate("z", rotation), np.array([*displacement, 0.0]))
            position = (moved * foot_pose[side]).translation[:2].copy()
            steps.append(Footstep(side, position, heading + rotation + foot_yaw[side]))
        pose, heading = moved, heading + rotation
    check_footsteps(robot, stance, steps)
    return tuple(steps)


def check_footsteps(robot: Robot, stance: Stance, footsteps: Sequence[Footstep]) -> None:
    """Refuse steps that legs cannot make, and soles that overlap, at their end or on the straight path there.

    `robot`: robot with two legs; `stance`: stance of the robot before the first step; `footsteps`: steps, one
    after another.
    """
    reach, most_inward, most_outward = step_limits(robot, stance)
    feet = dict(stance.soles)
    beside = {side: feet[other_side(side)].actInv(feet[side]) for side in SIDES}
    for number, step in enumerate(footsteps, 1):
        if step.side not in SIDES:
            raise BalanceError(f"step {number}: no foot {step.side!r}; allowed: {', '.join(SIDES)}")
        where = f"step {number} ({step.side})"
        if not (np.isfinite(step.position).all() and np.isfinite(step.yaw)):
            raise BalanceError(f"{where}: at {step.position}, {step.yaw} rad; allowed: finite numbers")
        standing = feet[other_side(step.side)]
        home = standing * beside[step.side]
        foot = pin.SE3(pin.utils.rotate("z", step.yaw), np.array([*step.position, home.translation[2]]))
        distance = float(np.linalg.norm(foot.translation - home.translation))
        if distance > reach:
            raise BalanceError(
                f"{where}: {distance:.3f} m from its place beside the other foot; allowed: {reach:.3f} m"
            )
        outward = math.remainder(step.yaw - yaw_of(home), math.tau) * (1.0 if step.side == "left" else -1.0)
        if not -most_inward <= outward <= most_outward:
            raise BalanceError(
                f"{where}: turned {outward:+.3f} rad away from the other foot; "
                f"allowed: {-most_inward:+.3f} to {most_outward:+.3f} rad"
            )
        if soles_overlap(robot, step.side, feet[step.side], foot, standing):
            raise BalanceError(
                f"{where}: its sole comes over the other one; allowed: soles beside each other"
            )
        feet[step.side] = foot


def step_limits(robot: Robot, stance: Stance) -> tuple[float, float, float]:
    """Find the longest step and the largest rotations that the legs allow, pelvis at the stance's height.

    The pelvis is in the middle between the feet, turned half as far as they are against each other: a foot is
    half a step from under its hip, and a straight leg of length ℓ, its hip h above the ankle, reaches √(ℓ² −
    h²). The leg's joint nearest to vertical turns the foot. `robot`: robot with two legs; `stance`: posture
    and height in which it steps. Returns limits that hold for both feet, relative to the foot's pose beside
    the other foot: the largest distance, m, and the largest rotations towards the other foot and away from
    it, rad.
    """
    model, data = robot.model, robot.model.createData()
    q = np.concatenate([stance.base, stance.joints])
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    reach, rotations = [], []
    for side, outward_sign in zip(SIDES, (1.0, -1.0), strict=True):
        positions = np.array(
            [data.oMi[model.getJointId(name)].translation for name in robot.groups[f"{side}_leg"]]
        )
        ends = np.linalg.norm(positions[:, None] - positions[[0, -1]], axis=2)
        knee = ends.min(axis=1).argmax()
        length, height = ends[knee].sum(), positions[0, 2] - positions[-1, 2]
        reach.append(np.sqrt(max(length**2 - height**2, 0.0)))
        columns = leg_columns(robot, side)
        frame = model.getFrameId(robot.frames[f"{side}_foot"])
        jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        about_vertical = jacobian[5, model.nv - len(robot.joint_names) + columns]
        joint = np.abs(about_vertical).argmax()
        limits = np.array([model.lowerPositionLimit, model.upperPositionLimit])
        ranges = limits[:, 7 + columns[joint]] - q[7 + columns[joint]]
        rotations.append(np.sort(outward_sign * about_vertical[joint] * ranges))
    inward, outward = np.abs(rotations).min(axis=0)
    return 2.0 * float(min(reach)), 2.0 * float(inward), 2.0 * float(outward)


def other_side(side: str) -> str:
    """Name the other foot. `side`: A side: left or right."""
    return SIDES[1 - SIDES.index(side)]


def yaw_of(pose: pin.SE3) -> float:
    """Find the rotation of an upright pose about the vertical.

    `pose`: pose with its z axis up. Returns direction of its x axis, rad about z, −π to π.
    """
    return math.atan2(pose.rotation[1, 0], pose.rotation[0, 0])


def soles_overlap(robot: Robot, side: str, start: pin.SE3, end: pin.SE3, standing: pin.SE3) -> bool:
    """Tell whether a sole that moves and turns at a constant rate overlaps the one that stands.

    `robot`: robot with two soles; `side`: the foot that moves: left or right; `start`, `end`: upright poses
    of its frame at the beginning and the end, world frame, m; `standing`: pose of the other foot's frame,
    world frame, m. Returns whether the soles overlap anywhere on the way.
    """
    other = robot.soles[f"{other_side(side)}_foot"] @ standing.rotation.T + standing.translation
    yaws = yaw_of(start) + _PATH_FRACTIONS * math.remainder(yaw_of(end) - yaw_of(start), math.tau)
    rotations = np.moveaxis(np.array([[np.cos(yaws), -np.sin(yaws)], [np.sin(yaws), np.cos(yaws)]]), 2, 0)
    positions = start.translation[:2] + _PATH_FRACTIONS[:, None] * (end.translation - start.translation)[:2]
    soles = robot.soles[f"{side}_foot"][:, :2] @ rotations.transpose(0, 2, 1) + positions[:, None]
    shared = shapely.area(shapely.intersection(shapely.polygons(soles), shapely.Polygon(other[:, :2])))
    return bool(shared.max() > _MAX_OVERLAP)


def _split_command(command: Command, following: str) -> list[tuple[str, tuple[float, float], float]]:
    """Split a command into steps: the foot, and displacement and rotation of the robot for which it steps."""
    whole, feet = command.amount, (following, other_side(following))
    if command.kind == "march":
        return [(feet[k % 2], (0.0, 0.0), 0.0) for k in range(int(whole))]
    # Equal steps, no longer than asked for.
    count = int(np.ceil(abs(whole) / command.step - 1e-9))
    if command.kind == "forward":
        # One more closes up.
        return [(feet[k % 2], (whole * min(k + 1, count) / count, 0.0), 0.0) for k in range(count + 1)]
    # Both feet cover each fraction one after the other, the foot on that side first.
    feet = ("left", "right") if whole > 0.0 else ("right", "left")
    parts = [(side, whole * fraction) for fraction in np.arange(1, count + 1) / count for side in feet]
    if command.kind == "sideways":
        return [(side, (0.0, part), 0.0) for side, part in parts]
    return [(side, (0.0, 0.0), part) for side, part in parts]


@dataclass(frozen=True)
class Gait:
    """A planned gait, sampled; feet in the order left, right; world frame."""

    timestep: float  # Time between samples, s.
    zmp: Array  # (N, 2): ZMP on the floor, m.
    cog: Array  # (N, 2): horizontal position of the COG, m.
    cog_velocity: Array  # (N, 2): horizontal velocity of the COG, m/s.
    cog_acceleration: Array  # (N, 2): horizontal acceleration of the COG, m/s².
    foot_position: Array  # (N, 2, 3): positions of the foot frames, m.
    foot_velocity: Array  # (N, 2, 3): velocities of the foot frames, m/s.
    foot_yaw: Array  # (N, 2): rotation of the foot frames about the vertical, rad, without jumps.
    foot_yaw_rate: Array  # (N, 2): its rate, rad/s.
    contact: NDArray[np.bool_]  # (N, 2) bool: whether each foot is on the ground.
    pelvis_yaw: Array  # (N,): rotation of the pelvis about the vertical, the mean of the feet's, rad.
    pelvis_yaw_rate: Array  # (N,): its rate, rad/s.
    # (N,) int: which foot the base section stands on, 0 left, 1 right: the one on the ground, of both the one
    # nearer to the ZMP.
    support: NDArray[np.int64]
    steps: int  # Number of steps in all.
    in_swing: Array  # (N, 2): progress of a foot's swing, 0 to 1; NaN on the ground.


def standing_gait(
    soles: Mapping[str, pin.SE3], cog: Array, zmp: Array, timestep: float, samples: int, support: str = "left"
) -> Gait:
    """Plan to stand on both feet, the COG still or swaying.

    `soles` {side: pinocchio.SE3}: poses of the foot frames in the world frame, by side (left, right); `cog`
    (2,) or (N, 2) array: horizontal position of the COG in the world frame, m; its velocity and acceleration
    are central differences; `zmp` (2,) or (N, 2) array: ZMP in the world frame, m; `timestep`: time between
    samples, s; `samples`: number N of samples, 3 or more; `support`: the foot that the base section stands
    on: left or right. Returns N samples without a step.
    """
    cog, zmp = (np.broadcast_to(path, (samples, 2)).copy() for path in (cog, zmp))
    cog_velocity = np.gradient(cog, timestep, axis=0)
    yaw = np.unwrap([yaw_of(soles[side]) for side in SIDES])
    return Gait(
        timestep=timestep,
        zmp=zmp,
        cog=cog,
        cog_velocity=cog_velocity,
        cog_acceleration=np.gradient(cog_velocity, timestep, axis=0),
        foot_position=np.tile([soles[side].translation for side in SIDES], (samples, 1, 1)),
        foot_velocity=np.zeros((samples, 2, 3)),
        foot_yaw=np.tile(yaw, (samples, 1)),
        foot_yaw_rate=np.zeros((samples, 2)),
        contact=np.ones((samples, 2), dtype=bool),
        pelvis_yaw=np.full(samples, np.mean(yaw)),
        pelvis_yaw_rate=np.zeros(samples),
        support=np.full(samples, SIDES.index(support), dtype=np.int64),
        steps=0,
        in_swing=np.full((samples, 2), np.nan),
    )


def extend_gait(gait: Gait, samples: int) -> Gait:
    """Extend a gait by standing at its end.

    `gait`: the gait, N samples; `samples`: number of samples that it shall have, N or more. Returns the gait
    with that many samples, at rest in those that are new.
    """
    missing = samples - len(gait.zmp)

    def extended(rows: NDArray[Any], at_rest: bool = False) -> NDArray[Any]:
        last = np.zeros_like(rows[-1:]) if at_rest else rows[-1:]
        return np.concatenate([rows, np.repeat(last, missing, axis=0)])

    rates = ("cog_velocity", "cog_acceleration", "foot_velocity", "foot_yaw_rate", "pelvis_yaw_rate")
    held = ("zmp", "cog", "foot_position", "foot_yaw", "contact", "pelvis_yaw", "support", "in_swing")
    longer: dict[str, Any] = {name: extended(getattr(gait, name), at_rest=True) for name in rates}
    longer |= {name: extended(getattr(gait, name)) for name in held}
    return replace(gait, **longer)
