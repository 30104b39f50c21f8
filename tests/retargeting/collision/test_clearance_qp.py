"""The quadratic program of avoidance: smoothness by parabolas through samples, its step by a minimiser."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from simbench.retargeting.collision.clearance_qp import (
    Clearances,
    QpTerms,
    clearance_qp_step,
    multiply_smoothness,
    smoothness_matrix,
)


def dense(smoothness):
    samples = smoothness.shape[1]
    matrix = np.diag(smoothness[0])
    for offset in range(1, min(3, samples)):
        below = np.diag(smoothness[offset, : samples - offset], -offset)
        matrix = matrix + below + below.T
    return matrix


@pytest.mark.parametrize(("start", "end"), [(0, 9), (3, 7), (1, 9), (0, 4), (4, 5)])
def test_the_cost_is_that_of_the_parabolas_through_three_samples(start, end):
    rng = np.random.default_rng(0)
    time = np.cumsum(rng.uniform(0.01, 0.03, 9))
    whole = np.zeros(9)
    whole[start:end] = rng.normal(size=end - start)
    # Outside all is 0, and so are the parabolas that touch no sample of the displacement.
    curves = [2.0 * np.polyfit(time[k : k + 3] - time[k], whole[k : k + 3], 2)[0] for k in range(7)]
    expected = (whole**2).sum() + 0.1**4 * (np.array(curves) ** 2).sum()
    smoothness = smoothness_matrix(time, start, end, 0.1)
    displacement = whole[start:end]
    assert displacement @ dense(smoothness) @ displacement == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(
        multiply_smoothness(smoothness, displacement[:, None])[:, 0],
        dense(smoothness) @ displacement,
        rtol=1e-9,
    )


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**31), pressing=st.booleans())
def test_a_step_costs_least(seed, pressing):
    """Against sequential quadratic programming with hard limits, the cost written out over a dense matrix."""
    rng = np.random.default_rng(seed)
    samples, count, clearances = 8, 2, 12
    smoothness = 0.1 * smoothness_matrix(np.arange(12) * 0.02, 2, 10, 0.03)
    roots = rng.normal(size=(samples, count, count))
    blocks = np.einsum("sij,skj->sik", roots, roots)
    descent = rng.normal(size=(samples, count))
    owner = np.sort(rng.integers(0, samples, clearances))
    gradient, missing = rng.normal(size=(clearances, count)), rng.normal(size=clearances)
    bound = 0.2 if pressing else 50.0
    low, high = np.full((samples, count), -bound), np.full((samples, count), bound)
    terms = QpTerms(smoothness, blocks, descent, Clearances(owner, gradient, missing), low, high)

    matrix = np.kron(dense(smoothness), np.eye(count))
    rows = np.zeros((clearances, samples, count))
    rows[np.arange(clearances), owner] = gradient
    rows = rows.reshape(clearances, -1)
    for sample in range(samples):
        own = slice(count * sample, count * sample + count)
        matrix[own, own] += blocks[sample]

    def cost(step):
        left = np.maximum(missing - rows @ step, 0.0)
        value = 0.5 * (step @ matrix @ step + left @ left) - descent.ravel() @ step
        return value, matrix @ step - left @ rows - descent.ravel()

    step = clearance_qp_step(terms)
    assert (np.abs(step) <= bound + 1e-3).all()
    bounds = [(-bound, bound)] * (samples * count)
    options = {"ftol": 1e-14, "maxiter": 500}
    best = minimize(cost, np.zeros(samples * count), jac=True, bounds=bounds, method="SLSQP", options=options)
    # A limit gives way by a little, so the cost may be less than with hard ones, not more.
    assert cost(step.ravel())[0] <= best.fun + 1e-6
    np.testing.assert_allclose(step.ravel(), best.x, atol=2e-3)
