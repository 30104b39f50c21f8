"""Inertia from the period of an oscillation."""

import numpy as np

from simbench.errors import DynamicsError
from simbench.kinematics.arrays import Array


def oscillation_frequency(time: Array, value: Array) -> float:
    """Measure the frequency of an oscillation from when it passes its middle.

    `time` (T,): times of the samples, s; `value` (T,): oscillating quantity, in any unit. Returns angular
    frequency, rad/s, mean over the half periods between the first and the last passage.
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

    I = M g r² / (ω² l) (Armstrong 1986). `mass`: mass M of the body, kg; `gravity`: gravitational
    acceleration g, m/s²; `distance`: distance r of each wire from the vertical axis through the centre of
    gravity, m; `frequency`: angular frequency ω of the torsional oscillation, rad/s. Returns inertia about
    the vertical axis, kg·m².
    """
    return mass * gravity * distance**2 / (frequency**2 * length)


def torsional_spring_inertia(stiffness: float, frequency: float) -> float:
    """Compute the inertia of a joint whose motor acts as a spring, I = k / ω².

    `stiffness`: stiffness k of the spring, N·m/rad; `frequency`: angular frequency ω of the oscillation,
    rad/s. Returns inertia of the links and the motor together, kg·m².
    """
    return stiffness / frequency**2
