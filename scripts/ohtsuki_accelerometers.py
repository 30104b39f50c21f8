"""§2.2: joint angles from two accelerometers on each link, integrated twice as the paper does."""

import numpy as np
from numpy.typing import NDArray
from ohtsuki_motions import SEED

from simbench.dynamics.accelerometers import integrated_twice, link_angle
from simbench.dynamics.arm_motion import ArmMotion

Array = NDArray[np.float64]

NEAR, LENGTHS = 0.05, (0.25, 0.30)
"""Of a link's two sensors from its joint, m: the second is at its end."""
NOISES = ((0.0, 0.0), (0.1, 0.0), (0.0, 0.001))
"""Standard deviation and bias, m/s²."""


def sensed_angles(motion: ArmMotion, noise: float, bias: float) -> Array:
    """Integrate what the arm's accelerometers feel: angles (T, 2), rad."""
    rng = np.random.default_rng(SEED)
    angles = []
    for link, length in enumerate(LENGTHS):
        ends = []
        for radius in (NEAR, length):
            point = _point(motion, link, radius)
            change = np.gradient(np.gradient(point, 1 / motion.rate, axis=0), 1 / motion.rate, axis=0)
            change[:2] = change[2]
            change = change + bias * rng.choice([-1.0, 1.0], 2) + noise * rng.normal(size=change.shape)
            ends.append(integrated_twice(change, point[0], motion.rate)[0])
        angles.append(link_angle(*ends))
    q = np.stack([angles[0], angles[1] - angles[0]], axis=1)
    return np.asarray(q + np.round((motion.q[0] - q[0]) / (2 * np.pi)) * 2 * np.pi)


def accelerometers(motion: ArmMotion) -> None:
    """Print how far off the angles of a motion are."""
    seconds = len(motion.q) / motion.rate
    print(f"\nAccelerometers, two a link, integrated twice: worst angle in {seconds:.1f} s, degrees off")
    for noise, bias in NOISES:
        off = np.degrees(np.abs(sensed_angles(motion, noise, bias) - motion.q).max(axis=0))
        print(f"  noise {noise} m/s2, bias {bias} m/s2: {off[0]:.3f}, {off[1]:.3f}")


def _point(motion: ArmMotion, link: int, radius: float) -> Array:
    """Place a point of a link in the plane, m."""
    first, second = motion.q[:, 0], motion.q.sum(axis=1)
    elbow = LENGTHS[0] * np.stack([np.cos(first), np.sin(first)], axis=1)
    if link == 0:
        return elbow * (radius / LENGTHS[0])
    return np.asarray(elbow + radius * np.stack([np.cos(second), np.sin(second)], axis=1))
