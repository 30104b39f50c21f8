"""Reports of runs as HTML pages that need no other file; runs stand side by side where there are several."""

import base64
import html
import math
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from simbench.errors import RunError
from simbench.files.storage import write_whole
from simbench.files.text import printable
from simbench.runs.checks import Check
from simbench.runs.fidelity_rows import HEADS, fidelity_lines, fidelity_rows
from simbench.runs.metric_format import format_value, unit_of
from simbench.runs.report.assets import content_policy, read_asset
from simbench.runs.report.player import player_html
from simbench.runs.report.report import FIDELITY, RunReport, differing_keys, run_labels

_CAPTION = (
    "What is left of the person: the recording above, the robot below, both at the same moments, and the "
    "angles between their limbs."
)
_MOST_ROWS = 8
"""Metrics that differ from the baseline, worst first, that are shown at once."""
_TONES = {"worse": "bad", "missing": "bad", "better": "good"}
_FACTS = ("simbench", "git_commit", "date", "seed", "python", "platform", "processor", "cores", "command")


def escape(text: str) -> str:
    """Write a text from a file so that a page shows it and does nothing else with it.

    `text`: any text. Returns HTML without tags of its own, control characters, or marks that reorder what is
    shown beside it.
    """
    return html.escape(printable(text))


def write_report(reports: Sequence[RunReport], out: Path) -> None:
    """Write one page about one run, or about several side by side, whole or not at all.

    `reports`: at least one report; `out`: file to write, ending in `.html`.
    """
    try:
        write_whole(out, report_page(reports, out.parent))
    except OSError as error:
        raise RunError(f"{out}: cannot write the report: {error.strerror}") from error


def report_page(reports: Sequence[RunReport], directory: Path) -> str:
    """Write reports of runs as one HTML page.

    `reports`: at least one report; `directory`: directory in which the page will be: links to videos are
    relative to it. Returns HTML with data, scripts and pictures inside; the only links are to videos.
    """
    labels = run_labels([report.folder for report in reports])
    alone = len(reports) == 1
    pairs = list(zip(reports, labels, strict=True))
    title = _name(reports[0]) if alone else f"{len(reports)} runs compared"
    sections = [
        *([_masthead(reports[0], labels[0], directory)] if alone else [f"<h1>{escape(title)}</h1>"]),
        *([] if alone else [_run_line(report, label, directory) for report, label in pairs]),
        *(_failed_checks(report, label, alone) for report, label in pairs),
        *(_baseline(report, label, alone) for report, label in pairs),
        *(_doubts(report, label, alone) for report, label in pairs),
        "" if alone else _differences(reports, labels),
        player_html(reports, labels),
        _checks(reports, labels),
        *(_fidelity(report, label, alone) for report, label in pairs),
        _metrics(reports, labels),
        _provenance(reports, labels),
        *(_scenario(report, label, alone) for report, label in pairs),
        f"<details><summary>Licences of the scripts in this page</summary><pre>{_licences()}</pre></details>",
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{read_asset('report.css')}</style></head><body>\n"
        + "\n".join(filter(None, sections))
        + "\n</body></html>\n"
    )


def _licences() -> str:
    return escape(read_asset("licences.txt"))


def _name(report: RunReport) -> str:
    return f"{report.scenario['name']} on {report.scenario['robot']['name']}"


def _badge(report: RunReport) -> str:
    """Write whether a run holds its checks."""
    failed = sum(not check.passed for check in report.checks)
    if report.incomplete:
        words, tone = (
            f"incomplete ({report.incomplete}): no metrics; scene and plots as far as it was logged",
            "bad",
        )
    elif failed:
        words, tone = f"{failed} of {len(report.checks)} checks failed", "bad"
    elif report.checks:
        words, tone = f"all {len(report.checks)} checks hold", "good"
    else:
        words, tone = "no checks", ""
    return f'<span class="badge {tone}">{escape(words)}</span>'


def _masthead(report: RunReport, label: str, directory: Path) -> str:
    """Write title, verdict and origin of the only run of a page."""
    return (
        f'<header><div class="masthead"><h1>{escape(_name(report))}</h1>{_badge(report)}</div>'
        f"<p>{escape(report.scenario.get('summary', ''))}</p>{_facts(report, label, directory)}</header>"
    )


def _run_line(report: RunReport, label: str, directory: Path) -> str:
    """Write name, verdict and origin of one of several runs."""
    return (
        f'<div class="run"><div class="masthead"><b>{escape(_name(report))}</b>{_badge(report)}</div>'
        f"<p>{escape(report.scenario.get('summary', ''))}</p>{_facts(report, label, directory)}</div>"
    )


def _facts(report: RunReport, label: str, directory: Path) -> str:
    """Write where a run is, its length, its seed, and a link to its video."""
    facts = [f"<code>{escape(label)}</code>", f"{float(report.log.time[-1]):.2f} s"]
    if report.provenance.get("seed") is not None:
        facts.append(f"seed {escape(_text(report.provenance['seed']))}")
    if report.video is not None:
        path = os.fsencode(os.path.relpath(report.video, directory))
        facts.append(f'<a href="{quote(path)}">video</a>')
    return f'<p class="facts">{" · ".join(facts)}</p>'


def _failed_checks(report: RunReport, label: str, alone: bool) -> str:
    """List the checks that failed, with the time at which each first fails where it has one."""
    failed = [check for check in report.checks if not check.passed]
    if not failed:
        return ""
    # Those with a time first, in the order of time: the first is often the cause of the others.
    failed.sort(
        key=lambda check: report.failures[check.name].time if check.name in report.failures else math.inf
    )
    rows = []
    for check in failed:
        failure = report.failures.get(check.name)
        when = ""
        if failure is not None:
            at = f'data-time="{failure.time:.6f}">{failure.time:.3f} s'
            when = f'<button type="button" class="jump" {at}</button> {escape(failure.words)}'
        elif check.reason:
            when = escape(check.reason)
        value = format_value(report.metrics.get(check.name))
        unit = unit_of(check.name)
        rows.append([_breakable(check.name), escape(value), escape(f"{check.bound} {unit}".strip()), when])
    heading = "Checks that failed" if alone else f"Checks that failed in {label}"
    table = _table(["metric", "value", "must be", "fails at"], rows)
    return f'<section class="card bad"><h2>{escape(heading)}</h2>{table}</section>'


def _baseline(report: RunReport, label: str, alone: bool) -> str:
    """Write which metrics differ from the baseline of the scenario, if there is one."""
    if report.baseline is None:
        return ""
    of = "" if alone else f"{label}: "
    changed = [verdict for verdict in report.baseline.different if verdict.outcome != "new"]
    new = sum(verdict.outcome == "new" for verdict in report.baseline.different)
    compared = len(report.baseline.verdicts) - new
    beside = f"; {new} are not in it" if new else ""
    if not changed:
        words = (
            f"{of}as the baseline of {report.scenario['name']}: {compared} metrics within tolerance{beside}"
        )
        return f'<p class="note">{escape(words)}</p>'
    rows = [
        [
            _breakable(verdict.name),
            escape(format_value(verdict.was)),
            escape(format_value(verdict.now)),
            escape(f"{verdict.tolerance:.2g}"),
            escape(unit_of(verdict.name)),
            f'<span class="{_TONES[verdict.outcome]}">{verdict.outcome}</span>',
        ]
        for verdict in changed
    ]
    heading = f"{of}{len(changed)} of {compared} metrics differ from the baseline"
    heads = ["metric", "baseline", "this run", "tolerance", "unit", ""]
    table = _table(heads, rows[:_MOST_ROWS])
    if len(rows) > _MOST_ROWS:
        more = f"<summary>{len(rows) - _MOST_ROWS} more</summary>"
        table += f"<details>{more}{_table(heads, rows[_MOST_ROWS:])}</details>"
    note = f'<p class="note">{new} metrics are not in the baseline.</p>' if new else ""
    return f'<section class="card"><h2>{escape(heading)}</h2>{table}{note}</section>'


def _doubts(report: RunReport, label: str, alone: bool) -> str:
    """List what may well be wrong about the recording, if anything; runs from before had no such list."""
    doubts = report.provenance.get("doubts", [])
    if not doubts:
        return ""
    heading = "Doubts about the recording" if alone else f"Doubts about the recording of {label}"
    lines = "".join(f"<li>{escape(doubt)}</li>" for doubt in doubts)
    return f'<section class="card"><h2>{escape(heading)}</h2><ul>{lines}</ul></section>'


def _differences(reports: Sequence[RunReport], labels: Sequence[str]) -> str:
    rows = [
        [f"<code>{escape(key)}</code>", *(escape(_text(value)) for value in values)]
        for key, values in differing_keys([report.scenario for report in reports]).items()
    ]
    if not rows:
        return '<h2>Scenarios</h2><p class="note">They are the same.</p>'
    return "<h2>What differs in the scenarios</h2>" + _table(["key", *map(escape, labels)], rows)


def _checks(reports: Sequence[RunReport], labels: Sequence[str]) -> str:
    names = dict.fromkeys(check.name for report in reports for check in report.checks)
    rows = []
    for name in names:
        row = [_breakable(name), escape(unit_of(name))]
        for report in reports:
            check = next((check for check in report.checks if check.name == name), None)
            value = escape(format_value(report.metrics.get(name)))
            row += ["", ""] if check is None else [value, _verdict(check)]
        rows.append(row)
    return "<h2>Checks</h2>" + _paired_table(rows, labels, "must be") if rows else ""


def _verdict(check: Check) -> str:
    mark, style = ("✓", "good") if check.passed else ("✗", "bad")
    return f'<span class="{style}">{mark} {escape(check.bound)}</span>'


def _metrics(reports: Sequence[RunReport], labels: Sequence[str]) -> str:
    names = sorted({name for report in reports for name in report.metrics}, key=lambda n: ("." in n, n))
    if not names:
        return ""
    lines, group = [], None
    for name in names:
        shown = [format_value(report.metrics[name]) if name in report.metrics else "" for report in reports]
        styles = ["differs"] if len(set(shown)) > 1 else []
        head = name.rpartition(".")[0]
        if group not in (None, head):
            styles.append("group")
        group = head
        cells = [
            f'<td class="name">{_breakable(name)}</td>',
            *(f'<td class="number">{escape(value)}</td>' for value in shown),
        ]
        lines.append(f'<tr class="{" ".join(styles)}">{"".join(cells)}<td>{escape(unit_of(name))}</td></tr>')
    heads = ["metric", *(map(escape, labels) if len(labels) > 1 else ["value"]), "unit"]
    return f"<h2>Metrics</h2>{_scrolling(_row(heads, 'th'), lines)}"


def _fidelity(report: RunReport, label: str, alone: bool) -> str:
    """Write how far a run is from the person that it follows, if it does."""
    lines = list(fidelity_lines(report.metrics))
    if not lines:
        return ""
    heading = "What is left of the person" if alone else f"What is left of the person in {label}"
    rows = [[escape(cell) for cell in row.cells] for row in fidelity_rows(report.metrics)]
    table = _table(["", *HEADS], rows) if rows else ""
    below = "<br>".join(" ".join(escape(line).split()) for line in lines)
    return f"<h2>{escape(heading)}</h2>{table}<p>{below}</p>{_picture(report)}"


def _picture(report: RunReport) -> str:
    """Embed the stick figures of the recording and of the robot."""
    figures = []
    for plot in report.plots:
        if plot.name == FIDELITY:
            data = base64.b64encode(plot.path.read_bytes()).decode("ascii")
            figures.append(
                f'<figure><img alt="{plot.name}" src="data:image/png;base64,{data}">'
                f"<figcaption>{escape(_CAPTION)}</figcaption></figure>"
            )
    return "".join(figures)


def _provenance(reports: Sequence[RunReport], labels: Sequence[str]) -> str:
    packages = [report.provenance.get("packages", {}) for report in reports]
    names = sorted({name for each in packages for name in each}, key=str.lower)
    heads = [escape(label) for label in labels] if len(labels) > 1 else [""]
    facts = [
        [fact.replace("_", " "), *(escape(_text(report.provenance.get(fact))) for report in reports)]
        for fact in _FACTS
    ]
    versions = [[escape(name), *(escape(_text(each.get(name))) for each in packages)] for name in names]
    return (
        f"<h2>Provenance</h2>{_table(['', *heads], facts)}"
        f"<details><summary>{len(names)} packages</summary>{_table(['package', *heads], versions)}</details>"
    )


def _scenario(report: RunReport, label: str, alone: bool) -> str:
    heading = "Scenario, fully resolved" if alone else f"Scenario of {label}"
    text = escape(report.scenario_text)
    return f"<details><summary>{escape(heading)}</summary><pre>{text}</pre></details>"


def _paired_table(rows: Iterable[Sequence[str]], labels: Sequence[str], second: str) -> str:
    """Make a table of name, unit, and a number and something beside it for each run."""
    lines = []
    for name, unit, *pairs in rows:
        cells = "".join(
            f'<td class="number">{pairs[k]}</td><td>{pairs[k + 1]}</td>' for k in range(0, len(pairs), 2)
        )
        lines.append(f'<tr><td class="name">{name}</td>{cells}<td>{unit}</td></tr>')
    firsts = [escape(label) for label in labels] if len(labels) > 1 else ["value"]
    heads = ["metric", *(head for first in firsts for head in (first, second)), "unit"]
    return _scrolling(_row(heads, "th"), lines)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = _row(heads, "th") if any(heads) else ""
    return _scrolling(head, (_row(row, "td") for row in rows))


def _scrolling(head: str, rows: Iterable[str]) -> str:
    """Make a table that scrolls sideways by itself where the page is narrow."""
    return f'<div class="scroll"><table>{head}{"".join(rows)}</table></div>'


def _breakable(name: str) -> str:
    """Write the name of a metric so that a narrow column breaks it at its points and underlines."""
    return re.sub(r"(?<=[._])(?=\w)", "<wbr>", escape(name))


def _row(cells: Iterable[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
