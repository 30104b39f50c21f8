"""A metric: the period of a fixture's joint, from the log of a run."""

import numpy as np
import xarray as xr

from simbench.options import ScenarioSection


class Beat(ScenarioSection):
    """Keys of the metric."""

    variable: str
    """Variable of the log, such as `metronome_swing`."""

    def measure(self, log: xr.Dataset) -> float | None:
        """Compute the mean time, s, between upward passages through the mean; None with fewer than two."""
        values, time = log[self.variable].values, log["time"].values
        side = values - values.mean()
        up = np.flatnonzero((side[:-1] < 0.0) & (side[1:] >= 0.0))
        exact = time[up] - side[up] * (time[up + 1] - time[up]) / (side[up + 1] - side[up])
        return float(np.diff(exact).mean()) if len(up) > 1 else None
