"""Capture steps: the pendulum's closed forms, reach, and places inside soles."""

import math

import numpy as np
import pytest

from simbench.balance.push_strategies import (
    FeetState,
    LegGeometry,
    choose_step,
    project_into_polygon,
    transform_footprint,
)
from simbench.kinematics.derivatives import quintic

SOLE = np.array([[0.13, 0.05], [-0.07, 0.05], [-0.07, -0.05], [0.13, -0.05]])
PIVOT = np.array([[0.1, 0.02], [-0.04, 0.02], [-0.04, -0.02], [0.1, -0.02]])
LEGS = LegGeometry(0.7, 2.0, np.array([SOLE, SOLE]), np.array([PIVOT, PIVOT]))
PLACE = np.array([[0.0, 0.1], [0.0, -0.1]])
OMEGA = 3.5


def test_a_step_puts_the_sole_where_the_pendulum_takes_the_capture_point():
    point = np.array([0.16, -0.05])
    step = choose_step(LEGS, OMEGA, point, FeetState(PLACE, np.zeros(2), np.array([400.0, 200.0]), 0))
    np.testing.assert_allclose(step.pivot, [0.1, -0.08], atol=1e-12)
    arrives = step.pivot + (point - step.pivot) * math.exp(OMEGA * step.duration)
    # Ahead is in reach; to the left of the standing foot both soles must have room side by side.
    assert step.target[0] == pytest.approx(arrives[0] - 0.03, abs=1e-3)
    assert step.target[1] == pytest.approx(-0.1 + 0.1 + 0.02)


def test_a_step_stays_in_reach():
    step = choose_step(LEGS, OMEGA, np.array([2.0, 0.0]), FeetState(PLACE, np.zeros(2), np.ones(2), 1))
    assert step.target[0] == pytest.approx(0.65 * 0.7)
    assert step.missed > 1.0


@pytest.mark.parametrize("yaw", [0.7, -2.1])
@pytest.mark.parametrize("point", [(0.16, -0.05), (-0.1, 0.3), (0.02, -0.4), (0.4, 0.2)])
def test_a_turned_robot_steps_the_same_as_seen_from_itself(yaw, point):
    """Feet of different headings, all turned about a point of the floor."""
    turn = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])
    middle, yaws, load = np.array([1.0, -2.0]), np.array([0.2, -0.1]), np.array([400.0, 200.0])
    ahead = choose_step(LEGS, OMEGA, np.array(point), FeetState(PLACE, yaws, load))
    turned = choose_step(
        LEGS, OMEGA, middle + turn @ point, FeetState(middle + PLACE @ turn.T, yaws + yaw, load)
    )
    np.testing.assert_allclose(turned.target, middle + turn @ ahead.target, atol=1e-9)
    np.testing.assert_allclose(turned.pivot, middle + turn @ ahead.pivot, atol=1e-9)
    assert (turned.foot, turned.duration) == (ahead.foot, pytest.approx(ahead.duration))
    assert ahead.missed == pytest.approx(turned.missed)


def test_the_nearest_point_of_a_turned_sole():
    corners = transform_footprint(SOLE, np.array([1.0, 2.0]), 0.5 * math.pi)
    assert corners[:, 0].min() == pytest.approx(0.95)
    assert corners[:, 1].max() == pytest.approx(2.13)
    np.testing.assert_allclose(project_into_polygon(np.array([1.0, 3.0]), corners), [1.0, 2.13], atol=1e-12)
    np.testing.assert_allclose(project_into_polygon(np.array([1.01, 2.0]), corners), [1.01, 2.0])


def test_a_quintic_starts_as_given_and_ends_at_rest():
    time = np.linspace(0.0, 0.4, 4001)
    way, rate = quintic(np.array([0.1]), np.array([0.3]), np.array([-2.0]), np.array([0.5]), 0.4, time)
    assert way[0, 0] == pytest.approx(0.1)
    assert way[-1, 0] == pytest.approx(0.5)
    assert rate[0, 0] == pytest.approx(0.3)
    assert rate[-1, 0] == pytest.approx(0.0, abs=1e-12)
    assert (rate[1, 0] - rate[0, 0]) / time[1] == pytest.approx(-2.0, abs=0.02)
    np.testing.assert_allclose(np.gradient(way[:, 0], time)[1:-1], rate[1:-1, 0], atol=1e-5)
