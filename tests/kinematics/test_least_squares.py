"""The least value of a quadratic in a box, against its optimality conditions and scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from simbench.kinematics.least_squares import solve_box


def problem(seed, size, tight, nearly_singular):
    """A least-squares problem with bounds: rows, right side, low, high."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(max(1, size - 2) if nearly_singular else size + 3, size))
    rows = np.vstack([rows, 1e-3 * np.eye(size)])
    right = np.concatenate([rng.normal(size=len(rows) - size), np.zeros(size)])
    low = np.where(rng.random(size) < 0.7, -tight * rng.random(size), -np.inf)
    high = np.where(rng.random(size) < 0.7, tight * rng.random(size), np.inf)
    return rows, right, low, high


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 21),
    tight=st.sampled_from([0.01, 0.3, 3.0]),
    nearly_singular=st.booleans(),
)
def test_no_coordinate_would_rather_be_elsewhere(seed, size, tight, nearly_singular):
    rows, right, low, high = problem(seed, size, tight, nearly_singular)
    matrix, vector = rows.T @ rows, rows.T @ right
    x = solve_box(matrix, vector, low, high)
    assert (x >= low).all()
    assert (x <= high).all()
    slope = matrix @ x - vector
    scale = 1e-7 * (1.0 + np.abs(vector).max())
    inside = (x > low) & (x < high)
    assert np.abs(slope[inside]).max(initial=0.0) < scale
    assert slope[x == low].min(initial=0.0) > -scale
    assert slope[x == high].max(initial=0.0) < scale


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_scipy(seed):
    rows, right, low, high = problem(seed, 12, 0.3, False)
    expected = lsq_linear(rows, right, (low, high), tol=1e-14, method="bvls").x
    np.testing.assert_allclose(solve_box(rows.T @ rows, rows.T @ right, low, high), expected, atol=1e-9)


def test_a_coordinate_without_room_stays():
    low, high = np.array([0.0, -1.0]), np.array([0.0, 1.0])
    # With x0 = 0: minimise ½·2·x1² − x1.
    x = solve_box(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([5.0, 1.0]), low, high)
    np.testing.assert_allclose(x, [0.0, 0.5], atol=1e-15)


def test_the_corner_is_found_by_enumeration():
    """Strongly coupled coordinates: clipping the free minimum would be wrong."""
    matrix = np.array([[1.0, 0.99], [0.99, 1.0]])
    vector = np.array([1.0, -1.0])
    low, high = np.full(2, -1.0), np.full(2, 1.0)
    grid = np.linspace(-1.0, 1.0, 401)
    a, b = np.meshgrid(grid, grid)
    value = 0.5 * (a * a + b * b + 1.98 * a * b) - a + b
    at = np.unravel_index(value.argmin(), value.shape)
    np.testing.assert_allclose(solve_box(matrix, vector, low, high), [a[at], b[at]], atol=0.005)
