"""Inertia from the period of an oscillation."""

import numpy as np

from simbench.errors import DynamicsError
from simbench.kinematics.arrays import Array


def oscillation_frequency(time: Array, value: Array) -> float:
    """Measure the frequency of an oscillation from when it passes its middle.

    Parameters
    ----------
    time : (T,) array
        Times of the samples, s.
    value : (T,) array
        Oscillating quantity, in any unit.

    Returns
    -------
    float
        Angular frequency, rad/s, mean over the half periods between the first and the last passage.

    Raises
    ------
    DynamicsError
        If it passes its middle fewer than three times.
    """
    middle = 0.5 * (value.max() + value.min())
    off = value - middle
    before = np.flatnonzero(off[:-1] * off[1:] < 0.0)
    if len(before) < 3:
        raise DynamicsError(f"oscillation: passes its middle {len(before)} times; allowed: at least 3")
    fraction = off[before] / (off[before] - off[before + 1])
    passed = time[before] + fraction * (time[before + 1] - time[before])
    return float(np.pi * (len(passed) - 1) / (passed[-1] - passed[0]))


def two_wire_inertia(mass: float, gravity: float, distance: float, length: float, frequency: float) -> float:
    """Compute the inertia of a body suspended by two wires from its torsional oscillation.

    I = M g r² / (ω² l) (Armstrong 1986).

    Parameters
    ----------
    mass : float
        Mass M of the body, kg.
    gravity : float
        Gravitational acceleration g, m/s².
    distance : float
        Distance r of each wire from the vertical axis through the centre of gravity, m.
    length : float
        Length l of the wires, m.
    frequency : float
        Angular frequency ω of the torsional oscillation, rad/s.

    Returns
    -------
    float
        Inertia about the vertical axis, kg·m².
    """
    return mass * gravity * distance**2 / (frequency**2 * length)


def torsional_spring_inertia(stiffness: float, frequency: float) -> float:
    """Compute the inertia of a joint whose motor acts as a spring, I = k / ω².

    Parameters
    ----------
    stiffness : float
        Stiffness k of the spring, N·m/rad.
    frequency : float
        Angular frequency ω of the oscillation, rad/s.

    Returns
    -------
    float
        Inertia of the links and the motor together, kg·m².
    """
    return stiffness / frequency**2
