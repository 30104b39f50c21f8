"""Positions from accelerometers, and joint angles from two of them on each link (Ohtsuki, §2.2)."""

import numpy as np

from simbench.kinematics.arrays import Array

_WINDOW = 4


def integrated_twice(acceleration: Array, start: Array, rate: float) -> tuple[Array, Array]:
    """Integrate accelerations from rest as the paper does: mean of four samples, then Euler, then Euler.

    Whatever bias there is grows with the square of time: nothing holds it.

    Parameters
    ----------
    acceleration : (T, k) array
        Of a point in the base's axes, m/s².
    start : (k,) array
        Where it is at first, m.
    rate : float
        Hz.

    Returns
    -------
    position, velocity : (T, k) array
        m, m/s.
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
    """Compute the direction of a link in its plane from two of its points (T, 2): (T,), rad, unwrapped."""
    way = far - near
    return np.unwrap(np.arctan2(way[:, 1], way[:, 0]))
