"""The time that a fixed-base robot takes for its path: slowed by one factor, or stretched locally."""

from typing import NamedTuple

import numpy as np

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import SHORTEST_WINDOW
from simbench.kinematics.time_scaling import time_scaling_factor
from simbench.options import RetargetSection
from simbench.retargeting.timing.acceleration_limits import estimated_accelerations
from simbench.retargeting.timing.choice import resolve_timing
from simbench.retargeting.timing.dynamics import fixed_base_constraints
from simbench.retargeting.timing.local import (
    MOST_STRETCH,
    UNIFORM_INSTEAD,
    fit_tempo,
    kinematic_limits,
    measure_stretch,
    slow_for_accelerations,
    with_constraints,
)
from simbench.robot.robot import Robot


class ScaledTime(NamedTuple):
    """The robot's time of each sample of its path.

    Parameters
    ----------
    time : (T,) array
        Time, s.
    slow_down : float
        Ratio of the robot's duration to the recording's.
    metrics : dict of str to float
        How much and where time is stretched locally; empty where all of it is slowed by one factor.
    notes : tuple of str
        What stretches it.
    """

    time: Array
    slow_down: float
    metrics: dict[str, float]
    notes: tuple[str, ...]


def scale_time(robot: Robot, time: Array, joints: Array, settings: RetargetSection) -> ScaledTime:
    """Slow a fixed-base robot's path down until limits hold, all of it or locally, as the settings say.

    By one factor speed limits hold; locally also accelerations and torques.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    time : (T,) array
        Recorded time of the samples, s.
    joints : (T, n) array
        Joint positions, rad.
    settings : RetargetSection
        Says how time is scaled, and what fraction of the speed limits may be used.

    Returns
    -------
    ScaledTime
        Time at which the limits hold.

    Raises
    ------
    RetargetError
        If the recorded clock is to be kept: amplitudes of arms on fixed bases are not reduced.
    """
    if settings.timing == "preserve":
        raise RetargetError(
            f"retarget.timing: {robot.name} has a fixed base; allowed: auto, local, uniform, got preserve"
        )
    settings = resolve_timing(settings, holds_equipment=True, standing=False, sample_count=len(time))
    speed = np.asarray(robot.model.velocityLimit) * settings.speed_limit_fraction
    factor = time_scaling_factor(time, joints, speed)
    if settings.timing != "local" or len(time) < SHORTEST_WINDOW:
        return ScaledTime(time * factor, factor, {}, ())
    names = robot.joint_names
    acceleration = estimated_accelerations(robot, names)
    limits = kinematic_limits(time, joints, speed, acceleration, names)
    limits = with_constraints(limits, *fixed_base_constraints(robot, time, joints))
    tempo = slow_for_accelerations(limits, fit_tempo(limits), time, joints, acceleration)
    stretched = tempo(time)
    # A cubic spline through stretched samples is not quite the stretched spline.
    stretched = stretched * time_scaling_factor(stretched, joints, speed)
    metrics, note = measure_stretch(limits, tempo)
    if metrics["retarget.slow_down_max"] > MOST_STRETCH:
        return ScaledTime(time * factor, factor, {}, (UNIFORM_INSTEAD,))
    ratio = float((stretched[-1] - stretched[0]) / (time[-1] - time[0]))
    return ScaledTime(stretched, ratio, metrics, (note,) if note else ())
