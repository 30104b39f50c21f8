"""Time normalisation: resampling of every repetition to a common phase."""

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, Slerp

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array


def normalise_time(values: Array, time: Array, boundaries: Array, samples: int = 101) -> Array:
    """Resample each primitive to a common phase from 0 to 1, by cubic splines.

    `values` (T, ...): recorded quantities: joint angles, positions, ; `time` (T,): times of the samples, s,
    strictly increasing; `boundaries` (N + 1,): times at which primitives begin and end, s, strictly
    increasing, within `time`; `samples`: number of samples of each primitive, both ends included. Returns (N,
    samples, ...): the values at equal intervals of the phase, for each primitive. Raises MotionError
    boundaries that do not increase or lie outside the recording; fewer than two samples.
    """
    return np.asarray(CubicSpline(time, values, axis=0)(_moments(time, boundaries, samples)))


def normalise_frames(frames: Array, time: Array, boundaries: Array, samples: int = 101) -> Array:
    """Resample frames to a common phase: positions by cubic splines, rotations along geodesics.

    `frames` (T, 4, 4): homogeneous transforms; `time` (T,): times of the samples, s, strictly increasing;
    `boundaries` (N + 1,): times at which primitives begin and end, s, strictly increasing, within `time`;
    `samples`: number of samples of each primitive, both ends included. Returns (N, samples, 4, 4): the
    transforms at equal intervals of the phase, for each primitive. Raises MotionError boundaries that do not
    increase or lie outside the recording; fewer than two samples.
    """
    moments = _moments(time, boundaries, samples)
    result = np.tile(np.eye(4), (*moments.shape, 1, 1))
    rotation = Slerp(time, Rotation.from_matrix(frames[:, :3, :3]))
    result[..., :3, :3] = rotation(moments.ravel()).as_matrix().reshape(*moments.shape, 3, 3)
    result[..., :3, 3] = CubicSpline(time, frames[:, :3, 3])(moments)
    return result


def _moments(time: Array, boundaries: Array, samples: int) -> Array:
    """Compute the sampling times (N, samples), s."""
    cuts = np.asarray(boundaries, dtype=np.float64)
    if samples < 2:
        raise MotionError(f"{samples} sample(s) for a primitive; at least 2 are needed")
    if cuts.ndim != 1 or len(cuts) < 2 or not (np.diff(cuts) > 0.0).all():
        raise MotionError(f"boundaries {cuts.tolist()}: at least two increasing times are needed")
    if cuts[0] < time[0] or cuts[-1] > time[-1]:
        raise MotionError(
            f"boundaries from {cuts[0]:.3f} to {cuts[-1]:.3f} s: the recording has {time[0]:.3f} to "
            f"{time[-1]:.3f} s"
        )
    # Rounding must not give times outside the recording.
    phase = np.linspace(0.0, 1.0, samples)
    return np.clip(cuts[:-1, None] + phase * np.diff(cuts)[:, None], time[0], time[-1])
