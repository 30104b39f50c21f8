"""Hip strategy: a standing robot that is pushed bows, and its angular momentum holds back the COG."""

import math

import numpy as np
import pinocchio as pin

from simbench.balance.gait.gait import Gait
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk, quintic
from simbench.robot.robot import Robot

_UNEXPECTED = 0.05
"""Distance of the capture point from the planned one, ahead or behind, at which the bow begins, m."""
_DEPTH = 0.4
"""Of the bow, rad, where the hips allow it."""
_SHARE = 0.5
"""Part of the hips' way to their stops that a bow takes; thighs that lean, as hips go the other way than the
head, take up to two thirds as much, and feedback some."""
_DOWN, _HOLD, _UP = 0.4, 0.3, 1.5
"""Time to bow, to stay and to come up again, s."""
_ALONG = 0.9
"""Cosine from which on an axis counts as lateral."""
_BACK = 0.4
"""Time to come up when a step takes over, s."""


class HipStrategy:
    """Turns the body the way it is pushed.

    With the ZMP p at the soles' edge the COG c goes as m c̈ = m g (c − p) / h − L̇ / h: angular
    momentum L gained forward slows the COG down. The bow gives it at once and takes it back later, when the
    capture point has come back from the edge. Only forward and backward: sideways the legs of a robot that
    stands on both feet hold the body. Turned about the COG the hips go back and up; the COG is lowered by
    what keeps them as far from the ankles as they were, so that knees do not straighten.

    Parameters
    ----------
    robot : Robot
    gait : Gait
        As it goes on; a recovery may change its rows.
    height : (N,) array
        Of the COG, m; rows of a bow are lowered.
    omega : float
        The pendulum's natural frequency, 1/s.
    start : (nq,) array
        Configuration, standing.
    """

    def __init__(self, robot: Robot, gait: Gait, height: Array, omega: float, start: Array) -> None:
        self._gait, self._height, self._omega = gait, height, omega
        swings = np.flatnonzero(~gait.contact.all(axis=1))
        self._stands_from = int(swings[-1]) + 1 if len(swings) else 0
        time = gait.timestep * np.arange(float(math.ceil((_DOWN + _HOLD + _UP) / gait.timestep)))
        bow = minimum_jerk(time, 0.0, _DOWN) - minimum_jerk(time, _DOWN + _HOLD, _UP)
        self._bows = {sign: sign * _depth(robot, start, sign) * bow for sign in (-1.0, 1.0)}
        self._drops = {sign: _drop(robot, start, self._bows[sign]) for sign in self._bows}
        self._began, self._course = 0, np.zeros(0)

    def turned(self, now: int, cog: Array, velocity: Array, body: Array) -> Array:
        """Turn the body's planned orientation about its own lateral axis.

        Parameters
        ----------
        now : int
            Row of the gait.
        cog, velocity : (2,) array
            Measured, m and m/s.
        body : (4,) array
            Planned orientation, quaternion x, y, z, w.

        Returns
        -------
        (4,) array
            Quaternion.
        """
        if now - self._began >= len(self._course) and not self._begins(now, cog, velocity, body):
            return body
        half = 0.5 * float(self._course[now - self._began])
        x, y, z, w = body
        cosine, sine = math.cos(half), math.sin(half)
        return np.array(
            (x * cosine - z * sine, y * cosine + w * sine, z * cosine + x * sine, w * cosine - y * sine)
        )

    def stop(self, now: int) -> None:
        """Come up from a bow at once: a step takes over, and its legs need their length.

        Parameters
        ----------
        now : int
            Row of the gait.
        """
        done = now - self._began
        if not 0 < done < len(self._course):
            return
        dt = self._gait.timestep
        before, angle = self._course[done - 1 : done + 1]
        time = dt * np.arange(math.ceil(_BACK / dt) + 1.0)
        rate = np.array([(angle - before) / dt])
        way, _ = quintic(np.array([angle]), rate, np.zeros(1), np.zeros(1), _BACK, time.clip(max=_BACK))
        self._began, self._course = now, way[:, 0]

    def _begins(self, now: int, cog: Array, velocity: Array, body: Array) -> bool:
        gait = self._gait
        if now < self._stands_from or not gait.contact[now].all():
            return False
        x, y, z, w = body
        ahead = np.array((1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + z * w)))
        off = cog - gait.cog[now] + (velocity - gait.cog_velocity[now]) / self._omega
        away = float(ahead @ off)
        if abs(away) < _UNEXPECTED:
            return False
        sign = math.copysign(1.0, away)
        self._began, self._course = now, self._bows[sign]
        rows = self._height[now : now + len(self._course)]
        rows -= self._drops[sign][: len(rows)]
        return True


def _depth(robot: Robot, start: Array, sign: float) -> float:
    """How deep a robot can bow forward (1) or backward (-1) before its hips come to their stops, rad."""
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, start)
    lateral = data.oMi[1].rotation[:, 1]
    depth = _DEPTH
    for leg in ("left_leg", "right_leg"):
        joints = [model.joints[model.getJointId(name)] for name in robot.groups[leg]]
        # The first joint of the leg that turns about the body's lateral axis.
        hip = next(joint for joint in joints if abs(data.J[3:, joint.idx_v] @ lateral) > _ALONG)
        place, low, high = (
            float(values[hip.idx_q]) for values in (start, model.lowerPositionLimit, model.upperPositionLimit)
        )
        rises = sign * float(data.J[3:, hip.idx_v] @ lateral) < 0.0
        depth = min(depth, _SHARE * (high - place if rises else place - low))
    return max(depth, 0.0)


def _drop(robot: Robot, start: Array, bow: Array) -> Array:
    """How much lower the COG has to be for bows, (N,) rad, not to stretch the legs, m."""
    model, data = robot.model, robot.model.createData()
    cog = pin.centerOfMass(model, data, start).copy()
    hip = data.oMi[model.getJointId(robot.groups["left_leg"][0])].translation
    ankle = data.oMi[model.frames[model.getFrameId(robot.frames["left_foot"])].parentJoint].translation
    forward = data.oMi[1].rotation[:, 0]
    ahead, up = float((hip - cog) @ forward), float(hip[2] - cog[2])
    along, leg = float((hip - ankle) @ forward), float(hip[2] - ankle[2])
    back = ahead * (np.cos(bow) - 1.0) + up * np.sin(bow)
    rise = up * (np.cos(bow) - 1.0) - ahead * np.sin(bow)
    drop: Array = leg + rise - np.sqrt(along**2 + leg**2 - (along + back) ** 2)
    return drop.clip(min=0.0)
