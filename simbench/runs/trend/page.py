"""The page of a trend: every metric over commits, changes first, in one file that needs no other."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from simbench.files.storage import write_whole
from simbench.files.text import printable
from simbench.runs.metric_format import format_value, unit_of
from simbench.runs.tolerances import usual_tolerance
from simbench.runs.trend.changes import FALSE_ALARM_RATE, FEWEST, Change
from simbench.runs.trend.history import HistoryRecord
from simbench.runs.trend.series import ScenarioTrend, Series, change_effect

_SMALL, _LARGE = (200, 44), (380, 130)
"""Width and height of a picture of a metric, and of one with changes, in units of the page."""
_MARGIN = 6
_SCALE_WIDTH = 52
"""Width of the numbers beside a large picture."""
_LEAST_SPAN = 4.0
"""Height of a picture as a multiple of the metric's tolerance, at least."""
_STYLE = """
:root { color-scheme: light dark; --text: #1d2330; --back: #fff; --soft: #667; --rule: #dde;
  --line: #2b5fa8; --worse: #c0261c; --better: #12803c; --changed: #b06a00; }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaf0; --back: #14171d; --soft: #9aa3b5;
  --rule: #333a48; --line: #7fb0f5; --worse: #ff7b70; --better: #5fd08a; --changed: #f0b050; } }
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back); margin: 0 auto;
  padding: 1rem; max-width: 1300px; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 1.6rem 0 .6rem; }
p { margin: .3rem 0; } a { color: var(--line); } .soft { color: var(--soft); }
.grid { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 205px), 1fr)); }
.grid.large { grid-template-columns: repeat(auto-fill, minmax(min(100%, 385px), 1fr)); }
figure { margin: 0; border: 1px solid var(--rule); border-radius: 6px; padding: .5rem .6rem; min-width: 0; }
figcaption { font-size: 13px; overflow-wrap: anywhere; }
figcaption b { font-weight: 600; } .large figcaption b { font-size: 15px; }
svg { display: block; width: 100%; height: auto; touch-action: pan-y; }
.value { font-variant-numeric: tabular-nums; }
.shown { font-size: 12.5px; min-height: 1.45em; overflow-wrap: anywhere; color: var(--soft); }
.worse { color: var(--worse); } .better { color: var(--better); } .changed { color: var(--changed); }
.mark { font-size: 13px; }
details { border-top: 1px solid var(--rule); padding: .5rem 0; }
summary { cursor: pointer; font-weight: 600; overflow-wrap: anywhere; } details .grid { margin-top: .6rem; }
polyline { fill: none; stroke: var(--line); stroke-width: 1.6; stroke-linejoin: round; }
text { font-size: 9px; fill: var(--soft); } circle { fill: var(--line); }
line.change { stroke-width: 1.4; stroke-dasharray: 4 3; stroke: currentColor; }
line.drift { stroke-width: 2; stroke: currentColor; } circle.near { fill: var(--text); }
"""
_SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("records").textContent);
let last = null;
function show(svg, event) {
  const records = data[svg.dataset.scenario], xs = svg.dataset.x.split(" ").map(Number);
  const ys = svg.dataset.y.split(" ").map(Number), at = svg.dataset.record.split(" ").map(Number);
  const box = svg.getBoundingClientRect();
  const x = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
  let best = 0;
  xs.forEach((each, i) => { if (Math.abs(each - x) < Math.abs(xs[best] - x)) best = i; });
  if (last && last.parentNode && last.parentNode !== svg) last.remove();
  const near = svg.querySelector(".near") || document.createElementNS("http://www.w3.org/2000/svg", "circle");
  near.setAttribute("class", "near");
  near.setAttribute("cx", xs[best]); near.setAttribute("cy", ys[best]); near.setAttribute("r", 3.5);
  svg.append(near); last = near;
  const record = records[at[best]], line = svg.parentNode.querySelector(".shown");
  line.textContent = "";
  const value = JSON.parse(svg.dataset.values)[best];
  line.append(value + " \\u00b7 " + record.date + " \\u00b7 ");
  if (record.link) {
    const link = document.createElement("a");
    link.href = record.link; link.textContent = record.label; line.append(link);
  } else line.append(record.label);
  if (record.outcome !== "holds") line.append(" \\u00b7 " + record.outcome);
}
for (const kind of ["pointermove", "pointerdown"])
  document.addEventListener(kind, event => {
    const svg = event.target.closest && event.target.closest("svg");
    if (svg) show(svg, event);
  });
"""


def escape(text: str) -> str:
    """Write a text from a file so that a page shows it and does nothing else with it.

    `text`: any text. Returns HTML.
    """
    return html.escape(printable(text), quote=True)


def write_trend(trends: Sequence[ScenarioTrend], page: Path, history: Path) -> None:
    """Write the page of a trend; it appears under its name when it is whole.

    `trends`: scenarios with their metrics and changes; `page`: file to write; `history`: file that the
    records are from: run directories are relative to its folder.
    """
    links = [[_link(record, page, history) for record in trend.records] for trend in trends]
    write_whole(page, "".join(_page(trends, links, history)))


def describe_change(trend: ScenarioTrend, series: Series, change: Change) -> str:
    """Describe a change in one line.

    `series`: the metric. Returns when and by how much the metric changed, and whether that is better.
    """
    unit = unit_of(series.metric)
    first, last = (record_label(trend.records[index]) for index in (change.first, change.last))
    when = f"step at {first}" if change.kind == "step" else f"drift from {first} to {last}"
    levels = f"{format_value(change.before)} → {format_value(change.after)}"
    relative = _relative(change)
    return f"{when}: {levels}{f' {unit}' if unit else ''}{relative}, {change_effect(series, change)}"


def record_label(record: HistoryRecord) -> str:
    """Name a record by its commit, or by its date where there is none.

    Returns the first characters of the commit, or the date.
    """
    commit, _, changed = record.commit.partition("-")
    return f"{commit[:9]}{'-' if changed else ''}{changed}" if commit else record.date


def _relative(change: Change) -> str:
    """Write by how much a value changed in percent; nothing where that says nothing."""
    if change.before == 0.0:
        return ""
    return f" ({(change.after - change.before) / abs(change.before):+.1%})"


def _link(record: HistoryRecord, page: Path, history: Path) -> str:
    """Address of a record's run for a link; empty for none, and for what is no address."""
    if not record.run:
        return ""
    if re.match(r"https?://", record.run):
        return quote(record.run, safe=":/?&=#%")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", record.run):
        # Such as javascript:.
        return ""
    folder = os.path.normpath(history.parent / record.run)
    address = quote(os.path.relpath(folder, page.parent or "."))
    report = Path(folder) / "report.html"
    return f"{address}/report.html" if report.is_file() else address


class _Context(NamedTuple):
    """Where a picture belongs to."""

    trend: ScenarioTrend
    number: int
    links: Sequence[str]


def _page(trends: Sequence[ScenarioTrend], links: Sequence[Sequence[str]], history: Path) -> Iterator[str]:
    """Write the page in parts."""
    contexts = [
        _Context(trend, number, own) for number, (trend, own) in enumerate(zip(trends, links, strict=True))
    ]
    changed = [(context, series) for context in contexts for series in context.trend.series if series.changes]
    yield "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
    yield "<meta name='viewport' content='width=device-width, initial-scale=1'>"
    yield f"<title>Trend of {escape(history.name)}</title><style>{_STYLE}</style></head><body>\n"
    yield f"<h1>Trend of {escape(history.name)}</h1>\n<p>{_opening(trends, len(changed))}</p>\n"
    yield (
        "<p class='soft'>A step or drift is marked if it exceeds the metric's tolerance and noise: one "
        f"false mark on this page has a probability of at most {FALSE_ALARM_RATE:.1%} where noise is normal. "
        f"Nothing is looked for in fewer than {FEWEST} values. What stays within the tolerance is drawn "
        "almost level. Point at a line, or tap it, for value, date and commit.</p>\n"
    )
    if changed:
        yield "<h2>What changed</h2>\n<div class='grid large'>\n"
        for context, series in changed:
            yield from _figure(context, series, large=True)
        yield "</div>\n"
    yield "<h2>Every metric</h2>\n"
    for context in contexts:
        is_open = " open" if len(contexts) == 1 else ""
        yield f"<details{is_open}><summary>{_heading(context.trend)}</summary>\n"
        yield from _failures(context)
        yield "<div class='grid'>\n"
        for series in context.trend.series:
            yield from _figure(context, series, large=False)
        yield "</div></details>\n"
    # A `<` could end the element.
    records = json.dumps([_record_data(context) for context in contexts], ensure_ascii=False)
    records = re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", records)
    yield f"<script type='application/json' id='records'>{records}</script>\n<script>{_SCRIPT}</script>\n"
    yield "</body></html>\n"


def _opening(trends: Sequence[ScenarioTrend], changed: int) -> str:
    """Say what the page is about."""
    records = [record for trend in trends for record in trend.records]
    if not records:
        return "The history is empty."
    dates = sorted(record.date for record in records)
    commits = len({record.commit for record in records} - {""})
    metrics = sum(len(trend.series) for trend in trends)
    what = "nothing changed" if not changed else f"<b>{changed} of {metrics} metrics changed</b>"
    return (
        f"{len(trends)} scenario{'s' if len(trends) != 1 else ''}, {len(records)} runs of {commits} commits, "
        f"{escape(dates[0][:10])} to {escape(dates[-1][:10])}; {what}."
    )


def _heading(trend: ScenarioTrend) -> str:
    """Name a scenario with its number of runs and changes."""
    changed = sum(bool(series.changes) for series in trend.series)
    failed = sum(record.outcome != "holds" for record in trend.records)
    parts = [f"{len(trend.records)} runs", f"{len(trend.series)} metrics"]
    parts += [f"{changed} changed"] if changed else []
    parts += [f"{failed} runs failed"] if failed else []
    return f"{escape(trend.scenario)} <span class='soft'>{', '.join(parts)}</span>"


def _failures(context: _Context) -> Iterator[str]:
    """List the runs of a scenario that gave no metrics."""
    for record, link in zip(context.trend.records, context.links, strict=True):
        if record.outcome == "error":
            label = _linked(record_label(record), link)
            yield f"<p class='worse'>no run at {label}: {escape(record.error)}</p>\n"


def _linked(text: str, link: str) -> str:
    """Write a text as a link, if there is an address."""
    return f"<a href='{html.escape(link, quote=True)}'>{escape(text)}</a>" if link else escape(text)


def _record_data(context: _Context) -> list[dict[str, str]]:
    """List what the page shows of each record when it is pointed at."""
    return [
        {
            "label": printable(record_label(record)),
            "date": printable(record.date[:16].replace("T", " ")),
            "link": link,
            "outcome": record.outcome,
        }
        for record, link in zip(context.trend.records, context.links, strict=True)
    ]


def _figure(context: _Context, series: Series, *, large: bool) -> Iterator[str]:
    """Draw a metric with its changes, its last value and what changed."""
    unit = unit_of(series.metric)
    latest = next(value for value in reversed(series.values) if value is not None)
    # A long name is broken between its words.
    name = re.sub("([._])", r"\1<wbr>", escape(series.metric))
    heading = f"<b>{name}</b> <span class='value soft'>{format_value(latest)} {unit}</span>"
    scenario = f"<br><span class='soft'>{escape(context.trend.scenario)}</span>" if large else ""
    yield f"<figure><figcaption>{heading}{scenario}</figcaption>"
    yield from _picture(context, series, _LARGE if large else _SMALL)
    for change in series.changes:
        text = describe_change(context.trend, series, change)
        link = context.links[change.first]
        run = f" {_linked('run', link)}" if link else ""
        yield f"<div class='mark {change_effect(series, change)}'>{escape(text)}{run}</div>"
    yield "<div class='shown'></div></figure>\n"


def _picture(context: _Context, series: Series, size: tuple[int, int]) -> Iterator[str]:
    """Draw the values of a metric over its records as SVG."""
    width, height = size
    known = [(index, value) for index, value in enumerate(series.values) if value is not None]
    low, high = min(value for _, value in known), max(value for _, value in known)
    # Noise within the tolerance is not drawn as if it were large.
    tolerance = usual_tolerance(series.metric, max(abs(low), abs(high)))
    span = max(high - low, _LEAST_SPAN * tolerance) or 1.0
    middle = 0.5 * (low + high)
    records = max(len(series.values) - 1, 1)
    left = _MARGIN if size == _SMALL else _SCALE_WIDTH

    def x(index: float) -> float:
        return left + (width - left - _MARGIN) * index / records

    def y(value: float) -> float:
        return 0.5 * height - (height - 2 * _MARGIN) * (value - middle) / span

    points = [(x(index), y(value)) for index, value in known]
    shown = json.dumps([f"{format_value(value)} {unit_of(series.metric)}".strip() for _, value in known])
    yield (
        f"<svg viewBox='0 0 {width} {height}' role='img' aria-label='{escape(series.metric)}' "
        f"data-scenario='{context.number}' data-x='{' '.join(f'{each:.1f}' for each, _ in points)}' "
        f"data-y='{' '.join(f'{each:.1f}' for _, each in points)}' "
        f"data-record='{' '.join(str(index) for index, _ in known)}' data-values='{escape(shown)}'>"
    )
    if size == _LARGE:
        for value, baseline in ((high, _MARGIN + 4), (low, height - 1)):
            yield f"<text x='0' y='{baseline}'>{format_value(value)}</text>"
    yield f"<polyline points='{' '.join(f'{a:.1f},{b:.1f}' for a, b in points)}'/>"
    radius = 2.2 if size == _LARGE or len(points) == 1 else 1.4
    yield "".join(f"<circle cx='{a:.1f}' cy='{b:.1f}' r='{radius}'/>" for a, b in points)
    for change in series.changes:
        effect = change_effect(series, change)
        if change.kind == "step":
            at = f"{x(change.first - 0.5):.1f}"
            yield f"<line class='change {effect}' x1='{at}' x2='{at}' y1='0' y2='{height}'/>"
        else:
            yield (
                f"<line class='drift {effect}' x1='{x(change.first):.1f}' y1='{y(change.before):.1f}' "
                f"x2='{x(change.last):.1f}' y2='{y(change.after):.1f}'/>"
            )
    yield "</svg>"
