"""Feet of planned footsteps in time: level on the floor where they stand, and swinging between."""

import math

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.retargeting.legs.footsteps import FootstepPlan
from simbench.retargeting.reference.trajectory_steps import FootPlan

_VERTICAL_FRACTION = 0.05
"""Part of a swing's time at each of its ends, in which the foot only rises or sinks."""
_RAMP = 0.3
"""Part of the rest at each of its ends, in which the foot gets to its speed: the fastest is then 1.6 times
the mean, with minimum jerk and the fractions of `plan_gait` 2.3 times, at about the same acceleration."""


def swing_feet(plan: FootstepPlan, clock: Array, lift: float) -> FootPlan:
    """Sample the feet of footsteps.

    A foot rises and sinks as z = lift (1 − cos 2πs) / 2 in the phase s of its swing. In between it moves
    horizontally and turns at a constant speed, which it reaches and leaves as a cosine: at the tempo of a
    person who walks, the speed of the leg's joints is what limits the length of a step.

    Parameters
    ----------
    plan : FootstepPlan
        Footsteps, times of the recording.
    clock : (N,) array
        Times at which to sample them, s of the recording.
    lift : float
        Height of a swinging foot midway, m.

    Returns
    -------
    FootPlan
        Planned feet, N samples.
    """
    count = len(clock)
    position, yaw = np.zeros((count, 2, 3)), np.empty((count, 2))
    in_swing = np.full((count, 2), np.nan)
    position[:, :, :2], yaw[:] = plan.start[:, :2], plan.start[:, 2]
    place = plan.start.copy()
    for step in plan.steps:
        foot = step.foot
        phase = (clock - step.lift) / (step.landing - step.lift)
        moving = 1.0 - 2.0 * _VERTICAL_FRACTION
        progress = _cruise(np.clip((phase - _VERTICAL_FRACTION) / moving, 0.0, 1.0))
        turn = math.remainder(step.yaw - place[foot, 2], math.tau)
        position[:, foot, :2] += progress[:, None] * (step.position - place[foot, :2])
        yaw[:, foot] += progress * turn
        swinging = (phase > 1e-9) & (phase < 1.0 - 1e-9)
        position[swinging, foot, 2] = 0.5 * lift * (1.0 - np.cos(2.0 * np.pi * phase[swinging]))
        in_swing[swinging, foot] = phase[swinging]
        place[foot] = [*step.position, place[foot, 2] + turn]
    return FootPlan(position, yaw, np.isnan(in_swing), in_swing, len(plan.steps))


def _cruise(phase: Array) -> Array:
    """Progress at a constant speed with cosine ramps, at a phase from 0 to 1."""
    fastest = 1.0 / (1.0 - _RAMP)

    def ramp(part: Array) -> Array:
        """Way in the first part of the ramp, as a fraction of the whole."""
        angle = np.pi * np.clip(part / _RAMP, 0.0, 1.0)
        return 0.5 * fastest * _RAMP * (angle - np.sin(angle)) / np.pi

    constant = fastest * (np.clip(phase, _RAMP, 1.0 - _RAMP) - _RAMP)
    whole = 0.5 * fastest * _RAMP
    return np.asarray(ramp(phase) + constant + whole - ramp(1.0 - phase))
