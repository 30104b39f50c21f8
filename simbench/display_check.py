"""What `simbench check` prints: what drifted from its baseline, and how baselines change."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from simbench.cli.console import format_value
from simbench.runs.baseline import Baseline, Metric, Verdict, tolerance_of
from simbench.runs.regression import Case, FailedCheck, Result
from simbench.runs.tolerances import Better

_SIGN = {"lower": "+", "higher": "−", "same": "±"}
_STYLE = {"worse": "bold red", "missing": "bold red", "better": "green", "new": "yellow"}


def results_table(results: Sequence[Result], unchecked: Sequence[Case] = ()) -> Table:
    """Lay out a line for each metric that is not as it was, and one for each scenario that holds.

    Parameters
    ----------
    results : sequence of Result
    unchecked : sequence of Case
        Those without a baseline, which were not run.

    Returns
    -------
    rich.table.Table
    """
    table = _table("scenario", "metric", "baseline", "now", "tolerance", "verdict")
    for result in results:
        name = result.case.scenario.name
        if result.error:
            table.add_row(name, "", "", "", "", Text(f"failed: {result.error}", _STYLE["worse"]))
        for check in result.failed_checks:
            words = Text(f"check failed: must be {check.bound}", _STYLE["worse"])
            table.add_row(name, check.name, "", _number(check.now), "", words)
        for verdict in result.verdicts:
            if verdict.outcome != "holds":
                table.add_row(name, *_cells(verdict))
        if not result.failed:
            kept = sum(verdict.outcome in ("holds", "better") for verdict in result.verdicts)
            table.add_row(name, f"{kept} metrics", "", "", "", Text("holds", "green"))
    for case in unchecked:
        table.add_row(case.scenario.name, "", "", "", "", "not checked: no baseline; --update writes one")
    return table


def describe_check(scenario: str, check: FailedCheck) -> str:
    """Say in one line which check of a scenario does not hold."""
    return f"{scenario}: check failed: {check.name} is {_number(check.now)}, must be {check.bound}"


def describe_drift(scenario: str, verdict: Verdict) -> str:
    """Say in one line how a metric is not as it was.

    Parameters
    ----------
    scenario : str
        Its name.
    verdict : Verdict
        That has failed.

    Returns
    -------
    str
    """
    if verdict.outcome == "missing":
        return f"{scenario}: {verdict.name} is missing; its baseline is {_number(verdict.was)}"
    return (
        f"{scenario}: {verdict.name} is {_number(verdict.now)}, "
        f"its baseline {_number(verdict.was)} {_tolerance(verdict.tolerance, verdict.better)}"
    )


def update_table(results: Sequence[Result]) -> Table:
    """Lay out how new baselines differ from those they replace.

    Parameters
    ----------
    results : sequence of Result
        Those with a new baseline.

    Returns
    -------
    rich.table.Table
    """
    table = _table("scenario", "metric", "was", "is", "tolerance was", "is")
    for result in results:
        name, before, after = result.case.scenario.name, result.case.baseline, result.measured
        if after is None:
            continue
        changes = [] if before is None else baseline_changes(before, after)
        for change in changes:
            table.add_row(name, change.name, change.was, change.now, change.tolerance_was, change.tolerance)
        if before is None:
            table.add_row(name, f"{len(after)} metrics", "", "new", "", "")
        else:
            kept = len(after) - sum(change.now != "" for change in changes)
            table.add_row(name, f"{kept} metrics", "", "unchanged", "", "")
        if before is None:
            for metric, expected in after.items():
                if math.isinf(tolerance_of(metric, expected)):
                    table.add_row(name, metric, "", _number(expected.value), "", "any: rounding decides it")
    return table


@dataclass(frozen=True)
class Change:
    """A metric whose baseline changes, in words; empty where there is none."""

    name: str
    was: str
    now: str
    tolerance_was: str
    tolerance: str


def baseline_changes(before: Baseline, after: Baseline) -> list[Change]:
    """List the metrics whose value changes, that come, and that go."""
    changes = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        changes.append(
            Change(
                name,
                _number(old.value) if old else "",
                _number(new.value) if new else "",
                f"{tolerance_of(name, old):.2g}" if old else "",
                f"{tolerance_of(name, new):.2g}" if new else "gone",
            )
        )
    return changes


def _cells(verdict: Verdict) -> tuple[str, str, str, str, Text]:
    words = {
        "worse": "worse" if verdict.better != "same" else "changed",
        "better": "better; --update keeps it",
        "missing": "missing in the run",
        "new": "not in the baseline; --update adds it",
    }
    return (
        verdict.name,
        "" if verdict.outcome == "new" else _number(verdict.was),
        "" if verdict.outcome == "missing" else _number(verdict.now),
        "" if verdict.outcome == "new" else _tolerance(verdict.tolerance, verdict.better),
        Text(words[verdict.outcome], _STYLE[verdict.outcome]),
    )


def _tolerance(tolerance: float, better: Better) -> str:
    return f"{_SIGN[better]} {tolerance:.2g}" if tolerance else "as it is"


def _number(value: Metric) -> str:
    """With a digit more than other tables: differences of one per cent are to be seen."""
    return f"{value:.5g}" if isinstance(value, float) and not isinstance(value, bool) else format_value(value)


def _table(*columns: str) -> Table:
    table = Table(*columns, box=None, pad_edge=False)
    for column in table.columns[2:5]:
        column.justify = "right"
    for column in table.columns:
        column.overflow = "fold"
    for column in table.columns[:5]:
        column.no_wrap = True
    return table
