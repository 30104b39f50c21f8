"""Increment bounds: never empty, never passed; accelerations that motors can give."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import RetargetError
from simbench.retargeting.timing.acceleration_limits import acceleration_limits
from simbench.retargeting.arm_adaptation.joint_bounds import (
    JointBounds,
    braking_speed,
    follow,
    increment_bounds,
    joint_bounds,
)
from simbench.robot.robot import load_robot


def one_joint(lower, upper, speed, acceleration):
    return JointBounds(*(np.array([float(x)]) for x in (lower, upper, speed, acceleration)))


def braked_distance(speed, acceleration, period):
    """Way of a joint that moves for one sample and then brakes as hard as it may, sample by sample."""
    distance = 0.0
    while speed > 0:
        distance += period * speed
        speed -= acceleration * period
    return distance


@given(
    distance=st.floats(1e-6, 6.0),
    acceleration=st.floats(0.5, 500.0),
    period=st.floats(1e-3, 0.1),
)
@settings(max_examples=50, deadline=None)
def test_braking_speed_is_the_greatest_that_stops_in_time(distance, acceleration, period):
    speed = braking_speed(distance, acceleration, period)
    assert braked_distance(speed * (1 - 1e-9), acceleration, period) <= distance
    assert braked_distance(speed * (1 + 1e-6), acceleration, period) > distance
    assert speed < np.sqrt(2 * acceleration * distance)


def test_braking_speed_of_short_samples_is_the_textbooks():
    assert braking_speed(0.5, 20.0, 1e-6) == pytest.approx(np.sqrt(2 * 20.0 * 0.5), rel=1e-5)
    assert braking_speed(0.5, np.inf, 0.01) == pytest.approx(50.0)
    assert braking_speed(0.0, 20.0, 0.01) == 0.0


@given(
    seed=st.integers(0, 2**32 - 1),
    period=st.floats(2e-3, 0.1),
    speed=st.floats(0.1, 20.0),
    acceleration=st.floats(0.5, 2000.0),
    width=st.floats(1e-3, 5.0),
)
@settings(max_examples=50, deadline=None)
def test_no_wish_leads_out_of_the_bounds(seed, period, speed, acceleration, width):
    """Wishes jump between the limits and beyond, and increments between the ends of their interval."""
    rng = np.random.default_rng(seed)
    joints, samples = 3, 150
    bounds = JointBounds(
        np.full(joints, -width),
        np.full(joints, width),
        np.full(joints, speed),
        acceleration * np.array([1.0, 3.0, 0.2]),
    )
    q = rng.uniform(-width, width, joints)
    velocity, low, high = np.zeros(joints), np.empty(joints), np.empty(joints)
    wish = q
    for _ in range(samples):
        increment_bounds(bounds, q, velocity, period, low, high)
        assert (low <= high).all()
        if rng.random() < 0.1:
            wish = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], joints) * width
        moved = q + np.clip(wish - q, low, high)
        new_velocity = (moved - q) / period
        scale = 1e-12 * (1 + width / period)
        assert (np.abs(moved) <= width + 1e-12).all()
        assert (np.abs(new_velocity) <= speed + scale).all()
        assert (np.abs(new_velocity - velocity) <= bounds.acceleration * period + scale).all()
        q, velocity = moved, new_velocity


def test_at_full_speed_into_a_limit():
    """The paper's three intervals alone have no point in common there; these end at rest on the limit."""
    bounds, period = one_joint(-2.0, 1.0, 4.0, 30.0), 1 / 60
    low, high = np.empty(1), np.empty(1)
    path, naive = [np.array([-2.0])], [np.array([-2.0])]
    velocity, naive_velocity, empty = np.zeros(1), np.zeros(1), False
    for _ in range(120):
        increment_bounds(bounds, path[-1], velocity, period, low, high)
        path.append(path[-1] + high)
        velocity = high / period
        change = 30.0 * period
        least = period * np.maximum(naive_velocity - change, -4.0)
        greatest = np.minimum(1.0 - naive[-1], period * np.minimum(naive_velocity + change, 4.0))
        empty = empty or bool(least > greatest)
        naive_velocity = greatest / period
        naive.append(naive[-1] + greatest)
    path = np.concatenate(path)
    speeds = np.diff(path, prepend=path[0]) / period
    assert empty
    assert speeds.max() == pytest.approx(4.0)
    assert path.max() <= 1.0
    assert path[-1] == pytest.approx(1.0, abs=1e-12)
    assert np.abs(np.diff(speeds)).max() <= 30.0 * period * (1 + 1e-12)
    # From rest to full speed, along, and to rest: v/a + d/v, within the samples of start and end.
    assert np.argmax(path > 1.0 - 1e-9) * period == pytest.approx(4 / 30 + 3 / 4, abs=2 * period)


@given(
    distance=st.floats(-3.0, 3.0),
    acceleration=st.floats(5.0, 300.0),
    speed=st.floats(0.5, 10.0),
)
@settings(max_examples=50, deadline=None)
def test_a_step_is_followed_without_overshoot(distance, acceleration, speed):
    period = 1 / 60
    wishes = np.full((600, 1), distance)
    wishes[:2] = 0.0
    path = follow(wishes, one_joint(-4, 4, speed, acceleration), period)[:, 0]
    way = abs(distance)
    fast = speed**2 / acceleration
    least = 2 * np.sqrt(way / acceleration) if way < fast else way / speed + speed / acceleration
    assert np.abs(path).max() <= way + 1e-9
    arrived = int(np.argmax(np.abs(path - distance) < 1e-9))
    assert abs(path[-1] - distance) < 1e-9
    assert arrived * period <= least + 5 * period


def test_a_wish_within_the_bounds_is_followed_exactly():
    time = np.arange(0, 4, 0.01)
    # From rest: the speed grows from zero.
    wishes = np.stack([np.sin(time) ** 2, 0.5 * (1 - np.cos(2 * time))], axis=1)
    bounds = JointBounds(np.full(2, -0.1), np.full(2, 1.1), np.full(2, 1.1), np.full(2, 2.2))
    assert np.abs(follow(wishes, bounds, 0.01) - wishes).max() < 1e-12


@pytest.mark.parametrize("name", ["mahru", "puma560"])
def test_motors_can_give_the_accelerations(name):
    """Torque of one joint's acceleration against gravity, by inverse dynamics in random postures."""
    robot = load_robot(name)
    model, data = robot.model, robot.model.createData()
    names = robot.groups["right_arm"]
    limits = acceleration_limits(robot, names)
    rng = np.random.default_rng(5)
    ids = [model.getJointId(joint) for joint in names]
    used = np.zeros(len(names))
    for _ in range(100):
        q = pin.neutral(model)
        for joint in ids:
            at = model.joints[joint].idx_q
            q[at] = rng.uniform(model.lowerPositionLimit[at], model.upperPositionLimit[at])
        for k, joint in enumerate(ids):
            at = model.joints[joint].idx_v
            for sense in (1.0, -1.0):
                acceleration = np.zeros(model.nv)
                acceleration[at] = sense * limits[k]
                torque = pin.rnea(model, data, q, np.zeros(model.nv), acceleration)[at]
                used[k] = max(used[k], abs(torque) / model.effortLimit[at])
    assert used.max() <= 1.03
    capped = limits == pytest.approx(model.velocityLimit[[model.joints[j].idx_v for j in ids]] / 0.02)
    assert capped or used.max() > 0.8


def test_acceleration_limit_of_a_pendulum_in_closed_form():
    """The direct-drive arm's second joint turns one link about a vertical axis: τ / (I + m r²)."""
    robot = load_robot("direct_drive_arm")
    inertia = robot.model.inertias[2]
    about_axis = inertia.inertia[2, 2] + inertia.mass * (inertia.lever[0] ** 2 + inertia.lever[1] ** 2)
    expected = robot.model.effortLimit[1] / about_axis
    assert acceleration_limits(robot, ("joint2",)) == pytest.approx([expected])


def test_bounds_of_a_robot():
    robot = load_robot("mahru")
    bounds = joint_bounds(robot, ("RElbowPitch", "RWristYaw"), margin=0.01, acceleration={"RWristYaw": 7.0})
    assert bounds.lower == pytest.approx([-2.35619 + 0.01, -2.35619 + 0.01], abs=1e-5)
    assert bounds.upper == pytest.approx([-0.01, 0.785398 - 0.01], abs=1e-5)
    assert bounds.speed == pytest.approx([8.9, 9.9])
    assert bounds.acceleration[0] == acceleration_limits(robot, ("RElbowPitch",))[0]
    assert bounds.acceleration[1] == 7.0
    # An estimate does not depend on the company it is asked for in.
    both = (*robot.groups["left_arm"], *robot.groups["right_arm"])
    assert acceleration_limits(robot, both)[both.index("RElbowPitch")] == bounds.acceleration[0]
    assert np.isinf(joint_bounds(robot, ("RElbowPitch",), acceleration=np.inf).acceleration).all()
    with pytest.raises(RetargetError, match=r"the acceleration limit of RElbowPitch is -1 rad/s²"):
        joint_bounds(robot, ("RElbowPitch",), acceleration=-1.0)
    with pytest.raises(RetargetError, match=r"acceleration given for Elbow, which is none of its joints"):
        joint_bounds(robot, ("RElbowPitch",), acceleration={"Elbow": 5.0})
    with pytest.raises(RetargetError, match=r"a margin of 2 rad leaves RElbowPitch no range"):
        joint_bounds(robot, ("RElbowPitch",), margin=2.0)
    robot.model.effortLimit[robot.root_v + robot.joint_names.index("RElbowPitch")] = 0.0
    with pytest.raises(RetargetError, match=r"RElbowPitch has no torque limit"):
        acceleration_limits(robot, ("RElbowPitch",))
