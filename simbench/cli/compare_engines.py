"""The command line's `simbench compare-engines`: parse, call, print."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from simbench.cli.completion import complete_scenario
from simbench.cli.console import make_console, progress_bars
from simbench.cli.shared_options import Jobs, argument, output, set_option
from simbench.errors import RunError
from simbench.files.storage import refuse_link
from simbench.files.text import printable

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.runs.isolated_runs import EngineComparison

_FIRST, _SECOND = "bullet", "mujoco"


def compare_engines(
    scenarios: Annotated[
        list[str], argument("Names or paths of YAML files.", "SCENARIO...", complete_scenario)
    ],
    overrides: Annotated[
        list[str] | None, set_option("Override a value in each scenario; repeatable.")
    ] = None,
    jobs: Jobs = None,
    out: Annotated[
        Path | None, output("New directory of the runs, by default runs/engines-TIME.", "DIR")
    ] = None,
    all_metrics: Annotated[bool, Option("--all", help="Print every metric.")] = False,
) -> None:
    """Run scenarios in both physics engines, and say what differs; exit status 1 if a check fails."""
    from simbench.runs.scenario.scenario_files import read_scenario

    # A wrong name is found before what plans and simulates is imported.
    for name in scenarios:
        read_scenario(name)
    given = overrides or []
    if any(text.partition("=")[0].strip() == "simulation.engine" for text in given):
        raise RunError("--set simulation.engine: the scenarios run in both engines; leave it out")
    from simbench.runs.isolated_runs import compare_engines as compare
    from simbench.runs.report.report_page import write_report
    from simbench.runs.report.run_report import read_reports
    from simbench.runs.run_directory import runs_directory
    from simbench.sim.engine import open_engine

    for engine in (_FIRST, _SECOND):
        open_engine(engine)
    out = out or refuse_link(Path("runs")) / f"engines-{datetime.now():%Y%m%d-%H%M%S}"
    console = make_console(wide=True)
    with progress_bars(make_console(stderr=True)) as on_progress:
        with runs_directory(out) as folder:
            compared = compare(
                scenarios,
                given,
                folder,
                engines=(_FIRST, _SECOND),
                jobs=jobs or len(os.sched_getaffinity(0)),
                on_progress=on_progress,
            )
        pages = []
        for each in compared:
            if not any(each.errors):
                # The second engine's robot is the ghost of the first one's.
                pages.append(out / f"{each.scenario}.html")
                reports = read_reports(
                    [out / f"{each.scenario}-{engine}" for engine in (_FIRST, _SECOND)], on_progress
                )
                write_report(reports, pages[-1])
    for each in compared:
        for engine, checks, error in zip((_FIRST, _SECOND), each.checks, each.errors, strict=True):
            failed = [f"{check.name} is not {check.bound}" for check in checks if not check.passed]
            held = f"{len(checks) - len(failed)} of {len(checks)} checks hold"
            outcome = f"failed: {error}" if error else "; ".join([held, *failed])
            print(printable(f"{each.scenario} in {engine}: {outcome}"))
        if each.verdicts:
            console.print(metrics_table(each, all_metrics=all_metrics))
            print()
            console.print(signals_table(each))
        print()
    print(f"runs    {out}")
    for page in pages:
        print(f"report  {page}")
    raise typer.Exit(0 if all(each.passed for each in compared) else 1)


def metrics_table(compared: EngineComparison, *, all_metrics: bool) -> Table:
    """Lay out the metrics of both engines side by side.

    `compared`: A scenario in two engines; `all_metrics`: whether all are shown, and not only those that say
    most. Returns table of metric, both values, their difference, the tolerance and whether it is kept.
    """
    from rich.table import Table
    from rich.text import Text

    from simbench.runs.metric_catalogue import format_value, unit_of
    from simbench.runs.regression import format_tolerance

    table = Table("metric", _FIRST, _SECOND, "difference", "tolerance", "unit", "", box=None, pad_edge=False)
    for column in table.columns[1:5]:
        column.justify = "right"
    for verdict in compared.verdicts if all_metrics else compared.main:
        was, now, difference = verdict.was, verdict.now, ""
        if not any(isinstance(value, bool) or not isinstance(value, int | float) for value in (was, now)):
            difference = f"{float(now) - float(was):+.3g}"  # type: ignore[arg-type]
        table.add_row(
            verdict.name,
            format_value(verdict.was),
            format_value(verdict.now),
            difference,
            "" if verdict.outcome == "new" else format_tolerance(verdict.tolerance, "same"),
            unit_of(verdict.name),
            Text("same", "green") if verdict.outcome == "holds" else Text("differs", "yellow"),
        )
    others = [] if all_metrics else [each for each in compared.verdicts if each not in compared.main]
    if others:
        differing = sum(each.outcome != "holds" for each in others)
        table.add_row(f"{len(others)} more, {differing} of which differ; --all shows them")
    return table


def signals_table(compared: EngineComparison) -> Table:
    """Lay out from when on each signal differs.

    `compared`: A scenario in two engines. Returns table of signal, the first sample that is outside the usual
    tolerance, both values there, and how far apart they come later.
    """
    from rich.table import Table

    columns = ("signal", "first differs at", _FIRST, _SECOND, "tolerance", "later up to")
    table = Table(*columns, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for each in compared.divergences:
        table.add_row(
            each.channel.name,
            f"{each.time:.3f} s",
            f"{each.was:.4g}",
            f"{each.now:.4g}",
            f"{each.tolerance:.2g} {each.channel.unit}",
            f"{each.peak_ratio:.3g} times the tolerance",
        )
    same = compared.signals - len(compared.divergences)
    if same:
        table.add_row(f"{same} signals stay within tolerance")
    return table
