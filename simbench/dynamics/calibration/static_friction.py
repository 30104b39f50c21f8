"""Static friction of an arm's joints, from the torque that held them at rest (Ohtsuki, §4: F_i)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simbench.dynamics.arm import Arm
from simbench.dynamics.calibration.arm_motion import ArmMotion, Feedback
from simbench.dynamics.calibration.smoothing import filter_channels, filter_motion
from simbench.dynamics.newton_euler import inverse_dynamics
from simbench.kinematics.arrays import Array

_STILL = 0.1
"""Shortest time of standing still, s: a joint that only reverses stands for less."""
_NOISES, _AT_REST = 3.0, 1e-6
"""A joint stands if its speed is below so many deviations of its noise plus this speed, rad/s."""


def bound_static_friction(arm: Arm, motions: Sequence[ArmMotion], law: Feedback) -> Array:
    """Find the greatest torque by which friction held each joint while it stood still.

    The static friction is at least that torque, and equals it if the joint then broke away. `arm`: calibrated
    arm, from which the torque of the links is computed; `motions`: recorded motions; `law`: control law
    assumed to have driven the arm. Returns (n,): torque of each joint, N·m; NaN for joints that never stood
    still.
    """
    held = np.full(arm.joints, np.nan)
    for motion in motions:
        clean, _ = filter_motion(motion)
        speed, noise = filter_channels(motion.velocity, motion.rate)
        still = np.abs(speed) <= _NOISES * noise + _AT_REST
        for joint in range(arm.joints):
            rest = _lasting(still[:, joint], int(np.ceil(_STILL * motion.rate)))
            if rest.any():
                velocity, acceleration = clean.velocity[rest].copy(), clean.acceleration[rest].copy()
                velocity[:, joint] = acceleration[:, joint] = 0.0
                needed = inverse_dynamics(arm, clean.q[rest], velocity, acceleration)[:, joint]
                friction = np.abs(law.torque(clean)[rest, joint] - needed)
                held[joint] = np.fmax(held[joint], friction.max())
    return held


def _lasting(still: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    """Keep runs of at least `count` samples."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], still, [False]]).astype(int)))
    kept = np.zeros_like(still)
    for start, end in edges.reshape(-1, 2):
        kept[start:end] = end - start >= count
    return kept
