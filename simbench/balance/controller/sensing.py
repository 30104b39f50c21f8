"""What joints, attitude and force sensors say: where soles and COG are, and the ZMP."""

import numpy as np
import pinocchio as pin

from simbench.balance.controller.foot_forces import FootForces, measured_zmp
from simbench.balance.controller.ways import seen_from_sole
from simbench.balance.gait.gait import Gait
from simbench.balance.gait.landing import Landing
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled

FORCE_BANDWIDTH = 10.0
"""Of the feet's force sensors, Hz."""
_LEAST_UPRIGHT = np.cos(0.6)
"""Cosine of the pelvis' tilt below which a robot is falling and balance holds still."""


class Sensing:
    """Measures as a robot does it: COG from its joints, standing flat on a foot; ZMP by sensors in the feet.

    Parameters
    ----------
    model : pinocchio.Model
        The one that balance believes in.
    feet : [left, right] of int
        Ids of the soles' frames.
    timestep : float
        Between readings, s.
    load : (2,) array
        Vertical force on each foot at the start, N.
    """

    def __init__(self, model: pin.Model, feet: list[int], timestep: float, load: Array) -> None:
        self._model, self._data, self._feet = model, model.createData(), feet
        self.configuration = pin.neutral(model)
        # Pinocchio's own memory, not copies: they change with the configuration.
        self.soles = [(self._data.oMf[foot].rotation, self._data.oMf[foot].translation) for foot in feet]
        self.cog, self._turn = self._data.com[0], self._data.oMi[1].rotation
        self._forces = FootForces(FORCE_BANDWIDTH, timestep, load)
        self.wrench = self._forces.wrench

    @property
    def upright(self) -> bool:
        """Whether the robot is not falling."""
        return bool(self._turn[2, 2] >= _LEAST_UPRIGHT)

    def read(self, configuration: Array, foot_wrench: Array) -> None:
        """Take in what joints, attitude and force sensors say at a tick.

        Parameters
        ----------
        configuration : (nq,) array
        foot_wrench : (2, 6) array
            Of the floor on each foot, N and N·m about the world's origin.
        """
        self.configuration = configuration
        pin.centerOfMass(self._model, self._data, configuration, False)
        for foot in self._feet:
            pin.updateFramePlacement(self._model, self._data, foot)
        self._forces.read(self.soles, foot_wrench)

    def measure(self, now: int, gait: Gait, landing: Landing, cog: Array, zmp: Array) -> None:
        """Write a row of COG and ZMP, with the feet flat where balance takes them to be.

        Parameters
        ----------
        now : int
            The row.
        gait : Gait
            Its support is the foot that the COG is measured from; its ZMP counts while no foot carries
            anything.
        landing : Landing
        cog, zmp : (N, 2) array
            m; overwritten in the row.
        """
        support = int(gait.support[now])
        turn, sole = self.soles[support]
        place, yaw = landing.position, landing.yaw
        _measure(turn, sole, self.cog, self.wrench, place, yaw, support, now, gait.zmp, cog, zmp)

    def standing_flat(self, support: int, landing: Landing) -> Array:
        """Find where the root would be if the supporting sole lay flat.

        Parameters
        ----------
        support : int
        landing : Landing

        Returns
        -------
        (7,) array
        """
        flat = pin.SE3(pin.utils.rotate("z", landing.yaw[support]), landing.position[support])
        root = flat * self._data.oMf[self._feet[support]].inverse() * self._data.oMi[1]
        return np.asarray(pin.SE3ToXYZQUAT(root))


@compiled
def _measure(
    turn: Array,
    sole: Array,
    point: Array,
    wrench: Array,
    place: Array,
    yaw: Array,
    support: int,
    now: int,
    planned_zmp: Array,
    cog: Array,
    zmp: Array,
) -> None:
    cog[now, 0], cog[now, 1] = seen_from_sole(turn, sole, point, place[support], yaw[support])
    zmp[now, 0], zmp[now, 1] = measured_zmp(wrench, place, yaw)
    if np.isnan(zmp[now, 0]):
        zmp[now, 0], zmp[now, 1] = planned_zmp[now, 0], planned_zmp[now, 1]
