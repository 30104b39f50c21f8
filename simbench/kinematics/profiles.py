"""Smooth time profiles: minimum jerk and quintic."""

import numpy as np

from simbench.kinematics.arrays import Array


def minimum_jerk(time: Array, start: float, duration: float) -> Array:
    """Progress of a minimum-jerk movement (Flash & Hogan 1985): 10 s³ − 15 s⁴ + 6 s⁵.

    Parameters
    ----------
    time : (T,) array
        s.
    start, duration : float
        s, duration positive.

    Returns
    -------
    (T,) array
        0 before the start, 1 after the end, speed and acceleration zero at both.
    """
    s = np.clip((time - start) / duration, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def quintic(
    start: Array, speed: Array, acceleration: Array, end: Array, duration: float, time: Array
) -> tuple[Array, Array]:
    """Go from a moving start to rest in a given time.

    Parameters
    ----------
    start, speed, acceleration, end : (K,) array
    duration : float
        s.
    time : (N,) array
        s, 0 to `duration`.

    Returns
    -------
    way, rate : (N, K) array
    """
    share = (time / duration)[:, None]
    v, a = speed * duration, acceleration * duration**2
    way = end - start
    c3, c4, c5 = 10 * way - 6 * v - 1.5 * a, -15 * way + 8 * v + 1.5 * a, 6 * way - 3 * v - 0.5 * a
    position = start + share * (v + share * (0.5 * a + share * (c3 + share * (c4 + share * c5))))
    rate = v + share * (a + share * (3 * c3 + share * (4 * c4 + share * 5 * c5)))
    return position, rate / duration
