"""Joint speed limits: slow a motion uniformly until they hold."""

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline


def time_scaling_factor(
    time: NDArray[np.float64],
    q: NDArray[np.float64],
    speed_limit: NDArray[np.float64],
    timestep: float = 1e-3,
) -> float:
    """Find the least factor ≥ 1 by which a motion must be slowed to keep all joint speed limits.

    `time` (T,): time, s; `q` (T, n): joint positions, rad; `speed_limit` (n,): speed limits of the joints,
    rad/s; `timestep`: spacing at which the interpolated speed is examined, s.
    """
    fine = np.arange(time[0], time[-1], timestep)
    speed = np.abs(make_interp_spline(time, q, k=min(3, len(time) - 1)).derivative()(fine)).max(axis=0)
    return float(max(1.0, np.max(speed / speed_limit)))
