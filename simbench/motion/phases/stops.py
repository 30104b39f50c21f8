"""Movements and the momentary stops between them."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.signal import find_peaks

from simbench.kinematics.arrays import Array

# Below this speed, m/s, sway and measurement noise are all there is: nobody moves on purpose.
STILL = 0.015


@dataclass(frozen=True)
class Stops:
    """Where the hands stop, and where they are fastest between.

    Parameters
    ----------
    stops : (S,) int array
        Samples of least speed: before the first movement, between movements, after the last.
    peaks : (S - 1,) int array
        Samples of greatest speed, one between each two stops.
    """

    stops: NDArray[np.int64]
    peaks: NDArray[np.int64]


def find_stops(speed: Array, contrast: float) -> Stops:
    """Split a recording where its speed dips.

    Parameters
    ----------
    speed : (T,) array
        m/s.
    contrast : float
        How many times faster than the dips on both its sides a movement is.

    Returns
    -------
    Stops
    """
    level = np.log(np.maximum(speed, STILL))
    # Nothing is known beyond the ends, so a recording that ends in motion ends in a stop.
    padded = np.concatenate([[np.log(STILL)], level, [np.log(STILL)]])
    peaks = find_peaks(padded, prominence=np.log(contrast))[0] - 1
    cuts = [0, *peaks.tolist(), len(speed)]
    stops = [a + int(np.argmin(speed[a:b])) for a, b in pairwise(cuts) if b > a]
    if len(stops) != len(peaks) + 1:
        # The first movement began before the recording.
        stops = [0, *stops]
    return Stops(stops=np.array(stops, dtype=np.int64), peaks=np.asarray(peaks, dtype=np.int64))
