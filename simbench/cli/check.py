"""The command line's `simbench check`: parse, call, print."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

from simbench.cli import shared_options
from simbench.cli.completion import complete_scenario
from simbench.cli.console import make_console, progress_bars
from simbench.cli.shared_options import argument, list_overrides, option, output, set_option
from simbench.errors import BaselineError
from simbench.files.storage import refuse_link, scratch_folder
from simbench.files.text import printable

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.runs.regression import Case, CaseResult


_STYLE = {"worse": "bold red", "missing": "bold red", "better": "green", "new": "yellow"}


def check_scenarios(
    scenarios: Annotated[
        list[str] | None,
        argument("Names or paths of YAML files; all that ship if none.", "SCENARIO", complete_scenario),
    ] = None,
    overrides: Annotated[
        list[str] | None, set_option("Override a value in each scenario; repeatable.")
    ] = None,
    engine: shared_options.Engine = None,
    update: Annotated[
        bool, Option("--update", help="Measure and rewrite the baselines, and show what changes.")
    ] = False,
    jobs: shared_options.Jobs = None,
    out: Annotated[Path | None, output("Keep the run directories in this new directory.", "DIR")] = None,
    history: Annotated[
        Path | None, output("Add the metrics to this file; simbench trend draws it.", "FILE.jsonl")
    ] = None,
    summary: Annotated[Path | None, output("Add a table of the scenarios in Markdown.")] = None,
    no_cache: shared_options.NoCache = False,
    no_traces: Annotated[
        bool, Option("--no-traces", help="Compare metrics only, not the signals over time.")
    ] = False,
    strict: Annotated[
        bool, Option("--strict", help="Fail where signals diverge as by rounding, too, not only warn.")
    ] = False,
    only: Annotated[
        Literal["metrics", "traces"] | None,
        option("With --update: what of a baseline is rewritten, by default both."),
    ] = None,
    no_dossier: Annotated[bool, Option("--no-dossier", help="Leave nothing of a failed check.")] = False,
    artifacts: Annotated[
        Path, output("Where a failed check leaves plots, a clip and its run.", "DIR")
    ] = Path("failures"),
) -> None:
    """Compare scenarios' metrics and signals with their baselines; exit status 1 if any is worse."""
    from simbench.runs.scenario.scenario_files import read_scenario

    # A wrong name is found before what plans and simulates is imported.
    for name in scenarios or ():
        read_scenario(name)
    from simbench.runs.regression import find_cases, require_baselines, require_packages, run_cases
    from simbench.runs.run_directory import runs_directory
    from simbench.sim.engine import open_engine

    # Refused before anything is run.
    if history is not None:
        from simbench.runs.check_history import require_history

        require_history(history)
    given = overrides or []
    if update and given and not any(text.partition("=")[0].strip() == "name" for text in given):
        raise BaselineError(
            f"--set {given[0]}: would not be seen in the baseline that --update writes; "
            "a changed scenario needs a name of its own: --set name=..."
        )
    if only is not None and not update:
        raise BaselineError(f"--only {only}: goes with --update, which rewrites both by default")
    if only == "traces" and no_traces:
        raise BaselineError("--only traces: nothing is left with --no-traces; allowed: one of them")
    traces = not no_traces and only != "metrics"
    changes = list_overrides(given, None, engine)
    cases = find_cases(scenarios or (), changes, traces=traces and not update)
    for name in sorted({case.scenario.simulation.engine for case in cases}):
        open_engine(name)
    if scenarios:
        require_packages(cases)
        if not update:
            require_baselines(cases)
    chosen = [case for case in cases if not case.missing and (update or case.baseline is not None)]
    skipped = [case for case in cases if case.missing or (case.baseline is None and not update)]
    if not chosen:
        raise BaselineError(f"no baselines in {cases[0].path.parent}; --update writes them")
    require_places(chosen, None if update or no_dossier else artifacts, update=update)
    cores = len(os.sched_getaffinity(0))
    runs = scratch_folder() if out is None else runs_directory(out)
    with runs as folder, progress_bars(make_console(stderr=True)) as on_progress:
        results = run_cases(
            chosen,
            folder,
            jobs=jobs or cores,
            measure=update,
            cache=not no_cache,
            traces=traces,
            strict=strict,
            on_progress=on_progress,
        )
        dossiers = [] if update or no_dossier else write_dossiers(results, artifacts, on_progress)
        if history is not None:
            from simbench.runs.check_history import append_history, make_records

            append_history(history, make_records(results, folder, history, kept=out))
        if summary is not None:
            from simbench.runs.regression import append_summary

            append_summary(summary, results, skipped, artifacts if dossiers else None)
    if update:
        raise typer.Exit(write_baselines(results, skipped, only))
    print_results(results, skipped, dossiers, traces=traces)
    raise typer.Exit(1 if any(result.failed for result in results) else 0)


def require_places(cases: Sequence[Case], artifacts: Path | None, *, update: bool) -> None:
    """Refuse places of baselines that are links, and of dossiers that hold something else.

    `cases`: what is checked; `artifacts`: folder of the dossiers; None without them.
    """
    from simbench.runs.traces.trace_file import trace_path

    for case in cases:
        for path in (case.path, trace_path(case.path)) if update else ():
            refuse_link(refuse_link(path).parent)
        if artifacts is not None and (artifacts / case.scenario.name).exists():
            from simbench.runs.dossier import require_dossier

            require_dossier(artifacts / case.scenario.name)


def print_results(
    results: Sequence[CaseResult], skipped: Sequence[Case], dossiers: Sequence[str], *, traces: bool
) -> None:
    """Print what became of the checks, and which signal diverged first, when and by how much.

    `results`: outcomes of the scenarios that were run; `skipped`: scenarios that were not; `dossiers`: lines
    about them; `traces`: whether signals were compared.
    """
    make_console(wide=True).print(results_table(results, skipped))
    diverged = [result for result in results if result.diverged]
    if diverged:
        from simbench.runs.regression import headline

        for result in diverged:
            print(headline(result))
    for line in dossiers:
        print(line)
    untraced = [
        result.case.scenario.name for result in results if not result.error and result.case.trace is None
    ]
    if traces and untraced:
        print(f"without a trace, metrics only: {', '.join(untraced)}; --update --only traces writes one")


def write_baselines(
    results: Sequence[CaseResult], skipped: Sequence[Case], only: Literal["metrics", "traces"] | None
) -> int:
    """Write what was measured, and show what changes.

    `results`: outcomes of the scenarios that were run; `skipped`: scenarios that were not; `only`: what is
    written; by default both. Returns exit status.
    """
    from simbench.runs.baseline import find_tolerance, write_baseline
    from simbench.runs.regression import format_number
    from simbench.runs.traces.trace_file import MOST_HIDDEN, trace_path, write_trace

    measured = [result for result in results if result.measured is not None]
    failed = [result for result in results if result.measured is None]
    console = make_console(wide=True)
    if only != "traces":
        for result in measured:
            write_baseline(result.case.path, result.measured or {})
        table = _table("scenario", "metric", "was", "is", "tolerance was", "is")
        for result in measured:
            name, before, after = result.case.scenario.name, result.case.baseline, result.measured or {}
            if before is None:
                table.add_row(name, f"{len(after)} metrics", "", "new", "", "")
                for metric, expected in after.items():
                    if math.isinf(find_tolerance(metric, expected)):
                        value = format_number(expected.value)
                        table.add_row(name, metric, "", value, "", "any: rounding decides it")
                continue
            names = sorted({*before, *after})
            changed = [metric for metric in names if before.get(metric) != after.get(metric)]
            for metric in changed:
                old, new = before.get(metric), after.get(metric)
                table.add_row(
                    name,
                    metric,
                    format_number(old.value) if old else "",
                    format_number(new.value) if new else "",
                    f"{find_tolerance(metric, old):.2g}" if old else "",
                    f"{find_tolerance(metric, new):.2g}" if new else "gone",
                )
            table.add_row(name, f"{len(names) - len(changed)} metrics", "", "unchanged", "", "")
        console.print(table)
        for result in measured:
            print(f"baseline  {result.case.path}")
    for result in measured:
        if result.measured_trace is not None:
            path = trace_path(result.case.path)
            write_trace(path, result.measured_trace)
            hidden = f"{100.0 * (result.width or 0.0):.2g} % of its samples"
            print(
                f"trace     {path}  ({len(result.measured_trace) / 1000.0:.0f} kB; rounding hides {hidden})"
            )
    chaotic = [result.case.scenario.name for result in measured if (result.width or 0.0) > MOST_HIDDEN]
    if chaotic:
        print(
            f"not worth a trace, as rounding moves most signals as far as a fault would: {', '.join(chaotic)}"
        )
    if failed or skipped:
        print("\nnot updated:")
        console.print(results_table(failed, skipped))
    return 1 if failed else 0


def write_dossiers(
    results: Sequence[CaseResult], artifacts: Path, on_progress: Callable[[str, int, int], None]
) -> list[str]:
    """Write a dossier of each check that failed and has a run.

    `results`: outcomes of the checks; `artifacts`: folder of the dossiers; `on_progress`: callback that
    receives the progress. Returns lines that say where they are, and what could not be made.
    """
    failed = [result for result in results if result.failed and result.run is not None]
    if not failed:
        return []
    from simbench.errors import SimbenchError
    from simbench.runs.dossier import check_command, write_dossier

    lines = []
    for result in failed:
        name = result.case.scenario.name
        try:
            folder, notes = write_dossier(
                result, artifacts, [check_command(result.case.arguments)], on_progress
            )
        except SimbenchError as error:
            # What failed is said in any case.
            lines.append(f"{name}: no dossier: {error}")
            continue
        lines += [f"{name}: {note}" for note in notes]
        lines.append(f"{name}: dossier: {folder}")
    return lines


def results_table(results: Sequence[CaseResult], unchecked: Sequence[Case] = ()) -> Table:
    """Lay out a line for each metric that differs from its baseline, and one for each scenario that holds.

    `results`: outcome of each scenario that was run; `unchecked`: scenarios that were not run, without a
    baseline or without the package that their robot is in. Returns table of scenario, metric, baseline,
    value, tolerance and verdict.
    """
    from rich.text import Text

    from simbench.runs.regression import format_number, format_tolerance

    words = {
        "better": "better; --update keeps it",
        "missing": "missing in the run",
        "new": "not in the baseline; --update adds it",
    }
    table = _table("scenario", "metric", "baseline", "now", "tolerance", "verdict")
    for result in results:
        name = result.case.scenario.name
        if result.error:
            table.add_row(name, "", "", "", "", Text(printable(f"failed: {result.error}"), _STYLE["worse"]))
        for check in result.failed_checks:
            said = Text(f"check failed: must be {check.bound}", _STYLE["worse"])
            table.add_row(name, check.name, "", format_number(check.value), "", said)
        new = [verdict.name for verdict in result.verdicts if verdict.outcome == "new"]
        if len(new) > 1:
            said = Text(f"not in the baseline: {', '.join(new)}; --update adds them", _STYLE["new"])
            table.add_row(name, f"{len(new)} metrics", "", "", "", said)
        for verdict in result.verdicts:
            outcome = verdict.outcome
            if outcome == "holds" or (outcome == "new" and len(new) > 1):
                continue
            changed = "worse" if verdict.better != "same" else "changed"
            table.add_row(
                name,
                verdict.name,
                "" if outcome == "new" else format_number(verdict.was),
                "" if outcome == "missing" else format_number(verdict.now),
                "" if outcome == "new" else format_tolerance(verdict.tolerance, verdict.better),
                Text(words.get(outcome, changed), _STYLE[outcome]),
            )
        channels = len(result.case.trace.channels) if result.case.trace is not None else 0
        if result.divergences:
            extent = f"diverged: {len(result.divergences)} of {channels} channels"
            if result.rounded:
                extent += ", as by rounding: a warning; --strict fails"
            style = _STYLE["new" if result.rounded else "worse"]
            table.add_row(name, "signals", "", "", "", Text(extent, style))
        if not result.failed:
            kept = sum(verdict.outcome in ("holds", "better") for verdict in result.verdicts)
            held = f"{kept} metrics"
            if result.divergences is not None:
                held += f", {channels} channels"
            table.add_row(name, held, "", "", "", Text("holds", "green"))
    for case in unchecked:
        reason = case.missing or "no baseline; --update writes one"
        table.add_row(case.scenario.name, "", "", "", "", f"not checked: {printable(reason)}")
    return table


def _table(*columns: str) -> Table:
    """Make an empty table of names, numbers and an outcome, in which only the outcome may be broken."""
    from rich.table import Table

    table = Table(*columns, box=None, pad_edge=False)
    for number, column in enumerate(table.columns):
        column.justify = "right" if 2 <= number < 5 else "left"
        column.no_wrap, column.overflow = number < 5, "fold"
    return table
