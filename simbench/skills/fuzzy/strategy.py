"""A person's strategy by fuzzy rules, by hand and by example: Mamdani inference from the joints' motion."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.skills.fuzzy.examples import ExampleRules, compute_example_strengths, read_shipped_examples
from simbench.skills.fuzzy.inputs import compute_fuzzy_inputs
from simbench.skills.fuzzy.memberships import Memberships, read_shipped_memberships
from simbench.skills.fuzzy.rules import DISTANCES, INPUT_TERMS, INPUTS, OUTPUT_TERMS, OUTPUTS, RULES, Rule
from simbench.skills.person.task_motion import TaskMotion


@dataclass(frozen=True)
class Inference:
    """What the rules infer of m recordings."""

    values: Array  # (m, 9): values of `INPUTS`.
    # Dict of (str, str) to (m,) array: membership of an input in its term.
    degrees: dict[tuple[str, str], Array]
    # (m, 19): strength of each of `RULES`, or of the rules given: priority times the least membership of the
    # conditions.
    strengths: Array
    examples: Array  # (m, 3): how strongly examples support each of `OUTPUTS`, zero without examples.
    weights: Array  # (m, 3): weights of `OUTPUTS`, rows with sum 1.


@dataclass(frozen=True)
class DetectedStrategy:
    """The strategy that fuzzy rules detect in one recording."""

    inputs: dict[str, float]  # Values of `INPUTS`, 0 to 1.
    strengths: dict[int, float]  # Number of a rule by hand to its strength.
    examples: dict[str, float]  # Criterion to how strongly examples support it.
    weights: dict[str, float]  # Weights of the criteria in `OUTPUTS`; sum 1.

    @property
    def dominant(self) -> str:
        """The criterion with the greatest weight."""
        return max(self.weights, key=self.weights.__getitem__)


def detect_strategy(
    task: TaskMotion, memberships: Memberships | None = None, examples: ExampleRules | None = None
) -> DetectedStrategy:
    """Detect by fuzzy rules what a person minimises, without any optimisation (Tomić 2018, chapter 5).

    `task`: the prepared recording; `memberships`: membership functions of the terms; by default those that
    come with simbench; `examples`: rules by example; by default those that come with simbench. Returns
    weights of the criteria, and what they were inferred from. Raises SkillError nothing moves in the
    recording, or scikit-fuzzy is not installed.
    """
    found = infer(
        compute_fuzzy_inputs(task),
        read_shipped_memberships() if memberships is None else memberships,
        examples=read_shipped_examples() if examples is None else examples,
    )
    return DetectedStrategy(
        dict(zip(INPUTS, found.values[0].tolist(), strict=True)),
        dict(zip((rule.number for rule in RULES), found.strengths[0].tolist(), strict=True)),
        dict(zip(OUTPUTS, found.examples[0].tolist(), strict=True)),
        dict(zip(OUTPUTS, found.weights[0].tolist(), strict=True)),
    )


def infer(
    values: ArrayLike,
    memberships: Memberships,
    rules: Sequence[Rule] = RULES,
    examples: ExampleRules | None = None,
) -> Inference:
    """Apply the rules: ∧ = min, strength times priority, weighted average of the peaks (eq. 5.3, 5.4).

    z = Σᵢ ωᵢ μᵢ(ωᵢ) / Σᵢ μᵢ(ωᵢ), ωᵢ where the term that rule i concludes has its peak, 1, so that μᵢ(ωᵢ) =
    min(strength, 1) is the rule's strength, whatever the term's shape. The weights are the three z divided by
    their sum. An example concludes 1 for its criterion, 0 for the others. `values` (m, 9) or (9,) array_like:
    values of `INPUTS`, 0 to 1; `memberships`: parameters of the terms; `rules`: rules by hand; the thesis's
    own are `THESIS_RULES`; `examples`: rules by example, by default none. Returns weights of the criteria,
    and how they come about.
    """
    rows = np.atleast_2d(np.asarray(values, dtype=float))
    if rows.ndim != 2 or rows.shape[1] != len(INPUTS) or not ((rows >= 0.0) & (rows <= 1.0)).all():
        raise SkillError(f"fuzzy inputs: must be {len(INPUTS)} numbers from 0 to 1 for each recording")
    degrees = compute_membership_degrees(rows, memberships)
    strengths = np.array(
        [rule.priority * np.min([degrees[each] for each in rule.conditions], axis=0) for rule in rules]
    ).T
    peaks = np.array(
        [
            [
                memberships.outputs[name][OUTPUT_TERMS.index(term)]
                for name, term in zip(OUTPUTS, rule.conclusion, strict=True)
            ]
            for rule in rules
        ]
    )
    # Not the quotient of equation 5.4 itself: its denominator is the same for all three and cancels.
    by_example = (
        np.zeros((len(rows), len(OUTPUTS))) if examples is None else compute_example_strengths(rows, examples)
    )
    support = strengths @ peaks + by_example
    return Inference(rows, degrees, strengths, by_example, support / support.sum(axis=1, keepdims=True))


def compute_membership_degrees(values: Array, memberships: Memberships) -> dict[tuple[str, str], Array]:
    """Compute how much inputs belong to each of their terms.

    `values` (m, 9): values of `INPUTS`, 0 to 1; `memberships`: parameters of the terms. Returns dict of (str,
    str) to (m,) array: input and term to the degree of membership, 0 to 1.
    """
    fuzzy = _scikit_fuzzy()
    return {
        (name, term): (fuzzy.zmf if name in DISTANCES else fuzzy.gaussmf)(values[:, k], *parameters)
        for k, name in enumerate(INPUT_TERMS)
        for term, parameters in zip(INPUT_TERMS[name], memberships.inputs[name], strict=True)
    }


def _scikit_fuzzy() -> ModuleType:
    try:
        import skfuzzy
    except ImportError:
        raise SkillError("fuzzy rules need scikit-fuzzy: pip install scikit-fuzzy") from None
    return skfuzzy
