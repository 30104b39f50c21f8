"""Assemble a reference: lead-in, motion and lead-out are joined and sampled at every physics step."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BPoly, BSpline, PPoly

from simbench.errors import RetargetError, ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.time_scaling import time_scaling_factor
from simbench.options import SimulationSection

COAST_TIME = 0.1
"""Time in which a motion without a lead-in gets under way, and comes to rest, s."""
MAX_LEAD_STRETCH = 10.0
"""Longest duration of a lead-in or lead-out, as a multiple of the one asked for."""
_LEAD_RATE = 100.0
_MIN_LEAD_SAMPLES = 8
_TOLERANCE = 1e-9
"""How far rounding may take a position beyond its limit, rad."""
_MOST_SAMPLES = 50_000_000
"""Physics steps times joints: each array of a reference then takes 0.4 GB."""


@dataclass(frozen=True)
class Segment:
    """Stretch of a motion at its own samples.

    Parameters
    ----------
    time : (T,) array
        Time from the stretch's beginning, s.
    joints : (T, n) array
        Positions of all joints, rad.
    """

    time: Array
    joints: Array


SegmentT = TypeVar("SegmentT", bound=Segment)


JointCurve: TypeAlias = BSpline | BPoly | PPoly
"""Joint positions as a differentiable function of time."""


@dataclass(frozen=True)
class SampledMotion:
    """Joint motion at the end of every physics step, with a beginning and an end at rest.

    Parameters
    ----------
    clock : (N,) array
        Time of the motion at each step, s; it stands still before the beginning and after the end.
    at_rest : (N,) bool array
        Whether it stands still.
    position : (N, n) array
        Joint positions, rad.
    velocity : (N, n) array
        Joint velocities, rad/s; zero at rest.
    acceleration : (N, n) array
        Joint accelerations, rad/s²; zero at rest.
    """

    clock: Array
    at_rest: NDArray[np.bool_]
    position: Array
    velocity: Array
    acceleration: Array


def assemble(lead_in: SegmentT, motion: SegmentT, lead_out: SegmentT) -> SegmentT:
    """Join lead-in, motion and lead-out to one stretch.

    Parameters
    ----------
    lead_in : Segment
        Way from rest to the motion's first sample, which is its own last one.
    motion : Segment
        The planned motion.
    lead_out : Segment
        Way from rest to the motion's last sample, which is its own last one; it is run through backwards.

    Returns
    -------
    Segment
        All three, one after the other; every array of the segments is joined.
    """
    before, after = lead_in.time[-1], lead_out.time[-1]
    end = before + motion.time[-1]
    joined = {
        name: np.concatenate(
            [getattr(lead_in, name)[:-1], getattr(motion, name), getattr(lead_out, name)[-2::-1]]
        )
        for name in (field.name for field in fields(motion))
    }
    joined["time"] = np.concatenate(
        [lead_in.time[:-1], before + motion.time, end + after - lead_out.time[-2::-1]]
    )
    return replace(motion, **joined)


def sample_motion(
    curve: JointCurve, settings: SimulationSection, end: float, *, begin: float = 0.0, settled: bool = False
) -> SampledMotion:
    """Sample a joint curve at every physics step: rest to settle, the motion, and rest to hold.

    Parameters
    ----------
    curve : JointCurve
        Joint positions over time, rad, n joints.
    settings : SimulationSection
        Gives the physics step and the times to settle and to hold, s.
    end : float
        Time of the curve at which the motion ends, s.
    begin : float
        Time of the curve at which the motion begins, s.
    settled : bool
        Whether the curve's time includes that to settle.

    Returns
    -------
    SampledMotion
        N steps, from the first of the simulation on.

    Raises
    ------
    ScenarioError
        If there are too many steps to hold all samples in memory.
    """
    timestep, origin = settings.timestep_s, 0.0 if settled else settings.settle_s
    steps = max(1, round((origin + end + settings.hold_s) / timestep))
    joints = curve.derivative(0)(np.array([begin])).shape[1]
    if steps * joints > _MOST_SAMPLES:
        raise ScenarioError(
            f"simulation: would take {steps} steps of {timestep:g} s; at most {_MOST_SAMPLES // joints} "
            f"with {joints} joints"
        )
    clock = (np.arange(1, steps + 1) * timestep - origin).clip(begin, end)
    position, velocity, acceleration = (curve.derivative(order)(clock) for order in range(3))
    at_rest = (clock <= begin) | (clock >= end)
    velocity[at_rest] = acceleration[at_rest] = 0.0
    return SampledMotion(clock, at_rest, position, velocity, acceleration)


def sample_lead_times(duration: float) -> Array:
    """Choose the samples of a lead-in or lead-out.

    Parameters
    ----------
    duration : float
        Length of the lead, s.

    Returns
    -------
    (T,) array
        Evenly spaced times from 0 to the duration, s.
    """
    return np.linspace(0.0, duration, max(int(duration * _LEAD_RATE), _MIN_LEAD_SAMPLES) + 1)


def run_up(clock: Array, way: Array, velocity: Array, length: float, limits: tuple[Array, Array]) -> Array:
    """Plan how joints take a run-up, so that a way from rest to rest ends with a velocity.

    A quintic that starts at rest, goes back first and ends at 0 with the velocity. A joint that would
    leave its limits by it takes a shorter run-up.

    Parameters
    ----------
    clock : (T,) array
        Times of the way's samples, s.
    way : (T, n) array
        Joint positions from rest to rest, rad.
    velocity : (n,) array
        Velocity at the end, rad/s.
    length : float
        Longest time of the run-up, s.
    limits : ((n,) array, (n,) array)
        Lowest and highest joint positions, rad.

    Returns
    -------
    (T, n) array
        What the run-up adds to the positions of the way, rad.
    """
    lowest, highest = np.minimum(limits[0], way.min(axis=0)), np.maximum(limits[1], way.max(axis=0))
    lengths = np.full(len(velocity), length)
    while True:
        progress = (1.0 + (clock - clock[-1])[:, None] / lengths).clip(0.0)
        added = velocity * lengths * progress**3 * (-4.0 + 7.0 * progress - 3.0 * progress**2)
        position = way + added
        leaves = ((position < lowest - _TOLERANCE) | (position > highest + _TOLERANCE)).any(axis=0)
        leaves &= lengths > COAST_TIME
        if not leaves.any():
            return np.asarray(added)
        lengths[leaves] = np.maximum(lengths[leaves] / 2.0, COAST_TIME)


def stretch_lead(
    plan: Callable[[float], SegmentT], duration: float, longest: float, speed_limit: Array, where: str
) -> SegmentT:
    """Plan a lead-in or lead-out that takes so long that the speed limits hold.

    Parameters
    ----------
    plan : callable (duration) -> Segment
        Plans the lead for a duration, s.
    duration : float
        Duration asked for, s.
    longest : float
        Longest duration to try, s.
    speed_limit : (n,) array
        Joint speeds that may be used, rad/s.
    where : str
        Beginning of the error message: which robot, and between what.

    Returns
    -------
    Segment
        The lead of the shortest duration tried for which all speeds are within their limits.

    Raises
    ------
    RetargetError
        If a joint is too fast however long the lead takes.
    """
    while duration <= longest:
        lead = plan(duration)
        factor = time_scaling_factor(lead.time, lead.joints, speed_limit)
        if factor <= 1.0 + 1e-6:
            return lead
        duration *= min(factor, 1.1)
    raise RetargetError(
        f"{where} a joint is {factor:.2f} times as fast as allowed, even in {lead.time[-1]:.1f} s; begin and "
        "end the recording elsewhere (motion.start_s, motion.end_s)"
    )
