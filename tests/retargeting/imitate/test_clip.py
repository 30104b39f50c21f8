"""Frames of a clip solved together: as one dense problem, inside limits, and in windows as in one piece."""

from copy import copy

import numpy as np
import pytest
from imitated_by_hand import HandCosts
from scipy.optimize import lsq_linear

from simbench.retargeting.imitate import clip, plan
from simbench.retargeting.imitate.clip import Barriers, solve_clip
from simbench.retargeting.imitate.problem import initial_configuration, step_from
from simbench.retargeting.match.body import place_points

CENTRES = ("hip", "knee", "ankle", "shoulder", "elbow", "wrist")
SPEED = 4.0
"""Limit of the joints' speed, rad/s: the person is faster."""


def changed(problem, **parts):
    """The problem with other limits."""
    other = copy(problem)
    for name, value in parts.items():
        setattr(other, name, value)
    return other


def narrow(problem):
    """A fifth of the range of the joints, about rest."""
    rest = problem.body.rest[problem.body.joints]
    half = 0.1 * (problem.upper - problem.lower)
    middle = np.clip(rest, problem.lower + half, problem.upper - half)
    return changed(problem, lower=middle - half, upper=middle + half)


def limit_speed(problem):
    speed = np.r_[np.full(6, np.inf), np.full(problem.nv - 6, SPEED)]
    return changed(problem, speed=speed)


def improve(problem, q, residuals):
    """Cost of a clip, and its least one after three dense Gauss-Newton steps inside the limits.

    Derivatives are differences of residuals by hand.
    """
    count, h = len(q), 1e-6
    joints = q[:, 7 + problem.body.joints]
    free = np.full((count, 6), np.inf)
    lower, upper = (
        np.hstack([-free, problem.lower - joints]).ravel(),
        np.hstack([free, problem.upper - joints]).ravel(),
    )

    def moved(step):
        return residuals(step_from(problem, q, step.reshape(count, -1)))

    step = np.zeros(count * problem.nv)
    costs = [0.5 * float((moved(step) ** 2).sum())]
    for _ in range(3):
        rows = np.eye(len(step))
        slope = np.column_stack([(moved(step + h * row) - moved(step - h * row)) / (2.0 * h) for row in rows])
        # Room for rounding: no bound may be its opposite.
        bounds = (lower - step - 1e-10, upper - step + 1e-10)
        further = lsq_linear(slope, -moved(step), bounds).x
        tried = [step + fraction * further for fraction in (1.0, 0.5, 0.25, 0.1, 0.03, 0.01)]
        step = min(tried, key=lambda each: (moved(each) ** 2).sum())
        costs.append(0.5 * float((moved(step) ** 2).sum()))
    return costs[0], min(costs)


@pytest.mark.parametrize(
    ("count", "limits", "better"),
    # At limits, the solution is not exact.
    [*((count, "far", 1e-3) for count in (1, 2, 3, 4, 6)), (4, "near", 0.06), (6, "near", 0.06)],
)
def test_dense_steps_find_nothing_better(walk_problem, monkeypatch, count, limits, better):
    problem = limit_speed(walk_problem.at_samples(np.arange(20, 20 + count)))
    problem = narrow(problem) if limits == "near" else problem
    monkeypatch.setattr(clip, "_SHORTEST_START", 0.1)
    monkeypatch.setattr(clip, "_CONVERGED", 1e-7)
    monkeypatch.setattr(clip, "_IMPROVED", 1e-9)
    interval = float(np.diff(walk_problem.targets.time).mean())
    guess = np.repeat(initial_configuration(problem)[None], count, axis=0)
    # Almost undamped: the test asks where it ends, not how fast limbs that are nearly straight get there.
    q = solve_clip(problem, guess, slice(0, count), rounds=400, least_damping=1e-5)
    joints = q[:, 7 + problem.body.joints]
    assert ((joints == problem.lower) | (joints == problem.upper)).any() == (limits == "near")
    hand = HandCosts(problem)
    cost, least = improve(problem, q, lambda each: hand.clip(each, interval))
    assert least > (1.0 - better) * cost


def test_no_joint_leaves_its_limits(walk_problem):
    problem = limit_speed(narrow(walk_problem))
    count = len(problem.targets.time)
    guess = np.repeat(initial_configuration(problem)[None], count, axis=0)
    joints = solve_clip(problem, guess, slice(0, count))[:, 7 + problem.body.joints]
    assert (joints >= problem.lower).all()
    assert (joints <= problem.upper).all()
    assert (joints == problem.upper).any()


def test_a_joint_beside_its_limit_by_rounding_moves_as_one_on_it(walk_problem):
    problem = limit_speed(narrow(walk_problem))
    count = len(problem.targets.time)
    guess = np.repeat(initial_configuration(problem)[None], count, axis=0)
    on_limits = solve_clip(problem, guess, slice(0, count), rounds=3)
    beside, columns = on_limits.copy(), 7 + problem.body.joints
    inside = np.clip(beside[:, columns], problem.lower + 1e-12, problem.upper - 1e-12)
    assert (inside != beside[:, columns]).sum() > 10
    beside[:, columns] = inside
    results = [solve_clip(problem, each, slice(0, count), rounds=3) for each in (on_limits, beside)]
    assert np.abs(results[0] - on_limits).max() > 1e-3
    np.testing.assert_allclose(results[0], results[1], rtol=0.0, atol=1e-8)


def test_two_windows_give_nearly_the_motion_of_one(walk_problem, monkeypatch):
    barriers = Barriers(walk_problem.body)

    def solve():
        barriers.seen = None
        return plan.solve_windows(walk_problem, lambda q: barriers.rows(q, 0.005), lambda *_: None)

    whole = solve()
    monkeypatch.setattr(plan, "_WINDOW", 26)
    monkeypatch.setattr(plan, "_OVERLAP", 8)
    body = walk_problem.body
    centres = [k for k, name in enumerate(body.names) if name.split("_")[-1] in CENTRES]
    apart = place_points(body, solve()).points[:, centres] - place_points(body, whole).points[:, centres]
    distance = np.linalg.norm(apart, axis=2)
    assert 0.0 < distance.max() < 0.012
    assert distance.mean() < 0.002
