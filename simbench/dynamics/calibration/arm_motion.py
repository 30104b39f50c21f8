"""What an arm was seen doing, and the law that is taken to have driven it."""

from dataclasses import dataclass, fields

import numpy as np

from simbench.errors import CalibrationError
from simbench.kinematics.arrays import Array

_FEWEST = 20


@dataclass(frozen=True)
class ArmMotion:
    """One recorded motion at a constant rate.

    Parameters
    ----------
    rate : float
        Hz.
    q, velocity, acceleration : (T, n) array
        rad, rad/s, rad/s².
    target : (T, n) array
        Where the law was to bring the joints, rad.

    Raises
    ------
    CalibrationError
        If arrays differ in shape, hold gaps, or are shorter than 20 samples.
    """

    rate: float
    q: Array
    velocity: Array
    acceleration: Array
    target: Array

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate > 0.0):
            raise CalibrationError(f"motion, rate {self.rate:g} Hz; allowed: more than 0")
        for field in fields(self)[1:]:
            values = getattr(self, field.name)
            if values.ndim != 2 or values.shape != self.q.shape:
                raise CalibrationError(
                    f"motion, {field.name}: shape {values.shape}; allowed: that of q, (samples, joints)"
                )
            if not np.isfinite(values).all():
                raise CalibrationError(f"motion, {field.name}: has gaps; allowed: a number in every sample")
        if len(self.q) < _FEWEST:
            raise CalibrationError(f"motion: {len(self.q)} samples; allowed: at least {_FEWEST}")


@dataclass(frozen=True)
class Feedback:
    """A law τ = k_p (θ* − θ) + k_v θ̇ + k_a θ̈ of every joint (Ohtsuki, eq. 5-7).

    Parameters
    ----------
    position, velocity, acceleration : float
        k_p, N·m/rad; k_v, N·m·s/rad, and k_a, kg·m², both negative where they damp and weigh.
    """

    position: float = 9.5
    velocity: float = -9.5
    acceleration: float = 0.0

    def torque(self, motion: ArmMotion) -> Array:
        """Compute the torque (T, n) that the law would have given, N·m."""
        return (
            self.position * (motion.target - motion.q)
            + self.velocity * motion.velocity
            + self.acceleration * motion.acceleration
        )
