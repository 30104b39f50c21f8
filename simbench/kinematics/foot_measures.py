"""Measures of a walking or standing body: support, skating, penetration and flight of its feet, and jerk."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import (
    ContactThresholds,
    estimate_floor,
    find_point_contacts,
    measure_float,
    measure_foot_skate,
    measure_penetration,
    point_speeds,
)
from simbench.kinematics.savgol import savgol_filter

_JERK_WINDOW, _JERK_ORDER = 0.15, 3
"""Window, s, and polynomial order of the filter that smooths a path before its jerk is taken: it passes up to
about 10 Hz, as gait laboratories do. Without it, jerk would be that of the noise of markers."""
_END = 3
"""Samples at both ends without a third derivative by central differences."""
_REST_SPEED = 1e-3
"""Peak speed below which a point rests, m/s: its dimensionless jerk would be that of rounding."""
_FEWEST = 2 * _END + 3
"""Samples below which no jerk is measured."""


@dataclass(frozen=True)
class Worst:
    """Largest value of a measure over time."""

    value: float  # Largest value, in the unit of the measure.
    sample: int  # Sample at which it is reached.


@dataclass(frozen=True)
class FootMeasures:
    """How two feet touch the floor."""

    # `double`, `single`, `flight`: fractions of the samples at which both feet, one foot and no foot is in
    # contact.
    double: float
    single: float
    flight: float
    skate: Worst  # Largest horizontal displacement of a point of a foot since it began to touch the floor, m.
    penetration: Worst  # Largest depth of a point below the floor at z = 0, m.
    # Largest height of the lower foot above where it stands while no foot is in contact, m.
    float_height: Worst


@dataclass(frozen=True)
class Jerk:
    """Jerk of a point: third derivative of its position, smoothed."""

    peak: Worst  # Largest jerk, m/s³.
    # D³/v² ∫ jerk² dt with the duration D and the peak speed v; NaN for a point that rests.
    dimensionless: float


def measure_feet(
    time: Array,
    feet: Mapping[str, Array],
    thresholds: ContactThresholds,
    *,
    floor: float | Mapping[str, Array] | None = None,
) -> FootMeasures:
    """Measure how two feet touch the floor.

    `time` (T,): times of the samples, s. `feet` {side: (T, P, 3) array}: positions of points of both feet in
    the world frame, m; the floor is at z = 0. `thresholds`: heights and speeds at which a point touches the
    floor. `floor` float or {side: (P,) array}: height at which each point stands, m: 0 for the corners of a
    sole. By default that of each point is estimated, as an ankle's is not 0. Returns support, skating,
    penetration and flight.
    """
    contacts, skates, above = [], [], []
    for side, points in feet.items():
        heights, speeds = points[..., 2], point_speeds(time, points)
        if floor is None:
            stands = estimate_floor(heights, speeds)
        else:
            stands = np.broadcast_to(floor[side] if isinstance(floor, Mapping) else floor, heights.shape[1:])
        touching = find_point_contacts(time, heights, speeds, stands, thresholds)
        contacts.append(touching.any(axis=1))
        skates.append(measure_foot_skate(time, points, touching).displacement)
        above.append(heights - stands)
    count = np.sum(contacts, axis=0)
    lowest = np.concatenate([points[..., 2] for points in feet.values()], axis=1)
    return FootMeasures(
        double=float((count == 2).mean()),
        single=float((count == 1).mean()),
        flight=float((count == 0).mean()),
        skate=_worst(np.max(skates, axis=0)),
        penetration=_worst(measure_penetration(lowest)),
        float_height=_worst(measure_float(np.concatenate(above, axis=1), count > 0)),
    )


def measure_jerk(time: Array, points: Array) -> Jerk | None:
    """Measure the jerk of a point whose path is smoothed, by a Savitzky-Golay filter over 0.15 s.

    The dimensionless jerk is that of Hogan and Sternad (2009): a minimum-jerk movement from rest to rest has
    204.8; it grows with stops and shaking, and with the number of movements.

    `time` (T,): times of the samples, s, at nearly equal intervals; `points` (T, 3): positions of the point
    in the world frame, m. Returns its jerk; None for fewer than nine samples.
    """
    count = len(time)
    if count < _FEWEST:
        return None
    interval = float(time[-1] - time[0]) / (count - 1)
    window = 2 * round(0.5 * _JERK_WINDOW / interval) + 1
    if _JERK_ORDER < window <= count:
        points = savgol_filter(points, window, _JERK_ORDER)
    derivative, speed = points, np.zeros(count)
    for order in range(3):
        derivative = np.gradient(derivative, time, axis=0)
        if order == 0:
            speed = np.linalg.norm(derivative, axis=1)
    jerk = np.linalg.norm(derivative, axis=1)[_END:-_END]
    largest, fastest = _worst(jerk), float(speed.max())
    integral = float(np.trapezoid(jerk**2, time[_END:-_END]))
    scale = float(time[-1] - time[0]) ** 3 / fastest**2 if fastest > _REST_SPEED else np.nan
    return Jerk(Worst(largest.value, largest.sample + _END), scale * integral)


def _worst(values: Array) -> Worst:
    """Largest of the values (T,), and where it is."""
    sample = int(values.argmax())
    return Worst(float(values[sample]), sample)
