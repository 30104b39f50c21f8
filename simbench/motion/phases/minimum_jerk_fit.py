"""Onset and end of a movement, extrapolated by fitting a minimum-jerk profile to its fast part."""

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from simbench.kinematics.arrays import Array
from simbench.motion.phases.hand_trajectory import HandTrajectory

# Ratio of the duration of a minimum-jerk movement to the time for which it is faster than half its top speed.
DURATION_RATIO = 1.0 / (1.0 - 2.0 * 0.2285)
# A movement stands out from noise and sway where it is faster than this fraction of its top speed.
CLEAR_FRACTION = 0.2
# The model of an uneven path is preferred only if its squared error is this many times smaller: sway makes
# even paths look a little uneven.
UNEVEN_GAIN = 2.0
# A fit that differs from its first guess by more than this fraction has fitted something else.
MAX_CHANGE = 0.7
# Fewest samples to which the five unknowns are fitted.
FEWEST_SAMPLES = 8


def fit_minimum_jerk(
    hands: HandTrajectory, first: int, peak: int, last: int, rising: bool = False
) -> tuple[float, float]:
    """Find the onset and the end of the movement between two stops.

    The speed at the ends of a minimum-jerk movement is too small for a threshold to find them. In the model
    the arc length along the path is a + b u + c u (1 - u), where u is 10 s³ − 15 s⁴ + 6 s⁵ of the time s from
    onset in units of the duration (Flash & Hogan 1985), and c, if the recording supports it, allows for a
    path that is not travelled evenly. Midpoint in time and duration are fitted by least squares where the
    movement is fast; a, b and c follow from them linearly. `first`, `peak`, `last`: index of the sample of
    the stop before, of the top speed, and of the stop after; `rising`: whether to fit only the half before
    the top speed, because another movement may blend in after it.
    """
    speed = hands.speed[first : last + 1]
    top = peak - first
    half, clear = _find_faster(speed, top, 0.5), _find_faster(speed, top, CLEAR_FRACTION)
    if rising:
        half, clear = (half[0], 2 * top - half[0] + 1), (clear[0], top + 1)
    step = float(hands.time[1] - hands.time[0])
    duration = DURATION_RATIO * step * (half[1] - half[0])
    middle = float(hands.time[first]) + 0.5 * step * (half[0] + half[1] - 1)
    if clear[1] - clear[0] >= FEWEST_SAMPLES:
        window = slice(first + clear[0], first + clear[1])
        middle, duration = _fit(hands.time[window], _arc_length(hands, window), middle, duration, rising)
    return middle - 0.5 * duration, middle + 0.5 * duration


def _find_faster(speed: Array, top: int, fraction: float) -> tuple[int, int]:
    """Find the range of samples around `top` that are faster than a fraction of its speed."""
    slow = np.flatnonzero(speed < fraction * speed[top])
    before, after = slow[slow < top], slow[slow > top]
    return int(before[-1]) + 1 if before.size else 0, int(after[0]) if after.size else len(speed)


def _arc_length(hands: HandTrajectory, window: slice) -> Array:
    """Arc length (T,), m: steps of the recorded points along the direction of the smoothed path."""
    direction = np.gradient(hands.smooth[window], axis=0)
    # The direction of a point that only trembles is undefined.
    direction /= np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-9)
    steps = np.diff(hands.points[window], axis=0)
    return np.concatenate([[0.0], np.cumsum((steps * 0.5 * (direction[1:] + direction[:-1])).sum(axis=1))])


def _fit(time: Array, length: Array, middle: float, duration: float, rising: bool) -> tuple[float, float]:
    """Fit midpoint and duration, s, to the arc length (T,) from a first guess of both."""
    length = length - length.mean()

    def residual(parameters: Array, uneven: bool) -> Array:
        scaled = duration * np.exp(np.clip(parameters[1], -MAX_CHANGE, MAX_CHANGE))
        s = np.clip((time - middle - parameters[0] * duration) / scaled + 0.5, 0.0, 1.0)
        profile = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        even = profile - profile.mean()
        rest = _project_out(length, even)
        if uneven:
            bulge = profile * (1.0 - profile)
            rest = _project_out(rest, _project_out(bulge - bulge.mean(), even))
        return rest

    def fitted(start: Array, uneven: bool) -> OptimizeResult:
        return least_squares(
            residual, start, method="lm", xtol=1e-4, ftol=1e-5, diff_step=1e-4, args=(uneven,)
        )

    best = fitted(np.zeros(2), False)
    # Half a speed profile does not distinguish an uneven path from another duration.
    if not rising:
        alternative = fitted(best.x, True)
        best = alternative if best.cost > UNEVEN_GAIN * alternative.cost else best
    shift, scale = best.x
    if max(abs(shift), abs(scale)) > MAX_CHANGE:
        return middle, duration
    return middle + float(shift) * duration, duration * float(np.exp(scale))


def _project_out(values: Array, column: Array) -> Array:
    """Remove the component of values along a column."""
    factor = float(column @ values) / max(float(column @ column), 1e-12)
    return np.asarray(values - factor * column)
