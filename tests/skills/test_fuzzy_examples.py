import numpy as np
import pytest
from scipy.optimize import approx_fprime
from script_modules import loaded_script

from simbench.errors import SkillError
from simbench.skills.fuzzy_rules import INPUTS, OUTPUTS
from simbench.skills.fuzzy_strategy import (
    ExampleRules,
    compute_example_strengths,
    read_examples,
    read_shipped_examples,
)

with loaded_script("reproduce/tomic2018/fuzzy_tuning.py") as tuning:
    WIDTHS = tuning.WIDTHS
    _prediction_loss = tuning._prediction_loss
    learn_examples = tuning.learn_examples
    write_examples = tuning.write_examples


def people(rng, count, told_by):
    """Recordings of many people, four each, whose criterion one input tells and no other."""
    dominant = rng.integers(0, 3, 4 * count)
    values = rng.uniform(0.35, 0.65, (4 * count, len(INPUTS)))
    values[:, told_by] = 0.4 + 0.08 * dominant + rng.normal(0.0, 0.01, len(dominant))
    return values, np.eye(3)[dominant], np.repeat(np.arange(count), 4)


def named(count):
    return tuple(f"actor:pump:{k}" for k in range(count))


def test_strength_is_the_product_of_gaussians():
    values = np.array([[0.5] * 9, [0.1] * 9])
    examples = ExampleRules(
        named(3),
        np.array([[0.5] * 9, [0.4] * 9, [0.1] * 9]),
        np.array([[1.0, 0.0, 0.0], [0.7, 0.0, 0.3], [0.2, 0.0, 0.8]]),
        WIDTHS,
    )
    found = compute_example_strengths(values, examples)
    degree = np.prod([np.exp(-(0.1**2) / (2.0 * width**2)) for width in WIDTHS])
    assert found.shape == (2, 3)
    assert found[0, 0] == pytest.approx(1e4 * (1.0 + 0.7 * degree))
    assert found[0, 2] == pytest.approx(1e4 * 0.3 * degree)
    assert found[1] == pytest.approx([2e3, 0.0, 8e3])
    assert found[:, 1].tolist() == [0.0, 0.0]


def test_gradient_is_that_of_the_surprise():
    rng = np.random.default_rng(1)
    values, weights, who = people(rng, 8, 3)
    place = rng.normal(0.0, 0.3, len(INPUTS))
    value, gradient = _prediction_loss(place, values, weights.argmax(axis=1), who)
    numerical = approx_fprime(
        place, lambda p: _prediction_loss(p, values, weights.argmax(axis=1), who)[0], 1e-7
    )
    assert value > 0.0
    assert np.abs(gradient).max() > 0.01
    np.testing.assert_allclose(gradient, numerical, atol=1e-6)


def test_the_input_that_tells_gets_narrow_terms_and_new_people_are_told():
    rng = np.random.default_rng(2)
    learned = learn_examples(named(120), *people(rng, 30, 3))
    narrower = learned.widths / WIDTHS
    assert narrower[3] < 0.3 < np.delete(narrower, 3).min()
    values, weights, _ = people(rng, 30, 3)
    told = compute_example_strengths(values, learned).argmax(axis=1) == weights.argmax(axis=1)
    untuned = ExampleRules(learned.names, learned.values, learned.weights, WIDTHS)
    assert told.mean() > 0.95
    assert (
        told.mean()
        > (compute_example_strengths(values, untuned).argmax(axis=1) == weights.argmax(axis=1)).mean()
    )


def test_nobody_is_an_example_of_themselves():
    # Everybody's four recordings are one point of their own and one criterion: the others know nothing of it.
    rng = np.random.default_rng(3)
    values = np.repeat(rng.uniform(size=(40, 9)), 4, axis=0)
    dominant = np.repeat(rng.integers(0, 3, 40), 4)
    who = np.repeat(np.arange(40), 4)
    assert _prediction_loss(np.full(9, -1.0), values, dominant, who)[0] > 0.9 * np.log(3.0)


@pytest.mark.parametrize(
    ("values", "weights", "who"),
    [
        (np.full((2, 8), 0.5), np.eye(3)[:2], [1, 2]),
        (np.full((2, 9), np.nan), np.eye(3)[:2], [1, 2]),
        (np.full((2, 9), 0.5), np.zeros((2, 3)), [1, 2]),
        (np.full((2, 9), 0.5), np.eye(3), [1, 2]),
        (np.full((2, 9), 0.5), np.eye(3)[:2], [1, 1]),
    ],
)
def test_what_cannot_be_learned_from_is_refused(values, weights, who):
    with pytest.raises(SkillError):
        learn_examples(named(2), values, weights, who)


@pytest.fixture
def written(tmp_path):
    weights = np.array([[0.75, 0.25, 0.0], [0.125, 0.25, 0.625]])
    examples = ExampleRules(named(2), np.array([[0.3] * 9, [0.8] * 9]), weights, np.full(9, 0.125))
    write_examples(examples, tmp_path / "examples.csv", "from nowhere")
    return examples, tmp_path / "examples.csv"


def test_file_and_back(written):
    examples, path = written
    found = read_examples(path)
    assert found.names == examples.names
    for name in ("values", "weights", "widths"):
        np.testing.assert_array_equal(getattr(found, name), getattr(examples, name))
    assert "# from nowhere" in path.read_text()
    assert [each.name for each in path.parent.iterdir()] == ["examples.csv"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ergonomyTrunk", "trunk", "must have exactly the columns recording, energy"),
        ("width,", "breadth,", "needs a first row named width"),
        ("0.1250", "0.0", "line 5: widths must be above 0"),
        ("0.6250", "0.6350", "line 7: energy, velocity, ergonomy must have the sum 1"),
        ("0.8000", "1.5", "line 7: must have 12 numbers from 0 to 1"),
        ("0.8000", "nan", "line 7: .*nan, 0.8000.* are not numbers"),
        ("0.6250", "", "line 7: .* are not numbers"),
        (",0.8000", "", "line 7: must have 12 numbers"),
        ("0.8000", "much", "line 7: .*much, 0.8000.* are not numbers"),
    ],
)
def test_bad_files_are_refused(written, old, new, said):
    path = written[1]
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(SkillError, match=said) as error:
        read_examples(path)
    assert "\n" not in str(error.value)
    assert "examples.csv" in str(error.value)


def test_missing_file_and_folder(tmp_path, written):
    with pytest.raises(SkillError):
        read_examples(tmp_path / "none.csv")
    with pytest.raises(SkillError):
        write_examples(written[0], tmp_path / "none" / "examples.csv", "")


def test_shipped_examples_are_of_every_criterion():
    shipped = read_shipped_examples()
    assert set(shipped.weights.argmax(axis=1).tolist()) == set(range(len(OUTPUTS)))
    assert len(shipped.names) > 100
    assert not any("hand_drill" in name for name in shipped.names)
    # The people whom the thesis's agreement is measured on are no examples.
    assert not any("session 2018" in name for name in shipped.names)
