"""Positions from accelerometers, and joint angles from two of them on each link (Ohtsuki, §2.2)."""

import numpy as np

from simbench.kinematics.arrays import Array

_WINDOW = 4
"""Samples that are averaged."""


def integrate_twice(acceleration: Array, start: Array, rate: float) -> tuple[Array, Array]:
    """Integrate accelerations from rest as the paper does: mean of four samples, then Euler's method twice.

    A constant bias makes the position drift with the square of time. `acceleration` (T, k): acceleration of a
    point in the base's axes, m/s²; `start` (k,): initial position of the point, m; `rate`: sampling rate, Hz.
    Returns `position`, `velocity` (T, k): position, m, and velocity, m/s, at the samples.
    """
    padded = np.concatenate([acceleration, np.repeat(acceleration[-1:], _WINDOW - 1, axis=0)])
    sums = np.cumsum(np.concatenate([np.zeros((1, padded.shape[1])), padded]), axis=0)
    averaged = (sums[_WINDOW:] - sums[:-_WINDOW]) / _WINDOW
    velocity = np.zeros_like(averaged)
    velocity[1:] = np.cumsum(averaged[:-1], axis=0) / rate
    position = np.tile(start, (len(velocity), 1)).astype(float)
    position[1:] += np.cumsum(velocity[:-1], axis=0) / rate
    return position, velocity


def link_angle(near: Array, far: Array) -> Array:
    """Compute the direction of a link in its plane from two of its points.

    `near` (T, 2): position of the point nearer the link's joint, m; `far` (T, 2): position of the point
    farther from it, in the same axes, m. Returns (T,): angle of the line from `near` to `far`, rad,
    unwrapped.
    """
    line = far - near
    return np.unwrap(np.arctan2(line[:, 1], line[:, 0]))
