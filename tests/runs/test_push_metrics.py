"""Pushes in physics steps, and the strongest that was survived."""

import numpy as np
import pytest
import xarray as xr

from simbench.options import PushSection, SimulationSection, end_of_pushes
from simbench.runs.metrics import push_metrics
from simbench.sim.push import plan_pushes

SECTION = PushSection(
    first_ns=10.0, increment_ns=5.0, count=3, start_s=1.0, interval_s=2.0, direction_rad=0.5
)
SETTINGS = SimulationSection(timestep_s=0.002, settle_s=0.5)


def log_of(fall=99.0, rocks_from=99.0):
    """A robot that falls at a time, or moves from another on."""
    seconds = np.arange(0.0, 7.5, 0.05)
    pose, velocity = np.zeros((len(seconds), 7)), np.zeros((len(seconds), 3))
    pose[:, 2] = np.where(seconds < fall, 0.8, 0.5)
    velocity[:, 0] = np.where((seconds < rocks_from) & ~((seconds > 3.5) & (seconds < 4.48)), 0.04, 0.06)
    return xr.Dataset(
        {"base_pose": (("time", "pose"), pose), "cog_velocity": (("time", "xyz"), velocity)},
        {"time": seconds},
    )


def test_pushes_are_laid_out_in_steps():
    pushes = plan_pushes(SECTION, SETTINGS)
    assert [push.impulse for push in pushes] == [10.0, 15.0, 20.0]
    assert [push.start for push in pushes] == [750, 1750, 2750]
    assert {push.duration for push in pushes} == {50}
    assert {push.direction for push in pushes} == {0.5}
    assert end_of_pushes(SECTION) == 7.0
    assert plan_pushes(None, SETTINGS) == ()


@pytest.mark.parametrize(
    ("fall", "strongest", "count"), [(1.7, 0.0, 0.0), (4.0, 10.0, 1.0), (7.0, 15.0, 2.0), (99.0, 20.0, 3.0)]
)
def test_the_last_push_before_the_fall_does_not_count(fall, strongest, count):
    metrics = push_metrics(log_of(fall), SECTION, plan_pushes(SECTION, SETTINGS), 0.002)
    assert metrics["push.survived_ns"] == strongest
    assert metrics["push.survived_count"] == count
    assert metrics["push.survived_fraction"] == pytest.approx(count / 3.0)
    # It moved from the second push, at 3.5 s, to 4.45 s.
    assert metrics["push.rest_s"] == pytest.approx(0.95 if count == 3.0 else np.nan, nan_ok=True)


@pytest.mark.parametrize("start", [3.4, 5.4, 7.4])
def test_who_rocks_on_has_survived_but_is_not_at_rest(start):
    metrics = push_metrics(log_of(rocks_from=start), SECTION, plan_pushes(SECTION, SETTINGS), 0.002)
    assert metrics["push.survived_count"] == 3.0
    assert np.isnan(metrics["push.rest_s"])
