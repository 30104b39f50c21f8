"""Recovery from a push: a standing gait planned anew, with a step, when balance is about to be lost."""

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin

from simbench.balance.gait.gait import Gait
from simbench.balance.gait.landing import Landing
from simbench.balance.inverted_pendulum import cog_profile
from simbench.balance.push_recovery.capture_step import (
    CaptureStep,
    Legs,
    choose_step,
    laid_down,
    measure_legs,
    nearest_inside,
)
from simbench.balance.standing.support import support_polygon
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk, quintic
from simbench.robot.robot import Robot

_ALARM = 0.0
"""Distance of the capture point from the edge of the soles, inside, at which a step begins, m."""
_LOST = 0.02
"""Distance of the capture point from the soles, outside, from which any step is better than none, m."""
_EVERY = 5
"""Ticks between plans while the foot swings."""
_TRUST = 0.3
"""Part of what the COG is off its plan that a new plan takes up."""
_UNEXPECTED = 0.05
"""Least distance of the capture point from the planned one for a step, m: the end of a walk is no fall."""
_MISSED = 0.03
"""Distance, m, by which a step may fall short of the capture point to be worth it."""
_FIXED = 0.1
"""Time before touch-down from which the foot's target stays, s."""
_TRANSFER = 0.06
"""Time in which the ZMP goes to the capture point after touch-down, s."""
_HOLD, _RETURN = 0.4, 1.0
"""Time for which it stays there, and in which it goes to the middle of both feet, s."""
_REST = 1.0
"""Time planned after that, s."""
_LIFT = 0.03
"""Height of a swing midway, m."""
_STRETCH = 0.985
"""Part of a leg's length up to which it may be stretched."""
_DEEPEST = 0.1
"""Most that the COG is lowered for long steps, m."""


class Recovery:
    """Watches the capture point of a standing robot, and takes a step when it leaves the feet.

    `gait` and `height` are the plan's until then; the rows to come are written anew at the start of a step,
    while its foot swings, and when it lands. Afterwards the robot stands on the feet as they are.

    Parameters
    ----------
    robot : Robot
    gait : Gait
    height : (N,) array
        Of the COG, m.
    omega : float
        The pendulum's natural frequency, 1/s.
    start : (nq,) array
        Configuration, standing.
    landing_load : float
        Vertical force that means ground, N.
    """

    def __init__(
        self, robot: Robot, gait: Gait, height: Array, omega: float, start: Array, landing_load: float
    ) -> None:
        self._omega, self._landing_load = omega, landing_load
        self.gait = replace(
            gait,
            zmp=gait.zmp.copy(),
            cog=gait.cog.copy(),
            cog_velocity=gait.cog_velocity.copy(),
            cog_acceleration=gait.cog_acceleration.copy(),
            foot_position=gait.foot_position.copy(),
            foot_velocity=gait.foot_velocity.copy(),
            foot_yaw=gait.foot_yaw.copy(),
            foot_yaw_rate=gait.foot_yaw_rate.copy(),
            contact=gait.contact.copy(),
            support=gait.support.copy(),
            in_swing=gait.in_swing.copy(),
        )
        self.height = height.copy()
        self.legs: Legs = measure_legs(robot)
        self._hips, self._leg_height = _hips(robot, start)
        swings = np.flatnonzero(~gait.contact.all(axis=1))
        self._stands_from = int(swings[-1]) + 1 if len(swings) else 0
        self._corners: Array | None = None
        self.step: CaptureStep | None = None
        self.steps = 0
        self._began = self._touch = 0
        self._places = gait.foot_position[0, :, :2]
        self._stand_height = float(height[0])

    def watch(
        self, now: int, cog: Array, velocity: Array, landing: Landing, load: Array, apart: Array
    ) -> bool:
        """Plan anew if that is needed.

        Parameters
        ----------
        now : int
            Row of the gait.
        cog, velocity : (2,) array
            Measured, m and m/s.
        landing : Landing
        load : (2,) array
            Vertical force on each foot, N.
        apart : (2,) array
            Way from the left to the right foot as it is, m.

        Returns
        -------
        bool
            Whether the rows after `now` have changed.
        """
        capture_point = cog + velocity / self._omega
        if self.step is not None:
            gait = self.gait
            cog = gait.cog[now] + _TRUST * (cog - gait.cog[now])
            velocity = gait.cog_velocity[now] + _TRUST * (velocity - gait.cog_velocity[now])
            capture_point = cog + velocity / self._omega
        if self.step is None:
            inside = self._inside(capture_point, landing)
            planned = self.gait.cog[now] + self.gait.cog_velocity[now] / self._omega
            expected = float(np.linalg.norm(capture_point - planned)) < _UNEXPECTED
            if now < self._stands_from or inside > _ALARM or expected:
                return False
            step = choose_step(
                self.legs, self._omega, capture_point, landing.position[:, :2], landing.yaw, load, None, 0.0
            )
            if step.missed > _MISSED and inside > -_LOST:
                return False
            self._began = now
            self.steps += 1
            _put(landing, step.foot, apart)
            self._plan(now, cog, capture_point, landing, load, None)
            return True
        foot = self.step.foot
        if now >= self._touch or (load[foot] > self._landing_load and self.gait.in_swing[now, foot] > 0.5):
            _put(landing, foot, apart)
            self._land(now, cog, capture_point, landing)
            return True
        if (now - self._began) % _EVERY:
            return False
        self._plan(now, cog, capture_point, landing, load, foot)
        return True

    def _inside(self, point: Array, landing: Landing) -> float:
        """Distance of a point from the edge of the soles, m, negative outside."""
        if self._corners is None:
            corners = [
                laid_down(self.legs.soles[foot], landing.position[foot, :2], landing.yaw[foot])
                for foot in (0, 1)
            ]
            polygon = support_polygon(np.vstack(corners))
            way = np.roll(polygon, -1, axis=0) - polygon
            way /= np.linalg.norm(way, axis=1)[:, None]
            inward = np.stack([-way[:, 1], way[:, 0]], axis=1)
            self._corners = np.column_stack([inward, -np.sum(inward * polygon, axis=1)])
        return float((self._corners[:, :2] @ point + self._corners[:, 2]).min())

    def _plan(
        self,
        now: int,
        cog: Array,
        capture_point: Array,
        landing: Landing,
        load: Array,
        only: int | None,
    ) -> None:
        """Write the rows of a step, which begins or goes on."""
        gait, dt = self.gait, self.gait.timestep
        left = (self._touch - now) * dt
        if only is None or left > _FIXED:
            if only is None:
                self._places = landing.position[:, :2].copy()
            passed = (now - self._began) * dt
            self.step = choose_step(
                self.legs, self._omega, capture_point, self._places, landing.yaw, load, only, passed
            )
            self._touch = max(self._began + round(self.step.duration / dt), now + round(_FIXED / dt))
        step = self.step
        assert step is not None
        foot, stands = step.foot, 1 - step.foot
        touch = min(self._touch, len(gait.zmp) - 1)
        if only is None:
            for side in (0, 1):
                gait.foot_position[now:, side] = landing.position[side]
                gait.foot_yaw[now:, side] = landing.yaw[side]
            gait.foot_velocity[now:] = 0.0
            gait.support[now:] = stands
            progress = 0.0
            acceleration = np.zeros(2)
        else:
            progress = float(gait.in_swing[now, foot])
            acceleration = (gait.foot_velocity[now + 1, foot, :2] - gait.foot_velocity[now, foot, :2]) / dt
        rows = slice(now + 1, touch)
        time = dt * np.arange(1.0, touch - now)
        whole = (self._touch - now) * dt
        if only is None or left > _FIXED:
            start, speed = gait.foot_position[now, foot, :2].copy(), gait.foot_velocity[now, foot, :2].copy()
            way, rate = quintic(start, speed, acceleration, step.target, whole, time)
            gait.foot_position[rows, foot, :2], gait.foot_velocity[rows, foot, :2] = way, rate
            share = progress + (1.0 - progress) * time / whole
            gait.foot_position[rows, foot, 2] = 0.5 * _LIFT * (1.0 - np.cos(2.0 * np.pi * share))
            gait.in_swing[rows, foot], gait.contact[rows, foot] = share, False
            gait.in_swing[touch:, foot], gait.contact[touch:, foot] = np.nan, True
            gait.foot_position[touch:, foot, :2], gait.foot_position[touch:, foot, 2] = step.target, 0.0
            gait.foot_velocity[touch:, foot] = 0.0
        places = landing.position[:, :2].copy()
        places[foot] = step.target
        self._carry(now, whole, cog, capture_point, step.pivot, places, landing.yaw)

    def _land(self, now: int, cog: Array, capture_point: Array, landing: Landing) -> None:
        """Stand on both feet from now on."""
        assert self.step is not None
        gait, foot = self.gait, self.step.foot
        rows = slice(now + 1, None)
        gait.contact[rows, foot], gait.in_swing[rows, foot] = True, np.nan
        gait.foot_position[rows, foot, :2] = landing.position[foot, :2]
        gait.foot_position[rows, foot, 2], gait.foot_velocity[rows, foot] = 0.0, 0.0
        self._carry(now, 0.0, cog, capture_point, self.step.pivot, landing.position[:, :2], landing.yaw)
        self.step, self._corners = None, None

    def _carry(
        self,
        now: int,
        swing: float,
        cog: Array,
        capture_point: Array,
        pivot: Array,
        places: Array,
        yaw: Array,
    ) -> None:
        """Write ZMP and COG of the rows from `now` on, and the COG's height."""
        gait, dt, omega = self.gait, self.gait.timestep, self._omega
        end = swing + _TRANSFER + _HOLD + _RETURN + _REST
        count = min(len(gait.zmp) - now, round(end / dt))
        time = dt * np.arange(float(count))
        over = ((time - swing) / _TRANSFER).clip(0.0, 1.0)
        back = minimum_jerk(time, swing + _TRANSFER + _HOLD, _RETURN)
        soles = np.vstack([laid_down(self.legs.pivots[foot], places[foot], yaw[foot]) for foot in (0, 1)])
        rest = soles.mean(axis=0)
        # The ZMP that carries the COG as it moves now: ξ = ω ∫ e^(−ωt) p dt.
        weight = omega * dt * np.exp(-omega * time)
        shift, home = float(weight @ over), float(weight @ back)
        beyond = math.exp(-omega * time[-1])
        shift, home = shift + beyond, home + beyond
        # A plan that ends before touch-down has no time for either.
        stop = pivot + (capture_point - pivot - home * (rest - pivot)) / max(shift - home, 1e-6)
        stop = nearest_inside(stop, soles)
        zmp = pivot + over[:, None] * (stop - pivot) + back[:, None] * (rest - stop)
        rows = slice(now, now + count)
        gait.zmp[rows] = zmp
        if count > 1:
            gait.cog[rows], gait.cog_velocity[rows], gait.cog_acceleration[rows] = cog_profile(
                zmp, dt, omega, cog
            )
        after = slice(now + count, None)
        gait.zmp[after] = gait.cog[after] = zmp[-1]
        gait.cog_velocity[after] = gait.cog_acceleration[after] = 0.0
        self._lower(now, swing, places, stop, rest)

    def _lower(self, now: int, swing: float, places: Array, stop: Array, rest: Array) -> None:
        """Write how high the COG is, so that the legs reach."""
        height, dt, gait = self.height, self.gait.timestep, self.gait
        touch = min(now + round(swing / dt), len(height) - 1)
        low = self._stand_height - max(self._drop(gait.cog[touch], places), self._drop(stop, places))
        end = self._stand_height - self._drop(rest, places)
        speed = (height[min(now + 1, len(height) - 1)] - height[now]) / dt
        time = dt * np.arange(1.0, len(height) - now)
        down = max(swing, 0.15)
        way, _ = quintic(
            np.array([height[now]]),
            np.array([speed]),
            np.zeros(1),
            np.array([low]),
            down,
            time.clip(max=down),
        )
        height[now + 1 :] = way[:, 0] + (end - low) * minimum_jerk(time, down + _TRANSFER + _HOLD, _RETURN)

    def _drop(self, cog: Array, places: Array) -> float:
        """How much lower the COG has to be for both legs to reach their feet, m."""
        away = np.linalg.norm(cog + self._hips - places, axis=1)
        reach = np.sqrt(np.maximum((_STRETCH * self.legs.length) ** 2 - away**2, 0.0))
        return float(np.clip(np.max(self._leg_height - reach), 0.0, _DEEPEST))


def _put(landing: Landing, foot: int, apart: Array) -> None:
    """Take a foot to be on the ground where the legs say that it is, seen from the other one."""
    landing.position[foot, :2] = landing.position[1 - foot, :2] + (apart if foot == 1 else -apart)
    landing.position[foot, 2] = 0.0


def _hips(robot: Robot, start: Array) -> tuple[Array, float]:
    """Where the hips are from the COG, (2, 2), m, and how high above the ankles, m."""
    model, data = robot.model, robot.model.createData()
    cog = pin.centerOfMass(model, data, start)[:2].copy()
    hips = [data.oMi[model.getJointId(robot.groups[leg][0])].translation for leg in ("left_leg", "right_leg")]
    ankle = model.frames[model.getFrameId(robot.frames["left_foot"])].parentJoint
    return np.array([hip[:2] - cog for hip in hips]), float(hips[0][2] - data.oMi[ankle].translation[2])
