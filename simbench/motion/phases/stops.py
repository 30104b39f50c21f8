"""Movements of the hands and the momentary stops between them."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array

# Below this speed, m/s, there are only sway and measurement noise, no intentional movement.
STILL = 0.015


@dataclass(frozen=True)
class Stops:
    """Samples at which the hands stop, and at which they are fastest in between."""

    # (S,) int: samples of lowest speed: before the first movement, between movements, after the last.
    stops: NDArray[np.int64]
    peaks: NDArray[np.int64]  # (S - 1,) int: samples of highest speed, one between each two stops.


def find_stops(speed: Array, contrast: float) -> Stops:
    """Split a recording into movements where its speed has a minimum.

    `speed` (T,): speed of the hands, m/s; `contrast`: smallest ratio of the top speed of a movement to the
    minima on both its sides. Returns stops and top speeds.
    """
    # Its import takes half a second of CPU time.
    from scipy.signal import find_peaks

    level = np.log(np.maximum(speed, STILL))
    # Nothing is known beyond the ends, so a recording that ends in motion is taken to end in a stop.
    padded = np.concatenate([[np.log(STILL)], level, [np.log(STILL)]])
    peaks = find_peaks(padded, prominence=np.log(contrast))[0] - 1
    cuts = [0, *peaks.tolist(), len(speed)]
    stops = [a + int(np.argmin(speed[a:b])) for a, b in pairwise(cuts) if b > a]
    if len(stops) != len(peaks) + 1:
        # The first movement began before the recording.
        stops = [0, *stops]
    return Stops(stops=np.array(stops, dtype=np.int64), peaks=np.asarray(peaks, dtype=np.int64))
