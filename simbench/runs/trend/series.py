"""Series of metrics over the records of a history, with their changes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

from simbench.runs.metric_catalogue import Better, metric_direction, usual_tolerance
from simbench.runs.trend.changes import FEWEST, Change, find_changes
from simbench.runs.trend.history import HistoryRecord

Effect = Literal["better", "worse", "changed"]


class Series(NamedTuple):
    """A metric of a scenario over the records of that scenario."""

    metric: str  # Name of the metric.
    # Value in each record; None where it has none or it is no finite number.
    values: tuple[float | None, ...]
    changes: tuple[Change, ...]  # Steps and drifts; their indices are those of `values`.
    better: Better  # Direction in which the metric improves.


class ScenarioTrend(NamedTuple):
    """A scenario's records and metrics."""

    scenario: str  # Its name.
    records: tuple[HistoryRecord, ...]  # Its records in the order of time.
    series: tuple[Series, ...]  # Its metrics, those with changes first.


def find_trends(records: Sequence[HistoryRecord]) -> tuple[ScenarioTrend, ...]:
    """Arrange a history by scenario and metric, and find the changes.

    Metrics that baselines ignore, such as times of the machine, are drawn but not tested. The tests of all
    metrics of all scenarios share one probability of a false mark. `records`: records in the order of time.
    Returns scenarios by name.
    """
    by_scenario: dict[str, list[HistoryRecord]] = {}
    for record in records:
        by_scenario.setdefault(record.scenario, []).append(record)
    values = {
        (scenario, metric): tuple(_number(record, metric) for record in own)
        for scenario, own in sorted(by_scenario.items())
        for metric in dict.fromkeys(name for record in own for name in record.metrics)
    }
    drawn = {key: found for key, found in values.items() if any(value is not None for value in found)}
    tested = [key for key, found in drawn.items() if _is_tested(key[1], found, by_scenario[key[0]][-1])]
    changes = {key: _find(drawn[key], key[1], by_scenario[key[0]][-1], len(tested)) for key in tested}
    trends = []
    for scenario, own in sorted(by_scenario.items()):
        series = [
            Series(metric, found, changes.get((name, metric), ()), metric_direction(metric))
            for (name, metric), found in drawn.items()
            if name == scenario
        ]
        series.sort(key=lambda each: (not each.changes, each.metric))
        trends.append(ScenarioTrend(scenario, tuple(own), tuple(series)))
    return tuple(trends)


def change_effect(series: Series, change: Change) -> Effect:
    """Say whether a change is an improvement.

    `series`: the metric. Returns `better`, `worse`, or `changed` for a metric that has no better direction.
    """
    if series.better not in ("lower", "higher"):
        return "changed"
    return "better" if (change.after < change.before) == (series.better == "lower") else "worse"


def _number(record: HistoryRecord, metric: str) -> float | None:
    """Value of a metric as a number: true is 1; None for text, and for what is not finite."""
    value = record.metrics.get(metric)
    if value is None or isinstance(value, str) or not math.isfinite(value):
        return None
    return float(value)


def _is_tested(metric: str, values: Sequence[float | None], last: HistoryRecord) -> bool:
    """Return whether changes of a metric are looked for."""
    ignored = metric_direction(metric) == "ignored" or last.tolerances.get(metric, 0.0) is None
    return not ignored and sum(value is not None for value in values) >= FEWEST


def _find(
    values: Sequence[float | None], metric: str, last: HistoryRecord, series: int
) -> tuple[Change, ...]:
    """Find the changes of a metric that exceed its tolerance, by the indices of all records."""
    known = [index for index, value in enumerate(values) if value is not None]
    numbers = [value for value in values if value is not None]
    # That of the smallest value: nothing that a check would notice is left out.
    usual = usual_tolerance(metric, min(map(abs, numbers)))
    tolerance = max(usual, last.tolerances.get(metric) or 0.0)
    found = find_changes(numbers, tolerance, series)
    return tuple(each._replace(first=known[each.first], last=known[each.last]) for each in found)
