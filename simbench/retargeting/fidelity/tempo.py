"""Tempo of a robot against the person's: how much longer it takes, on the whole and at any moment."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array


class Tempo(NamedTuple):
    """Tempo of a robot that follows a recording.

    Parameters
    ----------
    duration_ratio : float
        Duration of the robot's motion as a multiple of the recording's.
    stretch_max : float
        Largest local stretch of time, dt_robot / dt_recording.
    sample : int
        Sample of the recording from which it is stretched most.
    """

    duration_ratio: float
    stretch_max: float
    sample: int


def measure_tempo(recording_time: Array, robot_time: Array) -> Tempo:
    """Measure the tempo of a robot from its tempo map.

    Parameters
    ----------
    recording_time : (T,) array
        Times of the recording's samples, s, at least two.
    robot_time : (T,) array
        The robot's times of the same samples, s.

    Returns
    -------
    Tempo
        Ratio of the durations, and the largest local stretch.
    """
    stretch = np.diff(robot_time) / np.diff(recording_time)
    ratio = (robot_time[-1] - robot_time[0]) / (recording_time[-1] - recording_time[0])
    worst = int(stretch.argmax())
    return Tempo(float(ratio), float(stretch[worst]), worst)
