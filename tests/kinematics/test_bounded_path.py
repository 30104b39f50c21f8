"""The bounded path against a general solver on small problems, and the limits it promises between knots."""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline
from scipy.optimize import LinearConstraint, minimize

from simbench.kinematics.bounded_path import AccelerationRows, PathBounds, PathCost, solve_bounded_path

FREE = PathBounds(*(np.full(2, value) for value in (-50.0, 50.0, 1e4, 1e6)))
TIGHT = PathBounds(np.array([-0.6, -0.4]), np.array([0.5, 0.9]), np.array([4.0, 2.5]), np.array([60.0, 45.0]))


def problem(count, seed, n=2):
    random = np.random.default_rng(seed)
    time = 0.02 * np.arange(count)
    preferred = 0.5 * np.cumsum(random.normal(size=(count, n)), axis=0) / np.sqrt(count)
    factors = random.normal(size=(count, n, n))
    blocks = factors @ factors.transpose(0, 2, 1) + 0.3 * np.eye(n)
    return time, preferred, PathCost(blocks, np.zeros_like(preferred), np.zeros_like(blocks))


def spline_matrix(time, derivative, at):
    """Values at times of a derivative of the interpolating splines of unit coefficients."""
    spline = make_interp_spline(time, np.eye(len(time)), k=3)
    spline.c = np.eye(len(time))
    return spline.derivative(derivative)(at) if derivative else spline(at)


def test_the_same_minimum_as_a_general_solver():
    time, preferred, cost = problem(9, seed=3)
    combined = AccelerationRows(
        np.random.default_rng(5).normal(size=(9, 3, 2)), np.full((9, 3), -40.0), np.full((9, 3), 55.0)
    )
    inertia = 1e-5 * np.tile([[2.0, 0.5], [0.5, 1.0]], (9, 1, 1))
    drift = 0.02 * np.random.default_rng(6).normal(size=preferred.shape)
    cost = PathCost(cost.blocks, drift, inertia)
    found = solve_bounded_path(time, preferred, cost, TIGHT, combined)

    wanted = make_interp_spline(time, preferred, k=3).c
    # The knots of the spline, where its acceleration has its coefficients.
    at = np.array([0, 2, 3, 4, 5, 6, 8])
    bend = spline_matrix(time, 2, time[at])
    knots = found.t
    rate = np.zeros((8, 9))
    for i in range(8):
        rate[i, i : i + 2] = np.array([-3.0, 3.0]) / (knots[i + 4] - knots[i + 1])

    def value(flat):
        away = flat.reshape(9, 2) - wanted
        acceleration = bend @ flat.reshape(9, 2)
        return (
            0.5 * np.einsum("ki,kij,kj->", away, cost.blocks, away)
            - np.sum(drift * away)
            + 0.5 * np.einsum("ki,kij,kj->", acceleration, inertia[at], acceleration)
        )

    def slope(flat):
        away = flat.reshape(9, 2) - wanted
        acceleration = bend @ flat.reshape(9, 2)
        pull = np.einsum("kij,kj->ki", cost.blocks, away) - drift
        return (pull + bend.T @ np.einsum("kij,kj->ki", inertia[at], acceleration)).ravel()

    double = np.eye(2)
    rows = np.einsum("kri,kc->krci", combined.matrix[at], bend).reshape(-1, 18)
    constraints = [
        LinearConstraint(np.eye(18), np.tile(TIGHT.lower, 9), np.tile(TIGHT.upper, 9)),
        LinearConstraint(np.kron(rate, double / TIGHT.speed[:, None]), -1.0, 1.0),
        LinearConstraint(np.kron(bend, double / TIGHT.acceleration[:, None]), -1.0, 1.0),
        LinearConstraint(rows / 50.0, -0.8, 1.1),
    ]
    general = minimize(
        value, np.zeros(18), jac=slope, method="SLSQP", constraints=constraints, options={"ftol": 1e-12}
    )
    assert general.success
    # Limits bind: without them it is another path.
    assert np.abs(solve_bounded_path(time, preferred, cost, FREE).c - found.c).max() > 0.05
    assert value(found.c.ravel()) == pytest.approx(general.fun, rel=1e-4, abs=1e-6)
    np.testing.assert_allclose(found.c, general.x.reshape(9, 2), atol=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_limits_hold_between_the_knots(seed):
    time, preferred, cost = problem(120, seed)
    combined = AccelerationRows(
        np.tile([[1.0, 1.0]], (120, 1, 1)), np.full((120, 1), -30.0), np.full((120, 1), 30.0)
    )
    path = solve_bounded_path(time, 3.0 * preferred, cost, TIGHT, combined)
    fine = np.linspace(time[0], time[-1], 12001)
    position, speed, acceleration = (path.derivative(order)(fine) for order in range(3))
    assert (position <= TIGHT.upper + 1e-3).all()
    assert (position >= TIGHT.lower - 1e-3).all()
    for value, limit in ((speed, TIGHT.speed), (acceleration, TIGHT.acceleration)):
        assert (np.abs(value).max(axis=0) <= 1.001 * limit).all()
        # No narrower than need be: limits that bind are used.
        assert (np.abs(value).max(axis=0) >= 0.9 * limit).any()
    assert np.abs(acceleration.sum(axis=1)).max() <= 30.03
    # What interpolates finely sampled positions is the same curve.
    samples = time[0] + 0.005 * np.arange(477)
    again = make_interp_spline(samples, path(samples), k=3)
    np.testing.assert_allclose(again.derivative(2)(fine), acceleration, atol=1e-6)


def test_wide_limits_change_nothing():
    time, preferred, cost = problem(40, seed=1)
    path = solve_bounded_path(time, preferred, cost, FREE)
    np.testing.assert_allclose(path(time), preferred, atol=1e-4)


def test_a_symmetric_motion_stays_symmetric():
    """What is the same forwards and backwards has no lag."""
    time = 0.02 * np.arange(101)
    wave = np.sin(2 * np.pi * 1.5 * (time - time[50]))[:, None] * [1.0, -0.7]
    cost = PathCost(np.tile(np.eye(2), (101, 1, 1)), np.zeros((101, 2)), np.zeros((101, 2, 2)))
    bounds = PathBounds(np.full(2, -2.0), np.full(2, 2.0), np.full(2, 5.0), np.full(2, 40.0))
    path = solve_bounded_path(time, wave, cost, bounds)(time)
    assert np.abs(path - wave).max() > 0.1
    np.testing.assert_allclose(path, -path[::-1], atol=1e-3)


def test_limits_may_differ_from_knot_to_knot():
    time, preferred, cost = problem(60, seed=2)
    speed = np.full((60, 2), 20.0)
    speed[25:35] = 0.5
    bounds = PathBounds(np.full((60, 2), -9.0), np.full((60, 2), 9.0), speed, np.full((60, 2), 1e3))
    path = solve_bounded_path(time, preferred, cost, bounds)
    fine = np.linspace(time[25], time[34], 500)
    assert np.abs(path.derivative(1)(fine)).max() <= 0.501
    assert np.abs(path.derivative(1)(np.linspace(time[0], time[-1], 2000))).max() > 1.0


def test_without_a_path_there_is_an_error():
    time, preferred, cost = problem(20, seed=0)
    lower, upper = np.full((20, 2), -1.0), np.full((20, 2), 1.0)
    # From below to above within two knots, at a speed that takes ten.
    upper[:10], lower[10:] = -0.5, 0.5
    bounds = PathBounds(lower, upper, np.full(2, 5.0), np.full(2, 1e4))
    with pytest.raises(ArithmeticError, match="no path within its limits"):
        solve_bounded_path(time, preferred, cost, bounds)
