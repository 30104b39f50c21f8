"""Tuning of the fuzzy terms: constrained optimisation against the results of inverse optimal control."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, minimize

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.skills.fuzzy.memberships import (
    INITIAL_MEMBERSHIPS,
    NARROWEST,
    Memberships,
    flatten_memberships,
    unflatten_memberships,
)
from simbench.skills.fuzzy.rules import (
    DISTANCES,
    INPUT_TERMS,
    INPUTS,
    OUTPUT_TERMS,
    OUTPUTS,
    RULES,
    SPEEDS,
    Rule,
)
from simbench.skills.fuzzy.strategy import infer

TEMPERATURE = 0.1
"""Difference of two weights at which the rules count as sure, e : 1, of the greater."""
PULL = 0.003
"""Penalty on the squared distance from the terms set by hand: what recordings say nothing about stays."""
COPIES = 3
"""Copies of each recording, with inputs as another recording of the same might have had them."""
JITTER = np.where(np.isin(INPUTS, SPEEDS), 0.02, 0.006)
"""Standard deviation of the copies' inputs: about that between single repetitions of one person."""
_WIDEST, _APART = 0.5, 0.05
"""Greatest width of a Gaussian; least distance of two neighbouring terms."""
_SPREAD = 0.2
"""Standard deviation of the parameters that are drawn as starts."""
_SLACK = 1e-6
"""By which an inequality may be missed."""
_MIDDLE = flatten_memberships(INITIAL_MEMBERSHIPS)
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
    starts: int = 10,
    hops: int = 20,
    rules: Sequence[Rule] = RULES,
) -> TuningResult:
    """Fit the terms to the criteria that inverse optimal control found dominant.

    Every parameter keeps to its bounds, terms to their order, and a term to a least width; sequential
    quadratic programming with exact gradients, one of fmincon's methods (Tomić 2018, §5.2.1). It descends
    from the terms set by hand, from starts drawn about them, and then again and again from starts drawn about
    the best. Copies of the recordings with inputs slightly changed keep the terms from fitting single people.
    `values` (m, 9) _like: values of `INPUTS`, 0 to 1; `weights` (m, 3) _like: weights of `OUTPUTS`, found by
    optimisation; no row is all 0; `seed`: seed of copies and starts; the same gives the same parameters;
    `starts`: number of descents from about the terms set by hand; `hops`: number of descents from about the
    best.
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

    Returns `order`: least distances of parameters.
    """
    low, high, order = (
        np.zeros(len(flatten_memberships(INITIAL_MEMBERSHIPS))),
        np.ones(len(flatten_memberships(INITIAL_MEMBERSHIPS))),
        [],
    )
    at = 0
    for name, terms in INPUT_TERMS.items():
        for k in range(len(terms)):
            if name in DISTANCES:
                order.append((at, at + 1, NARROWEST))
            else:
                low[at + 1], high[at + 1] = NARROWEST, _WIDEST
            if k > 0:
                order.append((at - 2, at, _APART))
                if name in DISTANCES:
                    order.append((at - 1, at + 1, _APART))
            at += 2
    for _ in OUTPUTS:
        for k in range(len(OUTPUT_TERMS)):
            low[at] = 0.01
            if k > 0:
                order.append((at - 1, at, _APART))
            at += 1
    rows = np.zeros((len(order), at))
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
    found = infer(values, memberships, rules)
    count, rows = len(values), np.arange(len(values))
    scaled = found.weights / TEMPERATURE
    scaled -= scaled.max(axis=1, keepdims=True)
    probability = np.exp(scaled)
    probability /= probability.sum(axis=1, keepdims=True)
    loss = float(-np.log(probability[rows, dominant]).mean())
    probability[rows, dominant] -= 1.0
    by_weight = probability / (TEMPERATURE * count)
    peaks = np.array([memberships.outputs[name] for name in OUTPUTS])
    term_index = np.array([[OUTPUT_TERMS.index(term) for term in rule.conclusion] for rule in rules])
    concluded = peaks[np.arange(len(OUTPUTS)), term_index]
    total = (found.strengths @ concluded).sum(axis=1, keepdims=True)
    by_said = (by_weight - (by_weight * found.weights).sum(axis=1, keepdims=True)) / total
    by_strength = by_said @ concluded.T
    by_degree = {term: np.zeros(count) for term in found.degrees}
    for k, rule in enumerate(rules):
        least = np.argmin([found.degrees[each] for each in rule.conditions], axis=0)
        for j, condition in enumerate(rule.conditions):
            by_degree[condition] += np.where(least == j, rule.priority * by_strength[:, k], 0.0)
    by_concluded, by_peak = found.strengths.T @ by_said, np.zeros_like(peaks)
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
