"""Cross-validation of the fuzzy rules: nobody is judged by rules tuned on them."""

from functools import partial

import numpy as np
import pytest
from script_modules import loaded_script

from simbench.skills.fuzzy_rules import INPUTS, OUTPUTS, THESIS_RULES

with loaded_script("reproduce/tomic2018/fuzzy_tuning.py") as validation:
    tune_memberships = validation.tune_memberships

TASKS, UNSEEN = (
    ("valves", "drawer", "canoe_paddles", "steering_wheel", "pump", "knife", "grater"),
    "hand_drill",
)


@pytest.fixture
def recordings():
    """Ten actors of two sessions, all tasks, random inputs; each four actors are one of each kind."""
    rng = np.random.default_rng(3)
    session = np.repeat([2018, 2019], 80)
    task = np.tile(np.repeat([*TASKS, UNSEEN], 10), 2)
    actor = np.tile(np.arange(1, 11), 16)
    weights = np.full((len(task), 4), 0.1)
    weights[np.arange(len(task)), (actor - 1) % 4] = 0.7
    inputs = rng.uniform(size=(len(task), len(INPUTS)))
    return validation.LabelledRecordings(session, task, actor, inputs, weights)


def test_nobody_is_judged_by_rules_tuned_on_them(recordings, monkeypatch):
    tuned = []

    def fit_rules(given, chosen, by_hand, examples):
        assert given is recordings
        tuned.append(chosen)
        return len(tuned) - 1

    # Each recording is told which tuning answered.
    monkeypatch.setattr(validation, "fit_rules", fit_rules)
    monkeypatch.setattr(
        validation, "predict_dominant", lambda given, number: np.full(len(given.task), number)
    )
    validated = validation.cross_validate(recordings, 1, UNSEEN)
    assert len(tuned) == validation.FOLDS
    # Manipulability dominates all that actors 4 and 8 do.
    useful = set(recordings.person[~np.isin(recordings.actor, (4, 8))])
    assert len(useful) == 16
    for number, chosen in enumerate(tuned):
        together = set(recordings.person[validated.predicted == number])
        assert len(together) == 4
        assert set(recordings.person[chosen]) == useful - together
        assert UNSEEN not in recordings.task[chosen]
        assert (recordings.weights[chosen].argmax(axis=1) < len(OUTPUTS)).all()


def test_examples_are_the_recordings_tuned_on_and_only_ours(recordings, monkeypatch):
    monkeypatch.setattr(validation, "tune_memberships", partial(tune_memberships, starts=1, hops=0))
    chosen = recordings.decidable & (recordings.task == "pump")
    ours = validation.fit_rules(recordings, chosen)
    assert ours.examples.names[:2] == ("actor:pump:1 of session 2018", "actor:pump:2 of session 2018")
    assert ours.examples.names[-1] == "actor:pump:10 of session 2019"
    np.testing.assert_array_equal(ours.examples.values, recordings.inputs[chosen])
    assert (validation.predict_dominant(recordings, ours) == recordings.dominant)[chosen].mean() > 0.9
    theirs = validation.fit_rules(recordings, chosen, THESIS_RULES, examples=False)
    assert theirs.examples is None
    assert set(validation.predict_dominant(recordings, theirs)) <= {0, 1, 2}


def test_agreement_leaves_manipulability_out(recordings):
    # Of ten actors, those of numbers 4 and 8 are dominated by manipulability.
    energy = np.zeros(len(recordings.task), dtype=np.int64)
    assert validation.compute_agreement(energy, recordings, "pump") == pytest.approx(3 / 8)
    right = np.minimum(recordings.dominant, 2)
    assert validation.compute_agreement(right, recordings, "pump") == 1.0
