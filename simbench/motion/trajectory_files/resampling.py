"""A joint trajectory at another rate."""

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory

_RATES = (1.0, 10_000.0)
_ROUNDING = 1e-6
"""Part of a time step by which the last sample may be late."""


def resample_trajectory(trajectory: JointTrajectory, rate: float) -> JointTrajectory:
    """Sample a trajectory at another rate: joints and position linearly, orientation along great circles.

    `rate`: samples per second. Returns the trajectory from its first time up to its last sample at the
    latest.
    """
    if not _RATES[0] <= rate <= _RATES[1]:
        raise MotionError(f"--rate {rate:g}: allowed: {_RATES[0]:g} to {_RATES[1]:g} samples a second")
    start, end = trajectory.time[0], trajectory.time[-1]
    steps = np.arange(int(np.floor((end - start) * rate + _ROUNDING)) + 1)
    time = np.minimum(start + steps / rate, end)

    def interpolated(values: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(time, trajectory.time, column) for column in values.T], axis=1)

    q = interpolated(trajectory.q) if trajectory.q.shape[1] else np.empty((len(time), 0))
    base = trajectory.base
    if base is not None and len(base) > 1:
        turned = Slerp(trajectory.time, Rotation.from_quat(base[:, 3:]))(time).as_quat()
        # SciPy chooses signs of its own.
        flips = np.where(np.einsum("ti,ti->t", turned[1:], turned[:-1]) < 0.0, -1.0, 1.0)
        turned = turned * np.cumprod(np.r_[1.0, flips])[:, None]
        base = np.hstack([interpolated(base[:, :3]), turned])
    return JointTrajectory(start + steps / rate, q, trajectory.joint_names, base)
