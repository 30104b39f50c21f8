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
from simbench.runs.metric_catalogue import format_value, unit_of
from simbench.runs.motion_fidelity import HEADS, fidelity_lines, fidelity_rows
from simbench.runs.report.page_data import content_policy, read_asset
from simbench.runs.report.playback import player_html
from simbench.runs.report.run_report import FIDELITY, RunReport, differing_keys, run_labels

_CAPTION = (
    "What is left of the person: the recording above, the robot below, both at the same moments, and the "
    "angles between their limbs."
)
_MOST_ROWS = 8  # Metrics that differ from the baseline, worst first, that are shown at once.
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
    sections = [] if alone else [f"<h1>{escape(title)}</h1>"]
    sections += [_masthead(report, label, directory, alone=alone) for report, label in pairs]
    sections += [_failed_checks(report, label, alone) for report, label in pairs]
    sections += [_baseline(report, label, alone) for report, label in pairs]
    for report, label in pairs:
        # Runs from before had no list of doubts.
        doubts = report.provenance.get("doubts", [])
        heading = "Doubts about the recording" + ("" if alone else f" of {label}")
        lines = "".join(f"<li>{escape(doubt)}</li>" for doubt in doubts)
        if doubts:
            sections.append(f'<section class="card"><h2>{escape(heading)}</h2><ul>{lines}</ul></section>')
    differing = differing_keys([report.scenario for report in reports])
    rows = [[f"<code>{escape(key)}</code>", *map(escape, map(_text, row))] for key, row in differing.items()]
    heads = list(map(escape, labels))
    if rows:
        sections.append("<h2>What differs in the scenarios</h2>" + _table(["key", *heads], rows))
    elif not alone:
        sections.append('<h2>Scenarios</h2><p class="note">They are the same.</p>')
    sections.append(player_html(reports, labels))
    values = heads if len(heads) > 1 else ["value"]
    sections.append(_checks(reports, values))
    for report, label in pairs:
        below = list(fidelity_lines(report.metrics))
        if below:
            heading = "What is left of the person" + ("" if alone else f" in {label}")
            cells = [[escape(cell) for cell in row] for row in fidelity_rows(report.metrics)]
            table = _table(["", *HEADS], cells) if cells else ""
            words = "<br>".join(" ".join(escape(line).split()) for line in below)
            figures = ""
            for path in report.plots:
                if path.stem == FIDELITY:
                    data = base64.b64encode(path.read_bytes()).decode("ascii")
                    image = f'<img alt="{FIDELITY}" src="data:image/png;base64,{data}">'
                    figures += f"<figure>{image}<figcaption>{escape(_CAPTION)}</figcaption></figure>"
            sections.append(f"<h2>{escape(heading)}</h2>{table}<p>{words}</p>{figures}")
    sections.append(_metrics(reports, values))
    packages = [report.provenance.get("packages", {}) for report in reports]
    installed = sorted({name for each in packages for name in each}, key=str.lower)
    facts = [
        [fact.replace("_", " "), *(escape(_text(report.provenance.get(fact))) for report in reports)]
        for fact in _FACTS
    ]
    versions = [[escape(name), *(escape(_text(each.get(name))) for each in packages)] for name in installed]
    runs = heads if len(heads) > 1 else [""]
    sections.append(
        f"<h2>Provenance</h2>{_table(['', *runs], facts)}<details><summary>{len(installed)} packages"
        f"</summary>{_table(['package', *runs], versions)}</details>"
    )
    for report, label in pairs:
        heading = "Scenario, fully resolved" if alone else f"Scenario of {label}"
        text = escape(report.scenario_text)
        sections.append(f"<details><summary>{escape(heading)}</summary><pre>{text}</pre></details>")
    licences = f"<pre>{escape(read_asset('licences.txt'))}</pre>"
    sections.append(f"<details><summary>Licences of the scripts in this page</summary>{licences}</details>")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{content_policy()}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{read_asset('report.css')}</style></head><body>\n"
        + "\n".join(filter(None, sections))
        + "\n</body></html>\n"
    )


def _name(report: RunReport) -> str:
    return f"{report.scenario['name']} on {report.scenario['robot']['name']}"


def _masthead(report: RunReport, label: str, directory: Path, *, alone: bool) -> str:
    """Write name, verdict and origin of a run; the only run of a page gives it its title."""
    failed = sum(not check.passed for check in report.checks)
    if report.incomplete:
        words = f"incomplete ({report.incomplete}): no metrics; scene and plots as far as it was logged"
        tone = "bad"
    elif failed:
        words, tone = f"{failed} of {len(report.checks)} checks failed", "bad"
    elif report.checks:
        words, tone = f"all {len(report.checks)} checks hold", "good"
    else:
        words, tone = "no checks", ""
    facts = [f"<code>{escape(label)}</code>", f"{float(report.log.time[-1]):.2f} s"]
    if report.provenance.get("seed") is not None:
        facts.append(f"seed {escape(_text(report.provenance['seed']))}")
    if report.video is not None:
        path = os.fsencode(os.path.relpath(report.video, directory))
        facts.append(f'<a href="{quote(path)}">video</a>')
    name = escape(_name(report))
    heading = f"<h1>{name}</h1>" if alone else f"<b>{name}</b>"
    begin, end = ("<header>", "</header>") if alone else ('<div class="run">', "</div>")
    return (
        f'{begin}<div class="masthead">{heading}<span class="badge {tone}">{escape(words)}</span></div>'
        f"<p>{escape(report.scenario.get('summary', ''))}</p>"
        f'<p class="facts">{" · ".join(facts)}</p>{end}'
    )


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
    changed = [verdict for verdict in report.baseline if verdict.outcome not in ("new", "holds")]
    new = sum(verdict.outcome == "new" for verdict in report.baseline)
    compared = len(report.baseline) - new
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


def _checks(reports: Sequence[RunReport], values: Sequence[str]) -> str:
    """Write the checks of all runs as a table: value and bound of each run side by side."""
    names = dict.fromkeys(check.name for report in reports for check in report.checks)
    lines = [_row(["metric", *(head for each in values for head in (each, "must be")), "unit"], "th")]
    for name in names:
        cells = ""
        for report in reports:
            check = next((check for check in report.checks if check.name == name), None)
            shown = verdict = ""
            if check is not None:
                shown = escape(format_value(report.metrics.get(name)))
                mark, style = ("✓", "good") if check.passed else ("✗", "bad")
                verdict = f'<span class="{style}">{mark} {escape(check.bound)}</span>'
            cells += f'<td class="number">{shown}</td><td>{verdict}</td>'
        name_cell = f'<td class="name">{_breakable(name)}</td>'
        lines.append(f"<tr>{name_cell}{cells}<td>{escape(unit_of(name))}</td></tr>")
    return f"<h2>Checks</h2>{_scrolling(lines)}" if names else ""


def _metrics(reports: Sequence[RunReport], values: Sequence[str]) -> str:
    """Write the metrics of all runs side by side, those that differ marked."""
    names = sorted({name for report in reports for name in report.metrics}, key=lambda n: ("." in n, n))
    lines, group = [_row(["metric", *values, "unit"], "th")], None
    for name in names:
        shown = [format_value(report.metrics[name]) if name in report.metrics else "" for report in reports]
        styles = ["differs"] if len(set(shown)) > 1 else []
        head = name.rpartition(".")[0]
        if group not in (None, head):
            styles.append("group")
        group = head
        cells = "".join(f'<td class="number">{escape(value)}</td>' for value in shown)
        name_cell = f'<td class="name">{_breakable(name)}</td>'
        unit_cell = f"<td>{escape(unit_of(name))}</td>"
        lines.append(f'<tr class="{" ".join(styles)}">{name_cell}{cells}{unit_cell}</tr>')
    return f"<h2>Metrics</h2>{_scrolling(lines)}" if names else ""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Make a table of cells, with a row of headings if there are any."""
    return _scrolling([_row(heads, "th") if any(heads) else "", *(_row(row, "td") for row in rows)])


def _scrolling(rows: Iterable[str]) -> str:
    """Make a table that scrolls sideways by itself where the page is narrow."""
    return f'<div class="scroll"><table>{"".join(rows)}</table></div>'


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
