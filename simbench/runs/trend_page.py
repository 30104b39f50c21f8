"""The page of a trend: every metric over commits, changes first, in one file that needs no other."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from simbench.files.storage import write_whole
from simbench.files.text import printable
from simbench.runs.check_history import FALSE_ALARM_RATE, FEWEST, Change, HistoryRecord, Trend, change_effect
from simbench.runs.metric_catalogue import format_value, unit_of, usual_tolerance

# Width and height of a picture of a metric, and of one with changes, in units of the page.
_SMALL, _LARGE = (200, 44), (380, 130)
_MARGIN = 6
_SCALE_WIDTH = 52  # Width of the numbers beside a large picture.
_LEAST_SPAN = 4.0  # Height of a picture as a multiple of the metric's tolerance, at least.


def escape(text: str) -> str:
    """Write a text from a file so that a page shows it and does nothing else with it.

    `text`: any text. Returns HTML.
    """
    return html.escape(printable(text), quote=True)


def write_trend(trends: Sequence[Trend], page: Path, history: Path) -> None:
    """Write the page of a trend; it appears under its name when it is whole.

    `trends`: scenarios with their metrics and changes; `page`: file to write; `history`: file that the
    records are from: run directories are relative to its folder.
    """
    records = [record for _, own, _ in trends for record in own]
    links: list[list[str]] = []
    for _, own, _ in trends:
        links.append([])
        for record in own:
            address = ""
            if re.match(r"https?://", record.run):
                address = quote(record.run, safe=":/?&=#%")
            elif record.run and not re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", record.run):
                # Other addresses, such as javascript:, are no links.
                folder = os.path.normpath(history.parent / record.run)
                address = quote(os.path.relpath(folder, page.parent or "."))
                address += "/report.html" if (Path(folder) / "report.html").is_file() else ""
            links[-1].append(address)
    changed = [
        _figure(scenario, own, number, links[number], *series, large=True)
        for number, (scenario, own, metrics) in enumerate(trends)
        for series in metrics
        if series[2]
    ]
    opening = "The history is empty."
    if records:
        dates = sorted(record.date for record in records)
        commits = len({record.commit for record in records} - {""})
        count = sum(len(metrics) for _, _, metrics in trends)
        what = f"<b>{len(changed)} of {count} metrics changed</b>" if changed else "nothing changed"
        opening = (
            f"{len(trends)} scenario{'s' if len(trends) != 1 else ''}, {len(records)} runs of {commits} "
            f"commits, {escape(dates[0][:10])} to {escape(dates[-1][:10])}; {what}."
        )
    style, script = (
        files("simbench.runs").joinpath(f"trend_page.{kind}").read_text(encoding="utf-8")
        for kind in ("css", "js")
    )
    parts = [
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Trend of {escape(history.name)}</title><style>\n{style}</style></head><body>\n"
        f"<h1>Trend of {escape(history.name)}</h1>\n<p>{opening}</p>\n"
        "<p class='soft'>A step or drift is marked if it exceeds the metric's tolerance and noise: one "
        f"false mark on this page has a probability of at most {FALSE_ALARM_RATE:.1%} where noise is normal. "
        f"Nothing is looked for in fewer than {FEWEST} values. What stays within the tolerance is drawn "
        "almost level. Point at a line, or tap it, for value, date and commit.</p>\n"
    ]
    if changed:
        parts += ["<h2>What changed</h2>\n<div class='grid large'>\n", *changed, "</div>\n"]
    parts.append("<h2>Every metric</h2>\n")
    data = []
    for number, (scenario, own, metrics) in enumerate(trends):
        steps = sum(bool(changes) for _, _, changes in metrics)
        failed = sum(record.outcome != "holds" for record in own)
        counts = [f"{len(own)} runs", f"{len(metrics)} metrics"]
        counts += [f"{steps} changed"] if steps else []
        counts += [f"{failed} runs failed"] if failed else []
        heading = f"{escape(scenario)} <span class='soft'>{', '.join(counts)}</span>"
        is_open = " open" if len(trends) == 1 else ""
        parts.append(f"<details{is_open}><summary>{heading}</summary>\n")
        shown = []
        for record, link in zip(own, links[number], strict=True):
            label, date = record_label(record), printable(record.date[:16].replace("T", " "))
            shown.append({"label": printable(label), "date": date, "link": link, "outcome": record.outcome})
            if record.outcome == "error":
                place = _linked(label, link)
                parts.append(f"<p class='worse'>no run at {place}: {escape(record.error)}</p>\n")
        data.append(shown)
        parts.append("<div class='grid'>\n")
        parts += [_figure(scenario, own, number, links[number], *series, large=False) for series in metrics]
        parts.append("</div></details>\n")
    # A `<` could end the element.
    text = json.dumps(data, ensure_ascii=False)
    text = re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)
    parts.append(f"<script type='application/json' id='records'>{text}</script>\n")
    parts.append(f"<script>\n{script}</script>\n</body></html>\n")
    write_whole(page, "".join(parts))


def describe_change(records: Sequence[HistoryRecord], metric: str, change: Change) -> str:
    """Describe a change in one line.

    `records`: those of the scenario. Returns when and by how much the metric changed, and whether that is
    better.
    """
    unit = unit_of(metric)
    first, last = (record_label(records[index]) for index in (change.first, change.last))
    when = f"step at {first}" if change.kind == "step" else f"drift from {first} to {last}"
    levels = f"{format_value(change.before)} → {format_value(change.after)}"
    # In percent of zero, a change says nothing.
    ratio = (change.after - change.before) / abs(change.before) if change.before else 0.0
    relative = f" ({ratio:+.1%})" if change.before else ""
    return f"{when}: {levels}{f' {unit}' if unit else ''}{relative}, {change_effect(metric, change)}"


def record_label(record: HistoryRecord) -> str:
    """Name a record by its commit, or by its date where there is none.

    Returns the first characters of the commit, or the date.
    """
    commit, _, changed = record.commit.partition("-")
    return f"{commit[:9]}{'-' if changed else ''}{changed}" if commit else record.date


def _linked(text: str, link: str) -> str:
    """Write a text as a link, if there is an address."""
    return f"<a href='{html.escape(link, quote=True)}'>{escape(text)}</a>" if link else escape(text)


def _figure(
    title: str,
    records: Sequence[HistoryRecord],
    number: int,
    links: Sequence[str],
    metric: str,
    values: Sequence[float | None],
    changes: Sequence[Change],
    *,
    large: bool,
) -> str:
    """Draw a metric over the records of a scenario as SVG, with its last value and what changed."""
    unit = unit_of(metric)
    width, height = _LARGE if large else _SMALL
    known = [(index, value) for index, value in enumerate(values) if value is not None]
    low, high = min(value for _, value in known), max(value for _, value in known)
    # Noise within the tolerance is not drawn as if it were large.
    tolerance = usual_tolerance(metric, max(abs(low), abs(high)))
    span = max(high - low, _LEAST_SPAN * tolerance) or 1.0
    middle = 0.5 * (low + high)
    last = max(len(values) - 1, 1)
    left = _SCALE_WIDTH if large else _MARGIN

    def x(index: float) -> float:
        return left + (width - left - _MARGIN) * index / last

    def y(value: float) -> float:
        return 0.5 * height - (height - 2 * _MARGIN) * (value - middle) / span

    # A long name is broken between its words.
    name = re.sub("([._])", r"\1<wbr>", escape(metric))
    heading = f"<b>{name}</b> <span class='value soft'>{format_value(known[-1][1])} {unit}</span>"
    scenario = f"<br><span class='soft'>{escape(title)}</span>" if large else ""
    points = [(x(index), y(value)) for index, value in known]
    shown = json.dumps([f"{format_value(value)} {unit}".strip() for _, value in known])
    parts = [
        f"<figure><figcaption>{heading}{scenario}</figcaption>"
        f"<svg viewBox='0 0 {width} {height}' role='img' aria-label='{escape(metric)}' "
        f"data-scenario='{number}' data-x='{' '.join(f'{each:.1f}' for each, _ in points)}' "
        f"data-y='{' '.join(f'{each:.1f}' for _, each in points)}' "
        f"data-record='{' '.join(str(index) for index, _ in known)}' data-values='{escape(shown)}'>"
    ]
    if large:
        for value, baseline in ((high, _MARGIN + 4), (low, height - 1)):
            parts.append(f"<text x='0' y='{baseline}'>{format_value(value)}</text>")
    parts.append(f"<polyline points='{' '.join(f'{a:.1f},{b:.1f}' for a, b in points)}'/>")
    radius = 2.2 if large or len(points) == 1 else 1.4
    parts += [f"<circle cx='{a:.1f}' cy='{b:.1f}' r='{radius}'/>" for a, b in points]
    marks = []
    for change in changes:
        effect = change_effect(metric, change)
        if change.kind == "step":
            at = f"{x(change.first - 0.5):.1f}"
            parts.append(f"<line class='change {effect}' x1='{at}' x2='{at}' y1='0' y2='{height}'/>")
        else:
            parts.append(
                f"<line class='drift {effect}' x1='{x(change.first):.1f}' y1='{y(change.before):.1f}' "
                f"x2='{x(change.last):.1f}' y2='{y(change.after):.1f}'/>"
            )
        link = links[change.first]
        run = f" {_linked('run', link)}" if link else ""
        text = escape(describe_change(records, metric, change))
        marks.append(f"<div class='mark {effect}'>{text}{run}</div>")
    return "".join([*parts, "</svg>", *marks, "<div class='shown'></div></figure>\n"])
