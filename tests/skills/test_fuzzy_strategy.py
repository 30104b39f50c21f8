import sys
from dataclasses import replace

import numpy as np
import pytest
import skfuzzy
from script_modules import loaded_script

from simbench.errors import SkillError
from simbench.skills.fuzzy_rules import (
    DISTANCES,
    INPUT_TERMS,
    INPUTS,
    OUTPUT_TERMS,
    OUTPUTS,
    RULES,
    THESIS_RULES,
    read_shipped_memberships,
)
from simbench.skills.fuzzy_strategy import (
    ExampleRules,
    compute_fuzzy_inputs,
    detect_strategy,
    infer,
    read_shipped_examples,
)

with loaded_script("reproduce/tomic2018/fuzzy_tuning.py") as tuning:
    INITIAL_MEMBERSHIPS = tuning.INITIAL_MEMBERSHIPS


def weights_one_by_one(values, memberships):
    """Equation 5.4 as it is printed: by each rule's own clipped output set, looked at where it is highest."""
    universe = np.linspace(0.0, 1.0, 10001)
    means = []
    for place, output in enumerate(OUTPUTS):
        above = below = 0.0
        for rule in RULES:
            degrees = []
            for name, term in rule.conditions:
                a, b = memberships.inputs[name][INPUT_TERMS[name].index(term)]
                shape = skfuzzy.zmf if name in DISTANCES else skfuzzy.gaussmf
                degrees.append(shape(np.array([values[INPUTS.index(name)]]), a, b)[0])
            peak = memberships.outputs[output][OUTPUT_TERMS.index(rule.conclusion[place])]
            clipped = np.fmin(rule.priority * min(degrees), skfuzzy.gaussmf(universe, peak, 0.1))
            at_peak = clipped[np.abs(universe - peak).argmin()]
            above, below = above + peak * at_peak, below + at_peak
        means.append(above / below)
    return np.array(means) / sum(means)


def test_inference_is_the_printed_equation():
    rng = np.random.default_rng(4)
    values = rng.uniform(size=(12, len(INPUTS)))
    *_, weights = infer(values, INITIAL_MEMBERSHIPS)
    expected = [weights_one_by_one(row, INITIAL_MEMBERSHIPS) for row in values]
    np.testing.assert_allclose(weights, expected, atol=1e-6)
    assert len(set(weights.argmax(axis=1))) > 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # Rules 1 and 8: only the elbow moves. Peaks 0.95, 0.05, 0.05.
        ({"vElbowYaw": 1.0}, [0.9048, 0.0476, 0.0476]),
        # Rules 11 to 13: shoulder and elbow move.
        ({"vElbowYaw": 1.0, "vShoulderPitch": 1.0, "vShoulderYaw": 1.0}, [0.0476, 0.9048, 0.0476]),
        # Rules 15 and 16, 0.7 each, against 11 to 13, 0.1 each: 0.085, 0.355 and 1.345 of 1.785.
        (
            {"vElbowYaw": 1.0, "vShoulderPitch": 1.0, "vShoulderYaw": 1.0} | dict.fromkeys(DISTANCES, 0.0),
            [0.0476, 0.1989, 0.7535],
        ),
    ],
)
def test_clear_cases_by_hand(given, expected):
    values = dict.fromkeys(INPUTS, 0.0) | dict.fromkeys(DISTANCES, 1.0) | given
    # Half as wide: the tails of the Gaussians let no other rule be heard.
    sharp = {
        name: terms if name in DISTANCES else tuple((centre, 0.5 * width) for centre, width in terms)
        for name, terms in INITIAL_MEMBERSHIPS.inputs.items()
    }
    sharp_terms = replace(INITIAL_MEMBERSHIPS, inputs=sharp)
    weights = infer([values[name] for name in INPUTS], sharp_terms, THESIS_RULES)[3][0]
    assert weights == pytest.approx(expected, abs=1e-3)


def test_energy_and_ergonomy_share_by_rule_17():
    values = dict.fromkeys(INPUTS, 0.0) | {"vElbowYaw": 1.0, "ergonomyShoulderPitch": 1.0}
    energy, velocity, ergonomy = infer([values[name] for name in INPUTS], INITIAL_MEMBERSHIPS, THESIS_RULES)[
        3
    ][0]
    assert velocity < 0.1
    assert abs(energy - ergonomy) < 0.15


@pytest.mark.parametrize(
    ("given", "expected"),
    [({"vTrunkPitch": 1.0}, "velocity"), ({"vElbowYaw": 1.0, "vShoulderYaw": 0.5}, "energy")],
)
def test_slow_elbow_says_velocity_and_still_trunk_energy(given, expected):
    values = dict.fromkeys(INPUTS, 0.5) | {"vElbowYaw": 0.0, "vTrunkPitch": 0.0}
    values |= dict.fromkeys(DISTANCES, 1.0) | given
    weights = infer([values[name] for name in INPUTS], INITIAL_MEMBERSHIPS)[3][0]
    assert OUTPUTS[int(weights.argmax())] == expected


def test_examples_speak_where_somebody_moved_alike_and_nowhere_else():
    values = np.full((2, len(INPUTS)), 0.5)
    values[1] = 0.9
    widths = np.full(len(INPUTS), 0.05)
    known = ExampleRules(("one", "two"), np.array([values[0], values[0] + 0.01]), np.array([2, 2]), widths)
    _, strengths, no_examples, alone = infer(values, INITIAL_MEMBERSHIPS)
    _, same_strengths, by_example, with_examples = infer(values, INITIAL_MEMBERSHIPS, examples=known)
    # Sums of eq. 5.3: what rules by hand say, and 1 for ergonomy by each example at hand.
    second = np.exp(-0.5 * 9 * 0.2**2)
    np.testing.assert_allclose(by_example, [[0.0, 0.0, 1.0 + second], [0.0] * 3], atol=1e-12)
    np.testing.assert_array_equal(no_examples, 0.0)
    rising = with_examples[0, 2] / (1.0 - with_examples[0, 2])
    assert rising > alone[0, 2] / (1.0 - alone[0, 2]) + 1.0
    np.testing.assert_allclose(with_examples[1], alone[1], rtol=1e-12)
    np.testing.assert_array_equal(same_strengths, strengths)


def test_detection_is_the_inference_of_the_inputs(arms):
    found = detect_strategy(arms)
    values = compute_fuzzy_inputs(arms)
    _, strengths, by_example, weights = infer(
        np.array([values, 1.0 - values]), read_shipped_memberships(), examples=read_shipped_examples()
    )
    assert list(found.inputs.values()) == values.tolist()
    assert list(found.weights.values()) == pytest.approx(weights[0])
    assert list(found.strengths.values()) == pytest.approx(strengths[0])
    assert list(found.examples.values()) == pytest.approx(by_example[0])
    assert found.dominant == OUTPUTS[int(weights[0].argmax())]


@pytest.mark.parametrize(
    "values", [[0.5] * 8, [[0.5] * 8 + [1.2]], [[0.5] * 8 + [float("nan")]], [[-0.1] * 9]]
)
def test_impossible_inputs_are_refused(values):
    with pytest.raises(SkillError):
        infer(values, INITIAL_MEMBERSHIPS)


def test_missing_library_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "skfuzzy", None)
    with pytest.raises(SkillError):
        infer([0.5] * 9, INITIAL_MEMBERSHIPS)
