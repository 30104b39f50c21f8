"""The command line's `simbench run`: parse, call, print; and watching in a web browser.

A terminal gets what matters of a run, a pipe and `--all` every metric.
"""

from __future__ import annotations

import shlex
import sys
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from typer import Option

from simbench.cli import shared_options
from simbench.cli.completion import complete_scenario
from simbench.cli.console import is_terminal, make_console, metrics_table, number_table, progress_bars
from simbench.cli.shared_options import argument, list_overrides, option, output, set_option
from simbench.errors import Interrupted, RunError, ScenarioError
from simbench.files.text import printable
from simbench.runs.metric_catalogue import format_value, unit_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from simbench.runs.baseline import Check
    from simbench.runs.live_view import LiveView
    from simbench.runs.metric_catalogue import Metric
    from simbench.runs.result import RunResult
    from simbench.runs.scenario.schema import Scenario

_MOST_DOUBTS = 3  # Doubts that a terminal shows; the others are in provenance.json, and `--all` shows them.
_MOST_NOTES = 3  # Notes that a terminal shows; the others are in the run directory, and `--all` shows them.
_BETWEEN = 3  # Columns between two groups of metrics that stand side by side.
_LABEL = 10  # Columns of the labels of lines about a run against a person.
_UNLIMITED = 10_000  # Columns of a terminal on which every table has its natural width.


class _Group(NamedTuple):
    """Metrics that a terminal shows together."""

    title: str
    prefixes: tuple[str, ...]
    """First parts of their names; a group without any takes what no other takes."""
    important: tuple[str, ...]
    """Metrics that are shown without a check, in their order; `*` stands for a fixture and its joint."""
    unless_zero: tuple[str, ...] = ()
    """Metrics that are shown without a check if they are not 0."""


_GROUPS = (
    _Group(
        "balance",
        ("fell", "fell_s", "balance", "zmp", "cog", "feet", "base", "steps", "seat", "push"),
        (
            *("fell", "fell_s", "zmp.inside_fraction", "zmp.min_margin_m", "cog.rms_m", "feet.slip_m"),
            *("seat.least_force_n", "seat.slip_m", "push.survived_fraction", "push.survived_ns"),
        ),
        ("balance.gave_up", "steps.missed_count"),
    ),
    _Group(
        "tracking",
        ("tracking", "torque", "limits"),
        ("tracking.rms_rad", "tracking.max_rad", "limits.torque_ratio"),
        ("torque.saturated_fraction", "limits.position_violation_rad"),
    ),
    _Group(
        "contacts and task",
        (),
        ("hands.rms_m", "grip.held_fraction", "*_ratio"),
        (
            *("grip.lost", "contact.self_count", "contact.floor_unintended_count"),
            "contact.equipment_unintended_count",
        ),
    ),
    _Group(
        "fidelity",
        ("imitation", "retarget", "trajectory", "follow", "motion", "fidelity"),
        (
            *("imitation.hand_mean_m", "trajectory.joint_error_rms_rad", "trajectory.base_error_max_m"),
            *("trajectory.contact_agreement_fraction", "retarget.duration_s", "retarget.slow_down"),
        ),
        ("motion.doubt_count", "retarget.interference_count", "follow.changed_step_count"),
    ),
)
_OTHERS = next(group for group in _GROUPS if not group.prefixes)

# A metric as it is shown: name, value, unit, and what a check that holds asks for; empty without one.
_Row = tuple[str, str, str, str]


def run(
    scenario: Annotated[
        str,
        argument(
            "Name or path of a YAML file, or a file of a robot's motion (.csv, .nc, .npz, .pkl) with "
            "--robot.",
            complete=complete_scenario,
        ),
    ],
    robot: shared_options.Robot = None,
    engine: shared_options.Engine = None,
    overrides: Annotated[list[str] | None, set_option("Override a value; repeatable.")] = None,
    out: Annotated[Path | None, output("Run directory, by default runs/SCENARIO-TIME.", "DIR")] = None,
    video: Annotated[
        bool, Option("--video", help="Also record video.mp4; --video=preview: as with --fast.")
    ] = False,
    fast: shared_options.Fast = False,
    gui: Annotated[bool, Option("--gui", help="Watch in Bullet's window.")] = False,
    view: Annotated[
        bool, Option("--view", help="Watch in a web browser while it is simulated; needs viser.")
    ] = False,
    view_host: Annotated[
        str | None,
        option(
            "Address to serve the scene on: 127.0.0.1 unless given, which only this machine sees. "
            "0.0.0.0 shows it to the network.",
            "ADDRESS",
        ),
    ] = None,
    view_port: Annotated[
        int | None, option("First port to try, 8080 unless given.", "N", min=1024, max=65535)
    ] = None,
    realtime: Annotated[
        bool, Option("--realtime", help="With --view: simulate at the clock's pace, not as fast as it goes.")
    ] = False,
    plots: Annotated[bool, Option("--plots", help="Also draw plots/*.png.")] = False,
    all_metrics: Annotated[
        bool, Option("--all", help="Print every metric, note and doubt in a terminal, as in a pipe.")
    ] = False,
    no_cache: shared_options.NoCache = False,
) -> None:
    """Run a scenario; exit status 1 if a check fails."""
    from simbench.files.yaml_document import read_yaml
    from simbench.runs.scenario.scenario_files import PERSON_SUFFIXES, ROBOT_SUFFIXES, find_scenario

    changes = list_overrides(overrides, None, engine)
    if Path(scenario).suffix.lower() in (*ROBOT_SUFFIXES, *PERSON_SUFFIXES):
        from simbench.runs.scenario.loading import motion_file_scenario

        resolved = motion_file_scenario(Path(scenario), robot, changes)
    else:
        # A wrong name is found before what validates scenarios is imported.
        read_yaml(find_scenario(scenario), ScenarioError)
        from simbench.runs.scenario.loading import load_scenario

        resolved = load_scenario(scenario, list_overrides(changes, robot))
    if view and gui:
        raise RunError("--view: watch in a browser or in Bullet's window (--gui), not both")
    watching = {"--view-host": view_host, "--view-port": view_port, "--realtime": realtime or None}
    for name, value in watching.items():
        if value is not None and not view:
            raise RunError(f"{name}: allowed only with --view")
    with browser_view(view_host, view_port, realtime) if view else nullcontext() as watched:
        result = _simulate(
            resolved,
            out,
            video=video or fast,
            fast=fast,
            gui=watched or gui,
            cache=not no_cache,
            doubts=None if all_metrics or not is_terminal(stderr=True) else _MOST_DOUBTS,
        )
        print_run(result, all_metrics=all_metrics)
        if plots:
            from simbench.runs.plots.run_plots import draw_plots

            with progress_bars(make_console(stderr=True)) as on_progress:
                draw_plots(result.directory, on_progress)
            print(f"plots  {result.directory / 'plots'}")
        if is_terminal():
            for command in next_commands(result.directory, has_video=result.video_file is not None):
                print(f"next   {command}")
        if watched is not None:
            stay_open(watched, result)
    raise typer.Exit(0 if all(check.passed for check in result.checks) else 1)


def _simulate(
    scenario: Scenario,
    out: Path | None,
    *,
    video: bool,
    fast: bool,
    gui: bool | LiveView,
    cache: bool,
    doubts: int | None,
) -> RunResult:
    """Run a scenario with progress bars; an interruption says what was kept.

    So many doubts about the recording are printed, all of them if None.
    """
    from simbench.runs.run_directory import DirectoryTaken, incomplete_path, replaced_run, unused_run_path

    while True:
        folder = out or unused_run_path(scenario.name)
        replaced = replaced_run(folder)
        if replaced is not None:
            print(replaced, file=sys.stderr)
        try:
            from simbench.runs.pipeline import run_scenario

            with progress_bars(make_console(stderr=True), transient=True) as on_progress:
                return run_scenario(
                    scenario,
                    folder,
                    video=video,
                    fast=fast,
                    gui=gui,
                    cache=cache,
                    on_progress=on_progress,
                    on_doubts=partial(print_remarks, "doubt", most=doubts),
                )
        except DirectoryTaken:
            # Another process chose the same name in the same second.
            if out is not None:
                raise
        except KeyboardInterrupt:
            incomplete = incomplete_path(folder)
            kept = (
                f"the run is complete in {folder}" if (folder / "metrics.json").exists() else "nothing kept"
            )
            raise Interrupted(f"partial run kept in {incomplete}" if incomplete.exists() else kept) from None


def browser_view(host: str | None, port: int | None, realtime: bool) -> LiveView:
    """Prepare a scene that browsers can watch.

    `host`: address to listen on; `port`: first port to try; `realtime`: whether the simulation keeps to the
    clock.
    """
    from simbench.runs.live_view import LiveView
    from simbench.sim.rendering.scene_viewer import LOOPBACK, PORT

    def open_page(url: str) -> None:
        print(f"view   {url}", file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            with suppress(webbrowser.Error):
                webbrowser.get()
                webbrowser.open(url)

    return LiveView(open_page, host or LOOPBACK, port or PORT, realtime=realtime)


def stay_open(view: LiveView, result: RunResult) -> None:
    """Keep the scene for as long as a browser shows it; in a terminal, also wait for one.

    `result`: outcome of the run, which it then shows in words.
    """
    from simbench.runs.result import describe_checks

    interactive = sys.stdin.isatty() and sys.stderr.isatty()
    if interactive:
        print("the scene stays while a browser shows it; Ctrl-C ends it", file=sys.stderr)
    try:
        view.finish(describe_checks(result.checks), wait=interactive)
    except KeyboardInterrupt:
        # The run is complete: its exit status says what came of it.
        return


def print_run(result: RunResult, *, all_metrics: bool = False) -> None:
    """Print the metrics of a run, its notes, failed checks, how many checks hold, and where the run is.

    A terminal gets the metrics that matter, a pipe and `all_metrics` every one of them, a line each.
    `result`: outcome of the run; `all_metrics`: whether to print every metric on a terminal too.
    """
    terminal = is_terminal()
    console = make_console(wide=not terminal)
    print_metrics(console, result.metrics, result.checks, every=all_metrics or not terminal)
    print_remarks("note", result.notes, _MOST_NOTES if terminal and not all_metrics else None)
    if result.diverged is not None:
        print(result.diverged, file=sys.stderr)
    console = make_console()
    failed = [check for check in result.checks if not check.passed]
    for check in failed if result.diverged is None else ():
        why = f" ({check.reason})" if check.reason else ""
        value = format_value(result.metrics.get(check.name))
        said = f"{check.name} is {value}, must be {check.bound}{why}"
        # On a terminal on the standard output as well, unless both are the same terminal.
        if terminal:
            console.print(f"✗ {said}", style="bold red", highlight=False)
        if not terminal or not is_terminal(stderr=True):
            print(f"check failed: {said}", file=sys.stderr)
    if result.checks:
        held = len(result.checks) - len(failed)
        noun = "check holds" if len(result.checks) == 1 else "checks hold"
        style = "bold red" if failed else "bold green"
        console.print(f"{held} of {len(result.checks)} {noun}", style=style, highlight=False)
    print(f"run    {result.directory}")
    if result.robot is not None:
        print(f"robot  {result.robot}")
    if result.video_file is not None:
        print(f"video  {result.video_file}  (drawn by {result.renderer})")


def print_remarks(kind: str, lines: Sequence[str], most: int | None) -> None:
    """Print notes or doubts on the standard error: so many, and how many more there are; all if None."""
    for line in lines[:most]:
        print(f"{kind}: {line}", file=sys.stderr)
    if most is not None and len(lines) > most:
        print(f"{kind}: {len(lines) - most} more, which --all shows", file=sys.stderr)


def next_commands(folder: Path, has_video: bool) -> Iterator[str]:
    """Say which commands show more of a run.

    `folder`: run directory; `has_video`: whether the run has a video. Yields A command line.
    """
    quoted = shlex.quote(str(folder))
    yield f"simbench report {quoted}"
    if not has_video:
        yield f"simbench video {quoted}"


def print_metrics(
    console: Console, metrics: Mapping[str, Metric], checks: Sequence[Check], *, every: bool
) -> None:
    """Print what a run leaves of the person, if it follows one, and its metrics.

    `console`: where they are printed. `metrics`: metrics of the run by name. `checks`: outcome of the
    scenario's checks. `every`: every metric with its check, a line each; else those that matter, in groups
    that stand side by side if there is room for two, without those whose check fails, which are left for the
    end of what is printed.
    """
    from rich.table import Table

    from simbench.runs.motion_fidelity import HEADS, fidelity_lines, fidelity_rows

    if errors := fidelity_rows(metrics):
        console.print(number_table("run against person", *HEADS, rows=errors, left=(4,)))
        lines = Table.grid(padding=(0, 1, 0, 0))
        lines.add_column(min_width=_LABEL)
        for line in fidelity_lines(metrics):
            label, _, text = line.partition(" ")
            lines.add_row(label, text.strip())
        console.print(lines)
        console.print()
    if every:
        console.print(metrics_table(metrics, checks))
        console.print()
        return
    groups = [(group.title, rows) for group in _GROUPS if (rows := _group_rows(group, metrics, checks))]

    def tallest(cut: int) -> int:
        return max(sum(len(rows) + 2 for _, rows in part) for part in (groups[:cut], groups[cut:]))

    cut = min(range(len(groups) + 1), key=tallest)
    columns = [column for column in (groups[:cut], groups[cut:]) if column]
    for bounds in (True, False):
        sides = [_group_table(column, bounds=bounds) for column in columns]
        unlimited = console.options.update(width=_UNLIMITED)
        widths = [console.measure(side, options=unlimited).maximum for side in sides]
        if len(sides) > 1 and sum(widths) + _BETWEEN <= console.width:
            beside = Table.grid(padding=(0, _BETWEEN, 0, 0))
            beside.add_row(*sides)
            console.print(beside)
            break
    else:
        console.print(_group_table(groups, bounds=True))
    console.print()


def _group_rows(group: _Group, metrics: Mapping[str, Metric], checks: Sequence[Check]) -> list[_Row]:
    """List the metrics of a group that matter, those with a check that holds among them."""
    bounds = {check.name: check.bound for check in checks if check.passed}
    failed = {check.name for check in checks if not check.passed}
    taken = {prefix for each in _GROUPS for prefix in each.prefixes}
    own = []
    for name in metrics:
        prefix = name.partition(".")[0]
        if name not in failed and (prefix in group.prefixes or (group is _OTHERS and prefix not in taken)):
            own.append(name)
    shown = [
        name
        for name in own
        if name in bounds
        or _rank(group, name) is not None
        or (name in group.unless_zero and metrics[name] not in (0, None))
    ]
    last = len(group.important)
    shown.sort(key=lambda name: (last if (rank := _rank(group, name)) is None else rank, name))
    return [(name, format_value(metrics[name]), unit_of(name), bounds.get(name, "")) for name in shown]


def _rank(group: _Group, name: str) -> int | None:
    """Place of a metric in the group's list of important ones; None if it is not in it."""
    if name in group.important:
        return group.important.index(name)
    ratio = group is _OTHERS and name.endswith("_ratio")
    return group.important.index("*_ratio") if ratio else None


def _group_table(groups: Sequence[tuple[str, list[_Row]]], *, bounds: bool) -> Table:
    """Lay out groups of metrics below each other, with what their checks ask for if there is room."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 1, 0, 0))
    for column in ("name", "value", "unit", "check")[: 4 if bounds else 3]:
        # Of words, only a name that is wider than the terminal may be broken.
        table.add_column(
            justify="right" if column == "value" else "left",
            no_wrap=column in ("value", "unit"),
            overflow="fold",
            # A column without text would be measured narrower than it is drawn.
            min_width=1,
        )
    for number, (title, rows) in enumerate(groups):
        if number:
            table.add_row()
        table.add_row(Text(title, "bold"))
        for name, value, unit, bound in rows:
            mark = ("✓ ", "green") if bound else "  "
            cells = [Text.assemble(mark, printable(name)), Text(printable(value)), Text(unit, "dim")]
            table.add_row(*cells, *([Text(bound, "green")] if bounds else []))
    return table
