"""The command line's `simbench report`: parse, call, print."""

from pathlib import Path
from typing import Annotated

import typer

from simbench.errors import RunError


def report(
    folders: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run directories.")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="One page, with the runs side by side; by default report.html in each run directory.",
        ),
    ] = None,
    plots: Annotated[
        bool, typer.Option("--plots", help="Also draw plots/*.png in each run directory.")
    ] = False,
) -> None:
    """Write what a run was and what came out as a page that needs no other file, with playback in 3D."""
    from simbench.cli.console import make_console, progress_bars, require_output_file

    if out is not None:
        require_output_file(out, RunError, ".html", "a report")
    from simbench.runs.report.report_page import write_report
    from simbench.runs.report.run_report import read_reports

    with progress_bars(make_console(stderr=True)) as on_progress:
        reports = read_reports(folders, on_progress, pictures=plots)
    pages = {out: reports} if out is not None else {each.folder / "report.html": [each] for each in reports}
    for path, shown in pages.items():
        write_report(shown, path)
        print(f"report  {path}")
