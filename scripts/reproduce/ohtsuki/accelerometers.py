"""§2.2: motions from two accelerometers per link, integrated twice as in the paper, and their calibration."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from dynamics import cells, least_squares
from motions import LAW, SEED, averaged
from numpy.typing import NDArray
from report import begin_case, begin_table, show
from tables import DYNAMIC

from simbench.calibration.arm_recording import ArmMotion, TipMotion
from simbench.dynamics.arm import Arm

Array = NDArray[np.float64]

_WINDOW = 4
"""Samples that are averaged."""

NEAR, LENGTHS = 0.05, (0.25, 0.30)
"""Distances of a link's two sensors from its joint, m: the second sensor is at the end of the link."""
NOISES = ((0.0, 0.0), (0.1, 0.0), (0.0, 0.001))
"""Standard deviation and bias of the accelerometers, m/s²."""


def accelerometers(
    arm: Arm, motions: Sequence[ArmMotion], noises: Sequence[tuple[float, float]] = NOISES
) -> None:
    """Print angle errors of the first motion, and errors of parameters calibrated from all motions."""
    title = "Accelerometers, two per link, integrated twice; |error| of the parameters as in table 3"
    begin_table(title, DYNAMIC, "§2.2")
    for noise, bias in noises:
        rng = np.random.default_rng(SEED)
        seen = [sensed(each, noise, bias, rng) for each in motions]
        error = np.degrees(np.abs(seen[0].q - motions[0].q).max(axis=0))
        begin_case(f"noise {noise} m/s2, bias {bias} m/s2: angle errors {error[0]:.3f}, {error[1]:.3f} deg")
        show("least squares", np.abs(cells(least_squares(arm, averaged(seen), LAW))))


def sensed(motion: ArmMotion, noise: float, bias: float, rng: np.random.Generator) -> ArmMotion:
    """Reconstruct a motion from the signals of the arm's accelerometers."""
    angles = []
    for link, length in enumerate(LENGTHS):
        ends = []
        for radius in (NEAR, length):
            point = _point(motion, link, radius)
            change = (
                _acceleration(point, motion.rate)
                + bias * rng.choice([-1.0, 1.0], 2)
                + noise * rng.normal(size=point.shape)
            )
            ends.append((*integrate_twice(change, point[0], motion.rate), change))
        angles.append(_link_motion(*(far - near for near, far in zip(*ends, strict=True))))
    first, second = angles
    q, velocity, acceleration = (np.stack([a, b - a], axis=1) for a, b in zip(first, second, strict=True))
    q += np.round((motion.q[0] - q[0]) / (2 * np.pi)) * 2 * np.pi
    return replace(motion, q=q, velocity=velocity, acceleration=acceleration)


def sensed_tip(motion: ArmMotion, noise: float, bias: float, rng: np.random.Generator) -> TipMotion:
    """Reconstruct angles and the tip's path, m, from the signals of the arm's four accelerometers."""
    angles = sensed(motion, noise, bias, rng)
    point = _point(motion, 1, LENGTHS[1])
    change = _acceleration(point, motion.rate) + noise * rng.normal(size=point.shape)
    tip = integrate_twice(change, point[0], motion.rate)[0]
    return TipMotion(motion.rate, angles.q, np.column_stack([tip, np.zeros(len(tip))]))


def _acceleration(point: Array, rate: float) -> Array:
    """Differentiate the path of a point twice, m/s²."""
    change = np.gradient(np.gradient(point, 1 / rate, axis=0), 1 / rate, axis=0)
    change[:2] = change[2]
    return np.asarray(change)


def _link_motion(vector: Array, rate: Array, change: Array) -> tuple[Array, Array, Array]:
    """Compute angle, velocity and acceleration of a link from the vector between its sensors."""
    squared = np.sum(vector**2, axis=1)
    velocity = (vector[:, 0] * rate[:, 1] - vector[:, 1] * rate[:, 0]) / squared
    across = vector[:, 0] * change[:, 1] - vector[:, 1] * change[:, 0]
    acceleration = (across - 2.0 * np.sum(vector * rate, axis=1) * velocity) / squared
    return link_angle(np.zeros_like(vector), vector), velocity, acceleration


def _point(motion: ArmMotion, link: int, radius: float) -> Array:
    """Compute the path of a point of a link in the plane, m."""
    first, second = motion.q[:, 0], motion.q.sum(axis=1)
    elbow = LENGTHS[0] * np.stack([np.cos(first), np.sin(first)], axis=1)
    if link == 0:
        return elbow * (radius / LENGTHS[0])
    return np.asarray(elbow + radius * np.stack([np.cos(second), np.sin(second)], axis=1))


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
