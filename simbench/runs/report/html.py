"""Reports of runs as HTML pages that need no other file; runs stand side by side where there are several."""

import base64
import html
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from simbench.errors import RunError
from simbench.files.printable import printable
from simbench.files.storage.whole_file import write_whole
from simbench.runs.checks import Check
from simbench.runs.metric_format import format_value, unit_of
from simbench.runs.report.report import RunReport, differing_keys, run_labels

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; margin: 2rem auto; max-width: 1250px; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; }
th, td { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #999; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.group td { padding-top: .7rem; }
tr.differs td.number { background: #fff3c4; }
.good { color: #0a7a2f; }
.bad { color: #c01010; font-weight: bold; }
.note { color: #666; }
.side { display: flex; flex-wrap: wrap; gap: 1rem; }
.side figure { flex: 1 1 420px; margin: 0 0 1.5rem; }
figure img { max-width: 100%; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; font-size: 13px; }
summary { cursor: pointer; }
"""
_CAPTIONS = {
    "fidelity": "What is left of the person: the recording above, the robot below, both at the same moments, "
    "and the angles between their limbs.",
    "equipment": "The equipment: where the robot had it and where the actor.",
    "balance": "ZMP and COG over the support polygon; dashed, where they were planned.",
    "contacts": "Force on the feet; force and torque of the grips against their strength.",
    "tracking": "Reference and measured position by joint.",
    "torque": "Motor torque by joint, in % of its limit.",
}
_FACTS = ("simbench", "git_commit", "date", "seed", "python", "platform", "processor", "cores", "command")


def escape(text: str) -> str:
    """Write a text from a file so that a page shows it and does nothing else with it.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        HTML without tags of its own, control characters, or marks that reorder what is shown beside it.
    """
    return html.escape(printable(text))


def write_report(reports: Sequence[RunReport], out: Path) -> None:
    """Write one page about one run, or about several side by side, whole or not at all.

    Parameters
    ----------
    reports : sequence of RunReport
        At least one report.
    out : Path
        File to write, ending in `.html`.

    Raises
    ------
    RunError
        If the page cannot be written.
    """
    try:
        write_whole(out, report_page(reports, out.parent))
    except OSError as error:
        raise RunError(f"{out}: cannot write the report: {error.strerror}") from error


def report_page(reports: Sequence[RunReport], directory: Path) -> str:
    """Write reports of runs as one HTML page.

    Parameters
    ----------
    reports : sequence of RunReport
        At least one report.
    directory : Path
        Directory in which the page will be: links to videos are relative to it.

    Returns
    -------
    str
        HTML with pictures inside; the only links are to videos.
    """
    labels = run_labels([report.folder for report in reports])
    alone = len(reports) == 1
    title = _name(reports[0]) if alone else f"{len(reports)} runs compared"
    sections = [
        f"<h1>{escape(title)}</h1>",
        *(_heading(report, label, directory, alone) for report, label in zip(reports, labels, strict=True)),
        *(_doubts(report, label, alone) for report, label in zip(reports, labels, strict=True)),
        "" if alone else _differences(reports, labels),
        _checks(reports, labels),
        _plots(reports, labels),
        _metrics(reports, labels),
        _provenance(reports, labels),
        *(_scenario(report, label, alone) for report, label in zip(reports, labels, strict=True)),
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(filter(None, sections)) + "\n</body></html>\n"
    )


def _name(report: RunReport) -> str:
    return f"{report.scenario['name']} on {report.scenario['robot']['name']}"


def _heading(report: RunReport, label: str, directory: Path, alone: bool) -> str:
    failed = sum(not check.passed for check in report.checks)
    if report.incomplete:
        words = f"incomplete ({report.incomplete}): no metrics; plots as far as it was logged"
        verdict = f'<span class="bad">{escape(words)}</span>'
    elif failed:
        verdict = f'<span class="bad">{failed} of {len(report.checks)} checks failed</span>'
    elif report.checks:
        verdict = f'<span class="good">all {len(report.checks)} checks hold</span>'
    else:
        verdict = '<span class="note">no checks</span>'
    lines = [verdict, escape(report.scenario.get("summary", "")), f"<code>{escape(label)}</code>"]
    if not alone:
        lines.insert(0, f"<b>{escape(_name(report))}</b>")
    if report.video is not None:
        path = os.fsencode(os.path.relpath(report.video, directory))
        lines.append(f'<a href="{quote(path)}">video</a>')
    return "<p>" + " · ".join(filter(None, lines)) + "</p>"


def _doubts(report: RunReport, label: str, alone: bool) -> str:
    """List what may well be wrong about the recording, if anything; runs from before had no such list."""
    doubts = report.provenance.get("doubts", [])
    if not doubts:
        return ""
    heading = "Doubts about the recording" if alone else f"Doubts about the recording of {label}"
    lines = "".join(f"<li>{escape(doubt)}</li>" for doubt in doubts)
    return f"<h2>{escape(heading)}</h2><ul>{lines}</ul>"


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
        row = [escape(name), escape(unit_of(name))]
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
        cells = [f"<td>{escape(name)}</td>", *(f'<td class="number">{escape(value)}</td>' for value in shown)]
        lines.append(f'<tr class="{" ".join(styles)}">{"".join(cells)}<td>{escape(unit_of(name))}</td></tr>')
    heads = ["metric", *(map(escape, labels) if len(labels) > 1 else ["value"]), "unit"]
    return f"<h2>Metrics</h2><table>{_row(heads, 'th')}{''.join(lines)}</table>"


def _plots(reports: Sequence[RunReport], labels: Sequence[str]) -> str:
    sections = []
    for name in dict.fromkeys(plot.name for report in reports for plot in report.plots):
        figures = []
        for report, label in zip(reports, labels, strict=True):
            for plot in report.plots:
                if plot.name == name:
                    data = base64.b64encode(plot.path.read_bytes()).decode("ascii")
                    words = _CAPTIONS[name] if len(reports) == 1 else label
                    figures.append(
                        f'<figure><img alt="{name}" src="data:image/png;base64,{data}">'
                        f"<figcaption>{escape(words)}</figcaption></figure>"
                    )
        heading = "" if len(reports) == 1 else f"<h3>{escape(_CAPTIONS[name])}</h3>"
        sections.append(f'{heading}<div class="side">{"".join(figures)}</div>')
    return "<h2>Plots</h2>" + "".join(sections)


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
        lines.append(f"<tr><td>{name}</td>{cells}<td>{unit}</td></tr>")
    firsts = [escape(label) for label in labels] if len(labels) > 1 else ["value"]
    heads = ["metric", *(head for first in firsts for head in (first, second)), "unit"]
    return f"<table>{_row(heads, 'th')}{''.join(lines)}</table>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = _row(heads, "th") if any(heads) else ""
    return f"<table>{head}{''.join(_row(row, 'td') for row in rows)}</table>"


def _row(cells: Iterable[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
