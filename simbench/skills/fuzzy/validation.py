"""Cross-validation of the fuzzy rules: how often they detect the criterion that optimisation finds dominant.

Rules are tuned on part of the people and judged on the others, until everybody was one of the others. No rule
concludes manipulability, so that recordings which it dominates are left out, as in Tomić (2018), chapter 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.skills.fuzzy.examples import ExampleRules, learn_examples
from simbench.skills.fuzzy.memberships import Memberships
from simbench.skills.fuzzy.rules import OUTPUTS, RULES, Rule
from simbench.skills.fuzzy.strategy import infer
from simbench.skills.fuzzy.tuning import tune_memberships

FOLDS = 5
"""Groups of people that are judged in turn."""
TUNING_SEED = 5
NOT_CONCLUDED = len(OUTPUTS)
"""Index of the criterion that no rule concludes: manipulability."""


@dataclass(frozen=True)
class LabelledRecordings:
    """m recordings with the rules' inputs and what optimisation found."""

    session: NDArray[np.int64]  # (m,) int: seeds of the sessions.
    task: NDArray[np.str_]  # (m,): names of the tasks.
    actor: NDArray[np.int64]  # (m,) int: numbers of the actors in their session.
    inputs: Array  # (m, 9): values of `rules.INPUTS`.
    weights: Array  # (m, 4): shares of energy, velocity, ergonomy, manipulability that optimisation found.
    # For each recording the criteria that dominate a mixture about as good as the best.
    rivals: tuple[frozenset[str], ...]

    @property
    def dominant(self) -> NDArray[np.int64]:
        """Index of the dominant criterion (m,) in `OUTPUTS`; `NOT_CONCLUDED` is manipulability."""
        return np.asarray(self.weights.argmax(axis=1))

    @property
    def person(self) -> NDArray[np.int64]:
        """A number (m,) for everybody of every session."""
        return 100 * self.session + self.actor

    @property
    def decidable(self) -> NDArray[np.bool_]:
        """Whether rules can be right at all (m,)."""
        return self.dominant != NOT_CONCLUDED


@dataclass(frozen=True)
class RuleBase:
    """Rules with all that was fitted to recordings."""

    by_hand: Sequence[Rule]
    memberships: Memberships  # Their tuned terms.
    examples: ExampleRules | None  # Rules by example, if any.


@dataclass(frozen=True)
class Validation:
    """Result of one cross-validation."""

    # (m,) int: index in `OUTPUTS` of the criterion by rules that were tuned on other people.
    predicted: NDArray[np.int64]
    # Fraction of the recordings tuned on in which the rules agree with optimisation, mean of the folds.
    training_agreement: float


def cross_validate(
    recordings: LabelledRecordings,
    split: int,
    unseen: str,
    by_hand: Sequence[Rule] = RULES,
    examples: bool = True,
) -> Validation:
    """Tune rules without some people and predict these people's criteria, until all have had their turn.

    `split`: seed by which people are divided into `FOLDS` groups; `unseen`: task that rules are never tuned
    on; `examples`: whether recordings also become rules by example. Returns predictions for every recording.
    """
    people = np.random.default_rng(split).permutation(np.unique(recordings.person))
    predicted = np.empty(len(recordings.task), dtype=np.int64)
    known, agreements = recordings.decidable & (recordings.task != unseen), []
    for group in np.array_split(people, FOLDS):
        held_out = np.isin(recordings.person, group)
        answers = predict_dominant(recordings, fit_rules(recordings, known & ~held_out, by_hand, examples))
        predicted[held_out] = answers[held_out]
        agreements.append((answers == recordings.dominant)[known & ~held_out].mean())
    return Validation(predicted, float(np.mean(agreements)))


def fit_rules(
    recordings: LabelledRecordings,
    chosen: NDArray[np.bool_],
    by_hand: Sequence[Rule] = RULES,
    examples: bool = True,
) -> RuleBase:
    """Tune the terms of rules by hand on some recordings, and take these as examples.

    `chosen` (m,) bool: recordings that are used; manipulability dominates none of them; `examples`: whether
    the recordings also become rules by example. Returns the fitted rules. Raises SkillError the recordings do
    not allow tuning, or scikit-fuzzy is not installed.
    """
    values, weights = recordings.inputs[chosen], recordings.weights[chosen, : len(OUTPUTS)]
    memberships = tune_memberships(values, weights, TUNING_SEED, rules=by_hand).memberships
    names = tuple(
        f"actor:{task}:{actor} of session {session}"
        for task, actor, session in zip(recordings.task, recordings.actor, recordings.session, strict=True)
    )
    picked = tuple(names[k] for k in np.flatnonzero(chosen))
    learned = learn_examples(picked, values, weights, recordings.person[chosen]) if examples else None
    return RuleBase(by_hand, memberships, learned)


def predict_dominant(recordings: LabelledRecordings, rules: RuleBase) -> NDArray[np.int64]:
    """Predict the dominant criterion of recordings by rules.

    `rules`: the fitted rules. Returns (m,) int: index in `OUTPUTS`.
    """
    found = infer(recordings.inputs, rules.memberships, rules.by_hand, rules.examples)
    return np.asarray(found.weights.argmax(axis=1))


def compute_agreement(predicted: NDArray[np.int64], recordings: LabelledRecordings, task: str) -> float:
    """Compute how often rules and optimisation agree in a task, where rules can be right at all.

    `predicted` (m,) int: criterion by the rules, index in `OUTPUTS`; `task`: name of the task. Returns
    fraction of the task's recordings, 0 to 1; NaN if there are none.
    """
    chosen = (recordings.task == task) & recordings.decidable
    return float((predicted == recordings.dominant)[chosen].mean()) if chosen.any() else np.nan
