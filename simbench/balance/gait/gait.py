"""A gait, sampled: ZMP, COG and feet over time; standing, and standing on."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.gait.footsteps import yaw_of
from simbench.kinematics.arrays import Array
from simbench.robot.sides import SIDES


@dataclass(frozen=True)
class Gait:
    """What is planned, sampled; feet in the order left, right; world frame, SI units.

    Parameters
    ----------
    timestep : float
        s.
    zmp : (N, 2) array
    cog, cog_velocity, cog_acceleration : (N, 2) array
    foot_position, foot_velocity : (N, 2, 3) array
        Of the foot frames.
    foot_yaw, foot_yaw_rate : (N, 2) array
        rad, without jumps.
    contact : (N, 2) bool array
    pelvis_yaw, pelvis_yaw_rate : (N,) array
        Mean of the feet's.
    support : (N,) int array
        Which foot the base section stands on: the one on the ground, of both the one nearer to the ZMP.
    steps : int
        How many in all.
    in_swing : (N, 2) array
        Progress of a foot's swing, 0 to 1; NaN on the ground.
    """

    timestep: float
    zmp: Array
    cog: Array
    cog_velocity: Array
    cog_acceleration: Array
    foot_position: Array
    foot_velocity: Array
    foot_yaw: Array
    foot_yaw_rate: Array
    contact: NDArray[np.bool_]
    pelvis_yaw: Array
    pelvis_yaw_rate: Array
    support: NDArray[np.int64]
    steps: int
    in_swing: Array


def standing_gait(
    soles: Mapping[str, pin.SE3], cog: Array, zmp: Array, timestep: float, samples: int, support: str = "left"
) -> Gait:
    """Plan to stand on both feet, the COG still or swaying.

    Parameters
    ----------
    soles : {side: pinocchio.SE3}
        Foot frames.
    cog, zmp : (2,) or (N, 2) array
        m; the COG's velocity and acceleration are central differences.
    timestep : float
        s.
    samples : int
        N, 3 or more.
    support : str
        The foot that the base section stands on.

    Returns
    -------
    Gait
    """
    cog, zmp = (np.broadcast_to(course, (samples, 2)).copy() for course in (cog, zmp))
    cog_velocity = np.gradient(cog, timestep, axis=0)
    yaw = np.unwrap([yaw_of(soles[side]) for side in SIDES])
    return Gait(
        timestep=timestep,
        zmp=zmp,
        cog=cog,
        cog_velocity=cog_velocity,
        cog_acceleration=np.gradient(cog_velocity, timestep, axis=0),
        foot_position=np.tile([soles[side].translation for side in SIDES], (samples, 1, 1)),
        foot_velocity=np.zeros((samples, 2, 3)),
        foot_yaw=np.tile(yaw, (samples, 1)),
        foot_yaw_rate=np.zeros((samples, 2)),
        contact=np.ones((samples, 2), dtype=bool),
        pelvis_yaw=np.full(samples, np.mean(yaw)),
        pelvis_yaw_rate=np.zeros(samples),
        support=np.full(samples, SIDES.index(support), dtype=np.int64),
        steps=0,
        in_swing=np.full((samples, 2), np.nan),
    )


def extend_gait(gait: Gait, samples: int) -> Gait:
    """Stand at a gait's end until it has as many samples.

    Parameters
    ----------
    gait : Gait
    samples : int
        At least as many as it has.

    Returns
    -------
    Gait
    """
    missing = samples - len(gait.zmp)

    def extended(rows: NDArray[Any], at_rest: bool = False) -> NDArray[Any]:
        last = np.zeros_like(rows[-1:]) if at_rest else rows[-1:]
        return np.concatenate([rows, np.repeat(last, missing, axis=0)])

    rates = ("cog_velocity", "cog_acceleration", "foot_velocity", "foot_yaw_rate", "pelvis_yaw_rate")
    places = ("zmp", "cog", "foot_position", "foot_yaw", "contact", "pelvis_yaw", "support", "in_swing")
    longer: dict[str, Any] = {name: extended(getattr(gait, name), at_rest=True) for name in rates}
    longer |= {name: extended(getattr(gait, name)) for name in places}
    return replace(gait, **longer)
