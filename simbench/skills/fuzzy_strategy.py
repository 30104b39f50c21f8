"""A person's strategy by fuzzy rules, by hand and by example: Mamdani inference from the joints' motion.

A person who moves like one whose criteria are known minimises the same. The inputs of the rules are nine
numbers from 0 to 1 that say how the joints of a recording move.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import SkillError
from simbench.files.text import parse_finite_number
from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import ARM_JOINT_NAMES, SPINE_JOINTS
from simbench.robot.human_skeleton import ARM_JOINTS, BASE_JOINTS
from simbench.robot.sides import SIDES
from simbench.skills.fuzzy_rules import (
    DISTANCES,
    INPUT_TERMS,
    INPUTS,
    OUTPUT_TERMS,
    OUTPUTS,
    RULES,
    SPEEDS,
    THESIS,
    THESIS_RULES,
    TUNED,
    Memberships,
    Rule,
    read_shipped_memberships,
)
from simbench.skills.task_motion import TaskMotion

_SHIPPED_EXAMPLES = "examples.csv"
COLUMNS = ("recording", *OUTPUTS, *INPUTS)
WIDTH_ROW = "width"
# Above the rules by hand, in the thesis's way (§5.2.2), until the next example is some five widths away: the
# greater, the more often rules named the criterion of people whom they were not tuned on.
EXAMPLE_PRIORITY = 1e4
_ROUNDING = 1e-3  # By which the sum of weights with four digits may differ from 1.


@dataclass(frozen=True)
class ExampleRules:
    """n recordings, each a rule: if every input is about as here, the criteria have these weights."""

    names: tuple[str, ...]
    values: Array  # (n, 9): values of `INPUTS`: the centres of the Gaussian terms "about as here".
    weights: Array  # (n, 3): weights of `OUTPUTS`; rows with sum 1.
    widths: Array  # (9,): widths of the terms, one for each input, the same for all examples.


def compute_example_strengths(values: Array, examples: ExampleRules) -> Array:
    """Compute how strongly the examples support each criterion.

    An example's degree is the product of its terms', exp(−½ Σᵢ ((xᵢ − cᵢ)/wᵢ)²); its strength is that times
    `EXAMPLE_PRIORITY`, and it gives each criterion that much of its weight. Rules from examples are Wang &
    Mendel's (1992), whose defuzzifier the thesis takes; theirs have the terms of a grid, these are centred on
    the example. `values` (m, 9): values of `INPUTS`, 0 to 1. Returns (m, 3): strength for each of `OUTPUTS`.
    """
    away = (values[:, None] - examples.values) / examples.widths
    return EXAMPLE_PRIORITY * np.asarray(np.exp(-0.5 * (away**2).sum(axis=2)) @ examples.weights)


@cache
def read_shipped_examples() -> ExampleRules:
    """Read the examples that come with simbench; the file says where they are from.

    Returns the examples with their widths.
    """
    return _parse_examples(
        files("simbench.skills").joinpath(_SHIPPED_EXAMPLES).read_text(encoding="utf-8"), _SHIPPED_EXAMPLES
    )


def read_examples(path: Path) -> ExampleRules:
    """Read a file of examples.

    `path`: CSV file, with a row of widths before the examples. Returns the examples with their widths.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SkillError(f"{path}: cannot be read: {error}") from None
    return _parse_examples(text, str(path))


def _parse_examples(text: str, source: str) -> ExampleRules:
    numbered = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line and not line.startswith("#")]
    table = list(csv.reader(line for _, line in numbered))
    if not table or tuple(table[0]) != COLUMNS:
        raise SkillError(f"{source}: must have exactly the columns {', '.join(COLUMNS)}")
    if len(table) < 3 or table[1][0] != WIDTH_ROW:
        raise SkillError(f"{source}: needs a first row named {WIDTH_ROW}, and examples below")
    locations = [f"{source}: line {number}" for number, _ in numbered]
    parsed: list[Array] = []
    for row, location in zip(table[1:], locations[1:], strict=True):
        # In the row of widths the cells of the criteria are empty.
        cells = [cell or "0" for cell in row[1:]] if not parsed else row[1:]
        numbers = [parse_finite_number(cell) for cell in cells]
        if None in numbers:
            raise SkillError(f"{location}: {', '.join(cells)[:80]} are not numbers")
        parsed.append(np.array(numbers, dtype=float))
        if len(numbers) != len(COLUMNS) - 1 or not ((parsed[-1] >= 0.0) & (parsed[-1] <= 1.0)).all():
            raise SkillError(f"{location}: must have {len(COLUMNS) - 1} numbers from 0 to 1")
    rows = np.array(parsed)
    weights, values = rows[1:, : len(OUTPUTS)], rows[1:, len(OUTPUTS) :]
    for each, location in zip(weights, locations[2:], strict=True):
        if abs(each.sum() - 1.0) > _ROUNDING:
            raise SkillError(f"{location}: {', '.join(OUTPUTS)} must have the sum 1")
    widths = rows[0, len(OUTPUTS) :]
    if not (widths > 0.0).all():
        raise SkillError(f"{locations[1]}: widths must be above 0")
    return ExampleRules(tuple(row[0] for row in table[2:]), values, weights, widths)


# The thesis's names of table 5.1 in ROMEO's: the roll of the shoulder is the rotation about the upper arm.
ARM_SPEEDS = {
    "vShoulderPitch": "ShoulderPitch",
    "vShoulderYaw": "ShoulderYaw",
    "vElbowYaw": "ElbowYaw",
    "vShoulderRoll": "ElbowRoll",
}
ARM_DISTANCES = {
    "ergonomyShoulderPitch": "ShoulderPitch",
    "ergonomyShoulderYaw": "ShoulderYaw",
    "ergonomyElbowYaw": "ElbowYaw",
}
TRUNK_SPEED = "vTrunkPitch"
# Joints of ROMEO that bend the trunk; a person's own are those of the spine.
TRUNK_ANGLES = ("BaseRoll", "BasePitch", "TrunkYaw")
# Sum of the trunk's angles at which its distance from the ergonomic posture is 1: about as far as people lean
# to reach something.
FAR_TRUNK = np.radians(30.0)
# The same joints of a person's own skeleton.
ANATOMICAL_NAMES = {
    "ShoulderPitch": "shoulder_flexion",
    "ShoulderYaw": "shoulder_abduction",
    "ElbowYaw": "elbow_flexion",
    "ElbowRoll": "shoulder_internal_rotation",
}


def compute_fuzzy_inputs(task: TaskMotion) -> Array:
    """Compute the inputs of the fuzzy rules (Tomić 2018, §5.2.1) from a recording's joints.

    Speeds are means of |q̇| over time; 0 is the slowest and 1 the fastest of the person's joints, which are
    all that turn but neck and head, of both arms. A distance is that of a point moved by the joint from its
    position with the joint at its ergonomic angle, all else alike: the chord 2r sin(|q − q_erg|/2), as a
    fraction of the longest, 2r, mean over time. That of the trunk, which is ours, is the sum of |q − q_erg|
    of its joints as a fraction of `FAR_TRUNK`, at most 1, mean over time: ergonomics pulls hardest at what is
    heavy.

    The thesis is silent on which arm is meant; here it is the one whose joints move more, for in tasks with
    one working hand it speaks of that hand's arm alone. It is also silent on what the Cartesian position of a
    joint is: both joints of a shoulder have one origin, yet its example gives them different distances.
    `task`: the recording on the person's own joints, or on the thesis's model. Returns (9,): values of
    `INPUTS`.
    """
    index = {name: k for k, name in enumerate(task.names)}
    anatomical = SPINE_JOINTS[0] in index
    speed = np.abs(np.diff(task.imitated, axis=0)).mean(axis=0)
    # A person's pelvis moves as recorded, and clavicles follow the arms.
    sliding = BASE_JOINTS[:3]
    turning = task.body.resolved if anatomical else [k for name, k in index.items() if name not in sliding]
    slowest, fastest = speed[turning].min(), speed[turning].max()
    if not fastest > slowest:
        raise SkillError(f"{task.source}: no joint moves more than another: nothing says how it is done")
    # Names of each arm's joints on the person's own skeleton or on ROMEO's.
    arms = [
        [f"{side}_{joint}" for joint in ARM_JOINT_NAMES]
        if anatomical
        else [side[0].upper() + joint for joint in ARM_JOINTS]
        for side in SIDES
    ]
    mover = max(arms, key=lambda arm: sum(speed[index[joint]] for joint in arm))
    named = {}
    for name, joint in (ARM_SPEEDS | ARM_DISTANCES).items():
        ending = ANATOMICAL_NAMES[joint] if anatomical else joint
        named[name] = next(index[each] for each in mover if each.endswith(ending))
    named[TRUNK_SPEED] = index[SPINE_JOINTS[0] if anatomical else "BasePitch"]
    away = np.abs(np.sin(0.5 * (task.imitated - task.body.ergonomic))).mean(axis=0)
    relative = np.maximum(speed - slowest, 0.0) / (fastest - slowest)
    trunk = [index[joint] for joint in (SPINE_JOINTS if anatomical else TRUNK_ANGLES)]
    bent = np.abs(task.imitated - task.body.ergonomic)[:, trunk].sum(axis=1)
    return np.array(
        [
            *(relative[named[name]] for name in SPEEDS),
            *(away[named[name]] for name in DISTANCES),
            np.minimum(bent / FAR_TRUNK, 1.0).mean(),
        ]
    )


@dataclass(frozen=True)
class RuleBase:
    """Rules by hand with their terms, and rules by example."""

    name: str  # Where they are from, one of `TERM_SETS` if they come with simbench.
    by_hand: Sequence[Rule]
    memberships: Memberships
    examples: ExampleRules | None = None


def read_rule_base(terms: str = TUNED) -> RuleBase:
    """Read rules that come with simbench.

    `terms`: `tuned`, all of simbench's rules with terms and examples from virtual people, whose criteria are
    known; or `thesis`, the 17 rules of Tomić (2018) with the terms of its figures. Raises SkillError if it is
    unknown.
    """
    memberships = read_shipped_memberships(terms)
    if terms == THESIS:
        return RuleBase(terms, THESIS_RULES, memberships)
    return RuleBase(terms, RULES, memberships, read_shipped_examples())


@dataclass(frozen=True)
class DetectedStrategy:
    """The strategy that fuzzy rules detect in one recording."""

    rules: RuleBase
    inputs: dict[str, float]  # Values of `INPUTS`, 0 to 1.
    strengths: dict[int, float]  # Number of a rule by hand to its strength.
    examples: dict[str, float]  # Criterion to how strongly examples support it.
    weights: dict[str, float]  # Weights of the criteria in `OUTPUTS`; sum 1.

    @property
    def dominant(self) -> str:
        """The criterion with the greatest weight."""
        return max(self.weights, key=self.weights.__getitem__)


def detect_strategy(task: TaskMotion, rules: RuleBase | None = None) -> DetectedStrategy:
    """Detect by fuzzy rules what a person minimises, without any optimisation (Tomić 2018, chapter 5).

    `task`: the prepared recording; `rules`: by default simbench's tuned ones; `read_rule_base` also has the
    thesis's. Returns weights of the criteria, and what they were inferred from. Raises SkillError nothing
    moves in the recording, or scikit-fuzzy is not installed.
    """
    base = read_rule_base() if rules is None else rules
    values = compute_fuzzy_inputs(task)
    _, strengths, by_example, weights = infer(values, base.memberships, base.by_hand, base.examples)
    return DetectedStrategy(
        base,
        dict(zip(INPUTS, values.tolist(), strict=True)),
        dict(zip((rule.number for rule in base.by_hand), strengths[0].tolist(), strict=True)),
        dict(zip(OUTPUTS, by_example[0].tolist(), strict=True)),
        dict(zip(OUTPUTS, weights[0].tolist(), strict=True)),
    )


def infer(
    values: ArrayLike,
    memberships: Memberships,
    rules: Sequence[Rule] = RULES,
    examples: ExampleRules | None = None,
) -> tuple[dict[tuple[str, str], Array], Array, Array, Array]:
    """Apply the rules: ∧ = min, strength times priority, weighted average of the peaks (eq. 5.3, 5.4).

    z = Σᵢ ωᵢ μᵢ(ωᵢ) / Σᵢ μᵢ(ωᵢ), ωᵢ where the term that rule i concludes has its peak, 1, so that μᵢ(ωᵢ) =
    min(strength, 1) is the rule's strength, whatever the term's shape. The weights are the three z divided by
    their sum. An example concludes its own weights. `values` (m, 9) or (9,) array_like:
    values of `INPUTS`, 0 to 1; `memberships`: parameters of the terms; `rules`: rules by hand; the thesis's
    own are `THESIS_RULES`; `examples`: rules by example, by default none. Returns
    `degrees`: membership (m,) of an input in its term, by both; `strengths` (m, 19): strength of each of
    `RULES`, or of the rules given: priority times the least membership of the conditions; `by_example` (m,
    3): how strongly examples support each of `OUTPUTS`, zero without examples; `weights` (m, 3): weights of
    `OUTPUTS`, rows with sum 1.
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
    return degrees, strengths, by_example, support / support.sum(axis=1, keepdims=True)


def compute_membership_degrees(values: Array, memberships: Memberships) -> dict[tuple[str, str], Array]:
    """Compute how much inputs belong to each of their terms.

    `values` (m, 9): values of `INPUTS`, 0 to 1; `memberships`: parameters of the terms. Returns dict of (str,
    str) to (m,) array: input and term to the degree of membership, 0 to 1.
    """
    try:
        import skfuzzy as fuzzy
    except ImportError:
        raise SkillError("fuzzy rules need scikit-fuzzy: pip install scikit-fuzzy") from None
    return {
        (name, term): (fuzzy.zmf if name in DISTANCES else fuzzy.gaussmf)(values[:, k], *parameters)
        for k, name in enumerate(INPUT_TERMS)
        for term, parameters in zip(INPUT_TERMS[name], memberships.inputs[name], strict=True)
    }
