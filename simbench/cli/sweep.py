"""The command line's `simbench sweep`: parse, call, print."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from simbench.cli import shared_options
from simbench.cli.completion import complete_metric, complete_scenario, complete_scenario_key
from simbench.cli.console import make_console, progress_bars
from simbench.cli.shared_options import argument, list_overrides, option, output, set_option
from simbench.errors import Interrupted, StudyError
from simbench.files.storage import refuse_link
from simbench.files.text import printable
from simbench.runs.metric_catalogue import format_value, unit_of

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.runs.study import StudyRow


_MOST_METRICS, _MOST_ROWS = 5, 60  # Columns and lines that are printed.


def sweep(
    scenario: Annotated[str, argument("Name or path of a YAML file.", complete=complete_scenario)],
    vary: Annotated[
        list[str],
        option(
            "Values of a key; repeatable, every combination is run.", "KEY=A,B,C|A..B", complete_scenario_key
        ),
    ],
    robot: shared_options.Robot = None,
    overrides: Annotated[list[str] | None, set_option("Override a value in every run; repeatable.")] = None,
    jobs: shared_options.Jobs = None,
    dask: Annotated[
        str | None, option("Run on this Dask cluster, such as tcp://host:8786.", "ADDRESS")
    ] = None,
    out: Annotated[
        Path | None, output("By default a directory in runs that the same arguments find again.", "DIR")
    ] = None,
    keep: Annotated[bool, Option("--keep", help="Keep every run directory, in DIR/runs.")] = False,
    retry: Annotated[bool, Option("--retry", help="Also run again what ended with an error before.")] = False,
    show: Annotated[
        list[str] | None,
        option("Print this metric instead of those with checks; repeatable.", "METRIC", complete_metric),
    ] = None,
    no_cache: shared_options.NoCache = False,
) -> None:
    """Run a scenario for every combination of values, into one Parquet table; goes on after a kill.

    Exit status 1 if a run or one of its checks fails.
    """
    from simbench.runs.scenario.scenario_files import read_scenario

    # A wrong name is found before what plans and simulates is imported.
    read_scenario(scenario)
    from simbench.runs.execution import dask_cluster, run_isolated
    from simbench.runs.plan_cache import PLAN_REUSED
    from simbench.runs.provenance import collect_provenance
    from simbench.runs.run_directory import PROVENANCE, json_text
    from simbench.runs.scenario.loading import resolved_yaml
    from simbench.runs.scenario_sweep import plan_sweep, run_varied, sweep_items
    from simbench.runs.study import RUNS, TABLE, finished_rows, run_study, study_key

    if dask is not None and jobs is not None:
        raise StudyError("--jobs: a cluster runs as many at a time as its workers have threads")
    plan = plan_sweep(scenario, vary, list_overrides(overrides, robot))
    base = plan[0]
    items = sweep_items(plan, cache=not no_cache)
    folder = out or refuse_link(Path("runs")) / f"{base.name}-sweep-{study_key(run_varied, items)}"
    if keep:
        items = sweep_items(plan, folder.resolve() / RUNS, cache=not no_cache)
    inputs = {
        "scenario.yaml": resolved_yaml(base),
        PROVENANCE: json_text(collect_provenance(base.seed, sys.argv)),
    }
    local = partial(run_isolated, jobs=jobs or len(os.sched_getaffinity(0)))
    try:
        with (
            nullcontext(local) if dask is None else dask_cluster(dask) as execute,
            progress_bars(make_console(stderr=True)) as on_progress,
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
    make_console(wide=True).print(sweep_table(rows, show or choose_metrics(rows, list(base.checks))))
    count = sum(map(has_failed, rows))
    print(f"\ntable  {folder / TABLE}  ({len(rows)} runs, {f'{count} failed' if count else 'all hold'})")
    reused = [row.values[PLAN_REUSED] for row in rows if PLAN_REUSED in row.values]
    if reused:
        print(f"plans  made: {reused.count(False)}, reused: {reused.count(True)}")
    raise typer.Exit(1 if count else 0)


def sweep_table(rows: Sequence[StudyRow], metrics: Sequence[str]) -> Table:
    """Lay out a line for each run; failed runs are listed even where there are too many to show.

    `rows`: results of `run_varied`; `metrics`: metrics to show, one column each. Returns table of the varied
    keys, the metrics and the outcome.
    """
    from rich.table import Table
    from rich.text import Text

    from simbench.runs.scenario_sweep import FAILED_CHECKS

    keys = list(rows[0].varied)
    heads = [f"{name}, {unit}" if (unit := unit_of(name)) else name for name in metrics]
    table = Table(*keys, *heads, "outcome", box=None, pad_edge=False)
    for column in table.columns[:-1]:
        column.overflow = "fold"
    for column in table.columns[len(keys) : -1]:
        column.justify = "right"
    shown = [row for k, row in enumerate(rows) if k < _MOST_ROWS or has_failed(row)][:_MOST_ROWS]
    for row in shown:
        # As they were given on the command line.
        given = (row.varied[key] for key in keys)
        varied = [value if isinstance(value, str) else json.dumps(value) for value in given]
        violated = str(row.values.get(FAILED_CHECKS) or "")
        cells = []
        for name in metrics:
            text = "" if row.error else printable(format_value(row.values.get(name)))
            cells.append(Text(text, "bold red" if name in violated.split(", ") else ""))
        outcome = Text(f"check failed: {violated}", "bold red") if violated else Text("holds", "green")
        if row.error:
            outcome = Text(printable(f"failed: {row.error}"), "bold red")
        table.add_row(*varied, *cells, outcome)
    if len(rows) > len(shown):
        table.add_row(f"… {len(rows) - len(shown)} more")
    return table


def choose_metrics(rows: Sequence[StudyRow], checked: Sequence[str]) -> list[str]:
    """Choose the metrics to show: those with a check that differ between the runs, else any with a check.

    `rows`: results of `run_varied`; `checked`: metrics that the scenario has checks for. Returns names of at
    most five metrics.
    """
    have = [name for name in checked if any(name in row.values for row in rows)]
    ran = [row for row in rows if not row.error]
    differ = [name for name in have if len({row.values.get(name) for row in ran}) > 1]
    return (differ or have)[:_MOST_METRICS]


def has_failed(row: StudyRow) -> bool:
    """Return whether a run ended with an error or violated one of its scenario's checks.

    `row`: result of `run_varied`. Returns true if it failed.
    """
    from simbench.runs.scenario_sweep import CHECKS_HOLD

    return bool(row.error) or not row.values[CHECKS_HOLD]
