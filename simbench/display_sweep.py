"""What `simbench sweep` prints: what was varied against the metrics that the scenario is held to."""

import json
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from simbench.cli.console import format_value, unit_of
from simbench.runs.study.sweep import CHECKS_HOLD, FAILED_CHECKS
from simbench.runs.study.table import Row

_MOST_METRICS, _MOST_ROWS = 5, 60


def sweep_table(rows: Sequence[Row], metrics: Sequence[str]) -> Table:
    """Lay out a line for each run; those that failed come even where there are too many to show.

    Parameters
    ----------
    rows : sequence of Row
        With the values of `run_varied`.
    metrics : sequence of str
        Columns, named by metrics.

    Returns
    -------
    rich.table.Table
    """
    keys = list(rows[0].varied)
    heads = [f"{name}, {unit}" if (unit := unit_of(name)) else name for name in metrics]
    table = Table(*keys, *heads, "outcome", box=None, pad_edge=False)
    for column in table.columns[:-1]:
        column.overflow = "fold"
    for column in table.columns[len(keys) : -1]:
        column.justify = "right"
    shown = [row for k, row in enumerate(rows) if k < _MOST_ROWS or failed(row)][:_MOST_ROWS]
    for row in shown:
        broken = set(str(row.values.get(FAILED_CHECKS) or "").split(", "))
        cells = [_cell(row, name, name in broken) for name in metrics]
        table.add_row(*(_varied(row.varied[key]) for key in keys), *cells, _outcome(row))
    if len(rows) > len(shown):
        table.add_row(f"… {len(rows) - len(shown)} more")
    return table


def chosen_metrics(rows: Sequence[Row], checked: Sequence[str]) -> list[str]:
    """Choose the metrics to show: those with a check that differ between the runs, or else any with one.

    Parameters
    ----------
    rows : sequence of Row
    checked : sequence of str
        Metrics that the scenario has checks for.

    Returns
    -------
    list of str
    """
    have = [name for name in checked if any(name in row.values for row in rows)]
    ran = [row for row in rows if not row.error]
    differ = [name for name in have if len({row.values.get(name) for row in ran}) > 1]
    return (differ or have)[:_MOST_METRICS]


def failed(row: Row) -> bool:
    """Whether a run ended with an error or did not hold its scenario's checks."""
    return bool(row.error) or not row.values[CHECKS_HOLD]


def _cell(row: Row, name: str, broken: bool) -> Text:
    text = "" if row.error else format_value(row.values.get(name))
    return Text(text, style="bold red" if broken else "")


def _varied(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _outcome(row: Row) -> Text:
    if row.error:
        return Text(f"failed: {row.error}", "bold red")
    names = str(row.values[FAILED_CHECKS])
    return Text(f"check failed: {names}", "bold red") if names else Text("holds", "green")
