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
        self._started = False

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
        for foot, (turn, place) in enumerate(soles):
            _follow(self._share, turn, place, world[foot], self.wrench[foot])

    def zmp(self, soles: NDArray[np.float64], yaws: NDArray[np.float64]) -> tuple[float, float] | None:
        """Compute the ZMP, with the feet flat where balance takes them to be.

        p = Σ f_z,i (p_i + R_i c_i) / Σ f_z,i with each foot's centre of pressure
        c_i = (−m_y, m_x) / f_z in its own sole frame.

        Parameters
        ----------
        soles : (2, 3) array
            Positions of the sole frames, m, world.
        yaws : (2,) array
            Their turn about z, rad.

        Returns
        -------
        (float, float) or None
            m, world; None if no foot carries anything.
        """
        x, y, total = _moments(self.wrench, soles, yaws)
        return (x / total, y / total) if total > 0.0 else None


@compiled
def _follow(
    share: float,
    turn: NDArray[np.float64],
    place: NDArray[np.float64],
    world: NDArray[np.float64],
    own: NDArray[np.float64],
) -> None:
    """Take a share of a wrench, world axes about the origin, into one in the axes of a sole."""
    about = np.empty(3)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        about[i] = world[3 + i] - (place[j] * world[k] - place[k] * world[j])
    for i in range(3):
        force = moment = 0.0
        for j in range(3):
            force += world[j] * turn[j, i]
            moment += about[j] * turn[j, i]
        own[i] += share * (force - own[i])
        own[3 + i] += share * (moment - own[3 + i])


@compiled
def _moments(
    wrench: NDArray[np.float64], soles: NDArray[np.float64], yaws: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Sum up Σ f_z p_x, Σ f_z p_y and Σ f_z of the feet that carry."""
    total = x = y = 0.0
    for foot in range(2):
        load = wrench[foot, 2]
        if load <= LEAST_LOAD:
            continue
        cosine, sine = np.cos(yaws[foot]), np.sin(yaws[foot])
        # Moments times the load: −m_y and m_x are f_z times the centre of pressure.
        x += load * soles[foot, 0] - cosine * wrench[foot, 4] - sine * wrench[foot, 3]
        y += load * soles[foot, 1] - sine * wrench[foot, 4] + cosine * wrench[foot, 3]
        total += load
    return x, y, total
