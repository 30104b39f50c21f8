import numpy as np
import pytest
from PIL import Image
from script_modules import loaded_script

from simbench.skills.fuzzy_rules import INPUT_TERMS, INPUTS, OUTPUTS, RULES
from simbench.skills.fuzzy_strategy import DetectedStrategy, ExampleRules, RuleBase, infer

with loaded_script("reproduce/tomic2018/fuzzy_tuning.py") as tuning:
    THESIS_MEMBERSHIPS = tuning.THESIS_MEMBERSHIPS

with loaded_script("reproduce/tomic2018/fuzzy_plot.py") as fuzzy:
    draw_fitness = fuzzy.draw_fitness
    draw_inference = fuzzy.draw_inference
    draw_memberships = fuzzy.draw_memberships


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draw a picture and hand over its figure."""
    figures = []
    save = fuzzy.save_png

    def keep(figure, path, **options):
        figures.append(figure)
        save(figure, path, **options)

    monkeypatch.setattr(fuzzy, "save_png", keep)

    def draw(function, *arguments):
        title = () if function is draw_fitness else ("a title",)
        function(*arguments, *title, tmp_path / "drawn.png")
        with Image.open(tmp_path / "drawn.png") as picture:
            assert picture.size[0] == 1200
        return {axes.get_title(loc="left"): axes for axes in figures[-1].axes}

    return draw


def test_terms_have_their_shape_and_peaks(drawn):
    axes = drawn(draw_memberships, THESIS_MEMBERSHIPS)
    assert set(axes) == {*INPUT_TERMS, *(f"weight of {name}" for name in OUTPUTS)}
    for line, centre in zip(axes["vShoulderYaw"].lines, (0.0, 0.5, 1.0), strict=True):
        x, y = line.get_data()
        np.testing.assert_allclose(y, np.exp(-0.5 * ((x - centre) / 0.125) ** 2), atol=1e-12)
    wide = axes["ergonomyElbowYaw"].lines[1]
    assert np.interp([0.4, 0.52, 0.64], *wide.get_data()) == pytest.approx([1.0, 0.5, 0.0])
    peaks = [line.get_xdata()[0] for line in axes["weight of energy"].lines]
    assert peaks == [0.025, 0.25, 0.5, 0.75, 0.95]


def test_inference_shows_inputs_strengths_and_weights(drawn):
    values = np.linspace(0.1, 0.9, 9)
    examples = ExampleRules(("one",), values[None] + 0.05, np.array([[0.2, 0.8, 0.0]]), np.full(9, 0.1))
    _, strengths, by_example, weights = infer(values, THESIS_MEMBERSHIPS, examples=examples)
    strategy = DetectedStrategy(
        RuleBase("ours", RULES, THESIS_MEMBERSHIPS, examples),
        dict(zip(INPUTS, values, strict=True)),
        dict(zip((rule.number for rule in RULES), strengths[0], strict=True)),
        dict(zip(OUTPUTS, by_example[0], strict=True)),
        dict(zip(OUTPUTS, weights[0], strict=True)),
    )
    axes = drawn(draw_inference, strategy)
    for name in INPUT_TERMS:
        assert axes[name].lines[-1].get_xdata() == [strategy.inputs[name]] * 2
    bars = [bar.get_height() for bar in axes["rules by hand, and all examples of a criterion"].patches]
    assert bars == pytest.approx([*strengths[0], *by_example[0]])
    assert 0.0 < by_example[0, 1] < 1e4
    last = axes[f"weights: {strategy.dominant}"]
    assert [bar.get_height() for bar in last.patches] == pytest.approx(weights[0])


def test_fitness_shows_people_whom_rules_can_be_right_about(drawn):
    weights = np.eye(4)[[0, 0, 3, 1]]
    recordings = tuning.LabelledRecordings(
        np.full(4, 2018), np.full(4, "pump"), np.array([4, 7, 8, 9]), np.zeros((4, 9)), weights
    )
    found, ruled = np.array([1.0, 2.0, 3.0, 4.0]) * 1e-3, np.array([5.0, np.inf, 7.0, 8.0]) * 1e-3
    axes = drawn(draw_fitness, recordings, found, ruled, np.array([0, 1, 0, 2]), {"pump": "fig. 5.17"})
    optimised, same, other = (line.get_data() for line in axes["pump, fig. 5.17"].lines)
    np.testing.assert_allclose(optimised, [[0, 1, 2], [1.0, 2.0, 4.0]])
    np.testing.assert_allclose(same, [[0], [5.0]])
    np.testing.assert_allclose(other, [[1, 2], [np.inf, 8.0]])
    assert [text.get_text() for text in axes["pump, fig. 5.17"].get_xticklabels()] == ["4", "7", "9"]
