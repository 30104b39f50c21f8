"""The time of a fixed-base robot's path, by one factor and locally; its posture at rest and its joints."""

import numpy as np
import pytest
from wheel_robots import missing

from simbench.errors import RetargetError
from simbench.options import RetargetSection
from simbench.retargeting.arm import fixed_base
from simbench.retargeting.arm.fixed_base import arm_joints, choose_rest, scale_time
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
    _, uniform, _ = scale_time(puma, TIME, path, RetargetSection(timing="uniform"))
    time, local, _ = scale_time(puma, TIME, path, RetargetSection(timing="local"))
    stretch = np.diff(time) / np.diff(TIME)
    assert 1.0 < local["retarget.slow_down"] < uniform["retarget.slow_down"]
    assert stretch[:20] == pytest.approx(1.0)
    assert stretch[100] > 1.5
    assert scale_time(puma, TIME, path, RetargetSection(timing="auto"))[1] == local


def test_without_a_smooth_way_through_the_limits_one_factor_is_taken_and_said(puma, path, monkeypatch):
    monkeypatch.setattr(fixed_base.stretch, "MOST_STRETCH", 1.0)
    time, metrics, notes = scale_time(puma, TIME, path, RetargetSection(timing="local"))
    uniform_time, uniform, _ = scale_time(puma, TIME, path, RetargetSection(timing="uniform"))
    np.testing.assert_array_equal(time, uniform_time)
    assert metrics == uniform
    assert notes == (UNIFORM_INSTEAD,)


def test_the_recorded_clock_is_refused(puma, path):
    with pytest.raises(RetargetError):
        scale_time(puma, TIME, path, RetargetSection(timing="preserve"))


def test_a_posture_that_an_arm_lacks_is_replaced_by_its_own(puma):
    assert choose_rest(puma, "folded") == "folded"
    assert choose_rest(puma, "standing") == "ready"


@pytest.mark.skipif(bool(missing("panda")), reason=f"needs {missing('panda')}")
def test_fingers_are_no_joints_of_the_arm():
    robot = load_robot("panda")
    assert arm_joints(robot) == robot.joint_names
    assert not any("finger" in name for name in robot.joint_names)
    assert robot.base_height == pytest.approx(0.33, abs=0.05)
