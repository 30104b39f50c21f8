"""Force sensors in the feet: wrenches in the sole frames, low-passed, and the ZMP that they measure."""

import math

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

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

    def read(self, soles: list[pin.SE3], world: NDArray[np.float64]) -> None:
        """Take in the wrenches of this moment.

        Parameters
        ----------
        soles : [left, right] pinocchio.SE3
            Where the sensors are, world.
        world : (2, 6) array
            Force (N) and moment about the world's origin (N·m) of the floor on each foot, world axes.
        """
        for row, (sole, wrench) in enumerate(zip(soles, world, strict=True)):
            turn, place = sole.rotation, sole.translation
            force = wrench[:3]
            x, y, z = place
            fx, fy, fz = force
            about = wrench[3:] - (y * fz - z * fy, z * fx - x * fz, x * fy - y * fx)
            own = self.wrench[row]
            own[:3] += self._share * (force @ turn - own[:3])
            own[3:] += self._share * (about @ turn - own[3:])

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
        total = x = y = 0.0
        for row in (0, 1):
            _, _, load, roll, pitch, _ = self.wrench[row].tolist()
            if load <= LEAST_LOAD:
                continue
            cosine, sine = math.cos(yaws[row]), math.sin(yaws[row])
            # Moments times the load: −m_y and m_x are f_z times the centre of pressure.
            x += load * soles[row, 0] - cosine * pitch - sine * roll
            y += load * soles[row, 1] - sine * pitch + cosine * roll
            total += load
        return (x / total, y / total) if total > 0.0 else None
