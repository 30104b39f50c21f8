"""A planned gait: footsteps in time, the ZMP from sole to sole, the COG for it, swinging feet."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.balance.gait.footsteps import Footstep, other_side, yaw_of
from simbench.balance.gait.gait import Gait
from simbench.balance.inverted_pendulum import cog_profile
from simbench.errors import BalanceError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_VERTICAL_FRACTION = 0.1
"""Part of a swing's time at each of its ends, in which the foot only rises or sinks."""
_MIN_SETTLE = 4.0
"""Time constants 1/ω of the pendulum to stand at both ends: the COG then rests but for 2 % of its speed."""


@dataclass(frozen=True)
class StepTiming:
    """Durations and height of steps."""

    single_support_s: float  # Time on one foot, in every step, s.
    double_support_s: float  # Time on both feet, before every step and after the last, s.
    lift_m: float  # Height of a swinging foot midway, m.
    settle_s: float  # Time of standing on both feet, before the first double support and after the last, s.


def sole_centres(robot: Robot, inset_m: float = 0.0) -> dict[str, Array]:
    """Find where the ZMP rests while the robot stands on one foot.

    `robot`: robot with two feet; `inset_m`: distance from the middle of the sole towards the other foot, m.
    Returns {side: (2,) array}: point of each sole in its foot frame, m.
    """
    middles = {side: robot.soles[f"{side}_foot"][:, :2].mean(axis=0) for side in SIDES}
    return {
        side: middles[side] + [0.0, inset] for side, inset in zip(SIDES, (-inset_m, inset_m), strict=True)
    }


def plan_gait(
    soles: Mapping[str, pin.SE3],
    footsteps: Sequence[Footstep],
    timing: StepTiming,
    timestep: float,
    omega: float,
    zmp_offset: Mapping[str, Array],
) -> Gait:
    """Plan ZMP, COG, and feet of footsteps, standing at both ends.

    The ZMP rests in a point of the sole while the robot stands on it, and moves to the next on a minimum-jerk
    curve in double support; it starts and ends midway between both feet's points. The COG is that of the
    linear inverted pendulum. A foot rises and sinks as z = lift (1 − cos 2πs) / 2 in the phase s of its
    swing, 0 to 1; it moves horizontally and turns by minimum jerk, but not in the first and last tenth of the
    swing. `soles` {side: pinocchio.SE3}: poses of the foot frames in the world frame at the start, as in
    `Stance.soles`; `footsteps`: steps, one after another; `timing`: durations and height of the steps;
    `timestep`: time between samples, s; `omega`: natural frequency of the inverted pendulum, 1/s;
    `zmp_offset` {side: (2,) array}: where the ZMP rests, in the foot frame, m, as from `sole_centres`.
    Returns the planned gait. Raises BalanceError if a time or the lift is out of range, or there is no step.
    """
    _check_timing(timing, footsteps, timestep, omega)
    time: Array = timestep * np.arange(round(_duration(len(footsteps), timing) / timestep) + 1.0)
    lift_off = _lift_offs(len(footsteps), timing)
    foot_at = {side: soles[side].translation[:2] for side in SIDES}
    yaw = dict(zip(SIDES, np.unwrap([yaw_of(soles[side]) for side in SIDES]).tolist(), strict=True))
    position = np.empty((len(time), 2, 3))
    position[:] = [soles[side].translation for side in SIDES]
    foot_yaw = np.empty((len(time), 2))
    foot_yaw[:] = [yaw[side] for side in SIDES]
    velocity, yaw_rate = np.zeros_like(position), np.zeros_like(foot_yaw)
    in_swing = np.full_like(foot_yaw, np.nan)

    def zmp_on(side: str) -> Array:
        """Point in which the ZMP rests on a foot."""
        return foot_at[side] + pin.utils.rotate("z", yaw[side])[:2, :2] @ zmp_offset[side]

    start = 0.5 * (zmp_on("left") + zmp_on("right"))
    zmp, previous = np.tile(start, (len(time), 1)), start
    support = np.full(len(time), SIDES.index(other_side(footsteps[0].side)), dtype=np.int64)
    for step, lifted in zip(footsteps, lift_off, strict=True):
        stance = other_side(step.side)
        # The ZMP moves onto the foot that will stand.
        start_time, target = lifted - timing.double_support_s, zmp_on(stance)
        zmp += minimum_jerk(time, start_time, timing.double_support_s)[:, None] * (target - previous)
        previous = target
        support[time >= lifted - 0.5 * timing.double_support_s] = SIDES.index(stance)
        # The other foot swings.
        side = SIDES.index(step.side)
        phase = (time - lifted) / timing.single_support_s
        swinging = (phase > 1e-9) & (phase < 1.0 - 1e-9)
        progress, rate = _progress(phase, timing.single_support_s)
        rotation = math.remainder(step.yaw - yaw[step.side], math.tau)
        displacement = step.position - foot_at[step.side]
        position[:, side, :2] += progress[:, None] * displacement
        velocity[:, side, :2] += rate[:, None] * displacement
        foot_yaw[:, side] += progress * rotation
        yaw_rate[:, side] += rate * rotation
        angle = 2.0 * np.pi * phase[swinging]
        position[swinging, side, 2] += 0.5 * timing.lift_m * (1.0 - np.cos(angle))
        velocity[swinging, side, 2] = np.pi * timing.lift_m / timing.single_support_s * np.sin(angle)
        in_swing[swinging, side] = phase[swinging]
        foot_at[step.side], yaw[step.side] = step.position, yaw[step.side] + rotation
    start_time = lift_off[-1] + timing.single_support_s
    end = 0.5 * (zmp_on("left") + zmp_on("right"))
    zmp += minimum_jerk(time, start_time, timing.double_support_s)[:, None] * (end - previous)
    cog, cog_velocity, cog_acceleration = cog_profile(zmp, timestep, omega)
    return Gait(
        timestep=timestep,
        zmp=zmp,
        cog=cog,
        cog_velocity=cog_velocity,
        cog_acceleration=cog_acceleration,
        foot_position=position,
        foot_velocity=velocity,
        foot_yaw=foot_yaw,
        foot_yaw_rate=yaw_rate,
        contact=np.isnan(in_swing),
        pelvis_yaw=foot_yaw.mean(axis=1),
        pelvis_yaw_rate=yaw_rate.mean(axis=1),
        support=support,
        steps=len(footsteps),
        in_swing=in_swing,
    )


def _progress(phase: Array, duration: float) -> tuple[Array, Array]:
    """Progress of a swing's horizontal motion and its rate, 1/s, at a phase of its time, 0 to 1."""
    moving = 1.0 - 2.0 * _VERTICAL_FRACTION
    s: Array = np.clip((phase - _VERTICAL_FRACTION) / moving, 0.0, 1.0)
    return minimum_jerk(s, 0.0, 1.0), 30.0 * (s * (1.0 - s)) ** 2 / (moving * duration)


def _lift_offs(steps: int, timing: StepTiming) -> list[float]:
    """Time at which each step's foot leaves the ground, s."""
    pace = timing.double_support_s + timing.single_support_s
    return [timing.settle_s + timing.double_support_s + pace * step for step in range(steps)]


def _duration(steps: int, timing: StepTiming) -> float:
    """Duration of a gait, s."""
    pace = timing.double_support_s + timing.single_support_s
    return 2.0 * timing.settle_s + steps * pace + timing.double_support_s


def _check_timing(timing: StepTiming, footsteps: Sequence[Footstep], timestep: float, omega: float) -> None:
    """Refuse a gait without steps, and timing that is out of range."""
    if not footsteps:
        raise BalanceError("gait: no steps; allowed: 1 or more")
    for name, value, least, why in (
        ("single_support_s", timing.single_support_s, 10.0 * timestep, "ten samples"),
        ("double_support_s", timing.double_support_s, 10.0 * timestep, "ten samples"),
        ("lift_m", timing.lift_m, 0.001, "clear of the ground"),
        ("settle_s", timing.settle_s, _MIN_SETTLE / omega, "or the COG cannot start and end at rest"),
    ):
        if not (np.isfinite(value) and value >= least):
            raise BalanceError(f"gait.{name}: {value:g}; allowed: at least {least:.3g}, {why}")
