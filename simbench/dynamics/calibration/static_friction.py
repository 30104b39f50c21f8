"""Static friction of an arm's joints, from what held them while they stood still (Ohtsuki, §4: F_i)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simbench.dynamics.arm import Arm
from simbench.dynamics.calibration.arm_motion import ArmMotion, Feedback
from simbench.dynamics.calibration.smoothing import smooth, smoothed
from simbench.dynamics.newton_euler import inverse_dynamics
from simbench.kinematics.arrays import Array

_STILL = 0.1
"""s: who only turns back stands for less."""
_NOISES, _AT_REST = 3.0, 1e-6
"""Deviations of a speed's noise, and rad/s, below which a joint stands."""


def greatest_hold(arm: Arm, motions: Sequence[ArmMotion], law: Feedback) -> Array:
    """Find the greatest torque by which friction held each joint.

    Its static friction is at least that; just that, if the joint then broke away.

    Parameters
    ----------
    arm : Arm
        Calibrated, for what links need beside it.
    motions : sequence of ArmMotion
    law : Feedback
        That is taken to have driven it.

    Returns
    -------
    (n,) array
        N·m; NaN of joints that never stood still.
    """
    held = np.full(arm.joints, np.nan)
    for motion in motions:
        clean, _ = smoothed(motion)
        speed, noise = smooth(motion.velocity, motion.rate)
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
    """Keep stretches of at least so many samples."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], still, [False]]).astype(int)))
    kept = np.zeros_like(still)
    for start, end in edges.reshape(-1, 2):
        kept[start:end] = end - start >= count
    return kept
