"""Lag of a run behind a trace, by least squares: a fraction of a sample is resolved where signals move."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.runs.traces.signals import Samples
from simbench.runs.traces.trace import Trace

LARGEST_LAG = 0.25
"""Largest lag that is looked for, s."""
EVIDENCE = 9.0
"""Sum of squared deviations, each in tolerances, from which a lag is significant."""
_EXPLAINED = 0.25
"""Fraction of that sum which may remain after the shift."""
_ITERATIONS = 12
_CONVERGED = 1e-7
"""Step of the lag at which the search ends, s."""


class Lag(NamedTuple):
    """How late a signal of a run is."""

    lag: float  # Time by which the run lags the trace, s; negative where it leads.
    before: float  # Sum of the squared deviations of all its samples, each in units of its tolerance.
    after: float  # The same once the run is shifted by the lag.

    @property
    def explains(self) -> bool:
        """Whether the shift explains most of a deviation that is significant."""
        return self.before > EVIDENCE and self.after < _EXPLAINED * self.before


def sample_at(samples: Samples, times: Array) -> Array:
    """Interpolate the channels of a log linearly.

    `samples`: channels at the log's rate; `times` (T,): times, s; those outside the log take its first or
    last sample. Returns (T, C): values; NaN beside a sample that is NaN.
    """
    position = np.interp(times, samples.time, np.arange(len(samples.time), dtype=float))
    # A time that is a sample's but for rounding must not mix in its neighbour, which may be NaN.
    nearest = np.rint(position)
    position = np.where(np.abs(position - nearest) < 1e-6, nearest, position)
    low = np.floor(position).astype(int)
    high = np.ceil(position).astype(int)
    fraction = (position - low)[:, None]
    below, above = samples.values[low], samples.values[high]
    return np.where(fraction == 0.0, below, below + fraction * (above - below))


def estimate_lags(trace: Trace, run: Samples) -> dict[str, Lag]:
    """Estimate by how much each signal of a run lags a trace.

    All channels of a signal count, each sample in units of its tolerance: Gauss-Newton's method minimises the
    sum of squared deviations over the shift in time. `trace`: trace of the baseline; `run`: channels of the
    run, at least those of the trace and in its order.
    """
    tolerance = trace.tolerance
    inside = trace.time <= run.time[-1]
    times = trace.time[inside]
    half = 0.5 / trace.log_rate
    found: dict[str, Lag] = {}
    for signal in trace.signals:
        columns = trace.columns(signal)
        part = Samples(run.time, tuple(run.channels[c] for c in columns), run.values[:, columns])
        weight = 1.0 / tolerance[inside][:, columns]
        target = trace.values[inside][:, columns]

        def errors(
            shift: float, part: Samples = part, weight: Array = weight, target: Array = target
        ) -> Array:
            deviation = (sample_at(part, times + shift) - target) * weight
            return np.where(np.isfinite(deviation), deviation, 0.0)

        lag = 0.0
        for _ in range(_ITERATIONS):
            slope = (errors(lag + half) - errors(lag - half)) / (2.0 * half)
            curvature = float(np.sum(slope**2))
            if curvature == 0.0:
                break
            step = -float(np.sum(slope * errors(lag))) / curvature
            lag = float(np.clip(lag + np.clip(step, -0.05, 0.05), -LARGEST_LAG, LARGEST_LAG))
            if abs(step) < _CONVERGED:
                break
        before = float(np.sum(errors(0.0) ** 2))
        after = float(np.sum(errors(lag) ** 2))
        found[signal] = Lag(lag, before, after) if after < before else Lag(0.0, before, before)
    return found
