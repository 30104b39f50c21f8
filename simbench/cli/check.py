"""The command line's `simbench check`: parse, call, print."""

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from simbench.cli.console import progress_bars
from simbench.errors import BaselineError

_PIPE_WIDTH = 200


def check_scenarios(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCENARIO", help="Names or paths of YAML files; all that ship if none."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a value in each scenario; repeatable."),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Measure and rewrite the baselines, and show what changes.")
    ] = False,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs at a time, by default one a core.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep the run directories in this new directory.")
    ] = None,
) -> None:
    """Compare scenarios' metrics with their baselines; exit status 1 if any is worse."""
    from simbench.display_check import results_table, update_table
    from simbench.runs.baseline import write_baseline
    from simbench.runs.regression import find_cases, require_baselines, run_cases

    given = overrides or []
    if update and given and not any(text.partition("=")[0].strip() == "name" for text in given):
        raise BaselineError(
            f"--set {given[0]}: would not be seen in the baseline that --update writes; "
            "a changed scenario needs a name of its own: --set name=..."
        )
    cases = find_cases(scenarios or (), given)
    if scenarios and not update:
        require_baselines(cases)
    chosen = [case for case in cases if update or case.baseline is not None]
    if not chosen:
        raise BaselineError(f"no baselines in {cases[0].path.parent}; --update writes them")
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as temporary, progress_bars(Console(stderr=True)) as on_progress:
        folder = out or Path(temporary) / "runs"
        results = run_cases(chosen, folder, jobs=jobs or cores, measure=update, on_progress=on_progress)
    console = Console()
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    if update:
        measured = [result for result in results if result.measured is not None]
        for result in measured:
            write_baseline(result.case.path, result.measured or {})
        failed = [result for result in results if result.measured is None]
        console.print(update_table(measured))
        if failed:
            print("\nnot updated:")
            console.print(results_table(failed))
        raise typer.Exit(1 if failed else 0)
    unchecked = [case for case in cases if case.baseline is None]
    console.print(results_table(results, unchecked))
    raise typer.Exit(1 if any(result.failed for result in results) else 0)
