"""The summary of a check in Markdown, as GitHub shows it below a job."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from simbench.files.text import printable
from simbench.runs.regression import Case, CaseResult, format_number, format_tolerance

_MOST_CELLS = 8
"""Failed checks and drifts of a scenario that are listed; a job's summary is limited in size."""
_MARKDOWN = "\\`*_[]<>|~&"
"""Characters that Markdown may read as its own within a line."""


def summary_markdown(
    results: Sequence[CaseResult], unchecked: Sequence[Case] = (), dossiers: Path | None = None
) -> str:
    """Write a table of scenarios: whether each holds, its failed checks, and what drifted from its baseline.

    `results`: outcome of each scenario that was run; `unchecked`: scenarios that were not run; `dossiers`:
    folder with a folder for each failed scenario, which its name links to; in a job of GitHub Actions the
    folder is named.
    """
    failed = [result for result in results if result.failed]
    held = len(results) - len(failed)
    lines = [
        f"### {'❌' if failed else '✅'} simbench check: {held} of {len(results)} scenarios hold",
        "",
        "| scenario | | failed checks | drifts |",
        "|---|---|---|---|",
    ]
    # What failed is read first.
    for result in [*failed, *(result for result in results if not result.failed)]:
        outcome = "❌ failed" if result.failed else "✅ holds"
        cells = (_name(result, dossiers), outcome, _checks_cell(result), _drifts_cell(result))
        lines.append(f"| {' | '.join(cells)} |")
    for case in unchecked:
        reason = case.missing or "no baseline"
        lines.append(f"| {escape_markdown(case.scenario.name)} | not checked | {escape_markdown(reason)} | |")
    return "\n".join(lines) + "\n"


def append_summary(
    path: Path,
    results: Sequence[CaseResult],
    unchecked: Sequence[Case] = (),
    dossiers: Path | None = None,
) -> None:
    """Add the summary of a check to a file, such as the one that `GITHUB_STEP_SUMMARY` names.

    `path`: the file; it is made if it is missing; `results`, `unchecked`, `dossiers`: as in
    `summary_markdown`.
    """
    with path.open("a", encoding="utf-8") as file:
        file.write(summary_markdown(results, unchecked, dossiers))


def escape_markdown(text: str) -> str:
    """Write a text so that Markdown shows it as it is, in one line. `text`: any text."""
    line = " ".join(printable(text).split())
    return "".join(f"\\{character}" if character in _MARKDOWN else character for character in line)


def _name(result: CaseResult, dossiers: Path | None) -> str:
    """Name a scenario, with a link to its dossier if it has one."""
    name = result.case.scenario.name
    folder = None if dossiers is None else dossiers / name
    # An older check may have left a folder of a scenario that holds now.
    if folder is None or not result.failed or not folder.is_dir():
        return escape_markdown(name)
    if os.environ.get("GITHUB_ACTIONS"):
        # There the summary is not beside the folder, which is in an artifact.
        return f"{escape_markdown(name)}<br>`{_code(folder.as_posix())}`"
    return f"[{escape_markdown(name)}]({quote(folder.as_posix())})"


def _checks_cell(result: CaseResult) -> str:
    """List the violated checks of a scenario, or the error that ended it."""
    if result.error:
        return escape_markdown(result.error)
    return _listed(
        [
            f"`{_code(check.name)}` is {escape_markdown(format_number(check.now))}, must be "
            f"{escape_markdown(check.bound)}"
            for check in result.failed_checks
        ]
    )


def _drifts_cell(result: CaseResult) -> str:
    """List how the metrics of a scenario differ from its baseline, where they are worse."""
    drifts = []
    for verdict in result.verdicts:
        if not verdict.failed:
            continue
        if verdict.outcome == "missing":
            drifts.append(f"`{_code(verdict.name)}` is missing")
            continue
        was, now = escape_markdown(format_number(verdict.was)), escape_markdown(format_number(verdict.now))
        allowed = escape_markdown(format_tolerance(verdict.tolerance, verdict.better))
        drifts.append(f"`{_code(verdict.name)}` {was} → {now} (allowed {allowed})")
    return _listed(drifts)


def _code(name: str) -> str:
    """Write a name for a code span in a table, which nothing can leave."""
    return printable(name).replace("`", "'").replace("|", "\\|")


def _listed(entries: Sequence[str]) -> str:
    """Put entries below each other in a cell of a table."""
    more = len(entries) - _MOST_CELLS
    return "<br>".join([*entries[:_MOST_CELLS], *([f"… and {more} more"] if more > 0 else [])])
