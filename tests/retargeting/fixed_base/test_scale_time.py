"""The time of a fixed-base robot's path, by one factor and locally."""

import numpy as np
import pytest

from simbench.errors import RetargetError
from simbench.options import RetargetSection
from simbench.retargeting.fixed_base import tempo
from simbench.retargeting.timing.stretch import UNIFORM_INSTEAD
from simbench.robot.robot import load_robot

TIME = np.linspace(0.0, 4.0, 201)


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


@pytest.fixture(scope="module")
def path():
    """One fast movement of the first joint between two rests."""
    joints = np.zeros((len(TIME), 6))
    joints[:, 0] = 1.5 * np.tanh(4.0 * (TIME - 2.0))
    return joints


def test_time_is_stretched_where_the_joint_is_fast_only(puma, path):
    uniform = tempo.scale_time(puma, TIME, path, RetargetSection(timing="uniform"))
    local = tempo.scale_time(puma, TIME, path, RetargetSection(timing="local"))
    stretch = np.diff(local.time) / np.diff(TIME)
    assert 1.0 < local.slow_down < uniform.slow_down
    assert stretch[:20] == pytest.approx(1.0)
    assert stretch[100] > 1.5
    assert tempo.scale_time(puma, TIME, path, RetargetSection(timing="auto")).slow_down == local.slow_down


def test_without_a_smooth_way_through_the_limits_one_factor_is_taken_and_said(puma, path, monkeypatch):
    monkeypatch.setattr(tempo, "MOST_STRETCH", 1.0)
    found = tempo.scale_time(puma, TIME, path, RetargetSection(timing="local"))
    uniform = tempo.scale_time(puma, TIME, path, RetargetSection(timing="uniform"))
    np.testing.assert_array_equal(found.time, uniform.time)
    assert found.notes == (UNIFORM_INSTEAD,)


def test_the_recorded_clock_is_refused(puma, path):
    with pytest.raises(RetargetError, match="puma560 has a fixed base; allowed: auto, local, uniform"):
        tempo.scale_time(puma, TIME, path, RetargetSection(timing="preserve"))
