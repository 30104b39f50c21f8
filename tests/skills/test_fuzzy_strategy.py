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
    TERM_SETS,
    THESIS_RULES,
    read_shipped_memberships,
)
from simbench.skills.fuzzy_strategy import (
    ExampleRules,
    compute_fuzzy_inputs,
    compute_membership_degrees,
    detect_strategy,
    infer,
    read_rule_base,
    read_shipped_examples,
)

with loaded_script("reproduce/tomic2018/fuzzy_tuning.py") as tuning:
    THESIS_MEMBERSHIPS = tuning.THESIS_MEMBERSHIPS


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
    *_, weights = infer(values, THESIS_MEMBERSHIPS)
    expected = [weights_one_by_one(row, THESIS_MEMBERSHIPS) for row in values]
    np.testing.assert_allclose(weights, expected, atol=1e-6)
    assert len(set(weights.argmax(axis=1))) > 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        # Rules 1 and 8: only the elbow moves. Peaks 0.95, 0.025, 0.025.
        ({"vElbowYaw": 1.0}, [0.95, 0.025, 0.025]),
        # Rules 11 to 13: shoulder and elbow move.
        ({"vElbowYaw": 1.0, "vShoulderPitch": 1.0, "vShoulderYaw": 1.0}, [0.025, 0.95, 0.025]),
        # Rules 15 and 16, 0.7 each, against 11 to 13, 0.1 each: 0.0425, 0.32 and 1.3375 of 1.7.
        (
            {"vElbowYaw": 1.0, "vShoulderPitch": 1.0, "vShoulderYaw": 1.0} | dict.fromkeys(DISTANCES, 0.0),
            [0.025, 0.1882, 0.7868],
        ),
    ],
)
def test_clear_cases_by_hand(given, expected):
    values = dict.fromkeys(INPUTS, 0.0) | dict.fromkeys(DISTANCES, 1.0) | given
    # Half as wide: the tails of the Gaussians let no other rule be heard.
    sharp = {
        name: terms if name in DISTANCES else tuple((centre, 0.5 * width) for centre, width in terms)
        for name, terms in THESIS_MEMBERSHIPS.inputs.items()
    }
    sharp_terms = replace(THESIS_MEMBERSHIPS, inputs=sharp)
    weights = infer([values[name] for name in INPUTS], sharp_terms, THESIS_RULES)[3][0]
    assert weights == pytest.approx(expected, abs=1e-3)


def test_energy_and_ergonomy_share_by_rule_17():
    # A still trunk would speak for energy.
    moved = {"vElbowYaw": 1.0, "vTrunkPitch": 0.5, "ergonomyShoulderPitch": 1.0}
    values = dict.fromkeys(INPUTS, 0.0) | moved
    energy, velocity, ergonomy = infer([values[name] for name in INPUTS], THESIS_MEMBERSHIPS, RULES)[3][0]
    assert velocity < 0.1
    assert abs(energy - ergonomy) < 0.15


@pytest.mark.parametrize(
    ("given", "expected"),
    [({"vTrunkPitch": 1.0}, "velocity"), ({"vElbowYaw": 1.0, "vShoulderYaw": 0.5}, "energy")],
)
def test_slow_elbow_says_velocity_and_still_trunk_energy(given, expected):
    values = dict.fromkeys(INPUTS, 0.5) | {"vElbowYaw": 0.0, "vTrunkPitch": 0.0}
    values |= dict.fromkeys(DISTANCES, 1.0) | given
    weights = infer([values[name] for name in INPUTS], THESIS_MEMBERSHIPS)[3][0]
    assert OUTPUTS[int(weights.argmax())] == expected


def test_examples_speak_where_somebody_moved_alike_and_nowhere_else():
    values = np.full((2, len(INPUTS)), 0.5)
    values[1] = 0.9
    widths = np.full(len(INPUTS), 0.05)
    ergonomy = np.array([[0.0, 0.0, 1.0]] * 2)
    known = ExampleRules(("one", "two"), np.array([values[0], values[0] + 0.01]), ergonomy, widths)
    _, strengths, no_examples, alone = infer(values, THESIS_MEMBERSHIPS)
    _, same_strengths, by_example, with_examples = infer(values, THESIS_MEMBERSHIPS, examples=known)
    # Sums of eq. 5.3: what rules by hand say, and 10 000 for ergonomy by each example at hand.
    second = np.exp(-0.5 * 9 * 0.2**2)
    np.testing.assert_allclose(by_example, [[0.0, 0.0, 1e4 * (1.0 + second)], [0.0] * 3], atol=1e-6)
    np.testing.assert_array_equal(no_examples, 0.0)
    rising = with_examples[0, 2] / (1.0 - with_examples[0, 2])
    assert rising > alone[0, 2] / (1.0 - alone[0, 2]) + 1.0
    np.testing.assert_allclose(with_examples[1], alone[1], rtol=1e-9)
    np.testing.assert_array_equal(same_strengths, strengths)


@pytest.mark.parametrize(("terms", "by_hand"), [("tuned", RULES), ("thesis", THESIS_RULES)])
def test_detection_is_the_inference_of_the_inputs(arms, terms, by_hand):
    found = detect_strategy(arms, read_rule_base(terms))
    assert found.rules == (detect_strategy(arms).rules if terms == "tuned" else found.rules)
    assert found.rules.name == terms
    values = compute_fuzzy_inputs(arms)
    examples = read_shipped_examples() if terms == "tuned" else None
    _, strengths, by_example, weights = infer(
        np.array([values, 1.0 - values]), read_shipped_memberships(terms), by_hand, examples
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
        infer(values, THESIS_MEMBERSHIPS)


def test_missing_library_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "skfuzzy", None)
    with pytest.raises(SkillError):
        infer([0.5] * 9, THESIS_MEMBERSHIPS)


@pytest.mark.parametrize("speed", [0.0, 0.05, 0.0999])
def test_worked_example_of_the_thesis(speed):
    """Figures 5.4 and 5.6, grating, actor 10: shoulder speeds are printed as less than 0.1."""
    given = {
        **dict.fromkeys(("vShoulderPitch", "vShoulderYaw"), speed),
        **{"vElbowYaw": 1.0, "vShoulderRoll": 0.46, "ergonomyShoulderPitch": 0.6392},
        **{"ergonomyShoulderYaw": 0.09384, "ergonomyElbowYaw": 0.1856},
    }
    thesis = read_rule_base("thesis")
    values = [given.get(name, 0.0) for name in INPUTS]
    degrees, strengths, _, weights = infer(values, thesis.memberships, thesis.by_hand)
    nearly = {("vElbowYaw", "XB"), ("vShoulderRoll", "M")}
    nearly |= {("ergonomyShoulderYaw", "XS"), ("ergonomyElbowYaw", "XS")}
    assert min(degrees[term][0] for term in nearly) > 0.94
    assert degrees["vShoulderPitch", "XS"][0] > 0.7
    assert 0.0 < degrees["ergonomyShoulderPitch", "S"][0] < 0.01
    fired = [rule.number for rule, one in zip(thesis.by_hand, strengths[0], strict=True) if one > 0.01]
    assert fired == [1, 8]
    energy, velocity, ergonomy = weights[0]
    assert round(energy, 2) == 0.95
    assert max(velocity, ergonomy) < 0.03
    # What equation 5.4 says before the normalisation.
    said = sum(
        one * (0.95 if rule.conclusion[0] == "XB" else 0.025)
        for rule, one in zip(thesis.by_hand, strengths[0], strict=True)
    )
    assert round(said / strengths.sum(), 2) == 0.95


@pytest.mark.parametrize("terms", TERM_SETS)
def test_terms_mean_what_they_say(terms):
    """Peaks ascend from XS to XB, which have membership 1 at the ends and grow towards them."""
    memberships = read_shipped_memberships(terms)
    printed = read_shipped_memberships("thesis")
    grid = np.linspace(0.0, 1.0, 401)
    degrees = compute_membership_degrees(np.repeat(grid[:, None], len(INPUTS), axis=1), memberships)
    for name, names in INPUT_TERMS.items():
        curves = [degrees[name, term] for term in names]
        assert curves[0][0] == 1.0
        assert (np.diff(curves[0]) <= 0.0).all()
        if name in DISTANCES:
            assert curves[1][0] == 1.0
            assert (curves[0] <= curves[1]).all()
            assert (np.diff(curves[1]) <= 0.0).all()
            for mine, theirs in zip(memberships.inputs[name], printed.inputs[name], strict=True):
                assert (np.array(mine) <= theirs).all()
                assert (np.array(mine) >= np.array(theirs) / 4.0).all()
            continue
        assert curves[-1][-1] == 1.0
        assert (np.diff(curves[-1]) >= 0.0).all()
        peaks = [grid[curve.argmax()] for curve in curves]
        assert peaks == sorted(set(peaks))
        assert np.abs(np.array(peaks[1:-1]) - 0.5).max(initial=0.0) <= 0.15 + 1e-3
        # At each end its own term says most.
        assert np.argmax([curve[0] for curve in curves]) == 0
        assert np.argmax([curve[-1] for curve in curves]) == len(curves) - 1
        for (_, mine), (_, theirs) in zip(memberships.inputs[name], printed.inputs[name], strict=True):
            assert 0.5 <= mine / theirs <= 2.0
    assert memberships.outputs == printed.outputs


def test_unknown_terms_are_refused():
    with pytest.raises(SkillError, match="terms mine: unknown; known: tuned, thesis"):
        read_rule_base("mine")
