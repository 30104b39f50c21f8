"""Stepping: profiles of ZMP, COG and swinging feet, landings that are measured, and the COG corrected.

The ZMP of a planned gait goes from sole to sole, and the COG is the linear inverted pendulum's for it.
`Landing` has the target poses of the feet, tick by tick: on the ground where they landed, in the air along
the gait. `correct_cog` corrects the COG for what the pendulum leaves out: legs swing, arms move.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin

from simbench.balance.gait import Footstep, Gait, other_side, yaw_of
from simbench.balance.ground_reaction import lipm_com_offset, planned_zmp
from simbench.balance.inverted_pendulum import cog_profile
from simbench.errors import BalanceError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_VERTICAL_FRACTION = 0.1  # Part of a swing's time at each of its ends, in which the foot only rises or sinks.
# Time constants 1/ω of the pendulum to stand at both ends: the COG then rests but for 2 % of its speed.
_MIN_SETTLE = 4.0
_EARLIEST = 0.5  # Progress of a swing from which touching the ground is a landing, not the lift-off.
# Largest speed at which a foot that finds no ground where the gait has it continues downward, m/s.
_SEARCH_SPEED = 0.05
_SEARCH_ACCELERATION = 1.0  # Acceleration with which it starts to do so, m/s².
_SEARCH_DEPTH = 0.02  # Depth below the floor down to which it does so, m.
# Least acceleration, m/s², and time constant, s, with which it stops when the ground carries it.
_STOPPING_ACCELERATION, _STOPPING_TIME = 2.0, 0.02
_SETTLING_RATE = 20.0  # Rate at which the target pose of a landed foot approaches where the foot is, 1/s.
_SETTLING_RAMP = 0.1  # Time in which this rate is reached after both feet are loaded, s.


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
    timestep: float,
    omega: float,
    zmp_offset: Mapping[str, Array],
    *,
    single_support_s: float,
    double_support_s: float,
    lift_m: float,
    settle_s: float,
) -> Gait:
    """Plan ZMP, COG, and feet of footsteps, standing at both ends.

    The ZMP rests in a point of the sole while the robot stands on it, and moves to the next on a
    minimum-jerk curve in double support; it starts and ends midway between both feet's points. The COG is
    that of the linear inverted pendulum. A foot rises and sinks as z = lift (1 − cos 2πs) / 2 in the
    phase s of its swing, 0 to 1; it moves horizontally and turns by minimum jerk, but not in the first
    and last tenth of the swing. `soles` {side: pinocchio.SE3}: poses of the foot frames in the world
    frame at the start, as in `Stance.soles`; `footsteps`: steps, one after another; `timestep`: time
    between samples, s; `omega`: natural frequency of the inverted pendulum, 1/s; `zmp_offset` {side: (2,)
    array}: where the ZMP rests, in the foot frame, m, as from `sole_centres`; `single_support_s`: time on
    one foot, in every step; `double_support_s`: time on both feet, before every step and after the last;
    `lift_m`: height of a swinging foot midway; `settle_s`: time of standing on both feet, before the
    first double support and after the last. Returns the planned gait. Raises BalanceError if a time or
    the lift is out of range, or there is no step.
    """
    if not footsteps:
        raise BalanceError("gait: no steps; allowed: 1 or more")
    for name, value, least, why in (
        ("single_support_s", single_support_s, 10.0 * timestep, "ten samples"),
        ("double_support_s", double_support_s, 10.0 * timestep, "ten samples"),
        ("lift_m", lift_m, 0.001, "clear of the ground"),
        ("settle_s", settle_s, _MIN_SETTLE / omega, "or the COG cannot start and end at rest"),
    ):
        if not (np.isfinite(value) and value >= least):
            raise BalanceError(f"gait.{name}: {value:g}; allowed: at least {least:.3g}, {why}")
    pace = double_support_s + single_support_s
    duration = 2.0 * settle_s + len(footsteps) * pace + double_support_s
    time: Array = timestep * np.arange(round(duration / timestep) + 1.0)
    # Time at which each step's foot leaves the ground, s.
    lift_off = [settle_s + double_support_s + pace * number for number in range(len(footsteps))]
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
        start_time, target = lifted - double_support_s, zmp_on(stance)
        zmp += minimum_jerk(time, start_time, double_support_s)[:, None] * (target - previous)
        previous = target
        support[time >= lifted - 0.5 * double_support_s] = SIDES.index(stance)
        # The other foot swings.
        side = SIDES.index(step.side)
        phase = (time - lifted) / single_support_s
        swinging = (phase > 1e-9) & (phase < 1.0 - 1e-9)
        # Of the swing's horizontal motion.
        moving = 1.0 - 2.0 * _VERTICAL_FRACTION
        s = np.clip((phase - _VERTICAL_FRACTION) / moving, 0.0, 1.0)
        progress = minimum_jerk(s, 0.0, 1.0)
        rate = 30.0 * (s * (1.0 - s)) ** 2 / (moving * single_support_s)
        rotation = math.remainder(step.yaw - yaw[step.side], math.tau)
        displacement = step.position - foot_at[step.side]
        position[:, side, :2] += progress[:, None] * displacement
        velocity[:, side, :2] += rate[:, None] * displacement
        foot_yaw[:, side] += progress * rotation
        yaw_rate[:, side] += rate * rotation
        angle = 2.0 * np.pi * phase[swinging]
        position[swinging, side, 2] += 0.5 * lift_m * (1.0 - np.cos(angle))
        velocity[swinging, side, 2] = np.pi * lift_m / single_support_s * np.sin(angle)
        in_swing[swinging, side] = phase[swinging]
        foot_at[step.side], yaw[step.side] = step.position, yaw[step.side] + rotation
    start_time = lift_off[-1] + single_support_s
    end = 0.5 * (zmp_on("left") + zmp_on("right"))
    zmp += minimum_jerk(time, start_time, double_support_s)[:, None] * (end - previous)
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


class Landing:
    """Follows a gait with both feet, and ends a swing when the foot touches the ground.

    A foot that is loaded in the second half of its swing has landed: it stops, and the rest of its swing is
    dropped. One that is not loaded when the gait has it on the ground, or that has landed and
    bounced off, continues downward until it is. Its offset from the plan is reduced to zero in its next
    swing.

    `position` (2, 3), m, and `yaw` (2,), rad, are the target poses of the sole frames in the world frame,
    left and right; both arrays are written in place. `early` counts swings that ended before their time,
    `late` ticks in which a foot searched for the ground. `gait`: planned feet, N samples; `threshold`:
    vertical force on a foot above which it is on the ground, N.
    """

    def __init__(self, gait: Gait, threshold: float) -> None:
        self._gait, self._threshold = gait, threshold
        self.position = gait.foot_position[0].copy()
        self.yaw = gait.foot_yaw[0].copy()
        self.early = self.late = 0
        self._offset, self._yaw_offset = np.zeros((2, 3)), [0.0, 0.0]
        self._air, self._landed = [False, False], [False, False]
        self._latest: int | None = None
        self._found, self._search_speed = [True, True], [0.0, 0.0]
        self._settling = 0.0

    def advance(self, tick: int, load: Array) -> None:
        """Move `position` and `yaw` of the soles to the end of a tick.

        `tick`: row of the gait at the end of the tick; `load` (2,): vertical force on the left and the right
        foot, N.
        """
        gait, timestep = self._gait, self._gait.timestep
        for foot in (0, 1):
            touches = bool(load[foot] > self._threshold)
            swinging = not gait.contact[tick, foot]
            if swinging:
                # Along the swing until the foot touches the ground.
                if not self._air[foot]:
                    self._landed[foot], self._found[foot], self._latest = False, False, foot
                    self._search_speed[foot] = self._settling = 0.0
                    self._offset[foot] = self.position[foot] - gait.foot_position[tick - 1, foot]
                    self._yaw_offset[foot] = float(self.yaw[foot] - gait.foot_yaw[tick - 1, foot])
                progress = float(gait.in_swing[tick, foot])
                if touches and progress > _EARLIEST and not self._landed[foot]:
                    self._landed[foot] = True
                    self._search_speed[foot] = max(-float(gait.foot_velocity[tick, foot, 2]), 0.0)
                    self.early += 1
                if not self._landed[foot]:
                    fade = 0.5 + 0.5 * math.cos(math.pi * progress)
                    self.position[foot] = gait.foot_position[tick, foot] + fade * self._offset[foot]
                    self.yaw[foot] = gait.foot_yaw[tick, foot] + fade * self._yaw_offset[foot]
            if self._landed[foot] or not swinging:
                # A foot that should stand is lowered until the ground carries it.
                speed = self._search_speed[foot]
                if touches or (self._found[foot] and foot != self._latest):
                    self._found[foot] = True
                    speed = max(speed - timestep * max(_STOPPING_ACCELERATION, speed / _STOPPING_TIME), 0.0)
                else:
                    speed = min(speed + timestep * _SEARCH_ACCELERATION, _SEARCH_SPEED)
                depth, self._search_speed[foot] = timestep * speed, speed
                if depth > 0.0 and self.position[foot, 2] - depth >= -_SEARCH_DEPTH:
                    self.late += 1
                    self.position[foot, 2] -= depth
            self._air[foot] = swinging

    def settling_foot(self, tick: int, load: Array) -> int | None:
        """Find the foot that landed last, while both feet stand and are loaded.

        `tick`: row of the gait at the end of the tick; `load` (2,): vertical force on the left and the right
        foot, N. Returns 0 left, 1 right; None if no foot is to follow where it stands.
        """
        foot = self._latest
        if foot is None or self._air[foot] or not self._gait.contact[tick].all():
            return None
        if min(load[0], load[1]) <= self._threshold:
            self._settling = 0.0
            return None
        return foot

    def settle(self, foot: int, measured: tuple[float, float], measured_yaw: float) -> None:
        """Move the target pose of the foot that has landed last towards where it stands.

        The legs give way under the body, so that a foot lands some millimetres from its target. Friction
        holds it there: the target follows until the next swing begins, which starts where the foot is and
        ends where the gait has it. Without this the errors of all steps would add up. `measured`: x and y,
        world frame, m, of its sole frame as the joints have it if the other foot stands at its target pose;
        `measured_yaw`: the same for its rotation about the vertical, rad.
        """
        timestep, position = self._gait.timestep, self.position[foot]
        self._settling = min(self._settling + timestep / _SETTLING_RAMP, 1.0)
        part = _SETTLING_RATE * timestep * self._settling
        position[0] += part * (measured[0] - position[0])
        position[1] += part * (measured[1] - position[1])
        position[2] -= part * position[2]
        self.yaw[foot] += part * math.remainder(float(measured_yaw - self.yaw[foot]), math.tau)


def correct_cog(robot: Robot, gait: Gait, path: Array, height: float) -> Gait:
    """Change the COG of a gait so that the ZMP of all its bodies comes to where it is desired.

    A gait's COG is planned for a point mass at one height. The bodies of the robot need another ZMP: legs
    that swing have angular momentum. With p the desired ZMP and p_b that of the bodies, the COG is shifted by
    the bounded solution of d − d̈/ω² = p − p_b (`lipm_com_offset`), as in the dynamics filter of Kajita et
    al., ICRA 2003. `robot`: robot with two legs; `gait`: planned gait, N samples; `path` (N, nq):
    configurations of the robot in that gait: pose of the root link in the world frame (m and quaternion x, y,
    z, w), then joint positions, rad; `height`: height of the COG above the floor, m. Returns the same with
    another motion of the COG.
    """
    time: Array = gait.timestep * np.arange(len(path), dtype=np.float64)
    bodies = planned_zmp(robot, time, path[:, :7], path[:, 7:])[0]
    shift = lipm_com_offset(time, gait.zmp - bodies, height)
    velocity = np.gradient(shift, gait.timestep, axis=0)
    return replace(
        gait,
        cog=gait.cog + shift,
        cog_velocity=gait.cog_velocity + velocity,
        cog_acceleration=gait.cog_acceleration + np.gradient(velocity, gait.timestep, axis=0),
    )
