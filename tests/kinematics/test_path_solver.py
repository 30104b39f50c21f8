"""Coarse grids in time, and what is interpolated from them.

One step of the chain against a dense solution of the same equations.
The bounded path against a general solver on small problems, and the limits it promises between knots.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import make_interp_spline
from scipy.optimize import LinearConstraint, lsq_linear, minimize

from simbench.kinematics.path_solver import (
    AccelerationRows,
    PathBounds,
    PathCost,
    bounded_chain_step,
    chain_step,
    hold_between,
    interpolate_change,
    solve_bounded_path,
    time_grids,
)


@given(count=st.integers(1, 3000), rate=st.floats(1.0, 500.0))
def test_grids_end_with_all_samples_and_are_dense_enough(count, rate):
    time = 3.0 + np.arange(count) / rate
    *coarse, every = time_grids(time)
    np.testing.assert_array_equal(every, np.arange(count))
    assert len(coarse) <= 1
    for samples in coarse:
        assert samples[0] == 0
        assert samples[-1] == count - 1
        steps = np.diff(samples)
        assert (steps > 0).all()
        assert steps.max() > 1
        assert steps.max() / rate <= 1.0 / 12.5 + 1e-9
        assert len(samples) >= 16


@pytest.mark.parametrize("count", [16 * 8, 801, 2001])
def test_a_cubic_is_interpolated_exactly(count):
    time = np.arange(count) / 100.0
    samples, _ = time_grids(time)
    cubic = np.stack([time**3 - 2.0 * time, 1.0 - time**2], axis=1)
    np.testing.assert_allclose(interpolate_change(time, samples, cubic[samples]), cubic, rtol=1e-9, atol=1e-7)


def test_between_two_samples_is_held_what_both_hold_alike():
    samples = np.array([0, 3, 5, 6])
    held = np.array([[0, 1], [1, 1], [1, -1], [0, -1]], dtype=np.int8)
    expected = [[0, 1], [0, 1], [0, 1], [1, 1], [1, 0], [1, -1], [0, -1]]
    np.testing.assert_array_equal(hold_between(7, samples, held), expected)


def problem(seed, knots, count):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(knots, count + 2, count))
    blocks = np.einsum("kai,kaj->kij", factors, factors)
    x, gradient = rng.normal(size=(2, knots, count))
    stiffness = rng.uniform(0.1, 5.0, (knots - 1, count))
    return x, gradient, blocks, stiffness


def dense(x, gradient, blocks, stiffness):
    """Matrix and right-hand side of min Σ (½ dxᵀ B dx − gᵀ dx) + ½ Σ s (x + dx differences)²."""
    knots, count = x.shape
    matrix = np.zeros((knots * count, knots * count))
    side = gradient.ravel().copy()
    for knot in range(knots):
        place = slice(knot * count, (knot + 1) * count)
        matrix[place, place] += blocks[knot]
    for knot in range(knots - 1):
        for i in range(count):
            a, b = knot * count + i, (knot + 1) * count + i
            pick = np.zeros(knots * count)
            pick[a], pick[b] = -1.0, 1.0
            matrix += stiffness[knot, i] * np.outer(pick, pick)
            side -= stiffness[knot, i] * pick * (pick @ x.ravel())
    return matrix, side


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), knots=st.integers(2, 8), count=st.integers(1, 5))
def test_step_solves_the_dense_system(seed, knots, count):
    x, gradient, blocks, stiffness = problem(seed, knots, count)
    free = np.full(count, np.inf)
    matrix, side = dense(x, gradient, blocks, stiffness)
    expected = np.linalg.solve(matrix + 1e-6 * np.eye(len(matrix)), side).reshape(x.shape)
    given_blocks = blocks.copy()
    got = chain_step(x, gradient, blocks, stiffness, -free, free)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(blocks, given_blocks)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), knots=st.integers(2, 8), count=st.integers(1, 5))
def test_what_presses_on_a_limit_stays_and_the_rest_moves_as_if_it_were_rigid(seed, knots, count):
    x, gradient, blocks, stiffness = problem(seed, knots, count)
    low, high = np.full(count, -0.5), np.full(count, 0.5)
    x = np.clip(x, low, high)
    matrix, side = dense(x, gradient, blocks, stiffness)
    at = x.ravel()
    stays = ((at == -0.5) & (side < 0)) | ((at == 0.5) & (side > 0))
    expected = np.zeros(at.size)
    moves = ~stays
    matrix = matrix + 1e-6 * np.eye(len(matrix))
    expected[moves] = np.linalg.solve(matrix[np.ix_(moves, moves)], side[moves])
    got = chain_step(x, gradient, blocks, stiffness, low, high).ravel()
    assert (got[stays] == 0).all()
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9)


def test_repeated_steps_find_the_bounded_optimum():
    """Two knots pulled to 2 and −1 with unit stiffness, a spring of 1 between them, limits ±1."""
    x = np.zeros((2, 1))
    pull = np.array([[2.0], [-1.0]])
    limit = np.array([1.0])
    for _ in range(5):
        step = chain_step(x, pull - x, np.ones((2, 1, 1)), np.ones((1, 1)), -limit, limit)
        x = np.clip(x + step, -limit, limit)
    # First knot on its limit: unbounded it would be at 1; the second minimises (x + 1)² + (x − 1)².
    np.testing.assert_allclose(x, [[1.0], [0.0]], atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), knots=st.integers(3, 8), count=st.integers(1, 4), tight=st.booleans())
def test_bounded_steps_are_those_of_least_cost_in_the_box(seed, knots, count, tight):
    x, gradient, blocks, stiffness = problem(seed, knots, count)
    bending = np.random.default_rng(seed).uniform(0.0, 5.0, (knots - 2, count))
    low, high = np.full((2, *x.shape), 0.4 if tight else 1e6) * np.array([-1.0, 1.0])[:, None, None]
    x = np.clip(x, low, high)
    matrix, side = dense(x, gradient, blocks, stiffness)
    for knot in range(knots - 2):
        for i in range(count):
            pick = np.zeros(x.size)
            pick[[knot * count + i, (knot + 1) * count + i, (knot + 2) * count + i]] = (1.0, -2.0, 1.0)
            matrix += bending[knot, i] * np.outer(pick, pick)
            side -= bending[knot, i] * pick * (pick @ x.ravel())
    # min ½ sᵀ A s − bᵀ s = min ½ ‖Lᵀ s − L⁻¹ b‖² with A = L Lᵀ.
    factor = np.linalg.cholesky(matrix + 1e-6 * np.eye(len(matrix)))
    box = ((low - x).ravel(), (high - x).ravel())
    expected = lsq_linear(factor.T, np.linalg.solve(factor, side), box, method="bvls", tol=1e-14).x
    on_limit = None
    for _ in range(5):
        got, on_limit = bounded_chain_step(x, gradient, blocks, stiffness, bending, (low, high), on_limit)
        assert (x + got >= low - 1e-15).all()
        assert (x + got <= high + 1e-15).all()
    np.testing.assert_allclose(got.ravel(), expected, atol=1e-8)
    np.testing.assert_allclose((x + got)[on_limit != 0], np.where(on_limit > 0, high, low)[on_limit != 0])


def test_limits_of_the_step_before_are_released_where_they_do_not_hold_any_more():
    x, gradient, blocks, stiffness = problem(7, 6, 2)
    bending, far = np.ones((4, 2)), np.full(x.shape, 10.0)
    wrong = np.ones(x.shape, dtype=np.int8)
    free, _ = bounded_chain_step(x, gradient, blocks, stiffness, bending, (-far, far))
    got, on_limit = bounded_chain_step(x, gradient, blocks, stiffness, bending, (-far, far), wrong)
    np.testing.assert_allclose(got, free, atol=1e-12)
    assert not on_limit.any()


def test_without_springs_on_second_differences_the_step_is_that_of_springs_without_stiffness():
    x, gradient, blocks, stiffness = problem(3, 6, 2)
    box = np.full(x.shape, -0.4), np.full(x.shape, 0.4)
    x = np.clip(x, *box)
    none, _ = bounded_chain_step(x, gradient, blocks, stiffness, None, box, pivotings=20)
    zero, _ = bounded_chain_step(x, gradient, blocks, stiffness, np.zeros((4, 2)), box, pivotings=20)
    np.testing.assert_allclose(none, zero, atol=1e-12)


FREE = PathBounds(*(np.full(2, value) for value in (-50.0, 50.0, 1e4, 1e6)))
TIGHT = PathBounds(np.array([-0.6, -0.4]), np.array([0.5, 0.9]), np.array([4.0, 2.5]), np.array([60.0, 45.0]))


def bounded_problem(count, seed, n=2):
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
    time, preferred, cost = bounded_problem(9, seed=3)
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
    time, preferred, cost = bounded_problem(120, seed)
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
    time, preferred, cost = bounded_problem(40, seed=1)
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
    time, preferred, cost = bounded_problem(60, seed=2)
    speed = np.full((60, 2), 20.0)
    speed[25:35] = 0.5
    bounds = PathBounds(np.full((60, 2), -9.0), np.full((60, 2), 9.0), speed, np.full((60, 2), 1e3))
    path = solve_bounded_path(time, preferred, cost, bounds)
    fine = np.linspace(time[25], time[34], 500)
    assert np.abs(path.derivative(1)(fine)).max() <= 0.501
    assert np.abs(path.derivative(1)(np.linspace(time[0], time[-1], 2000))).max() > 1.0
