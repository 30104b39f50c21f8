"""Where the COG is and how fast it moves, by joints, foot forces and the root's attitude."""

import math

import numpy as np

from simbench.balance.controller.foot_forces import LEAST_LOAD
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled

_BANDWIDTH = 20.0
"""Of the COG's velocity, Hz."""


class CogObserver:
    """Position and velocity of the COG over feet that stand on their centres of pressure.

    A robot that tips over the edge of its soles does not see it in its joints, but in the attitude of its
    root, as an inertial sensor gives it. What touches the ground is each foot's centre of pressure; with the
    COG r_i away from it, in the attitude measured, c = Σ f_z,i (p_i + r_i) / Σ f_z,i, where p_i is the place
    of that centre in the foot as it lies flat. The velocity is the low-passed rate of change.

    Parameters
    ----------
    timestep : float
        s.
    start : (2,) array
        m.
    """

    def __init__(self, timestep: float, start: Array) -> None:
        self._timestep = timestep
        self._share = 1.0 - math.exp(-2.0 * math.pi * _BANDWIDTH * timestep)
        self.position, self.velocity = start.copy(), np.zeros(2)
        self._begun = False

    def read(
        self, soles: list[tuple[Array, Array]], cog: Array, wrench: Array, place: Array, yaw: Array
    ) -> None:
        """Take in what is sensed at a tick.

        Parameters
        ----------
        soles : [left, right] of ((3, 3), (3,)) arrays
            Rotation and translation of the sole frames, by joints and the root's attitude, m.
        cog : (3,) array
            In the same axes, m.
        wrench : (2, 6) array
            As `FootForces.wrench`.
        place, yaw : (2, 3), (2,) array
            Where the soles are taken to lie flat, m and rad.
        """
        (left_turn, left), (right_turn, right) = soles
        x, y, load = _over_pressure(left_turn, left, right_turn, right, cog, wrench, place, yaw)
        if load <= 0.0:
            # In the air the COG goes on as it went.
            self.position = self.position + self._timestep * self.velocity
            return
        position = np.array((x / load, y / load))
        if self._begun:
            self.velocity += self._share * ((position - self.position) / self._timestep - self.velocity)
        self.position, self._begun = position, True


@compiled
def _over_pressure(
    left_turn: Array,
    left: Array,
    right_turn: Array,
    right: Array,
    cog: Array,
    wrench: Array,
    place: Array,
    yaw: Array,
) -> tuple[float, float, float]:
    """Sum up Σ f_z (p_x + r_x), Σ f_z (p_y + r_y) and Σ f_z of the feet that carry."""
    x = y = total = 0.0
    for foot in range(2):
        load = wrench[foot, 2]
        if load <= LEAST_LOAD:
            continue
        turn, sole = (left_turn, left) if foot == 0 else (right_turn, right)
        along, across = -wrench[foot, 4] / load, wrench[foot, 3] / load
        cosine, sine = np.cos(yaw[foot]), np.sin(yaw[foot])
        away_x = cog[0] - sole[0] - turn[0, 0] * along - turn[0, 1] * across
        away_y = cog[1] - sole[1] - turn[1, 0] * along - turn[1, 1] * across
        x += load * (place[foot, 0] + cosine * along - sine * across + away_x)
        y += load * (place[foot, 1] + sine * along + cosine * across + away_y)
        total += load
    return x, y, total
