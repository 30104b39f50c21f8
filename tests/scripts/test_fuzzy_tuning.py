from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from script_modules import loaded_script

from simbench.errors import SkillError
from simbench.skills.fuzzy_rules import INPUTS
from simbench.skills.fuzzy_strategy import infer

with loaded_script("reproduce/tomic2018/fuzzy_tuning.py") as tuning:
    THESIS_MEMBERSHIPS = tuning.THESIS_MEMBERSHIPS
    flatten_memberships = tuning.flatten_memberships
    compute_dominance_loss = tuning.compute_dominance_loss
    make_constraints = tuning.make_constraints
    tune_memberships = tuning.tune_memberships


@pytest.fixture(scope="module")
def recordings():
    """Inputs, and the weights that other terms than the thesis's make of them."""
    hidden = replace(
        THESIS_MEMBERSHIPS,
        inputs=THESIS_MEMBERSHIPS.inputs
        | {
            "vElbowYaw": ((0.0, 0.25), (0.65, 0.0625), (1.0, 0.0625)),
            "vShoulderPitch": ((0.0, 0.0625), (0.35, 0.25), (1.0, 0.25)),
            "vShoulderYaw": ((0.0, 0.25), (0.35, 0.0625), (1.0, 0.25)),
            "vTrunkPitch": ((0.0, 0.125), (1.0, 0.125)),
        },
    )
    values = np.random.default_rng(8).uniform(size=(600, len(INPUTS)))
    values[:, INPUTS.index("vTrunkPitch")] *= 0.5
    weights = infer(values, hidden)[3]
    # As many of each kind.
    each = [np.flatnonzero(weights.argmax(axis=1) == kind)[:20] for kind in range(3)]
    assert [len(kind) for kind in each] == [20, 20, 20]
    chosen = np.concatenate(each)
    return values[chosen], weights[chosen]


def test_gradient_is_that_of_the_loss(recordings):
    values, weights = recordings
    dominant = weights.argmax(axis=1)
    rng = np.random.default_rng(2)
    # Away from the values at which rules have two least conditions.
    middle = flatten_memberships(THESIS_MEMBERSHIPS)
    parameters = np.clip(middle + rng.uniform(0.0, 0.03, len(middle)), 0.01, 1.0)
    loss, gradient = compute_dominance_loss(parameters, values, dominant)
    numerical = approx_fprime(parameters, lambda p: compute_dominance_loss(p, values, dominant)[0], 1e-7)
    assert loss > 0.0
    assert np.abs(gradient).max() > 0.1
    np.testing.assert_allclose(gradient, numerical, atol=2e-6)


def test_tuning_finds_terms_that_agree_and_keeps_limits(recordings):
    values, weights = recordings
    dominant = weights.argmax(axis=1)
    by_hand = (infer(values, THESIS_MEMBERSHIPS)[3].argmax(axis=1) == dominant).mean()
    tuned = tune_memberships(values, weights, seed=3, starts=2, hops=2)
    once, again = (tune_memberships(values, weights, seed=3, starts=1, hops=0) for _ in range(2))
    assert once == again
    assert len(tuned.losses) == 4
    assert tuned.losses[-1] == min(tuned.losses) < tuned.losses[0]
    agreed = (infer(values, tuned.memberships)[3].argmax(axis=1) == dominant).mean()
    assert by_hand < 0.85
    assert agreed >= 0.95
    bounds, order = make_constraints()
    numbers = flatten_memberships(tuned.memberships)
    assert (numbers >= bounds.lb).all()
    assert (numbers <= bounds.ub).all()
    assert (order.A @ numbers >= order.lb - 1e-6).all()


@pytest.mark.parametrize("weights", [np.zeros((3, 3)), np.ones((3, 4)), np.ones((2, 3))])
def test_weights_must_fit(weights):
    with pytest.raises(SkillError):
        tune_memberships(np.full((3, len(INPUTS)), 0.5), weights, seed=1)
