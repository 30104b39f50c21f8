"""Hip strategy: a standing robot leans its trunk as it is pushed; the angular momentum slows the COG down."""

import math

import numpy as np
import pinocchio as pin

from simbench.balance.gait.gait import Gait
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk, quintic
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_UNEXPECTED = 0.05
"""Distance of the capture point from the planned one, ahead or behind, at which leaning begins, m."""
_LEAN_ANGLE = 0.4
"""Angle of the lean, rad, where the hips allow it."""
_RANGE_FRACTION = 0.5
"""Part of the hips' range to their limits that leaning uses; the thighs, which lean because the hips move
against the head, use up to two thirds as much, and feedback some."""
_DOWN, _HOLD, _UP = 0.4, 0.3, 1.5
"""Time to lean, to stay and to come up again, s."""
_LATERAL = 0.9
"""Cosine from which on an axis counts as lateral."""
_STOP_TIME = 0.4
"""Time to come up when a step takes over, s."""


class HipStrategy:
    """Leans the trunk in the direction in which it is pushed.

    With the ZMP p at the soles' edge the COG c moves as m c̈ = m g (c − p) / h − L̇ / h: angular momentum L
    gained forward slows the COG down. Leaning gives it at once and takes it back later, when the capture
    point has come back from the edge. Only forward and backward: sideways the legs of a robot that stands on
    both feet hold the trunk. Rotated about the COG the hips move back and up; the COG is lowered by what
    keeps their distance from the ankles, so that knees do not straighten. `robot`: robot with two legs;
    `gait`: the gait, N samples; a recovery may change its rows; `height` (N,): height of the COG above the
    floor, m; rows in which the robot leans are lowered in place; `omega`: natural frequency of the inverted
    pendulum, 1/s; `start` (nq,): configuration, standing: root pose (m and quaternion x, y, z, w) and joint
    positions, rad.
    """

    def __init__(self, robot: Robot, gait: Gait, height: Array, omega: float, start: Array) -> None:
        self._gait, self._height, self._omega = gait, height, omega
        swings = np.flatnonzero(~gait.contact.all(axis=1))
        self._stands_from = int(swings[-1]) + 1 if len(swings) else 0
        time = gait.timestep * np.arange(float(math.ceil((_DOWN + _HOLD + _UP) / gait.timestep)))
        profile = minimum_jerk(time, 0.0, _DOWN) - minimum_jerk(time, _DOWN + _HOLD, _UP)
        self._leans = {sign: sign * _lean_angle(robot, start, sign) * profile for sign in (-1.0, 1.0)}
        self._lowerings = {sign: _lowering(robot, start, self._leans[sign]) for sign in self._leans}
        self._began, self._angle = 0, np.zeros(0)

    def lean_trunk(self, now: int, cog: Array, velocity: Array, body: Array) -> Array:
        """Rotate the trunk's planned orientation about its own lateral axis, if a push requires it.

        `now`: row of the gait; `cog` (2,): measured horizontal position of the COG in the world frame, m;
        `velocity` (2,): measured horizontal velocity of the COG, m/s; `body` (4,): planned orientation of the
        root link in the world frame, quaternion x, y, z, w. Returns (4,): orientation of the root link in the
        world frame, quaternion x, y, z, w.
        """
        if now - self._began >= len(self._angle) and not self._begins(now, cog, velocity, body):
            return body
        half = 0.5 * float(self._angle[now - self._began])
        x, y, z, w = body
        cosine, sine = math.cos(half), math.sin(half)
        return np.array(
            (x * cosine - z * sine, y * cosine + w * sine, z * cosine + x * sine, w * cosine - y * sine)
        )

    def stop(self, now: int) -> None:
        """Come up at once: a step takes over, and its legs need their length. `now`: row of the gait."""
        done = now - self._began
        if not 0 < done < len(self._angle):
            return
        dt = self._gait.timestep
        before, angle = self._angle[done - 1 : done + 1]
        time = dt * np.arange(math.ceil(_STOP_TIME / dt) + 1.0)
        rate = np.array([(angle - before) / dt])
        path, _ = quintic(
            np.array([angle]), rate, np.zeros(1), np.zeros(1), _STOP_TIME, time.clip(max=_STOP_TIME)
        )
        self._began, self._angle = now, path[:, 0]

    def _begins(self, now: int, cog: Array, velocity: Array, body: Array) -> bool:
        """Begin to lean if the capture point is far from the planned one; whether it has begun."""
        gait = self._gait
        if now < self._stands_from or not gait.contact[now].all():
            return False
        x, y, z, w = body
        ahead = np.array((1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w)))
        error = cog - gait.cog[now] + (velocity - gait.cog_velocity[now]) / self._omega
        distance = float(ahead @ error)
        if abs(distance) < _UNEXPECTED:
            return False
        sign = math.copysign(1.0, distance)
        self._began, self._angle = now, self._leans[sign]
        rows = self._height[now : now + len(self._angle)]
        rows -= self._lowerings[sign][: len(rows)]
        return True


def _lean_angle(robot: Robot, start: Array, sign: float) -> float:
    """Find how far the trunk can lean forward (1) or backward (-1) within the range of its hips, rad."""
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, start)
    lateral = data.oMi[1].rotation[:, 1]
    angle = _LEAN_ANGLE
    for side in SIDES:
        joints = [model.joints[model.getJointId(name)] for name in robot.groups[f"{side}_leg"]]
        # The first joint of the leg that turns about the trunk's lateral axis.
        hip = next(joint for joint in joints if abs(data.J[3:, joint.idx_v] @ lateral) > _LATERAL)
        position, low, high = (
            float(values[hip.idx_q]) for values in (start, model.lowerPositionLimit, model.upperPositionLimit)
        )
        rises = sign * float(data.J[3:, hip.idx_v] @ lateral) < 0.0
        angle = min(angle, _RANGE_FRACTION * (high - position if rises else position - low))
    return max(angle, 0.0)


def _lowering(robot: Robot, start: Array, lean: Array) -> Array:
    """Find how much lower the COG has to be for lean angles (N,), rad, not to stretch the legs, (N,), m."""
    model, data = robot.model, robot.model.createData()
    cog = pin.centerOfMass(model, data, start).copy()
    hip = data.oMi[model.getJointId(robot.groups["left_leg"][0])].translation
    ankle = data.oMi[model.frames[model.getFrameId(robot.frames["left_foot"])].parentJoint].translation
    forward = data.oMi[1].rotation[:, 0]
    ahead, up = float((hip - cog) @ forward), float(hip[2] - cog[2])
    along, leg = float((hip - ankle) @ forward), float(hip[2] - ankle[2])
    back = ahead * (np.cos(lean) - 1.0) + up * np.sin(lean)
    rise = up * (np.cos(lean) - 1.0) - ahead * np.sin(lean)
    lowering: Array = leg + rise - np.sqrt(along**2 + leg**2 - (along + back) ** 2)
    return lowering.clip(min=0.0)
