"""Costs of single frames: values by Pinocchio, derivatives by differences, the minimum by SciPy."""

from copy import copy

import numpy as np
import pytest
from imitated_by_hand import HandCosts
from scipy.optimize import least_squares

from simbench.retargeting.imitate import clip
from simbench.retargeting.imitate.clip import solve_clip
from simbench.retargeting.imitate.problem import frame_costs, initial_configuration, step_from


@pytest.fixture
def guesses(walk_problem):
    """Configurations about the first guess, as many as there are frames."""
    count = len(walk_problem.targets.time)
    q = np.repeat(initial_configuration(walk_problem)[None], count, axis=0)
    step = np.random.default_rng(1).normal(scale=0.1, size=(count, walk_problem.nv))
    return step_from(walk_problem, q, step)


def test_costs_are_those_of_residuals_by_hand(walk_problem, guesses):
    costs = frame_costs(walk_problem, guesses, slice(None)).cost
    hand = HandCosts(walk_problem)
    squares = [0.5 * (hand.frame(q, frame) ** 2).sum() for frame, q in enumerate(guesses)]
    np.testing.assert_allclose(costs, squares, rtol=1e-10)


def test_gradients_are_those_of_finite_differences(walk_problem, guesses):
    found = frame_costs(walk_problem, guesses, slice(None)).gradient
    h, slope = 1e-6, np.empty_like(found)
    for column, step in enumerate(h * np.eye(walk_problem.nv)):
        ahead, behind = (
            frame_costs(
                walk_problem,
                step_from(walk_problem, guesses, sign * np.tile(step, (len(guesses), 1))),
                slice(None),
                derivatives=False,
            ).cost
            for sign in (1.0, -1.0)
        )
        slope[:, column] = (ahead - behind) / (2.0 * h)
    np.testing.assert_allclose(found, slope, atol=1e-6 * np.abs(slope).max())


@pytest.mark.parametrize("frame", [0, 25])
def test_a_frame_alone_costs_what_scipy_finds_from_the_same_guess(walk_problem, monkeypatch, frame):
    problem = copy(walk_problem)
    problem.speed = np.full(problem.nv, np.inf)
    hand = HandCosts(problem)
    guess, alone = initial_configuration(problem)[None], slice(frame, frame + 1)
    free = np.full(6, np.inf)
    start = guess[0, 7 + problem.body.joints]
    best = least_squares(
        lambda step: hand.frame(step_from(problem, guess, step[None])[0], frame),
        np.zeros(problem.nv),
        bounds=(np.r_[-free, problem.lower - start], np.r_[free, problem.upper - start]),
        ftol=1e-9,
        max_nfev=60,
    ).cost

    def cost():
        solved = solve_clip(problem, guess, alone, rounds=300)
        return 0.5 * (hand.frame(solved[0], frame) ** 2).sum()

    assert cost() < 1.01 * best
    # Where it goes on until nothing changes.
    monkeypatch.setattr(clip, "_CONVERGED", 1e-8)
    monkeypatch.setattr(clip, "_IMPROVED", 1e-10)
    assert cost() == pytest.approx(best, rel=1e-3)
