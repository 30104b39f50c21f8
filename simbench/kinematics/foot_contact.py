"""Contact of feet with a horizontal floor, found from heights and speeds of points of the foot; its measures.

The points of a robot's foot are the corners of its sole; those of a person's foot are the joints or markers
at ankle, heel and toe. A point touches the floor while it is low and slow, with different thresholds for the
beginning and for the end (hysteresis); a foot does while any of its points does.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import savgol_filter

Flags = NDArray[np.bool_]


class ContactThresholds(NamedTuple):
    """Thresholds between which a point of a foot touches the floor."""

    touch_height: float  # Height above the floor below which contact can begin, m.
    lift_height: float  # Height above which contact ends, m; above `touch_height`.
    touch_speed: float  # Speed below which contact can begin, m/s.
    lift_speed: float  # Speed above which contact ends, m/s; above `touch_speed`.
    shortest_contact: float  # Contacts that last less are dropped, s.
    shortest_swing: float  # Interruptions of a contact that last less are closed, s.


# Corners of a robot's sole. Their heights are known from the model, so that height decides: 5 mm is what
# soles give and what planned steps miss the floor by, and 1 cm is the least clearance of a step. The speeds
# are high, so that a foot that slides is in contact still; one that brushes the floor at a step's speed is
# not.
SOLE_THRESHOLDS = ContactThresholds(0.005, 0.01, 0.5, 1.0, 0.05, 0.12)

# Joints or markers of a person's foot, their heights measured from where they are at rest. They move by 1 to
# 2 cm within the foot and the shoe; at heel strike and toe-off they pass about 0.4 m/s, in mid-swing 3 m/s.
PERSON_THRESHOLDS = ContactThresholds(0.03, 0.06, 0.35, 0.6, 0.08, 0.06)

# Ankles of feet of which neither heel nor toe is recorded. While the toe still stands, a raised heel lifts
# the ankle by up to 12 cm and moves it at up to 1.4 m/s. Of eleven recordings with heels or toes, the ankles
# alone agree with all points in 92.9 % of the samples, with `PERSON_THRESHOLDS` in 88.5 %.
ANKLE_THRESHOLDS = ContactThresholds(0.05, 0.12, 0.35, 1.4, 0.08, 0.06)

_REST_SPEED = 0.2  # Speed below which a point of a foot may stand on the floor, m/s.
# Quantile of the heights at which points stand: below are outliers, such as markers that were mistaken.
_FLOOR_QUANTILE = 0.05

_END = 3  # Samples at both ends without a third derivative: there it would be one of one-sided differences.


# Window, s, and polynomial order of the filter that smooths a path before its jerk is taken: it passes up to
# about 10 Hz, as gait laboratories do. Without it, jerk would be that of the noise of markers.
_JERK_WINDOW, _JERK_ORDER = 0.15, 3
# Peak speed below which a point rests, m/s: its dimensionless jerk would be that of rounding.
_REST_PEAK = 1e-3
_FEWEST = 2 * _END + 3  # Samples below which no jerk is measured.


def point_speeds(time: Array, points: Array) -> Array:
    """Compute the speeds of points by central differences.

    `time` (T,): times of the samples, s, T ≥ 2; `points` (T, P, 3): positions of the points in the world
    frame, m. Returns (T, P): speeds, m/s.
    """
    return np.asarray(np.linalg.norm(np.gradient(points, time, axis=0), axis=-1))


def estimate_floor(heights: Array, speeds: Array) -> Array:
    """Estimate the height at which each point of a foot stands: a low quantile of its heights at rest.

    `heights` (T, P): heights of the points, m; `speeds` (T, P): their speeds, m/s. Returns (P,): heights, m:
    those of the floor for the corners of a sole, and above it by the height of the ankle for an ankle. A
    point that never rests is taken at the quantile of all its heights.
    """
    resting = np.where(speeds < _REST_SPEED, heights, np.nan)
    resting = np.where(np.isnan(resting).all(axis=0), heights, resting)
    return np.asarray(np.nanquantile(resting, _FLOOR_QUANTILE, axis=0))


def find_point_contacts(
    time: Array,
    heights: Array,
    speeds: Array,
    floor: float | Array | None = None,
    thresholds: ContactThresholds = SOLE_THRESHOLDS,
) -> Flags:
    """Find when each point of a foot touches the floor.

    `time` (T,): times of the samples, s, T ≥ 2; `heights` (T, P): heights of the points, m; `speeds` (T, P):
    their speeds, m/s; `floor` float or (P,) array: height of the floor, m, or the height of each point when
    the foot stands on it; `estimate_floor` of the same samples by default; `thresholds`: thresholds of
    height, speed and duration. Returns (T, P) of bool: whether the point touches the floor.
    """
    above = heights - (estimate_floor(heights, speeds) if floor is None else floor)
    begins = (above < thresholds.touch_height) & (speeds < thresholds.touch_speed)
    ends = (above > thresholds.lift_height) | (speeds > thresholds.lift_speed)
    # The last sample that decided counts; before the first one, height alone.
    decided = begins | ends
    last = np.maximum.accumulate(np.where(decided, np.arange(len(time))[:, None], -1), axis=0)
    touching = np.where(last < 0, above < thresholds.lift_height, np.take_along_axis(begins, last.clip(0), 0))
    closing = above < thresholds.lift_height
    columns = []
    for column, low in zip(touching.T, closing.T, strict=True):
        whole = _without_short_runs(time, column, False, thresholds.shortest_swing, low)
        columns.append(_without_short_runs(time, whole, True, thresholds.shortest_contact, np.ones_like(low)))
    return np.stack(columns, axis=1)


def find_foot_contacts(
    time: Array,
    heights: Array,
    speeds: Array,
    floor: float | Array | None = None,
    thresholds: ContactThresholds = SOLE_THRESHOLDS,
) -> Flags:
    """Find when a foot is in contact with the floor: while any of its points touches.

    Returns (T,) of bool: whether the foot is in contact.
    """
    return np.asarray(find_point_contacts(time, heights, speeds, floor, thresholds).any(axis=1))


def contact_intervals(contact: Flags) -> NDArray[np.int64]:
    """List the intervals in which a flag is set.

    `contact` (T,) of bool: the flag at each sample. Returns (K, 2) of int: first and last sample of each
    interval.
    """
    edges = np.diff(np.concatenate([[False], contact, [False]]).astype(np.int8))
    return np.stack([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1], axis=1)


def measure_foot_skate(time: Array, points: Array, touching: Flags) -> tuple[Array, Array, tuple[int, int]]:
    """Measure how far and how fast a foot slides over the floor while it is in contact.

    Each point is followed while it touches, so that a foot that rolls from the heel to the toe does not
    slide, and one that turns on the spot does. `time` (T,): times of the samples, s; `points` (T, P, 3):
    positions of the points of the foot in the world frame, m; `touching` (T, P) of bool: whether each point
    touches the floor, from `find_point_contacts`. Returns `displacement` (T,): largest horizontal
    displacement of a touching point since it began to touch, m; `speed` (T,): largest horizontal speed of a
    touching point over the interval that ends with the sample, m/s; both 0 without contact; `worst`: first
    and last sample of the contact with the largest displacement; (0, 0) without any contact.
    """
    index = np.arange(len(time))[:, None]
    starts = touching & ~np.vstack([np.zeros((1, touching.shape[1]), bool), touching[:-1]])
    start = np.maximum.accumulate(np.where(starts, index, 0), axis=0)
    level = points[..., :2]
    moved = np.linalg.norm(level - np.take_along_axis(level, start[..., None], axis=0), axis=-1)
    displacement = np.where(touching, moved, 0.0).max(axis=1)
    steps = np.linalg.norm(np.diff(level, axis=0), axis=-1) / np.diff(time)[:, None]
    sliding = np.where(touching[1:] & touching[:-1], steps, 0.0).max(axis=1)
    intervals = contact_intervals(np.asarray(touching.any(axis=1)))
    worst = (0, 0)
    if len(intervals):
        furthest = int(displacement.argmax())
        first, last = next(each for each in intervals if each[0] <= furthest <= each[1] or not furthest)
        worst = (int(first), int(last))
    return displacement, np.concatenate([[0.0], sliding]), worst


def measure_sole_angle(normals: Array, contact: Flags) -> Array:
    """Measure how much a sole is tilted while it is in contact.

    `normals` (T, 3): unit normal of the sole, upwards, in the world frame; `contact` (T,) of bool: whether
    the foot is in contact. Returns (T,): angle between the sole and the floor, rad; 0 without contact.
    """
    tilt = np.arctan2(np.linalg.norm(normals[:, :2], axis=1), normals[:, 2])
    return np.where(contact, tilt, 0.0)


def dimensionless_jerk(time: Array, values: Array) -> Array:
    """Compute the dimensionless squared jerk of each coordinate: D³ / v² · ∫ jerk² dt.

    D is the duration and v the peak speed (Hogan and Sternad 2009, "Sensitivity of smoothness measures to
    movement duration, amplitude, and arrests"). A minimum-jerk movement has 204.8; it grows with stops and
    shaking, and does not depend on amplitude and duration. `time` (T,): times of the samples, s, T ≥ 7;
    `values` (T, N): coordinates: joint positions, rad or m, or coordinates of points, m. Returns (N,):
    dimensionless jerk; NaN for a coordinate that rests.
    """
    speed = np.abs(np.gradient(values, time, axis=0)).max(axis=0)
    inside = slice(_END, len(time) - _END)
    jerk = values
    for _ in range(3):
        jerk = np.gradient(jerk, time, axis=0)
    integral = np.trapezoid(jerk[inside] ** 2, time[inside], axis=0)
    moving = speed > 0.0
    return np.where(moving, (time[-1] - time[0]) ** 3 * integral / np.where(moving, speed, 1.0) ** 2, np.nan)


def _without_short_runs(time: Array, flags: Flags, value: bool, shortest: float, allowed: Flags) -> Flags:
    """Flip runs of one value that are shorter than a duration and lie between two others, where allowed."""
    result = flags.copy()
    if (flags == flags[0]).all():
        return result
    for first, last in contact_intervals(np.asarray(flags == value)):
        inside = first > 0 and last < len(flags) - 1
        # From the sample before the run to the one after it, the middle of the uncertainty.
        if not inside or not allowed[first : last + 1].all():
            continue
        if 0.5 * (time[last + 1] + time[last] - time[first] - time[first - 1]) < shortest:
            result[first : last + 1] = not value
    return result


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


# Largest jerk of a point, m/s³, the third derivative of its position, smoothed; and D³/v² ∫ jerk² dt with the
# duration D and the peak speed v; NaN for a point that rests.
Jerk = tuple[Worst, float]


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
        skates.append(measure_foot_skate(time, points, touching)[0])
        above.append(heights - stands)
    count = np.sum(contacts, axis=0)
    lowest = np.concatenate([points[..., 2] for points in feet.values()], axis=1)
    over = np.concatenate(above, axis=1)
    return FootMeasures(
        double=float((count == 2).mean()),
        single=float((count == 1).mean()),
        flight=float((count == 0).mean()),
        skate=_worst(np.max(skates, axis=0)),
        penetration=_worst(np.maximum(0.0 - lowest.min(axis=1), 0.0)),
        float_height=_worst(np.where(count > 0, 0.0, np.maximum(over.min(axis=1), 0.0))),
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
    scale = float(time[-1] - time[0]) ** 3 / fastest**2 if fastest > _REST_PEAK else np.nan
    return Worst(largest.value, largest.sample + _END), scale * integral


def _worst(values: Array) -> Worst:
    """Largest of the values (T,), and where it is."""
    sample = int(values.argmax())
    return Worst(float(values[sample]), sample)
