"""When a movement begins and ends, extrapolated from where it stands out by its minimum-jerk profile."""

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from simbench.kinematics.arrays import Array
from simbench.motion.phases.hand_path import HandPath

# Duration of a minimum-jerk movement over the time between half its top speed on both sides.
DURATION = 1.0 / (1.0 - 2.0 * 0.2285)
# A movement stands out from noise and sway where it is faster than this share of its top speed.
CLEAR = 0.2
# A path that is not travelled evenly is believed when it leaves this many times less squared error: sway
# makes even ones look a little uneven.
UNEVEN = 2.0
# A fit that leaves its guess by more than this share has fitted something else.
FARTHEST = 0.7
# Samples that show whether five unknowns fit.
FEWEST_SAMPLES = 8


def fit_bell(path: HandPath, first: int, peak: int, last: int, rising: bool = False) -> tuple[float, float]:
    """Find the onset and the end of the movement between two stops.

    Nothing visibly moves at the ends of a minimum-jerk movement, so no threshold finds them. The model: the
    way along the path is a + b u + c u (1 - u), where u is 10 s³ − 15 s⁴ + 6 s⁵ of the time s from onset in
    units of the duration (Flash & Hogan 1985), and c, where the recording speaks for it, allows for a path
    that is not travelled evenly. Middle and duration are fitted by least squares where the movement is fast;
    the rest follows from them linearly.

    Parameters
    ----------
    path : HandPath
    first, peak, last : int
        Samples of the stop before, the top speed, and the stop after.
    rising : bool
        Fit the rising half only: what follows the top speed may be another movement, blended in.

    Returns
    -------
    start, end : float
        s.
    """
    speed = path.speed[first : last + 1]
    top = peak - first
    half, clear = _faster(speed, top, 0.5), _faster(speed, top, CLEAR)
    if rising:
        half, clear = (half[0], 2 * top - half[0] + 1), (clear[0], top + 1)
    step = float(path.time[1] - path.time[0])
    duration = DURATION * step * (half[1] - half[0])
    middle = float(path.time[first]) + 0.5 * step * (half[0] + half[1] - 1)
    if clear[1] - clear[0] >= FEWEST_SAMPLES:
        window = slice(first + clear[0], first + clear[1])
        middle, duration = _fit(path.time[window], _way(path, window), middle, duration, rising)
    return middle - 0.5 * duration, middle + 0.5 * duration


def _faster(speed: Array, top: int, share: float) -> tuple[int, int]:
    """First sample, and the one past the last, around `top` that are faster than a share of its speed."""
    slow = np.flatnonzero(speed < share * speed[top])
    before, after = slow[slow < top], slow[slow > top]
    return int(before[-1]) + 1 if before.size else 0, int(after[0]) if after.size else len(speed)


def _way(path: HandPath, window: slice) -> Array:
    """Way travelled, m: steps of the points as they were recorded, along the smoothed path's direction."""
    direction = np.gradient(path.smooth[window], axis=0)
    # A point that only trembles has no direction.
    direction /= np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-9)
    steps = np.diff(path.points[window], axis=0)
    return np.concatenate([[0.0], np.cumsum((steps * 0.5 * (direction[1:] + direction[:-1])).sum(axis=1))])


def _fit(time: Array, way: Array, middle: float, duration: float, rising: bool) -> tuple[float, float]:
    """Middle and duration that fit best, from a first guess of both."""
    way = way - way.mean()

    def misfit(parameters: Array, uneven: bool) -> Array:
        length = duration * np.exp(np.clip(parameters[1], -FARTHEST, FARTHEST))
        s = np.clip((time - middle - parameters[0] * duration) / length + 0.5, 0.0, 1.0)
        done = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        even = done - done.mean()
        rest = _without(way, even)
        if uneven:
            bulge = done * (1.0 - done)
            rest = _without(rest, _without(bulge - bulge.mean(), even))
        return rest

    def fitted(start: Array, uneven: bool) -> OptimizeResult:
        return least_squares(misfit, start, method="lm", xtol=1e-4, ftol=1e-5, diff_step=1e-4, args=(uneven,))

    best = fitted(np.zeros(2), False)
    # Half a bell does not tell an uneven path from another duration.
    if not rising:
        alternative = fitted(best.x, True)
        best = alternative if best.cost > UNEVEN * alternative.cost else best
    shift, scale = best.x
    if max(abs(shift), abs(scale)) > FARTHEST:
        return middle, duration
    return middle + float(shift) * duration, duration * float(np.exp(scale))


def _without(values: Array, column: Array) -> Array:
    """Values without their part along a column."""
    share = float(column @ values) / max(float(column @ column), 1e-12)
    return np.asarray(values - share * column)
