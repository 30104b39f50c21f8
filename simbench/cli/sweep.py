"""The command line's `simbench sweep`: parse, call, print."""

import os
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from simbench.cli.console import progress_bars
from simbench.errors import Interrupted, StudyError

_PIPE_WIDTH = 200


def sweep(
    scenario: Annotated[str, typer.Argument(help="Name or path of a YAML file.")],
    vary: Annotated[
        list[str],
        typer.Option(metavar="KEY=A,B,C|A..B", help="Values of a key; repeatable, every combination is run."),
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Override a value in every run; repeatable."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs at a time, by default one a core.")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on this Dask cluster, such as tcp://host:8786.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="By default a directory in runs that the same arguments find again."
        ),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep every run directory, in DIR/runs.")] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Also run again what ended with an error before.")
    ] = False,
    show: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC", help="Print this metric instead of those with checks; repeatable."),
    ] = None,
) -> None:
    """Run a scenario for every combination of values, into one Parquet table; goes on after a kill.

    Exit status 1 if a run or one of its checks fails.
    """
    from simbench.display_sweep import chosen_metrics, failed, sweep_table
    from simbench.runs.execution.dask import dask_cluster
    from simbench.runs.execution.local import run_apart
    from simbench.runs.provenance import provenance
    from simbench.runs.run_directory import json_text
    from simbench.runs.scenario.loading import resolved_yaml
    from simbench.runs.study.directory import finished_rows
    from simbench.runs.study.study import run_study, study_key
    from simbench.runs.study.sweep import plan_sweep, run_varied, sweep_items
    from simbench.runs.study.table import TABLE

    if dask is not None and jobs is not None:
        raise StudyError("--jobs: a cluster runs as many at a time as its workers have threads")
    plan = plan_sweep(scenario, vary, overrides or ())
    items = sweep_items(plan)
    folder = out or Path("runs") / f"{plan.base.name}-sweep-{study_key(run_varied, items)}"
    if keep:
        items = sweep_items(plan, folder.resolve() / "runs")
    inputs = {
        "scenario.yaml": resolved_yaml(plan.base),
        "provenance.json": json_text(provenance(plan.base.seed, sys.argv)),
    }
    local = partial(run_apart, jobs=jobs or len(os.sched_getaffinity(0)))
    try:
        with (
            nullcontext(local) if dask is None else dask_cluster(dask) as execute,
            progress_bars(Console(stderr=True)) as on_progress,
        ):
            rows = run_study(
                run_varied,
                items,
                folder,
                execute=execute,
                inputs=inputs,
                retry=retry,
                on_progress=on_progress,
            )
    except KeyboardInterrupt:
        raise Interrupted(
            f"{finished_rows(folder)} of {len(items)} runs are kept in {folder}; the same command goes on"
        ) from None
    console = Console()
    if not console.is_terminal:
        console.width = _PIPE_WIDTH
    console.print(sweep_table(rows, show or chosen_metrics(rows, list(plan.base.checks))))
    count = sum(map(failed, rows))
    print(f"\ntable  {folder / TABLE}  ({len(rows)} runs, {f'{count} failed' if count else 'all hold'})")
    raise typer.Exit(1 if count else 0)
