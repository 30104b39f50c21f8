"""One step of equation 4.23 in both its forms, NumPy and compiled, against the Lagrangian and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.kinematics.redundancy_body import compute_joint_limit_stiffness, make_plain_anatomy
from simbench.kinematics.redundancy_criteria import StepState
from simbench.kinematics.redundancy_law import set_objective
from simbench.kinematics.redundancy_step import (
    StepProblem,
    make_step_factors,
    manipulability_gradient,
    solve_step,
)
from simbench.motion.actors.palm_control import (
    compute_manipulability_gradient,
    compute_objective,
    joint_limit_stiffness,
    solve_dense_step,
)


def constrained_least(weight, linear_term, jacobian, error):
    """Solve the whole system of the Lagrangian: min ½ mᵀWm - wᵀm with Jm = e."""
    count, rows = len(linear_term), len(error)
    system = np.block([[weight, jacobian.T], [jacobian, np.zeros((rows, rows))]])
    return np.linalg.solve(system, np.concatenate([linear_term, error]))[:count]


def problem(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(17, 17))
    weight = root @ root.T + 0.5 * np.eye(17)
    return weight, rng.normal(size=17), rng.normal(size=(11, 17)), 0.3 * rng.normal(size=11)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_unbounded_moves_are_those_of_the_lagrangian(seed):
    weight, linear_term, jacobian, error = problem(seed)
    wide = np.full(17, np.inf)
    move, solution = solve_dense_step(weight, linear_term, jacobian, error, -wide, wide)
    np.testing.assert_allclose(
        move, constrained_least(weight, linear_term, jacobian, error), rtol=1e-6, atol=1e-7
    )
    np.testing.assert_allclose(jacobian @ solution, np.eye(11), atol=1e-7)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_bounded_moves_keep_bounds_and_constraint_and_are_best_in_the_joints_that_are_left(seed):
    weight, linear_term, jacobian, error = problem(seed)
    free, _ = solve_dense_step(
        weight, linear_term, jacobian, error, np.full(17, -np.inf), np.full(17, np.inf)
    )
    widest = int(np.abs(free).argmax())
    bound = np.full(17, np.inf)
    bound[widest] = 0.6 * abs(free[widest])
    move, _ = solve_dense_step(weight, linear_term, jacobian, error, -bound, bound)
    assert abs(move[widest]) == pytest.approx(bound[widest])
    np.testing.assert_allclose(jacobian @ move, error, atol=1e-6)
    others = np.arange(17) != widest
    rest = linear_term[others] - weight[np.ix_(others, ~others)] @ move[~others]
    best = constrained_least(
        weight[np.ix_(others, others)],
        rest,
        jacobian[:, others],
        error - jacobian[:, ~others] @ move[~others],
    )
    np.testing.assert_allclose(move[others], best, rtol=1e-5, atol=1e-6)


def test_too_few_joints_within_their_bounds_give_no_move():
    weight, linear_term, jacobian, error = problem(1)
    assert (
        solve_dense_step(weight, linear_term, jacobian, error, np.full(17, -1e-9), np.full(17, 1e-9)) is None
    )


def solve_compiled(weight, linear_term, jacobian, error, lower, upper):
    size, rows = len(linear_term), len(error)
    problem = StepProblem(weight, linear_term, np.ascontiguousarray(jacobian.T), error, lower, upper)
    locked, step = np.zeros(size, dtype=bool), np.zeros(size)
    solved = solve_step(problem, np.inf, False, locked, step, make_step_factors(size, rows))
    return step if solved else None


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.3, 3.0))
def test_both_forms_take_the_same_step(seed, scale):
    weight, linear_term, jacobian, error = problem(seed)
    wide = np.full(17, np.inf)
    free = solve_dense_step(weight, linear_term, jacobian, error, -wide, wide)[0]
    # Some joints meet their bounds, and at a small scale all of them.
    bound = scale * np.quantile(np.abs(free), 0.8) * np.ones(17)
    dense = solve_dense_step(weight, linear_term, jacobian, error, -bound, bound)
    compiled = solve_compiled(weight, linear_term, jacobian, error, -bound, bound)
    assert (dense is None) == (compiled is None)
    if dense is not None:
        np.testing.assert_allclose(compiled, dense[0], rtol=1e-6, atol=1e-6 * np.abs(free).max())


@pytest.mark.parametrize("weights", [*np.eye(4), [0.4, 0.3, 0.2, 0.1]])
def test_both_forms_have_the_same_objective(weights):
    rng = np.random.default_rng(7)
    root = rng.normal(size=(17, 17))
    state = StepState(
        inertia=root @ root.T,
        stiffness=rng.uniform(1.0, 5.0, 17),
        habit_step=rng.normal(size=17),
        effort_coupling=rng.normal(size=17),
        ergonomic_coupling=rng.normal(size=17),
        ergonomic_offset=rng.normal(size=17),
        gradient=rng.normal(size=17),
    )
    weights = np.array(weights)
    # Without inertia in the objective nothing couples.
    if weights[0] == 0.0 and weights[2] == 0.0:
        state = state._replace(effort_coupling=np.zeros(17))
    weight, linear_term = compute_objective(weights, 0.01, 400.0, state)
    theirs, term = np.zeros((17, 17)), np.zeros(17)
    set_objective(weights, 0.01, 400.0, state, theirs, term)
    np.testing.assert_allclose(np.tril(weight), np.tril(theirs), rtol=1e-12)
    np.testing.assert_allclose(linear_term, term, rtol=1e-9, atol=1e-9)


def test_both_forms_stiffen_joints_alike():
    rng = np.random.default_rng(2)
    lower, upper = -rng.uniform(0.5, 2.0, 17), rng.uniform(0.5, 2.0, 17)
    anatomy = make_plain_anatomy(17)._replace(free_fraction=0.7, stiffening=45.0, lower=lower, upper=upper)
    q, stiffness = rng.uniform(lower, upper), np.zeros(17)
    q[0], q[1] = upper[0], 0.5 * (lower[1] + upper[1])
    compute_joint_limit_stiffness(anatomy, q, stiffness)
    np.testing.assert_allclose(joint_limit_stiffness(q, lower, upper, 0.7, 45.0), stiffness, rtol=1e-12)
    assert stiffness[0] == pytest.approx(1.0 + 45.0 * 0.3**2)
    assert stiffness[1] == 1.0


def test_both_forms_have_the_same_gradient_of_manipulability():
    rng = np.random.default_rng(4)
    twists = rng.normal(size=(2, 6, 17))
    # Three joints of a trunk move both hands, seven of each arm one.
    twists[0, :, 10:], twists[1, :, 3:10] = 0.0, 0.0
    gradient = np.zeros(17)
    manipulability_gradient(np.ascontiguousarray(twists.reshape(12, 17).T), gradient)
    size = np.abs(gradient).max()
    np.testing.assert_allclose(compute_manipulability_gradient(twists), gradient, atol=1e-12 * size)


@pytest.mark.parametrize("factor", [0.7, 1.4])
def test_a_task_that_hardly_moves_beside_another_is_singular(factor):
    """J W⁻¹ Jᵀ is diag(1, r²): its Cholesky factor has the pivots 1 and r, and 1e-6 is the least."""
    smallest = 1e-6 * factor
    jacobian = np.zeros((2, 4))
    jacobian[0, 0], jacobian[1, 1] = 1.0, smallest
    wide = np.full(4, np.inf)
    step = solve_compiled(np.eye(4), np.zeros(4), jacobian, np.array([0.1, 0.1 * smallest]), -wide, wide)
    if factor < 1.0:
        assert step is None
    else:
        np.testing.assert_allclose(step, [0.1, 0.1, 0.0, 0.0], atol=1e-9)
