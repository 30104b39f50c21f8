"""Force sensors in the feet: wrenches in the sole frames, low-passed, and the ZMP that they measure."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.compiled import compiled

LEAST_LOAD = 5.0
"""Vertical force (N) above which a foot counts in the ZMP."""


class FootForces:
    """Filtered wrenches of both feet, in the frames of their soles.

    A six-axis sensor in the ankle gives the wrench in the foot's own axes; a first-order low-pass takes what
    the structure rings:

        f ← f + (1 − e^(−2π f_c dt)) (f_measured − f)

    Parameters
    ----------
    bandwidth : float
        f_c, Hz.
    timestep : float
        Time between readings, s.
    load : (2,) array
        Vertical force on each foot at the start, N.
    """

    def __init__(self, bandwidth: float, timestep: float, load: NDArray[np.float64]) -> None:
        self._share = 1.0 - math.exp(-2.0 * math.pi * bandwidth * timestep)
        self.wrench = np.zeros((2, 6))
        self.wrench[:, 2] = load

    def read(
        self,
        soles: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
        world: NDArray[np.float64],
    ) -> None:
        """Take in the wrenches of this moment.

        Parameters
        ----------
        soles : [left, right] of ((3, 3), (3,)) arrays
            Where the sensors are: rotation and translation of the sole frames, world, m.
        world : (2, 6) array
            Force (N) and moment about the world's origin (N·m) of the floor on each foot, world axes.
        """
        (left_turn, left), (right_turn, right) = soles
        _follow_both(self._share, left_turn, left, right_turn, right, world, self.wrench)


@compiled
def measured_zmp(
    wrench: NDArray[np.float64], place: NDArray[np.float64], yaw: NDArray[np.float64]
) -> tuple[float, float]:
    """Compute the ZMP, with the feet flat where balance takes them to be.

    p = Σ f_z,i (p_i + R_i c_i) / Σ f_z,i with each foot's centre of pressure
    c_i = (−m_y, m_x) / f_z in its own sole frame.

    Parameters
    ----------
    wrench : (2, 6) array
        As `FootForces.wrench`.
    place : (2, 3) array
        Positions of the sole frames, m, world.
    yaw : (2,) array
        Their turn about z, rad.

    Returns
    -------
    (float, float)
        m, world; NaN if no foot carries anything.
    """
    total = x = y = 0.0
    for foot in range(2):
        load = wrench[foot, 2]
        if load <= LEAST_LOAD:
            continue
        cosine, sine = np.cos(yaw[foot]), np.sin(yaw[foot])
        # Moments times the load: −m_y and m_x are f_z times the centre of pressure.
        x += load * place[foot, 0] - cosine * wrench[foot, 4] - sine * wrench[foot, 3]
        y += load * place[foot, 1] - sine * wrench[foot, 4] + cosine * wrench[foot, 3]
        total += load
    return x / total, y / total


@compiled
def _follow_both(
    share: float,
    left_turn: NDArray[np.float64],
    left: NDArray[np.float64],
    right_turn: NDArray[np.float64],
    right: NDArray[np.float64],
    world: NDArray[np.float64],
    own: NDArray[np.float64],
) -> None:
    _follow(share, left_turn, left, world[0], own[0])
    _follow(share, right_turn, right, world[1], own[1])


@compiled
def _follow(
    share: float,
    turn: NDArray[np.float64],
    place: NDArray[np.float64],
    world: NDArray[np.float64],
    own: NDArray[np.float64],
) -> None:
    """Take a share of a wrench, world axes about the origin, into one in the axes of a sole."""
    x = world[3] - (place[1] * world[2] - place[2] * world[1])
    y = world[4] - (place[2] * world[0] - place[0] * world[2])
    z = world[5] - (place[0] * world[1] - place[1] * world[0])
    for i in range(3):
        force = world[0] * turn[0, i] + world[1] * turn[1, i] + world[2] * turn[2, i]
        moment = x * turn[0, i] + y * turn[1, i] + z * turn[2, i]
        own[i] += share * (force - own[i])
        own[3 + i] += share * (moment - own[3 + i])
