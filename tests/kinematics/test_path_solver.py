"""One step of the chain against a dense solution of the same equations."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from simbench.kinematics.path_solver import bounded_chain_step, chain_step


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
