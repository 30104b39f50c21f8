"""A gait, sampled: ZMP, COG and feet over time; a gait that stands, and one extended by standing."""

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
    """A planned gait, sampled; feet in the order left, right; world frame."""

    timestep: float  # Time between samples, s.
    zmp: Array  # (N, 2): ZMP on the floor, m.
    cog: Array  # (N, 2): horizontal position of the COG, m.
    cog_velocity: Array  # (N, 2): horizontal velocity of the COG, m/s.
    cog_acceleration: Array  # (N, 2): horizontal acceleration of the COG, m/s².
    foot_position: Array  # (N, 2, 3): positions of the foot frames, m.
    foot_velocity: Array  # (N, 2, 3): velocities of the foot frames, m/s.
    foot_yaw: Array  # (N, 2): rotation of the foot frames about the vertical, rad, without jumps.
    foot_yaw_rate: Array  # (N, 2): its rate, rad/s.
    contact: NDArray[np.bool_]  # (N, 2) bool: whether each foot is on the ground.
    pelvis_yaw: Array  # (N,): rotation of the pelvis about the vertical, the mean of the feet's, rad.
    pelvis_yaw_rate: Array  # (N,): its rate, rad/s.
    # (N,) int: which foot the base section stands on, 0 left, 1 right: the one on the ground, of both the one
    # nearer to the ZMP.
    support: NDArray[np.int64]
    steps: int  # Number of steps in all.
    in_swing: Array  # (N, 2): progress of a foot's swing, 0 to 1; NaN on the ground.


def standing_gait(
    soles: Mapping[str, pin.SE3], cog: Array, zmp: Array, timestep: float, samples: int, support: str = "left"
) -> Gait:
    """Plan to stand on both feet, the COG still or swaying.

    `soles` {side: pinocchio.SE3}: poses of the foot frames in the world frame, by side (left, right); `cog`
    (2,) or (N, 2) array: horizontal position of the COG in the world frame, m; its velocity and acceleration
    are central differences; `zmp` (2,) or (N, 2) array: ZMP in the world frame, m; `timestep`: time between
    samples, s; `samples`: number N of samples, 3 or more; `support`: the foot that the base section stands
    on: left or right. Returns N samples without a step.
    """
    cog, zmp = (np.broadcast_to(path, (samples, 2)).copy() for path in (cog, zmp))
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
    """Extend a gait by standing at its end.

    `gait`: the gait, N samples; `samples`: number of samples that it shall have, N or more. Returns the gait
    with that many samples, at rest in those that are new.
    """
    missing = samples - len(gait.zmp)

    def extended(rows: NDArray[Any], at_rest: bool = False) -> NDArray[Any]:
        last = np.zeros_like(rows[-1:]) if at_rest else rows[-1:]
        return np.concatenate([rows, np.repeat(last, missing, axis=0)])

    rates = ("cog_velocity", "cog_acceleration", "foot_velocity", "foot_yaw_rate", "pelvis_yaw_rate")
    held = ("zmp", "cog", "foot_position", "foot_yaw", "contact", "pelvis_yaw", "support", "in_swing")
    longer: dict[str, Any] = {name: extended(getattr(gait, name), at_rest=True) for name in rates}
    longer |= {name: extended(getattr(gait, name)) for name in held}
    return replace(gait, **longer)
