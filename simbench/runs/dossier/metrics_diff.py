"""Metrics of a failed run beside those of its baseline, as Markdown and JSON."""

import math
from collections.abc import Sequence
from typing import Any

from simbench.files.text import printable
from simbench.runs.baseline import Verdict
from simbench.runs.regression import FailedCheck, format_number, format_tolerance

_WORDS = {"worse": "worse", "better": "better", "missing": "missing in the run"}
HEADS = ("metric", "baseline", "now", "tolerance", "verdict")


def diff_rows(verdicts: Sequence[Verdict], checks: Sequence[FailedCheck]) -> list[tuple[str, ...]]:
    """List metrics that changed, and violated checks, as text; those that the baseline lacks are left out.

    `verdicts`: metrics compared with their baseline; `checks`: violated checks of the scenario. Returns rows
    under `HEADS`; failures first.
    """
    rows: list[tuple[str, ...]] = [
        (check.name, "", format_number(check.now), "", f"check failed: must be {check.bound}")
        for check in checks
    ]
    changed = [verdict for verdict in verdicts if verdict.outcome not in ("holds", "new")]
    for verdict in sorted(changed, key=lambda each: not each.failed):
        rows.append(
            (
                verdict.name,
                format_number(verdict.was),
                "" if verdict.outcome == "missing" else format_number(verdict.now),
                format_tolerance(verdict.tolerance, verdict.better),
                "changed"
                if verdict.outcome == "worse" and verdict.better == "same"
                else _WORDS[verdict.outcome],
            )
        )
    return rows


def summarise_rest(verdicts: Sequence[Verdict]) -> str:
    """Count the metrics that `diff_rows` leaves out.

    `verdicts`: metrics compared with their baseline. Returns how many hold, and how many are not in the
    baseline.
    """
    held = sum(verdict.outcome == "holds" for verdict in verdicts)
    new = sum(verdict.outcome == "new" for verdict in verdicts)
    return f"{held} metrics hold their tolerance." + (f" {new} are not in the baseline." if new else "")


def diff_markdown(rows: Sequence[Sequence[str]], rest: str) -> str:
    """Write the rows as a Markdown table.

    `rest`: sentence about the metrics that are not in the rows. Returns the table and the sentence.
    """

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(printable(cell).replace("|", "\\|") for cell in cells) + " |"

    table = [line(HEADS), "|---|---:|---:|---:|---|", *(line(row) for row in rows)] if rows else []
    return "\n".join([*table, "", rest]).lstrip() + "\n"


def diff_entries(verdicts: Sequence[Verdict], checks: Sequence[FailedCheck]) -> dict[str, Any]:
    """Collect all metrics, those that hold as well, for `metrics_diff.json`.

    `verdicts`: metrics compared with their baseline; `checks`: violated checks of the scenario. Returns
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
