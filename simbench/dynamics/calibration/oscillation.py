"""Inertia from the period of an oscillation."""

import numpy as np

from simbench.errors import DynamicsError
from simbench.kinematics.arrays import Array


def oscillation_frequency(time: Array, value: Array) -> float:
    """Measure how fast something swings to and fro, by when it passes its middle.

    Parameters
    ----------
    time : (T,) array
        s.
    value : (T,) array
        Of any unit.

    Returns
    -------
    float
        Angular frequency, rad/s, mean over the half periods between the first and the last passage.

    Raises
    ------
    DynamicsError
        If it passes its middle less than three times.
    """
    middle = 0.5 * (value.max() + value.min())
    off = value - middle
    before = np.flatnonzero(off[:-1] * off[1:] < 0.0)
    if len(before) < 3:
        raise DynamicsError(f"oscillation: passes its middle {len(before)} times; allowed: at least 3")
    share = off[before] / (off[before] - off[before + 1])
    passed = time[before] + share * (time[before + 1] - time[before])
    return float(np.pi * (len(passed) - 1) / (passed[-1] - passed[0]))


def two_wire_inertia(mass: float, gravity: float, distance: float, length: float, frequency: float) -> float:
    """Compute the inertia of a body that swings on two wires: I = M g r² / (ω² l) (Armstrong 1986).

    Parameters
    ----------
    mass : float
        kg.
    gravity : float
        m/s².
    distance : float
        Of each wire from the axis through the centre of gravity, r, m.
    length : float
        Of the wires, l, m.
    frequency : float
        Of the twist, ω, rad/s.

    Returns
    -------
    float
        About the vertical axis, kg·m².
    """
    return mass * gravity * distance**2 / (frequency**2 * length)


def torsional_spring_inertia(stiffness: float, frequency: float) -> float:
    """Compute the inertia of a joint whose motor acts as a spring: I = k / ω².

    Parameters
    ----------
    stiffness : float
        N·m/rad.
    frequency : float
        rad/s.

    Returns
    -------
    float
        Links and motor together, kg·m².
    """
    return stiffness / frequency**2
