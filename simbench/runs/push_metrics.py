"""Metrics of the pushes that a robot survived."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from simbench.options import PushSection
from simbench.runs.metrics import FELL_HEIGHT
from simbench.sim.push import Push

if TYPE_CHECKING:
    import xarray as xr

_AT_REST = 0.05
"""Speed of the COG below which a robot stands still, m/s."""
_STILL_FOR = 0.2
"""Shortest time of standing still before the next push, s."""


def push_metrics(
    log: xr.Dataset, section: PushSection, pushes: Sequence[Push], timestep: float
) -> dict[str, float]:
    """Find the strongest push after which the robot still stood when the next one came, or at the end.

    `log`: log of the run; `section`: section `push` of the scenario; `pushes`: pushes that were applied, in
    order; `timestep`: physics step, s. Returns `push.survived_ns`: impulse of that push, 0 if the robot fell
    at the first; `push.survived_count`: number of pushes survived; `push.survived_fraction`: their fraction
    of all; `push.rest_s`: longest time from the start of a push until the robot stood still, NaN if it fell
    or still moved before the next push.
    """
    time, height = log["time"].values, log["base_pose"].values[:, 2]
    speed = np.linalg.norm(log["cog_velocity"].values, axis=1)
    survived, rest = 0, 0.0
    for push in pushes:
        start = push.start * timestep
        before = time <= start + section.interval_s
        if (height[before] < FELL_HEIGHT * height[0]).any():
            rest = math.nan
            break
        survived += 1
        moving = time[before & (time >= start) & (speed >= _AT_REST)]
        still_from = float(moving[-1]) if moving.size else start
        came_to_rest = still_from <= time[before][-1] - _STILL_FOR
        rest = max(rest, still_from - start) if came_to_rest and not math.isnan(rest) else math.nan
    strongest = pushes[survived - 1].impulse if survived else 0.0
    return {
        "push.survived_ns": strongest,
        "push.survived_count": float(survived),
        "push.survived_fraction": survived / len(pushes),
        "push.rest_s": rest,
    }
