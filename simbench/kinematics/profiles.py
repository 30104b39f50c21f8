"""Smooth time profiles: minimum jerk and quintic."""

import numpy as np

from simbench.kinematics.arrays import Array


def minimum_jerk(time: Array, start: float, duration: float) -> Array:
    """Progress of a minimum-jerk movement (Flash & Hogan 1985): 10 s³ − 15 s⁴ + 6 s⁵.

    `time` (T,); `start`: when the movement starts, s; `duration`: how long it takes, s, positive. Returns
    (T,): progress: 0 before the start, 1 after the end, speed and acceleration zero at both.
    """
    s = np.clip((time - start) / duration, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def quintic(
    start: Array, speed: Array, acceleration: Array, end: Array, duration: float, time: Array
) -> tuple[Array, Array]:
    """Compute the quintic that goes from a moving start to rest in a given time.

    `start` (K,): position at the start, in any unit; `speed` (K,): velocity at the start, per second;
    `acceleration` (K,): acceleration at the start, per second²; `end` (K,): position at the end; `duration`:
    time to go, s; `time` (N,): times since the start, s, 0 to `duration`. Returns `position` (N, K); `rate`
    (N, K): velocities there, per second.
    """
    phase = (time / duration)[:, None]
    v, a = speed * duration, acceleration * duration**2
    distance = end - start
    c3 = 10 * distance - 6 * v - 1.5 * a
    c4 = -15 * distance + 8 * v + 1.5 * a
    c5 = 6 * distance - 3 * v - 0.5 * a
    position = start + phase * (v + phase * (0.5 * a + phase * (c3 + phase * (c4 + phase * c5))))
    rate = v + phase * (a + phase * (3 * c3 + phase * (4 * c4 + phase * 5 * c5)))
    return position, rate / duration
