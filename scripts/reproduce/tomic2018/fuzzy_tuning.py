"""Fuzzy rules tuned by constrained optimisation to the criteria behind recordings, and cross-validated.

Rules are tuned on part of the people and judged on the others, until everybody was one of the others. No rule
concludes manipulability, so that recordings which it dominates are left out, as in Tomić (2018), chapter 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, minimize

from simbench.errors import SkillError
from simbench.files.storage import write_whole
from simbench.kinematics.arrays import Array
from simbench.skills.fuzzy_rules import (
    DISTANCES,
    INPUT_TERMS,
    INPUTS,
    NARROWEST,
    OUTPUT_TERMS,
    OUTPUTS,
    RULES,
    SPEEDS,
    THESIS,
    TUNED,
    Memberships,
    Rule,
    read_shipped_memberships,
)
from simbench.skills.fuzzy_strategy import COLUMNS, WIDTH_ROW, ExampleRules, RuleBase, infer

_MEMBERSHIPS_HEAD = """\
# Membership functions of the fuzzy strategy detection (Tomić 2018, chapter 5); all from 0 to 1.
# Speeds: Gaussian, [centre, width]. Distances: Z-shaped, [last value with membership 1, first with 0].
# Outputs: the place of the term's peak, which alone counts for the weighted average.
"""
WIDTHS = np.where(np.isin(INPUTS, DISTANCES), 0.08, 0.15)
"""Widths from which tuning starts: about a third of an input's variation between people of one task."""
_PULL = 0.001
"""Penalty on the squared logarithm of the ratio of a width to its start."""
_FURTHEST = 1.8
"""Greatest such logarithm."""
_SILENCE = 1e-3
"""Strength that is added for each criterion, so that it is not zero where no example is near."""
_EXAMPLES_HEAD = """\
# Recordings as rules of the fuzzy strategy detection: what the criteria count for in the person's strategy,
# manipulability left out, and the inputs. The first row has the widths of the Gaussian terms.
"""


THESIS_MEMBERSHIPS = read_shipped_memberships(THESIS)
"""The thesis's own terms, from which tuning starts and about which it keeps."""


def flatten_memberships(memberships: Memberships) -> Array:
    """Write the parameters one after the other.

    `memberships`: parameters of all terms. Returns (p,): the same parameters: inputs, then outputs.
    """
    terms = [number for name in INPUT_TERMS for term in memberships.inputs[name] for number in term]
    return np.array([*terms, *(peak for name in OUTPUTS for peak in memberships.outputs[name])])


def unflatten_memberships(parameters: Array) -> Memberships:
    """Read parameters that `flatten_memberships` wrote.

    `parameters` (p,): parameters of inputs, then outputs. Returns parameters of all terms.
    """
    numbers = iter(parameters.tolist())
    return Memberships(
        {name: tuple((next(numbers), next(numbers)) for _ in terms) for name, terms in INPUT_TERMS.items()},
        {name: tuple(next(numbers) for _ in OUTPUT_TERMS) for name in OUTPUTS},
    )


def write_memberships(memberships: Memberships, path: Path, note: str) -> None:
    """Write a file that `fuzzy_rules.read_memberships` reads, rounded to 4 digits.

    It appears once it is whole. `memberships`: parameters of all terms; `path`: YAML file to be written;
    `note`: origin of the numbers, one line.
    """
    lines = [_MEMBERSHIPS_HEAD + f"# {note}", "inputs:"]
    for name in INPUT_TERMS:
        lines.append(f"  {name}:")
        for term, parameters in zip(INPUT_TERMS[name], memberships.inputs[name], strict=True):
            lines.append(f"    {term}: [{', '.join(f'{number:.4f}' for number in parameters)}]")
    lines.append("outputs:")
    for name in OUTPUTS:
        peaks = zip(OUTPUT_TERMS, memberships.outputs[name], strict=True)
        lines.append(f"  {name}: {{{', '.join(f'{term}: {peak:.4f}' for term, peak in peaks)}}}")
    try:
        write_whole(path, "\n".join(lines) + "\n")
    except OSError as error:
        raise SkillError(f"{path}: cannot be written: {error.strerror}") from None


def learn_examples(
    names: tuple[str, ...], values: ArrayLike, weights: ArrayLike, people: ArrayLike
) -> ExampleRules:
    """Take recordings as examples, with the widths by which the others best predict each person.

    The widths make −mean log p least, where p is the share of the right criterion in what the examples of all
    other people say; gradient descent (L-BFGS-B) from `WIDTHS`, exact gradient. `names`: names of n
    recordings; `values` (n, 9) _like: values of `INPUTS`, 0 to 1; `weights` (n, 3) _like: weights of
    `OUTPUTS`; no row is all 0; `people` (n,) _like: identifiers of the recorded
    people, at least two different ones.
    """
    rows, targets, who = np.asarray(values, float), np.asarray(weights, float), np.asarray(people)
    if rows.shape != (len(names), len(INPUTS)) or not ((rows >= 0.0) & (rows <= 1.0)).all():
        raise SkillError(f"examples: need {len(INPUTS)} numbers from 0 to 1 for each recording")
    if targets.shape != (len(names), len(OUTPUTS)) or not (targets.max(axis=1, initial=0.0) > 0.0).all():
        raise SkillError(f"examples: need {len(OUTPUTS)} weights for each recording, not all of them 0")
    if who.shape != (len(names),) or len(np.unique(who)) < 2:
        raise SkillError("examples: need recordings of at least two people")
    dominant = targets.argmax(axis=1)
    bounds = [(-_FURTHEST, _FURTHEST)] * len(INPUTS)
    found = minimize(
        lambda log: _prediction_loss(log, rows, dominant, who),
        np.zeros(len(INPUTS)),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
    )
    shares = targets / targets.sum(axis=1, keepdims=True)
    return ExampleRules(names, rows, shares, WIDTHS * np.exp(found.x))


def _prediction_loss(
    logarithms: Array, values: Array, dominant: NDArray[np.int64], people: NDArray[np.generic]
) -> tuple[float, Array]:
    """Compute −mean log p and its gradient, p the right criterion's share in other people's examples."""
    widths = WIDTHS * np.exp(logarithms)
    square = ((values[:, None] - values) / widths) ** 2
    degree = np.exp(-0.5 * square.sum(axis=2)) * (people[:, None] != people)
    same = dominant[:, None] == dominant
    right = (degree * same).sum(axis=1) + _SILENCE
    every = degree.sum(axis=1) + len(OUTPUTS) * _SILENCE
    value = -np.log(right / every).mean() + _PULL * float(logarithms @ logarithms)
    by_degree = (1.0 / every[:, None] - same / right[:, None]) / len(values)
    slope = np.einsum("ij,ijk->k", by_degree * degree, square)
    return float(value), slope + 2.0 * _PULL * logarithms


def write_examples(examples: ExampleRules, path: Path, note: str) -> None:
    """Write a file that `fuzzy_strategy.read_examples` reads, rounded to 4 digits.

    It appears once it is whole. `examples`: the examples with their widths; `path`: CSV file to be written;
    `note`: origin of the examples, one line.
    """
    lines = [",".join([WIDTH_ROW, *[""] * len(OUTPUTS), *(f"{x:.4f}" for x in examples.widths)])]
    for name, *numbers in zip(examples.names, examples.weights, examples.values, strict=True):
        lines.append(",".join([name, *(f"{x:.4f}" for x in np.concatenate(numbers))]))
    try:
        write_whole(path, _EXAMPLES_HEAD + f"# {note}\n" + "\n".join([",".join(COLUMNS), *lines]) + "\n")
    except OSError as error:
        raise SkillError(f"{path}: cannot be written: {error.strerror}") from None


TEMPERATURE = 0.1
"""Difference of two weights at which the rules count as sure, e : 1, of the greater."""
PULL = 0.003
"""Penalty on the squared distance from the thesis's terms: what recordings say nothing about stays."""
COPIES = 3
"""Copies of each recording, with inputs as another recording of the same might have had them."""
JITTER = np.where(np.isin(INPUTS, SPEEDS), 0.02, 0.006)
"""Standard deviation of the copies' inputs: about that between single repetitions of one person."""
_SHIFT, _FACTOR, _NEARER = 0.15, 2.0, 4.0
"""Greatest shift of a medium term's peak; greatest ratio of a Gaussian's width and the thesis's, either way;
greatest ratio of where a Z-shape falls in the thesis and here: 1 is half a turn from the ergonomic angle.
"""
_APART = 0.05
"""Least distance of two Z-shapes of an input."""
_SPREAD = 0.1
"""Standard deviation of the parameters that are drawn as starts."""
_SLACK = 1e-6
"""By which an inequality may be missed."""
_MIDDLE = flatten_memberships(THESIS_MEMBERSHIPS)
_PARAMETERS = [(name, k) for name, terms in INPUT_TERMS.items() for _ in terms for k in range(2)]
_FEET = np.array([at for at, (name, k) in enumerate(_PARAMETERS) if name in DISTANCES and k == 1])
"""Indices in the flat parameters of the values at which Z-shapes reach 0."""


@dataclass(frozen=True)
class TuningResult:
    """Tuned memberships."""

    memberships: Memberships  # Parameters of the terms.
    loss: float  # `compute_dominance_loss` on the recordings given and their copies.
    losses: tuple[float, ...]  # Least value of the objective, the loss with the penalty, after each descent.


def tune_memberships(
    values: ArrayLike,
    weights: ArrayLike,
    seed: int,
    starts: int = 3,
    hops: int = 5,
    rules: Sequence[Rule] = RULES,
) -> TuningResult:
    """Fit the terms to the criteria that dominate recordings.

    Every parameter keeps to its bounds, terms to their order, and a term to a least width; sequential
    quadratic programming with exact gradients, one of fmincon's methods (Tomić 2018, §5.2.1). It descends
    from the thesis's terms, from starts drawn about them, and then again and again from starts drawn about
    the best. Copies of the recordings with inputs slightly changed keep the terms from fitting single people.
    `values` (m, 9) _like: values of `INPUTS`, 0 to 1; `weights` (m, 3) _like: weights of `OUTPUTS`; no row is
    all 0; `seed`: seed of copies and starts; the same gives the same parameters; `starts`: number of descents
    from about the thesis's terms; `hops`: number of descents from about the best.
    """
    rows, targets = np.atleast_2d(np.asarray(values, float)), np.atleast_2d(np.asarray(weights, float))
    if targets.shape != (len(rows), len(OUTPUTS)) or not (targets.max(axis=1, initial=0.0) > 0.0).all():
        raise SkillError(f"tuning: needs {len(OUTPUTS)} weights for each recording, not all of them 0")
    rng = np.random.default_rng(seed)
    others = rows + JITTER * rng.normal(size=(COPIES, *rows.shape))
    rows = np.clip(np.concatenate([rows[None], others]).reshape(-1, len(INPUTS)), 0.0, 1.0)
    dominant = np.tile(targets.argmax(axis=1), 1 + COPIES)
    value, best = _descend(_MIDDLE, rows, dominant, rules)
    losses = [value]
    for descent in range(1, starts + hops):
        around = _MIDDLE if descent < starts else best
        start = _project_feasible(around + rng.normal(0.0, _SPREAD, len(_MIDDLE)))
        reached, parameters = _descend(start, rows, dominant, rules)
        if reached < value:
            value, best = reached, parameters
        losses.append(value)
    return TuningResult(
        unflatten_memberships(best), compute_dominance_loss(best, rows, dominant, rules)[0], tuple(losses)
    )


def _descend(
    start: Array, values: Array, dominant: NDArray[np.int64], rules: Sequence[Rule]
) -> tuple[float, Array]:
    """Descend from a start: the value reached, infinite if an inequality is violated, and the parameters."""
    bounds, order = make_constraints()

    def value(parameters: Array) -> tuple[float, Array]:
        loss, gradient = compute_dominance_loss(_widen_z_shapes(parameters), values, dominant, rules)
        away = parameters - _MIDDLE
        return loss + PULL * float(away @ away), gradient + 2.0 * PULL * away

    result = minimize(
        value,
        start,
        method="SLSQP",
        jac=True,
        bounds=bounds,
        constraints=[order],
        options={"maxiter": 300, "ftol": 1e-6},
    )
    kept = bool((order.A @ result.x >= order.lb - _SLACK).all())
    return (float(result.fun) if kept else np.inf), _widen_z_shapes(np.clip(result.x, bounds.lb, bounds.ub))


def make_constraints() -> tuple[Bounds, LinearConstraint]:
    """Make the bounds of the flat parameters, and the inequalities that keep terms in order.

    A term keeps what its name says: of speeds, XS has its peak at 0 and XB at 1, M within `_SHIFT` of the
    middle; widths stay within `_FACTOR` of the thesis's; a Z-shape falls where the thesis's does or up to
    `_NEARER` times nearer, XS before S. Peaks of outputs are the thesis's. Returns bounds; least distances of
    parameters.
    """
    low, high, order = _MIDDLE.copy(), _MIDDLE.copy(), []
    at = 0
    for name, terms in INPUT_TERMS.items():
        for k, term in enumerate(terms):
            if name in DISTANCES:
                low[[at, at + 1]] /= _NEARER
                order.append((at, at + 1, NARROWEST))
                if k > 0:
                    order += [(at - 2, at, _APART), (at - 1, at + 1, _APART)]
            else:
                low[at + 1], high[at + 1] = low[at + 1] / _FACTOR, high[at + 1] * _FACTOR
                if term == "M":
                    low[at], high[at] = low[at] - _SHIFT, high[at] + _SHIFT
            at += 2
    rows = np.zeros((len(order), len(_MIDDLE)))
    for row, (less, more, _) in zip(rows, order, strict=True):
        row[less], row[more] = -1.0, 1.0
    return Bounds(low, high), LinearConstraint(rows, np.array([gap for _, _, gap in order]), np.inf)


def compute_dominance_loss(
    parameters: Array, values: Array, dominant: NDArray[np.int64], rules: Sequence[Rule] = RULES
) -> tuple[float, Array]:
    """Compute how uncertain the rules are of the dominant criteria, and its gradient.

    `parameters` (p,): from `flatten_memberships`; `values` (m, 9): values of `INPUTS`, 0 to 1; `dominant`
    (m,) int: index of the dominant criterion in `OUTPUTS`; `rules`: rules by hand. Returns `loss`: mean of
    −log softmax(weights / `TEMPERATURE`) of the dominant; `gradient` (p,): derivatives of the loss by the
    parameters.
    """
    memberships = unflatten_memberships(parameters)
    degrees, strengths, _, weights = infer(values, memberships, rules)
    count, rows = len(values), np.arange(len(values))
    scaled = weights / TEMPERATURE
    scaled -= scaled.max(axis=1, keepdims=True)
    probability = np.exp(scaled)
    probability /= probability.sum(axis=1, keepdims=True)
    loss = float(-np.log(probability[rows, dominant]).mean())
    probability[rows, dominant] -= 1.0
    by_weight = probability / (TEMPERATURE * count)
    peaks = np.array([memberships.outputs[name] for name in OUTPUTS])
    term_index = np.array([[OUTPUT_TERMS.index(term) for term in rule.conclusion] for rule in rules])
    concluded = peaks[np.arange(len(OUTPUTS)), term_index]
    total = (strengths @ concluded).sum(axis=1, keepdims=True)
    by_said = (by_weight - (by_weight * weights).sum(axis=1, keepdims=True)) / total
    by_strength = by_said @ concluded.T
    by_degree = {term: np.zeros(count) for term in degrees}
    for k, rule in enumerate(rules):
        least = np.argmin([degrees[each] for each in rule.conditions], axis=0)
        for j, condition in enumerate(rule.conditions):
            by_degree[condition] += np.where(least == j, rule.priority * by_strength[:, k], 0.0)
    by_concluded, by_peak = strengths.T @ by_said, np.zeros_like(peaks)
    for output in range(len(OUTPUTS)):
        np.add.at(by_peak[output], term_index[:, output], by_concluded[:, output])
    by_term = []
    for k, name in enumerate(INPUT_TERMS):
        for term, pair in zip(INPUT_TERMS[name], memberships.inputs[name], strict=True):
            slope = _z_slope if name in DISTANCES else _gaussian_slope
            by_term.append(slope(values[:, k], *pair) @ by_degree[name, term])
    return loss, np.concatenate([*by_term, by_peak.ravel()])


def _gaussian_slope(x: Array, centre: float, width: float) -> Array:
    """Compute the derivatives (2, m) by centre and width."""
    away = (x - centre) / width
    return np.exp(-0.5 * away**2) * np.array([away, away**2]) / width


def _z_slope(x: Array, ceiling: float, foot: float) -> Array:
    """Compute the derivatives (2, m) by where the fall begins and ends."""
    progress = np.clip((x - ceiling) / (foot - ceiling), 0.0, 1.0)
    fall = -4.0 * np.minimum(progress, 1.0 - progress)
    return fall * np.array([progress - 1.0, -progress]) / (foot - ceiling)


def _widen_z_shapes(parameters: Array) -> Array:
    """Let no Z-shape be narrower than it may be, which the optimiser tries in between."""
    whole = parameters.copy()
    whole[_FEET] = np.maximum(whole[_FEET], whole[_FEET - 1] + NARROWEST)
    return whole


def _project_feasible(wanted: Array) -> Array:
    """Find the possible parameters nearest to those wanted."""
    bounds, order = make_constraints()
    found = minimize(
        lambda x: (((x - wanted) ** 2).sum(), 2.0 * (x - wanted)),
        _MIDDLE,
        method="SLSQP",
        jac=True,
        bounds=bounds,
        constraints=[order],
    )
    return np.asarray(found.x)


FOLDS = 5
"""Groups of people that are judged in turn."""
TUNING_SEED = 5
NOT_CONCLUDED = len(OUTPUTS)
"""Index of the criterion that no rule concludes: manipulability."""


@dataclass(frozen=True)
class LabelledRecordings:
    """m recordings with the rules' inputs, and the criteria behind them."""

    session: NDArray[np.int64]  # (m,) int: seeds of the sessions.
    task: NDArray[np.str_]  # (m,): names of the tasks.
    actor: NDArray[np.int64]  # (m,) int: numbers of the actors in their session.
    inputs: Array  # (m, 9): values of `rules.INPUTS`.
    weights: Array  # (m, 4): what energy, velocity, ergonomy, manipulability count for: found, or known.

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
    names = tuple(
        f"actor:{task}:{actor} of session {session}"
        for task, actor, session in zip(recordings.task, recordings.actor, recordings.session, strict=True)
    )
    picked = tuple(names[k] for k in np.flatnonzero(chosen))
    memberships = tune_memberships(values, weights, TUNING_SEED, rules=by_hand).memberships
    learned = learn_examples(picked, values, weights, recordings.person[chosen]) if examples else None
    return RuleBase(TUNED, by_hand, memberships, learned)


def predict_dominant(recordings: LabelledRecordings, rules: RuleBase) -> NDArray[np.int64]:
    """Predict the dominant criterion of recordings by rules.

    `rules`: the fitted rules. Returns (m,) int: index in `OUTPUTS`.
    """
    *_, weights = infer(recordings.inputs, rules.memberships, rules.by_hand, rules.examples)
    return np.asarray(weights.argmax(axis=1))


def compute_agreement(predicted: NDArray[np.int64], recordings: LabelledRecordings, task: str) -> float:
    """Compute how often rules and optimisation agree in a task, where rules can be right at all.

    `predicted` (m,) int: criterion by the rules, index in `OUTPUTS`; `task`: name of the task. Returns
    fraction of the task's recordings, 0 to 1; NaN if there are none.
    """
    chosen = (recordings.task == task) & recordings.decidable
    return float((predicted == recordings.dominant)[chosen].mean()) if chosen.any() else np.nan
