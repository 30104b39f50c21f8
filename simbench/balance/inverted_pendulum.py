"""The linear inverted pendulum: COG profile of a planned ZMP, and its control (Choi, You & Oh 2004)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_banded

from simbench.errors import BalanceError
from simbench.kinematics.compiled import compiled

GRAVITY = 9.81
"""m/s²."""


class CogZmpGains(NamedTuple):
    """Gains of the COG-ZMP control.

    Parameters
    ----------
    cog : float
        k_c, 1/s.
    zmp : float
        k_p, 1/s.
    """

    cog: float
    zmp: float


def natural_frequency(height: float) -> float:
    """Find how fast a pendulum falls: ω = √(g / z_c).

    Parameters
    ----------
    height : float
        z_c of the COG above the floor, m.

    Returns
    -------
    float
        1/s.

    Raises
    ------
    BalanceError
        If the height is not above the floor.
    """
    if not (np.isfinite(height) and height > 0.0):
        raise BalanceError(f"height of the COG: {height:g} m; allowed: above 0 m")
    return float(np.sqrt(GRAVITY / height))


def cog_profile(
    zmp: NDArray[np.float64], timestep: float, omega: float, start: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Find the COG that a planned ZMP carries without falling: c − c̈/ω² = p, c(0) and c(T) given.

    Exact for the ZMP that goes linearly from sample to sample: there c = p + e with ë = ω²e, so that e is a
    sum of sinh, and a steady ċ at every sample is a tridiagonal system, with h the timestep:

        2 cosh(ωh) e_k − e_k₋₁ − e_k₊₁ = sinh(ωh) / (ωh) (p_k₊₁ − 2 p_k + p_k₋₁).

    The COG ends over the ZMP. It is at rest at the ends as far as the ZMP stands still there: a step of the
    ZMP by d, a time t away, is met by a speed of about ω d exp(−ωt).

    Parameters
    ----------
    zmp : (N, 2) array
        m, N ≥ 2.
    timestep : float
        s.
    omega : float
        The pendulum's natural frequency, 1/s.
    start : (2,) array, optional
        Where the COG starts, m; over the ZMP by default.

    Returns
    -------
    cog : (N, 2) array
        m.
    velocity : (N, 2) array
        m/s.
    acceleration : (N, 2) array
        m/s².
    """
    cosh, sinh = np.cosh(omega * timestep), np.sinh(omega * timestep)
    ahead = np.zeros_like(zmp)
    if start is not None:
        ahead[0] = start - zmp[0]
    if len(zmp) > 2:
        bend = sinh / (omega * timestep) * np.diff(zmp, 2, axis=0)
        bend[0] += ahead[0]
        bands = np.full((3, len(bend)), -1.0)
        bands[1] = 2.0 * cosh
        ahead[1:-1] = solve_banded((1, 1), bands, bend)
    slope = np.diff(zmp, axis=0) / timestep
    velocity = np.empty_like(zmp)
    velocity[:-1] = slope + omega / sinh * (ahead[1:] - cosh * ahead[:-1])
    velocity[-1] = slope[-1] + omega / sinh * (cosh * ahead[-1] - ahead[-2])
    return zmp + ahead, velocity, omega**2 * ahead


def check_gains(gains: CogZmpGains, omega: float) -> None:
    """Refuse gains that are not 0 < k_p < ω < k_c (Choi, You & Oh 2004).

    There the COG stays near its plan in spite of disturbances. Without any, ċ = u and p = c − c̈/ω² leave
    k_p/ω² ë + ė + (k_c − k_p) e = 0 of the COG's error: stable for 0 < k_p < k_c.

    Parameters
    ----------
    gains : CogZmpGains
    omega : float
        The pendulum's natural frequency, 1/s.

    Raises
    ------
    BalanceError
        If they are not.
    """
    allowed = f"allowed: 0 < gain_zmp < {omega:.4g} < gain_cog"
    pendulum = f"ω = {omega:.4g} 1/s of the robot's inverted pendulum"
    if not gains.zmp > 0.0:
        raise BalanceError(f"balance.gain_zmp: {gains.zmp:g} is not above 0; {allowed}")
    if not gains.zmp < omega:
        raise BalanceError(f"balance.gain_zmp: {gains.zmp:g} is not below {pendulum}; {allowed}")
    if not (np.isfinite(gains.cog) and gains.cog > omega):
        raise BalanceError(f"balance.gain_cog: {gains.cog:g} is not above {pendulum}; {allowed}")


@compiled
def commanded_velocity(
    gains: CogZmpGains,
    planned_velocity: NDArray[np.float64],
    planned_cog: NDArray[np.float64],
    planned_zmp: NDArray[np.float64],
    cog: NDArray[np.float64],
    zmp: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Correct the COG's planned velocity: u = ċ_d − k_p (p_d − p) + k_c (c_d − c).

    Parameters
    ----------
    gains : CogZmpGains
    planned_velocity : (2,) array
        ċ_d, m/s.
    planned_cog, planned_zmp : (2,) array
        c_d and p_d, m.
    cog, zmp : (2,) array
        c and p as measured, m.

    Returns
    -------
    (2,) array
        m/s.
    """
    return planned_velocity - gains.zmp * (planned_zmp - zmp) + gains.cog * (planned_cog - cog)
