"""The command line's `simbench trend`: parse, call, print."""

from pathlib import Path
from typing import Annotated

import typer

from simbench.errors import BaselineError


def trend(
    history: Annotated[
        Path, typer.Argument(metavar="FILE.jsonl", help="History that simbench check --history wrote.")
    ],
    out: Annotated[Path, typer.Option(metavar="FILE.html", help="One page that needs no other file.")] = Path(
        "trend.html"
    ),
) -> None:
    """Draw every metric over commits, and mark steps and drifts that are not noise."""
    from simbench.cli.console import require_output_file

    require_output_file(out, BaselineError, ".html", "a page")
    from simbench.runs.check_history import find_trends, read_history
    from simbench.runs.trend_page import describe_change, write_trend

    records = read_history(history)
    if not records:
        raise BaselineError(
            f"{history}: has no line; simbench check --history {history} adds one per scenario"
        )
    trends = find_trends(records)
    write_trend(trends, out, history)
    for found in trends:
        for series in found.series:
            for change in series.changes:
                print(f"{found.scenario}  {series.metric}  {describe_change(found, series, change)}")
    print(f"trend  {out}")
