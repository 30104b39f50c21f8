"""A scenario's checks: which metrics are in their bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simbench.runs.metric_catalogue import find_metric

if TYPE_CHECKING:
    from simbench.options import Bound

DIVERGED = "simulation.diverged_s"
"""Metric of a run whose physics diverged: when, s. Other runs do not have it."""

Metric = float | bool | str | None


@dataclass(frozen=True)
class Check:
    """Outcome of one check."""

    name: str  # Name of the metric.
    passed: bool  # Whether the metric is within its bound.
    bound: str  # What the metric must be, such as `≤ 0.03`.
    reason: str = ""  # Why the metric was not measured; empty if it was.


def check_metrics(checks: Mapping[str, bool | Bound], metrics: Mapping[str, Metric]) -> tuple[Check, ...]:
    """Compare metrics with the bounds of a scenario.

    `metrics`: metrics of a run by name. Returns in the order of `checks`. A metric that is absent, not a
    number or of another kind than its bound does not pass; the check says why it was not measured. A run
    whose physics diverged has one check, which it does not pass.
    """
    if metrics.get(DIVERGED) is not None:
        return (Check(DIVERGED, False, "absent: the physics must not diverge"),)
    return tuple(
        Check(name, _holds(bound, metrics.get(name)), _describe(bound), _why_not_measured(name, metrics))
        for name, bound in checks.items()
    )


def _why_not_measured(name: str, metrics: Mapping[str, Metric]) -> str:
    """Say why a metric has no value; empty if it has one."""
    if metrics.get(name) is not None:
        return ""
    entry = find_metric(name)
    if entry is None:
        return "no run measures it"
    if name in metrics:
        return f"not measured: `simbench explain {name}` says when"
    some = entry.present and not entry.present.startswith("every")
    return f"not measured: only {entry.present} have it" if some else "not measured"


def _holds(bound: bool | Bound, value: Metric) -> bool:
    if isinstance(bound, bool):
        return isinstance(value, bool) and value == bound
    if value is None or isinstance(value, bool | str) or math.isnan(value):
        return False
    return (bound.min is None or value >= bound.min) and (bound.max is None or value <= bound.max)


def _describe(bound: bool | Bound) -> str:
    if isinstance(bound, bool):
        return str(bound).lower()
    if bound.min is not None and bound.max is not None:
        return f"{bound.min:g} to {bound.max:g}"
    return f"≥ {bound.min:g}" if bound.min is not None else f"≤ {bound.max:g}"
