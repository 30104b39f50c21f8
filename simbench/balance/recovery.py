"""Recovery from a push: a standing gait planned anew, with a step, when balance is about to be lost."""

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin

from simbench.balance.gait import Gait
from simbench.balance.ground_reaction import support_polygon
from simbench.balance.inverted_pendulum import cog_profile
from simbench.balance.push_strategies import (
    CaptureStep,
    FeetState,
    LegGeometry,
    choose_step,
    measure_legs,
    project_into_polygon,
    transform_footprint,
)
from simbench.balance.step_planning import Landing
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk, quintic
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

# Distance of the capture point from the edge of the soles, inside, at which a step begins, m.
_STEP_MARGIN = 0.0
# Distance of the capture point from the soles, outside, from which any step is better than none, m.
_LOST = 0.02
_REPLAN_TICKS = 5  # Ticks between plans while the foot swings.
_TRUST = 0.3  # Part of the COG's deviation from its plan that a new plan takes up.
# Least distance of the capture point from the planned one for a step, m: the end of a walk is no fall.
_UNEXPECTED = 0.05
_MISSED = 0.03  # Distance, m, by which a step may fall short of the capture point to be worth it.
_FIXED = 0.1  # Time before touch-down from which the foot's target stays, s.
_TRANSFER = 0.06  # Time in which the ZMP goes to the capture point after touch-down, s.
# Time for which it stays there, and in which it goes to the middle of both feet, s.
_HOLD, _RETURN = 0.4, 1.0
_REST = 1.0  # Time planned after that, s.
_LIFT = 0.03  # Height of a swing midway, m.
_STRETCH = 0.985  # Part of a leg's length up to which it may be stretched.
_MAX_LOWERING = 0.1  # Most that the COG is lowered for long steps, m.


class Recovery:
    """Watches the capture point of a standing robot, and takes a step when it leaves the feet.

    `gait` and `height` (N,), m, are the plan's until then; the rows to come are written anew at the start of
    a step, while its foot swings, and when it lands. Afterwards the robot stands on the feet as they are.
    `step` is the step being made, or None, `steps` the number of steps so far. `robot`: robot with two legs
    of equal length; `gait`: planned gait, N samples; it is copied; `height` (N,): planned height of the COG
    above the floor, m; it is copied; `omega`: natural frequency of the inverted pendulum, 1/s; `start` (nq,):
    configuration, standing: root pose (m and quaternion x, y, z, w) and joint positions, rad; `landing_load`:
    vertical force that means ground, N; `may_step`: whether steps are made.
    """

    def __init__(
        self,
        robot: Robot,
        gait: Gait,
        height: Array,
        omega: float,
        start: Array,
        landing_load: float,
        *,
        may_step: bool = True,
    ) -> None:
        self._omega, self._landing_load, self._may_step = omega, landing_load, may_step
        copied = (
            *("zmp", "cog", "cog_velocity", "cog_acceleration", "contact", "support", "in_swing"),
            *("foot_position", "foot_velocity", "foot_yaw", "foot_yaw_rate"),
        )
        self.gait = replace(gait, **{name: getattr(gait, name).copy() for name in copied})
        self.height = height.copy()
        self.legs: LegGeometry = measure_legs(robot)
        self._hips, self._leg_height = _hips(robot, start)
        swings = np.flatnonzero(~gait.contact.all(axis=1))
        self._stands_from = int(swings[-1]) + 1 if len(swings) else 0
        self._edges: Array | None = None
        self.step: CaptureStep | None = None
        self.steps = 0
        self._began = self._touch_down = 0
        self._start_positions = gait.foot_position[0, :, :2]
        self._stand_height = float(height[0])

    def update(
        self, now: int, cog: Array, velocity: Array, landing: Landing, load: Array, foot_displacement: Array
    ) -> bool:
        """Begin, replan or end a step if what is measured requires it.

        `now`: row of the gait; `cog` (2,): measured horizontal position of the COG in the world frame, m;
        `velocity` (2,): measured horizontal velocity of the COG, m/s; `landing`: where the feet are taken to
        lie flat; the foot that lifts off or lands is put where the legs have it; `load` (2,): vertical force
        on the left and the right foot, N; `foot_displacement` (2,): measured displacement from the left to
        the right foot frame, world axes, m. Returns whether the rows after `now` have changed.
        """
        gait = self.gait
        if self.step is None:
            # A step begins when the capture point leaves the soles.
            capture_point = cog + velocity / self._omega
            if self._edges is None:
                corners = [
                    transform_footprint(self.legs.soles[foot], landing.position[foot, :2], landing.yaw[foot])
                    for foot in (0, 1)
                ]
                polygon = support_polygon(np.vstack(corners))
                edge = np.roll(polygon, -1, axis=0) - polygon
                edge /= np.linalg.norm(edge, axis=1)[:, None]
                inward = np.stack([-edge[:, 1], edge[:, 0]], axis=1)
                self._edges = np.column_stack([inward, -np.sum(inward * polygon, axis=1)])
            # Distance from the edge of the soles, m, negative outside.
            inside = float((self._edges[:, :2] @ capture_point + self._edges[:, 2]).min())
            planned = gait.cog[now] + gait.cog_velocity[now] / self._omega
            expected = float(np.linalg.norm(capture_point - planned)) < _UNEXPECTED
            waits = not self._may_step or now < self._stands_from
            if waits or inside > _STEP_MARGIN or expected:
                return False
            feet = FeetState(landing.position[:, :2], landing.yaw, load)
            step = choose_step(self.legs, self._omega, capture_point, feet)
            if step.missed > _MISSED and inside > -_LOST:
                return False
            self._began = now
            self.steps += 1
            _place_foot(landing, step.foot, foot_displacement)
            self._plan(now, cog, capture_point, landing, load, None)
            return True
        cog = gait.cog[now] + _TRUST * (cog - gait.cog[now])
        velocity = gait.cog_velocity[now] + _TRUST * (velocity - gait.cog_velocity[now])
        capture_point = cog + velocity / self._omega
        foot = self.step.foot
        if now >= self._touch_down or (
            load[foot] > self._landing_load and self.gait.in_swing[now, foot] > 0.5
        ):
            _place_foot(landing, foot, foot_displacement)
            # The robot stands on both feet from now on.
            rows = slice(now + 1, None)
            gait.contact[rows, foot], gait.in_swing[rows, foot] = True, np.nan
            gait.foot_position[rows, foot, :2] = landing.position[foot, :2]
            gait.foot_position[rows, foot, 2], gait.foot_velocity[rows, foot] = 0.0, 0.0
            positions = landing.position[:, :2]
            self._write_cog(now, 0.0, cog, capture_point, self.step.pivot, positions, landing.yaw)
            self.step, self._edges = None, None
            return True
        if (now - self._began) % _REPLAN_TICKS:
            return False
        self._plan(now, cog, capture_point, landing, load, foot)
        return True

    def _plan(
        self, now: int, cog: Array, capture_point: Array, landing: Landing, load: Array, swinging: int | None
    ) -> None:
        """Write the rows of a step that begins or continues."""
        gait, dt = self.gait, self.gait.timestep
        remaining = (self._touch_down - now) * dt
        free_target = swinging is None or remaining > _FIXED
        if free_target:
            if swinging is None:
                self._start_positions = landing.position[:, :2].copy()
            elapsed = (now - self._began) * dt
            feet = FeetState(self._start_positions, landing.yaw, load, swinging, elapsed)
            self.step = choose_step(self.legs, self._omega, capture_point, feet)
            self._touch_down = max(self._began + round(self.step.duration / dt), now + round(_FIXED / dt))
        step = self.step
        assert step is not None
        foot = step.foot
        if swinging is None:
            for side in (0, 1):
                gait.foot_position[now:, side] = landing.position[side]
                gait.foot_yaw[now:, side] = landing.yaw[side]
            gait.foot_velocity[now:] = 0.0
            gait.support[now:] = 1 - foot
            progress = 0.0
            acceleration = np.zeros(2)
        else:
            progress = float(gait.in_swing[now, foot])
            acceleration = (gait.foot_velocity[now + 1, foot, :2] - gait.foot_velocity[now, foot, :2]) / dt
        if free_target:
            self._write_swing(now, step, progress, acceleration)
        positions = landing.position[:, :2].copy()
        positions[foot] = step.target
        swing = (self._touch_down - now) * dt
        self._write_cog(now, swing, cog, capture_point, step.pivot, positions, landing.yaw)

    def _write_swing(self, now: int, step: CaptureStep, progress: float, acceleration: Array) -> None:
        """Write the rows of the swinging foot, a quintic from its motion now to rest at its target."""
        gait, dt, foot = self.gait, self.gait.timestep, step.foot
        touch_down = min(self._touch_down, len(gait.zmp) - 1)
        rows = slice(now + 1, touch_down)
        time = dt * np.arange(1.0, touch_down - now)
        swing = (self._touch_down - now) * dt
        start, speed = gait.foot_position[now, foot, :2].copy(), gait.foot_velocity[now, foot, :2].copy()
        path, rate = quintic(start, speed, acceleration, step.target, swing, time)
        gait.foot_position[rows, foot, :2], gait.foot_velocity[rows, foot, :2] = path, rate
        phase = progress + (1.0 - progress) * time / swing
        gait.foot_position[rows, foot, 2] = 0.5 * _LIFT * (1.0 - np.cos(2.0 * np.pi * phase))
        gait.in_swing[rows, foot], gait.contact[rows, foot] = phase, False
        gait.in_swing[touch_down:, foot], gait.contact[touch_down:, foot] = np.nan, True
        gait.foot_position[touch_down:, foot, :2] = step.target
        gait.foot_position[touch_down:, foot, 2] = 0.0
        gait.foot_velocity[touch_down:, foot] = 0.0

    def _write_cog(
        self,
        now: int,
        swing: float,
        cog: Array,
        capture_point: Array,
        pivot: Array,
        positions: Array,
        yaw: Array,
    ) -> None:
        """Write ZMP and COG of the rows from `now` on, and the COG's height."""
        gait, dt, omega = self.gait, self.gait.timestep, self._omega
        end = swing + _TRANSFER + _HOLD + _RETURN + _REST
        count = min(len(gait.zmp) - now, round(end / dt))
        time = dt * np.arange(float(count))
        over = ((time - swing) / _TRANSFER).clip(0.0, 1.0)
        back = minimum_jerk(time, swing + _TRANSFER + _HOLD, _RETURN)
        soles = np.vstack(
            [transform_footprint(self.legs.pivots[foot], positions[foot], yaw[foot]) for foot in (0, 1)]
        )
        rest = soles.mean(axis=0)
        # The ZMP that carries the COG as it moves now: ξ = ω ∫ e^(−ωt) p dt.
        weight = omega * dt * np.exp(-omega * time)
        shift, home = float(weight @ over), float(weight @ back)
        beyond = math.exp(-omega * time[-1])
        shift, home = shift + beyond, home + beyond
        # A plan that ends before touch-down has no time for either.
        stop = pivot + (capture_point - pivot - home * (rest - pivot)) / max(shift - home, 1e-6)
        stop = project_into_polygon(stop, soles)
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
        # The height of the COG, so low that the legs reach their feet.
        height = self.height
        touch_down = min(now + round(swing / dt), len(height) - 1)
        low = self._stand_height - max(
            self._lowering(gait.cog[touch_down], positions), self._lowering(stop, positions)
        )
        end_height = self._stand_height - self._lowering(rest, positions)
        speed = (height[min(now + 1, len(height) - 1)] - height[now]) / dt
        time = dt * np.arange(1.0, len(height) - now)
        down = max(swing, 0.15)
        path, _ = quintic(
            np.array([height[now]]),
            np.array([speed]),
            np.zeros(1),
            np.array([low]),
            down,
            time.clip(max=down),
        )
        height[now + 1 :] = path[:, 0] + (end_height - low) * minimum_jerk(
            time, down + _TRANSFER + _HOLD, _RETURN
        )

    def _lowering(self, cog: Array, positions: Array) -> float:
        """Find how much lower the COG has to be for both legs to reach their feet, m."""
        distance = np.linalg.norm(cog + self._hips - positions, axis=1)
        reach = np.sqrt(np.maximum((_STRETCH * self.legs.length) ** 2 - distance**2, 0.0))
        return float(np.clip(np.max(self._leg_height - reach), 0.0, _MAX_LOWERING))


def _place_foot(landing: Landing, foot: int, foot_displacement: Array) -> None:
    """Put a foot on the ground where the legs have it, relative to the other foot."""
    offset = foot_displacement if foot == 1 else -foot_displacement
    landing.position[foot, :2] = landing.position[1 - foot, :2] + offset
    landing.position[foot, 2] = 0.0


def _hips(robot: Robot, start: Array) -> tuple[Array, float]:
    """Find the hips' horizontal offsets from the COG, (2, 2), m, and their height above the ankles, m."""
    model, data = robot.model, robot.model.createData()
    cog = pin.centerOfMass(model, data, start)[:2].copy()
    hips = [data.oMi[model.getJointId(robot.groups[f"{side}_leg"][0])].translation for side in SIDES]
    ankle = model.frames[model.getFrameId(robot.frames["left_foot"])].parentJoint
    return np.array([hip[:2] - cog for hip in hips]), float(hips[0][2] - data.oMi[ankle].translation[2])
