"""A recorded motion of an arm, and the control law assumed to have driven it."""

from dataclasses import dataclass, fields

import numpy as np

from simbench.errors import CalibrationError
from simbench.kinematics.arrays import Array

_FEWEST = 20
"""Samples of a motion."""


@dataclass(frozen=True)
class ArmMotion:
    """One recorded motion at a constant rate.

    Raises CalibrationError if arrays differ in shape, hold gaps, or are shorter than 20 samples.
    """

    rate: float  # Sampling rate, Hz.
    q: Array  # (T, n): joint positions, rad.
    velocity: Array  # (T, n): joint velocities, rad/s.
    acceleration: Array  # (T, n): joint accelerations, rad/s².
    target: Array  # (T, n): joint positions that the control law drives to, rad.

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
    """Control law τ = k_p (θ* − θ) + k_v θ̇ + k_a θ̈ with the same gains for all joints (Ohtsuki, eq. 5-7)."""

    position: float = 9.5  # k_p, N·m/rad.
    velocity: float = -9.5  # k_v, N·m·s/rad; negative where it damps.
    acceleration: float = 0.0  # k_a, kg·m²; negative where it acts as additional inertia.

    def torque(self, motion: ArmMotion) -> Array:
        """Compute the torque that the law would have given during a recorded motion.

        Returns (T, n): joint torques, N·m.
        """
        return (
            self.position * (motion.target - motion.q)
            + self.velocity * motion.velocity
            + self.acceleration * motion.acceleration
        )
