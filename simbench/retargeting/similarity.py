"""Similarity of a robot's motion and a person's: Tomić (2018), eq. 4.25."""

import numpy as np

from simbench.kinematics.arrays import Array


def speed_difference(time: Array, imitated: Array, joints: Array) -> float:
    """Compute S = (1/N) Σ ‖q̇_imitation − q̇_robot‖² over N samples (Tomić 2018, eq. 4.25).

    0 for the same motion. The thesis prints the sum over the samples alone, which a longer recording or a
    higher rate would let grow; ratios of motions of one recording are the same.

    Parameters
    ----------
    time : (T,) array
        Times of the recording's samples, s.
    imitated : (T, n) array
        Positions of trunk and arms of the scaled model that imitates the person, rad.
    joints : (T, n) array
        Trunk and arms of the robot, at the same moments of the recording, rad.

    Returns
    -------
    float
        (rad/s)², summed over the joints.
    """
    difference = np.diff(joints - imitated, axis=0) / np.diff(time)[:, None]
    return float((difference**2).sum(axis=1).mean())
