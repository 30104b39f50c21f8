"""When a movement begins and ends, extrapolated from where it stands out by its minimum-jerk profile."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from simbench.motion.phases.hand_path import HandPath

Array = NDArray[np.float64]

# Duration of a minimum-jerk movement over the time between half its top speed on both sides.
DURATION = 1.0 / (1.0 - 2.0 * 0.2285)
# A movement stands out from noise and sway where it is faster than this share of its top speed.
CLEAR = 0.15


def fit_bell(path: HandPath, first: int, peak: int, last: int) -> tuple[float, float]:
    """Find the onset and the end of the movement between two stops.

    Nothing visibly moves at the ends of a minimum-jerk movement, so no threshold finds them. The model: the
    way along the path is a + b u + c u (1 - u), where u is 10 s³ − 15 s⁴ + 6 s⁵ of the time s from onset to
    end in units of the duration, and c allows for a path that is not travelled evenly. Onset and duration are
    fitted by least squares where the movement is fast; the rest follows from them linearly.

    Parameters
    ----------
    path : HandPath
    first, peak, last : int
        Samples of the stop before, the top speed, and the stop after.

    Returns
    -------
    start, end : float
        s.
    """
    speed = path.speed[first : last + 1]
    top = peak - first
    inside = _around(speed, top, CLEAR)
    half = _around(speed, top, 0.5)
    step = float(path.time[1] - path.time[0])
    window = slice(first + inside.start, first + inside.stop)
    time, way = path.time[window], _way(path, window)
    duration = DURATION * step * (half.stop - half.start)
    middle = float(path.time[first]) + 0.5 * step * (half.start + half.stop - 1)

    def residual(parameters: Array) -> Array:
        length = duration * np.exp(parameters[1])
        s = np.clip((time - middle) / length - parameters[0] + 0.5, 0.0, 1.0)
        u = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        basis = np.linalg.qr(np.stack([np.ones_like(u), u, u * (1.0 - u)], axis=1))[0]
        return np.asarray(way - basis @ (basis.T @ way))

    if len(time) < 6:
        return middle - 0.5 * duration, middle + 0.5 * duration
    shift, scale = least_squares(residual, (0.0, 0.0), method="lm", xtol=1e-4, ftol=1e-6, diff_step=1e-4).x
    duration *= float(np.exp(np.clip(scale, -1.0, 1.0)))
    middle += float(shift) * duration
    return middle - 0.5 * duration, middle + 0.5 * duration


def _around(speed: Array, top: int, share: float) -> slice:
    """Samples around `top` that are all faster than a share of its speed."""
    slow = np.flatnonzero(speed < share * speed[top])
    before, after = slow[slow < top], slow[slow > top]
    return slice(int(before[-1]) + 1 if before.size else 0, int(after[0]) if after.size else len(speed))


def _way(path: HandPath, window: slice) -> Array:
    """Way travelled, m: steps of the points as they were recorded, along the smoothed path's direction."""
    direction = np.gradient(path.smooth[window], axis=0)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    steps = np.diff(path.points[window], axis=0)
    return np.concatenate([[0.0], np.cumsum((steps * 0.5 * (direction[1:] + direction[:-1])).sum(axis=1))])
