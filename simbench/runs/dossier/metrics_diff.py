"""Metrics of a failed run beside those of its baseline, as Markdown and JSON."""

import math
from collections.abc import Sequence
from typing import Any

from simbench.files.printable import printable
from simbench.runs.baseline import Verdict
from simbench.runs.regression import FailedCheck, format_number, format_tolerance

_WORDS = {"worse": "worse", "better": "better", "missing": "missing in the run", "new": "not in the baseline"}
HEADS = ("metric", "baseline", "now", "tolerance", "verdict")


def diff_rows(verdicts: Sequence[Verdict], checks: Sequence[FailedCheck]) -> list[tuple[str, ...]]:
    """List metrics that changed, and violated checks, as text.

    Parameters
    ----------
    verdicts : sequence of Verdict
        Metrics compared with their baseline.
    checks : sequence of FailedCheck
        Violated checks of the scenario.

    Returns
    -------
    list of tuple of str
        Rows under `HEADS`; failures first.
    """
    rows: list[tuple[str, ...]] = [
        (check.name, "", format_number(check.now), "", f"check failed: must be {check.bound}")
        for check in checks
    ]
    changed = [verdict for verdict in verdicts if verdict.outcome != "holds"]
    for verdict in sorted(changed, key=lambda each: not each.failed):
        new, missing = verdict.outcome == "new", verdict.outcome == "missing"
        rows.append(
            (
                verdict.name,
                "" if new else format_number(verdict.was),
                "" if missing else format_number(verdict.now),
                "" if new else format_tolerance(verdict.tolerance, verdict.better),
                "changed"
                if verdict.outcome == "worse" and verdict.better == "same"
                else _WORDS[verdict.outcome],
            )
        )
    return rows


def diff_markdown(rows: Sequence[Sequence[str]], held: int) -> str:
    """Write the rows as a Markdown table.

    Parameters
    ----------
    rows : sequence of sequence of str
        Rows from `diff_rows`.
    held : int
        Number of metrics that hold.

    Returns
    -------
    str
        The table, and how many metrics hold.
    """

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(printable(cell).replace("|", "\\|") for cell in cells) + " |"

    table = [line(HEADS), "|---|---:|---:|---:|---|", *(line(row) for row in rows)] if rows else []
    return "\n".join([*table, "", f"{held} metrics hold their tolerance."]).lstrip() + "\n"


def diff_entries(verdicts: Sequence[Verdict], checks: Sequence[FailedCheck]) -> dict[str, Any]:
    """Collect all metrics, those that hold as well, for `metrics_diff.json`.

    Parameters
    ----------
    verdicts : sequence of Verdict
        Metrics compared with their baseline.
    checks : sequence of FailedCheck
        Violated checks of the scenario.

    Returns
    -------
    dict
        `metrics` by name, and `checks` by name.
    """
    return {
        "metrics": {
            each.name: {
                "baseline": each.was,
                "now": each.now,
                "tolerance": each.tolerance if math.isfinite(each.tolerance) else None,
                "better": each.better,
                "outcome": each.outcome,
            }
            for each in verdicts
        },
        "checks": {each.name: {"now": each.now, "must_be": each.bound} for each in checks},
    }
