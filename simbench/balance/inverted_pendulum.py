"""The linear inverted pendulum: COG profile of a planned ZMP, and its control (Choi, You & Oh 2004)."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_banded

from simbench.errors import BalanceError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled

GRAVITY = 9.81  # Gravitational acceleration, m/s².


class CogZmpGains(NamedTuple):
    """Gains of the COG-ZMP control."""

    cog: float  # Gain k_c on the COG's error, 1/s.
    zmp: float  # Gain k_p on the ZMP's error, 1/s.


# Gains of the COG-ZMP control, 1/s, for a pendulum as high as a person's.
_USUAL_GAINS = CogZmpGains(cog=6.0, zmp=2.0)
# The same for a lower pendulum, as multiples of its natural frequency.
_LEAST_COG_GAIN, _MOST_ZMP_GAIN = 1.4, 0.7


def natural_frequency(height: float) -> float:
    """Compute the natural frequency of the linear inverted pendulum, ω = √(g / z_c).

    `height`: height z_c of the COG above the floor, m. Returns ω, 1/s.
    """
    if not (np.isfinite(height) and height > 0.0):
        raise BalanceError(f"height of the COG: {height:g} m; allowed: above 0 m")
    return float(np.sqrt(GRAVITY / height))


def cog_profile(
    zmp: Array, timestep: float, omega: float, start: Array | None = None
) -> tuple[Array, Array, Array]:
    """Find the bounded motion of the COG for a planned ZMP: c − c̈/ω² = p with c(0) and c(T) given.

    Exact for a ZMP that is linear between samples: there c = p + e with ë = ω²e, so that e is a
    sum of sinh, and continuity of ċ at every sample is a tridiagonal system, with h the timestep:

        2 cosh(ωh) e_k − e_k₋₁ − e_k₊₁ = sinh(ωh) / (ωh) (p_k₊₁ − 2 p_k + p_k₋₁).

    The COG ends over the ZMP. It is at rest at the ends as far as the ZMP stands still there: a step of the
    ZMP by d, a time t away, is met by a speed of about ω d exp(−ωt).

    `zmp` (N, 2): planned ZMP in the world frame, m, N ≥ 2; `timestep`: time between samples, s; `omega`:
    natural frequency of the inverted pendulum, 1/s; `start` (2,): position of the COG at the start in the
    world frame, m; over the ZMP by default. Returns `cog` (N, 2): horizontal position of the COG in the world
    frame, m; `velocity` (N, 2): its velocity, m/s; `acceleration` (N, 2): its acceleration, m/s².
    """
    cosh, sinh = np.cosh(omega * timestep), np.sinh(omega * timestep)
    deviation = np.zeros_like(zmp)
    if start is not None:
        deviation[0] = start - zmp[0]
    if len(zmp) > 2:
        curvature = sinh / (omega * timestep) * np.diff(zmp, 2, axis=0)
        curvature[0] += deviation[0]
        bands = np.full((3, len(curvature)), -1.0)
        bands[1] = 2.0 * cosh
        deviation[1:-1] = solve_banded((1, 1), bands, curvature)
    slope = np.diff(zmp, axis=0) / timestep
    velocity = np.empty_like(zmp)
    velocity[:-1] = slope + omega / sinh * (deviation[1:] - cosh * deviation[:-1])
    velocity[-1] = slope[-1] + omega / sinh * (cosh * deviation[-1] - deviation[-2])
    return zmp + deviation, velocity, omega**2 * deviation


def choose_gains(cog: float | None, zmp: float | None, omega: float) -> CogZmpGains:
    """Take gains that are given, or usual ones; refuse those that are not 0 < k_p < ω < k_c.

    With them the COG stays near its plan in spite of disturbances (Choi, You & Oh 2004). Without any, ċ = u
    and p = c − c̈/ω² give k_p/ω² ë + ė + (k_c − k_p) e = 0 for the COG's error: stable for 0 < k_p < k_c.
    `cog`, `zmp`: gains k_c and k_p, 1/s, or None; `omega`: natural frequency of the inverted pendulum, 1/s.
    """
    usual = (max(_USUAL_GAINS.cog, _LEAST_COG_GAIN * omega), min(_USUAL_GAINS.zmp, _MOST_ZMP_GAIN * omega))
    cog, zmp = (own if given is None else given for own, given in zip(usual, (cog, zmp), strict=True))
    options = "--set balance.gain_cog={:.4g} --set balance.gain_zmp={:.4g}".format(*usual)
    allowed = f"allowed: 0 < gain_zmp < {omega:.4g} < gain_cog, by default {options}"
    pendulum = f"ω = {omega:.4g} 1/s of the robot's inverted pendulum"
    if not zmp > 0.0:
        raise BalanceError(f"balance.gain_zmp: {zmp:g} is not above 0; {allowed}")
    if not zmp < omega:
        raise BalanceError(f"balance.gain_zmp: {zmp:g} is not below {pendulum}; {allowed}")
    if not (np.isfinite(cog) and cog > omega):
        raise BalanceError(f"balance.gain_cog: {cog:g} is not above {pendulum}; {allowed}")
    return CogZmpGains(cog, zmp)


@compiled
def commanded_velocity(
    gains: CogZmpGains,
    planned_velocity: Array,
    planned_cog: Array,
    planned_zmp: Array,
    cog: Array,
    zmp: Array,
) -> Array:
    """Compute the commanded COG velocity u = ċ_d − k_p (p_d − p) + k_c (c_d − c) (Choi, You & Oh 2004).

    `gains`: gains k_c and k_p, 1/s; `planned_velocity` (2,): planned velocity ċ_d of the COG, m/s;
    `planned_cog` (2,): planned position c_d of the COG in the world frame, m; `planned_zmp` (2,): planned ZMP
    p_d in the world frame, m; `cog` (2,): measured position c of the COG in the world frame, m; `zmp` (2,):
    measured ZMP p in the world frame, m. Returns (2,): u, m/s.
    """
    return planned_velocity - gains.zmp * (planned_zmp - zmp) + gains.cog * (planned_cog - cog)
