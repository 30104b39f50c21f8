"""Page of a dossier: the run over its baseline, with plots and the clip."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from simbench.runs.dossier.metrics_diff import HEADS
from simbench.runs.report.report_page import escape

_STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; color: #222; margin: 2rem auto; max-width: 1250px; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; }
th, td { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #999; }
.bad { color: #c01010; font-weight: bold; }
.note { color: #666; }
img, video { max-width: 100%; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; font-size: 13px; }
"""


class PageContent(NamedTuple):
    """Everything that the page of a dossier shows."""

    title: str  # Name of the scenario and of its robot.
    headline: str  # First divergence or, if no signal diverged, the first metric that did.
    divergences: Sequence[str]  # Each diverging channel in one line, the earliest first.
    metrics: Sequence[Sequence[str]]  # Rows of metrics under `HEADS`.
    rest: str  # Sentence about the metrics that are not in the rows.
    plots: Sequence[Path]  # PNG files.
    clip: str  # Name of the video beside the page; empty if there is none.
    notes: Sequence[str]  # Remarks, such as why there is no clip.
    commands: str  # Commands that reproduce the failure.


def dossier_page(content: PageContent) -> str:
    """Write a dossier as one HTML page.

    Returns HTML with plots inside, and links to the clip and the report of the run beside it.
    """
    rows = "".join(_row(row, "td") for row in content.metrics)
    metrics = f"<table>{_row(HEADS, 'th')}{rows}</table>" if rows else ""
    sections = [
        f"<h1>{escape(content.title)}: check failed</h1>",
        f'<p class="bad">{escape(content.headline)}</p>',
        *(f'<p class="note">{escape(note)}</p>' for note in content.notes),
        f'<video src="{escape(content.clip)}" controls loop muted></video>' if content.clip else "",
        _signals(content),
        f'<h2>Metrics</h2>{metrics}<p class="note">{escape(content.rest)}</p>',
        f"<h2>Reproduce</h2><pre>{escape(content.commands)}</pre>",
        '<p><a href="run/report.html">Report of the run</a></p>',
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(content.title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(filter(None, sections)) + "\n</body></html>\n"
    )


def _signals(content: PageContent) -> str:
    if not content.divergences:
        return ""
    lines = "".join(f"<li>{escape(line)}</li>" for line in content.divergences)
    pictures = "".join(
        f'<p><img alt="{escape(plot.stem)}" src="data:image/png;base64,'
        f'{base64.b64encode(plot.read_bytes()).decode()}"></p>'
        for plot in content.plots
    )
    return f"<h2>Signals that diverged</h2><ul>{lines}</ul>{pictures}"


def _row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
