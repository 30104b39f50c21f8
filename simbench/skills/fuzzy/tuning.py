"""Tuning of the fuzzy terms: constrained optimisation of their parameters against inverse optimal control."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, minimize

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.skills.fuzzy.memberships import BY_HAND, NARROWEST, Memberships, flat, from_flat
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
"""Factor of the squared distance from the terms set by hand: what the recordings say nothing about stays."""
COPIES = 3
"""Of each recording beside itself, with inputs as another recording of the same might have had them."""
JITTER = np.where(np.isin(INPUTS, SPEEDS), 0.02, 0.006)
"""Standard deviation of their inputs: about that between single repetitions of one person."""
_WIDEST, _APART = 0.5, 0.05
"""Of a Gaussian; least distance of two neighbouring terms."""
_SPREAD = 0.2
"""Standard deviation of where parameters are drawn."""
_SLACK = 1e-6
"""By which an inequality may be missed."""
_MIDDLE = flat(BY_HAND)
_PLACES = [(name, k) for name, terms in INPUT_TERMS.items() for _ in terms for k in range(2)]
_FEET = np.array([at for at, (name, k) in enumerate(_PLACES) if name in DISTANCES and k == 1])
"""Where in the flat parameters a Z-shape reaches 0."""


@dataclass(frozen=True)
class Tuned:
    """Tuned memberships.

    Parameters
    ----------
    memberships : Memberships
    loss : float
        `dominance_loss` on the recordings given and their copies.
    losses : tuple of float
        Least value of what is minimised, the loss with the pull, after each descent.
    """

    memberships: Memberships
    loss: float
    losses: tuple[float, ...]


def tune(
    values: ArrayLike,
    weights: ArrayLike,
    seed: int,
    starts: int = 10,
    hops: int = 20,
    rules: Sequence[Rule] = RULES,
) -> Tuned:
    """Fit the terms to the criteria that inverse optimal control found dominant.

    Every parameter keeps to its bounds, terms to their order, and a term to a width; sequential quadratic
    programming with exact gradients, one of fmincon's ways (Tomić 2018, §5.2.1). It descends from the terms
    set by hand, from places drawn about them, and then again and again from places drawn about the best.
    Copies of the recordings with inputs a little off keep the terms from being cut to single people.

    Parameters
    ----------
    values : (m, 9) array_like
        Of `INPUTS`.
    weights : (m, 3) array_like
        Of `OUTPUTS`, found by optimisation; no row is all 0.
    seed : int
        The same gives the same parameters.
    starts : int
        Descents from about the terms set by hand.
    hops : int
        Descents from about the best.
    rules : sequence of Rule

    Returns
    -------
    Tuned

    Raises
    ------
    SkillError
        Values or weights are not such, or scikit-fuzzy is not installed.
    """
    rows, wanted = np.atleast_2d(np.asarray(values, float)), np.atleast_2d(np.asarray(weights, float))
    if wanted.shape != (len(rows), len(OUTPUTS)) or not (wanted.max(axis=1, initial=0.0) > 0.0).all():
        raise SkillError(f"tuning: needs {len(OUTPUTS)} weights for each recording, not all of them 0")
    rng = np.random.default_rng(seed)
    others = rows + JITTER * rng.normal(size=(COPIES, *rows.shape))
    rows = np.clip(np.concatenate([rows[None], others]).reshape(-1, len(INPUTS)), 0.0, 1.0)
    dominant = np.tile(wanted.argmax(axis=1), 1 + COPIES)
    value, best = _descend(_MIDDLE, rows, dominant, rules)
    losses = [value]
    for descent in range(1, starts + hops):
        around = _MIDDLE if descent < starts else best
        start = _feasible(around + rng.normal(0.0, _SPREAD, len(_MIDDLE)))
        reached, place = _descend(start, rows, dominant, rules)
        if reached < value:
            value, best = reached, place
        losses.append(value)
    return Tuned(from_flat(best), dominance_loss(best, rows, dominant, rules)[0], tuple(losses))


def _descend(
    start: Array, values: Array, dominant: NDArray[np.int64], rules: Sequence[Rule]
) -> tuple[float, Array]:
    """Go down from a start: the value reached, infinite if some inequality is missed, and where."""
    bounds, order = limits()

    def value(parameters: Array) -> tuple[float, Array]:
        loss, gradient = dominance_loss(_whole(parameters), values, dominant, rules)
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
    return (float(result.fun) if kept else np.inf), _whole(np.clip(result.x, bounds.lb, bounds.ub))


def limits() -> tuple[Bounds, LinearConstraint]:
    """Make the bounds of the flat parameters, and the inequalities that keep terms in order."""
    low, high, order = np.zeros(len(flat(BY_HAND))), np.ones(len(flat(BY_HAND))), []
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


def dominance_loss(
    parameters: Array, values: Array, dominant: NDArray[np.int64], rules: Sequence[Rule] = RULES
) -> tuple[float, Array]:
    """Compute how unsure the rules are of the dominant criteria, and its gradient.

    Parameters
    ----------
    parameters : (p,) array
        From `flat`.
    values : (m, 9) array
    dominant : (m,) int array
        Place in `OUTPUTS`.
    rules : sequence of Rule

    Returns
    -------
    loss : float
        Mean of −log softmax(weights / `TEMPERATURE`) of the dominant.
    gradient : (p,) array
    """
    memberships = from_flat(parameters)
    found = infer(values, memberships, rules)
    count, rows = len(values), np.arange(len(values))
    scaled = found.weights / TEMPERATURE
    scaled -= scaled.max(axis=1, keepdims=True)
    share = np.exp(scaled)
    share /= share.sum(axis=1, keepdims=True)
    loss = float(-np.log(share[rows, dominant]).mean())
    share[rows, dominant] -= 1.0
    by_weight = share / (TEMPERATURE * count)
    peaks = np.array([memberships.outputs[name] for name in OUTPUTS])
    place = np.array([[OUTPUT_TERMS.index(term) for term in rule.conclusion] for rule in rules])
    concluded = peaks[np.arange(len(OUTPUTS)), place]
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
        np.add.at(by_peak[output], place[:, output], by_concluded[:, output])
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
    way = np.clip((x - ceiling) / (foot - ceiling), 0.0, 1.0)
    fall = -4.0 * np.minimum(way, 1.0 - way)
    return fall * np.array([way - 1.0, -way]) / (foot - ceiling)


def _whole(parameters: Array) -> Array:
    """Let no Z-shape be narrower than it may be, which the optimiser tries on its way."""
    whole = parameters.copy()
    whole[_FEET] = np.maximum(whole[_FEET], whole[_FEET - 1] + NARROWEST)
    return whole


def _feasible(wished: Array) -> Array:
    """Find the possible parameters nearest to those wished."""
    bounds, order = limits()
    found = minimize(
        lambda x: (((x - wished) ** 2).sum(), 2.0 * (x - wished)),
        _MIDDLE,
        method="SLSQP",
        jac=True,
        bounds=bounds,
        constraints=[order],
    )
    return np.asarray(found.x)
