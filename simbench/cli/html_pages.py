"""The commands `simbench report` and `simbench trend`, which write pages."""

from pathlib import Path
from typing import Annotated

from typer import Option

from simbench.cli.console import make_console, progress_bars
from simbench.cli.shared_options import argument, output
from simbench.errors import BaselineError


def report(
    folders: Annotated[list[Path], argument("Run directories.", "RUN...")],
    out: Annotated[
        Path | None,
        output(
            "One page, with the runs side by side; by default report.html in each run directory.", "FILE.html"
        ),
    ] = None,
    plots: Annotated[bool, Option("--plots", help="Also draw plots/*.png in each run directory.")] = False,
) -> None:
    """Write what a run was and what came out as a page that needs no other file, with playback in 3D."""
    from simbench.runs.report.report_page import write_report
    from simbench.runs.report.run_report import read_reports

    with progress_bars(make_console(stderr=True)) as on_progress:
        reports = read_reports(folders, on_progress, pictures=plots)
    pages = {out: reports} if out is not None else {each.folder / "report.html": [each] for each in reports}
    for path, shown in pages.items():
        write_report(shown, path)
        print(f"report  {path}")


def trend(
    history: Annotated[Path, argument("History that simbench check --history wrote.", "FILE.jsonl")],
    out: Annotated[Path, output("One page that needs no other file.", "FILE.html")] = Path("trend.html"),
) -> None:
    """Draw every metric over commits, and mark steps and drifts that are not noise."""
    from simbench.runs.check_history import find_trends, read_history
    from simbench.runs.trend_page import describe_change, write_trend

    records = read_history(history)
    if not records:
        raise BaselineError(
            f"{history}: has no line; simbench check --history {history} adds one per scenario"
        )
    trends = find_trends(records)
    write_trend(trends, out, history)
    for scenario, own, metrics in trends:
        for metric, _, changes in metrics:
            for change in changes:
                print(f"{scenario}  {metric}  {describe_change(own, metric, change)}")
    print(f"trend  {out}")
