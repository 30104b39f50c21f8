"""Laws of one step: eq. 4.23 against a KKT solve, single criteria as limits, limits of joints."""

import dataclasses

import numpy as np
import pytest
from single_laws import energy_law, ergonomics_law, manipulability_law, velocity_law, weighted_law

from simbench.errors import SkillError
from simbench.kinematics.redundancy_criteria import CRITERIA, Quadratic, compute_weighted_sum
from simbench.kinematics.redundancy_law import make_scratch
from simbench.kinematics.redundancy_step import StepProblem, make_step_factors, solve_step
from simbench.skills.law_motion import check_weights, observe


def forms(task, state):
    return [criterion(task.body, state) for criterion in CRITERIA.values()]


def by_kkt(objective, jacobian, twist):
    """Joint speeds and multipliers of the quadratic programme, all in one indefinite system."""
    rows, size = jacobian.shape
    whole = np.block([[objective.weight, jacobian.T], [jacobian, np.zeros((rows, rows))]])
    return np.linalg.solve(whole, np.concatenate([-objective.linear, twist]))[:size]


def largest_difference(a, b):
    return np.abs(a - b).max() / max(1.0, np.abs(b).max())


def test_weighted_law_solves_its_quadratic_programme(whole_body, states):
    rng = np.random.default_rng(1)
    for _, state, twist in states:
        for weights in rng.dirichlet(np.ones(4), 5):
            objective = compute_weighted_sum(forms(whole_body, state), weights)
            speed = weighted_law(objective, state.jacobian, twist)
            assert largest_difference(speed, by_kkt(objective, state.jacobian, twist)) < 1e-9
            np.testing.assert_allclose(state.jacobian @ speed, twist, atol=1e-10)


def test_weighted_law_is_the_thesis_formula(whole_body, states):
    _, state, twist = states[0]
    energy, velocity, ergonomy, manipulability = weights = np.array([0.3, 0.2, 0.4, 0.1])
    a, j, dt, body = state.inertia, state.jacobian, state.period, whole_body.body
    k = np.linalg.inv((energy + ergonomy * dt**2) * a + (velocity + manipulability) * np.eye(len(state.q)))
    push = -CRITERIA["manipulability"](body, state).linear
    b = ergonomy * dt * a @ (state.q - body.ergonomic[body.resolved]) - manipulability * push
    printed = k @ (j.T @ np.linalg.inv(j @ k @ j.T) @ (twist + j @ k @ b) - b)
    speed = weighted_law(compute_weighted_sum(forms(whole_body, state), weights), j, twist)
    assert largest_difference(speed, printed) < 1e-9


@pytest.mark.parametrize("name", CRITERIA)
def test_single_criterion_is_the_limit_of_the_weighted_law(whole_body, states, name):
    body = whole_body.body
    for _, state, twist in states:
        alone = {
            "energy": lambda s, x: energy_law(s, x),
            "velocity": lambda s, x: velocity_law(s, x),
            "ergonomy": lambda s, x: ergonomics_law(body, s, x),
            "manipulability": lambda s, x: manipulability_law(body, s, x),
        }[name](state, twist)
        away = []
        # Ergonomy enters by A Δt², the others by A or 1.
        scale = state.period**2 if name == "ergonomy" else 1.0
        for rest in (1e-5 * scale, 1e-6 * scale, 1e-7 * scale, 1e-8 * scale, 0.0):
            weights = np.where(np.array(list(CRITERIA)) == name, 1.0 - rest, rest / 3.0)
            speed = weighted_law(
                compute_weighted_sum(forms(whole_body, state), weights), state.jacobian, twist
            )
            away.append(largest_difference(speed, alone))
        assert away[-1] < 1e-9
        assert away[-2] < 2e-3
        # The nearer the weight is to 1, the nearer the law: in proportion.
        assert away[3] < 0.2 * away[2] < 0.04 * away[1]


def test_criteria_are_their_definitions(whole_body, states):
    rng = np.random.default_rng(3)
    body = whole_body.body
    for _, state, _ in states:
        speed = rng.normal(size=len(state.q))
        energy, velocity, ergonomy, manipulability = (form(speed) for form in forms(whole_body, state))
        assert energy == pytest.approx(0.5 * speed @ state.inertia @ speed)
        assert velocity == pytest.approx(0.5 * speed @ speed)
        away = state.q + state.period * speed - body.ergonomic[body.resolved]
        assert ergonomy == pytest.approx(0.5 * away @ state.inertia @ away)
        push = -CRITERIA["manipulability"](body, state).linear
        assert manipulability == pytest.approx(0.5 * (speed - push) @ (speed - push))


def test_joint_at_a_limit_is_locked_and_the_rest_solved_again(whole_body, states):
    _, state, twist = states[0]
    weight, columns = state.inertia + np.eye(len(state.q)), np.ascontiguousarray(state.jacobian.T)
    linear_term, error = np.zeros(len(state.q)), 0.01 * twist
    size, rows = columns.shape

    def solve(lower, upper):
        locked, move = np.zeros(size, dtype=bool), np.empty(size)
        problem = StepProblem(weight, linear_term, columns, error, lower, upper)
        done = solve_step(problem, np.inf, False, locked, move, make_step_factors(size, rows))
        return done, locked, move

    free = np.full(size, np.inf)
    done, locked, move = solve(-free, free)
    assert done
    assert not locked.any()
    joint = int(np.argmax(np.abs(move)))
    bound = 0.5 * abs(move[joint])
    lower, upper = -free, free.copy()
    lower[joint], upper[joint] = -bound, bound
    done, locked, clamped = solve(lower, upper)
    assert done
    np.testing.assert_array_equal(np.flatnonzero(locked), [joint])
    assert abs(clamped[joint]) == bound
    # Independently: the same programme with one more equality.
    rest = np.arange(size) != joint
    objective = Quadratic(weight[np.ix_(rest, rest)], weight[rest, joint] * clamped[joint])
    left = error - columns[joint] * clamped[joint]
    np.testing.assert_allclose(clamped[rest], by_kkt(objective, columns[rest].T, left), atol=1e-10)
    np.testing.assert_allclose(columns.T @ clamped, error, atol=1e-12)
    assert not solve(np.zeros(size), np.zeros(size))[0]


@pytest.mark.parametrize(
    "weights", [[0.5, 0.5, 0.5, 0.5], [1.2, -0.2, 0.0, 0.0], [np.nan, 0.5, 0.5, 0.0], [0.5, 0.5], [[[1.0]]]]
)
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(SkillError):
        check_weights(weights, 4)


def test_prescribed_motion_is_part_of_what_is_minimised(whole_body, arms, states):
    """The least Φ of all coordinates with the speeds of some of them given, by a KKT solve of the whole."""
    rng = np.random.default_rng(8)
    body, dt = arms.body, arms.constants.period
    prescribed = np.setdiff1d(np.arange(21), body.resolved)
    assert [arms.names[k] for k in body.manipulating if k in prescribed] == ["BaseRoll", "BasePitch"]
    for q, state, twist in states:
        given = rng.normal(0.0, 0.5, len(prescribed))
        scratch = make_scratch(body)
        scratch.prescribed_step[prescribed] = dt * given
        seen = observe(body, arms.constants, q, scratch)
        energy, velocity, ergonomy = rng.dirichlet(np.ones(3))
        speed = weighted_law(
            compute_weighted_sum(forms(arms, seen), np.array([energy, velocity, ergonomy, 0.0])),
            seen.jacobian,
            twist,
        )
        a = state.inertia
        before = q - body.ergonomic
        before[prescribed] -= dt * given
        whole = Quadratic(
            energy * a + velocity * np.eye(21) + ergonomy * dt**2 * a, ergonomy * dt * a @ before
        )
        # v_t = given, J v = what the hands do, of which the prescribed part is done already.
        fixed = np.eye(21)[prescribed]
        constraints = np.vstack([state.jacobian, fixed])
        wanted = np.concatenate([twist + state.jacobian[:, prescribed] @ given, given])
        expected = by_kkt(whole, constraints, wanted)
        assert largest_difference(speed, expected[body.resolved]) < 1e-9
        # Without it the arms would move otherwise.
        blind = dataclasses.replace(
            seen, effort_coupling=0.0 * seen.effort_coupling, ergonomic_coupling=0.0 * seen.ergonomic_coupling
        )
        other = weighted_law(
            compute_weighted_sum(forms(arms, blind), np.array([energy, velocity, ergonomy, 0.0])),
            seen.jacobian,
            twist,
        )
        assert largest_difference(other, speed) > 1e-5
