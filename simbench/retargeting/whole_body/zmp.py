"""Where the ZMP of a standing plan is to be, what hands feel of equipment, and the COG that answers both."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simbench.balance.standing.standing import Stance, solve_com_ik
from simbench.balance.standing.standing_profile import lipm_com_offset, planned_zmp
from simbench.errors import BalanceError
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.robot.robot import Robot

_GIVE = 0.001
"""Way of the hands, m, in which friction turns round: grips and fingers give way by so much."""
_END_TIME = 0.5
"""In which inertia begins to count, s: twice the time in which a pendulum as high as a robot falls."""
_WHOLE, _FARTHEST = 0.04, 0.08
"""Distance of the COG from the wanted ZMP, m, up to which it is as asked for, and at most: half a sole."""


@dataclass(frozen=True)
class Resistance:
    """What equipment opposes to a hand that moves it.

    Parameters
    ----------
    friction_n : float
        Coulomb friction.
    damping_ns_m : float
        Viscous friction.
    mass_kg : float
        Of what moves.

    Raises
    ------
    BalanceError
        If one is negative or not finite.
    """

    friction_n: float
    damping_ns_m: float
    mass_kg: float

    def __post_init__(self) -> None:
        """Refuse what would push the hands on."""
        numbers = (self.friction_n, self.damping_ns_m, self.mass_kg)
        if not (np.isfinite(numbers).all() and min(numbers) >= 0.0):
            raise BalanceError(f"resistance of equipment: {numbers}; allowed: finite numbers from 0")


def hand_load(time: Array, hands: HandPlan, resistance: Mapping[str, Resistance]) -> Array:
    """Expect the wrench of equipment on the hands that move it.

    With x the way of a palm in contact, f = −(F s + d ẋ + m ẍ); the friction's direction s follows the way,
    ds = dx / 1 mm with ‖s‖ ≤ 1, and stays when the hand rests.

    Parameters
    ----------
    time : (T,) array
        s.
    hands : HandPlan
    resistance : {side: Resistance}

    Returns
    -------
    (T, 6) array
        Force (N) and its moment about the world's origin (N·m), of all hands together.
    """
    load = np.zeros((len(time), 6))
    for side, felt in resistance.items():
        palm, held = hands.actor[side][:, :3, 3], hands.contact[side]
        steps = np.where((held[1:] & held[:-1])[:, None], np.diff(palm, axis=0), 0.0)
        way = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
        friction = np.zeros_like(way)
        for sample, step in enumerate(steps, start=1):
            direction = friction[sample - 1] + step / _GIVE
            friction[sample] = direction / max(1.0, float(np.linalg.norm(direction)))
        velocity = np.gradient(way, time, axis=0)
        acceleration = np.gradient(velocity, time, axis=0)
        force = -(felt.friction_n * friction + felt.damping_ns_m * velocity + felt.mass_kg * acceleration)
        force[~held] = 0.0
        load += np.hstack([force, np.cross(palm, force)])
    return load


def balancing_cog(
    robot: Robot, time: Array, base: Array, joints: Array, zmp: Array, load: Array | None
) -> Array:
    """Find where the COG of a motion has to be for the ZMP to be where it is wanted.

    At both ends, where nobody knows yet how the robot gets into motion and to rest, it is kept over the
    wanted ZMP.

    Parameters
    ----------
    robot : Robot
    time : (T,) array
        s.
    base : (T, 7) array
    joints : (T, n) array
        rad.
    zmp : (T, 2) array
        Wanted, m.
    load : (T, 6) array or None
        From `hand_load`.

    Returns
    -------
    (T, 2) array
        m.
    """
    clock = time - time[0]
    moving = minimum_jerk(clock, 0.0, _END_TIME) * minimum_jerk(clock[-1] - clock, 0.0, _END_TIME)
    planned, cog = planned_zmp(robot, time, base, joints, load, moving)
    sway = lipm_com_offset(time, zmp - planned, float(cog[:, 2].mean()))
    return zmp + _within_reach(cog[:, :2] + sway - zmp)


def swaying_balance(
    robot: Robot, stance: Stance, time: Array, base: Array, joints: Array, zmp: Array, free: Array
) -> tuple[Array, Array]:
    """Move legs and pelvis so that the ZMP is where it is wanted, in part where hands are not free.

    Parameters
    ----------
    robot : Robot
    stance : Stance
    time : (T,) array
        s; from rest to rest.
    base : (T, 7) array
    joints : (T, n) array
        rad.
    zmp : (T, 2) array
        Wanted, m.
    free : (T,) array
        0 where hands are with equipment, which the pelvis would take them away from, to 1.

    Returns
    -------
    base : (T, 7) array
    joints : (T, n) array

    Raises
    ------
    RetargetError
        As `solve_com_ik`.
    """
    planned, cog = planned_zmp(robot, time, base, joints)
    part = free[:, None]
    sway = part * lipm_com_offset(time, part * (zmp - planned), float(cog[:, 2].mean()))
    return solve_com_ik(robot, stance, joints, cog[:, :2] + _within_reach(sway), base[:, 2] - stance.base[2])


def _within_reach(sway: Array) -> Array:
    """Bring a sway softly into what legs and soles can do: motions that need more let a robot fall anyway."""
    beyond = np.maximum(np.abs(sway) - _WHOLE, 0.0)
    room = _FARTHEST - _WHOLE
    return np.asarray(np.sign(sway) * (np.minimum(np.abs(sway), _WHOLE) + room * np.tanh(beyond / room)))
