"""§2.2: motions from two accelerometers on each link, integrated twice as the paper does, and their arm."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from dynamics import cells, least_squares
from motions import LAW, SEED
from numpy.typing import NDArray
from report import show

from simbench.dynamics.arm import Arm
from simbench.dynamics.calibration.accelerometers import integrate_twice, link_angle
from simbench.dynamics.calibration.arm_motion import ArmMotion

Array = NDArray[np.float64]

NEAR, LENGTHS = 0.05, (0.25, 0.30)
"""Of a link's two sensors from its joint, m: the second is at its end."""
NOISES = ((0.0, 0.0), (0.1, 0.0), (0.0, 0.001))
"""Standard deviation and bias, m/s²."""


def accelerometers(
    arm: Arm, motions: Sequence[ArmMotion], noises: Sequence[tuple[float, float]] = NOISES
) -> None:
    """Print how far off the first motion's angles are, and the parameters by all motions."""
    print("\nAccelerometers, two a link, integrated twice; |error| of the parameters as in table 3")
    for noise, bias in noises:
        rng = np.random.default_rng(SEED)
        seen = [sensed(each, noise, bias, rng) for each in motions]
        off = np.degrees(np.abs(seen[0].q - motions[0].q).max(axis=0))
        print(f" noise {noise} m/s2, bias {bias} m/s2: angles at worst {off[0]:.3f}, {off[1]:.3f} deg off")
        show("least squares", np.abs(cells(least_squares(arm, seen, LAW))))


def sensed(motion: ArmMotion, noise: float, bias: float, rng: np.random.Generator) -> ArmMotion:
    """Make of what the arm's accelerometers feel the motion that they tell."""
    angles = []
    for link, length in enumerate(LENGTHS):
        ends = []
        for radius in (NEAR, length):
            point = _point(motion, link, radius)
            change = np.gradient(np.gradient(point, 1 / motion.rate, axis=0), 1 / motion.rate, axis=0)
            change[:2] = change[2]
            change = change + bias * rng.choice([-1.0, 1.0], 2) + noise * rng.normal(size=change.shape)
            ends.append((*integrate_twice(change, point[0], motion.rate), change))
        angles.append(_turn(*(far - near for near, far in zip(*ends, strict=True))))
    first, second = angles
    q, velocity, acceleration = (np.stack([a, b - a], axis=1) for a, b in zip(first, second, strict=True))
    q += np.round((motion.q[0] - q[0]) / (2 * np.pi)) * 2 * np.pi
    return replace(motion, q=q, velocity=velocity, acceleration=acceleration)


def _turn(way: Array, rate: Array, change: Array) -> tuple[Array, Array, Array]:
    """Angle of a link from one sensor to the other, with its rates."""
    squared = np.sum(way**2, axis=1)
    velocity = (way[:, 0] * rate[:, 1] - way[:, 1] * rate[:, 0]) / squared
    across = way[:, 0] * change[:, 1] - way[:, 1] * change[:, 0]
    acceleration = (across - 2.0 * np.sum(way * rate, axis=1) * velocity) / squared
    return link_angle(np.zeros_like(way), way), velocity, acceleration


def _point(motion: ArmMotion, link: int, radius: float) -> Array:
    """Place a point of a link in the plane, m."""
    first, second = motion.q[:, 0], motion.q.sum(axis=1)
    elbow = LENGTHS[0] * np.stack([np.cos(first), np.sin(first)], axis=1)
    if link == 0:
        return elbow * (radius / LENGTHS[0])
    return np.asarray(elbow + radius * np.stack([np.cos(second), np.sin(second)], axis=1))
