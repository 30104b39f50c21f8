"""The command line: parse, call, print.

What a command needs is imported when it is called, so that `--help` and errors in the arguments come at once.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

import simbench
from simbench.cli.cache import cache
from simbench.cli.calibrate import calibrate
from simbench.cli.check import NoCache, check_scenarios
from simbench.cli.completion import complete_scenario
from simbench.cli.convert import convert
from simbench.cli.explain import explain
from simbench.cli.motion import motion_app
from simbench.cli.overrides import Robot, list_overrides
from simbench.cli.place import place
from simbench.cli.replay import Fast, replay, video
from simbench.cli.report import report
from simbench.cli.retarget import retarget
from simbench.cli.robot import robot_app
from simbench.cli.samples import samples
from simbench.cli.schema import schema
from simbench.cli.skills import skills
from simbench.cli.streams import (
    BROKEN_PIPE,
    end_output,
    guarded_streams,
    is_broken_pipe,
    open_standard_streams,
)
from simbench.cli.sweep import sweep
from simbench.cli.verdict import verdict
from simbench.cli.video_quality import spell_out_video_quality
from simbench.cli.warmup import warmup
from simbench.errors import Interrupted, SimbenchError
from simbench.system.termination import describe_signal, orderly_termination

if TYPE_CHECKING:
    from simbench.runs.result import RunResult
    from simbench.runs.scenario.schema import Scenario

# typer exports one kind of usage error; this is the base of all of them.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

_BAD_INPUT, _INTERRUPTED = 2, 130

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
app.add_typer(robot_app, name="robot")
app.add_typer(motion_app, name="motion")


class Kind(str, Enum):
    """Kinds of things that `simbench list` lists."""

    robots = "robots"
    scenarios = "scenarios"
    tasks = "tasks"
    motions = "motions"


@guarded_streams()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments without the program's name; `sys.argv` if None.

    Returns
    -------
    int
        0 done and all checks hold, 1 a check failed, 2 bad input (said in one line), 130 interrupted, 129 or
        143 ended by SIGHUP or SIGTERM.
    """
    open_standard_streams()
    if arguments is None:
        # Before NumPy is imported: sums that threads split are rounded otherwise, and a plan at the recorded
        # tempo that takes many rounds then ends elsewhere.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        # Warnings are for who writes the program; who runs it gets errors, in one line.
        warnings.simplefilter("ignore")
        # Such as where matplotlib keeps its fonts.
        logging.disable(logging.WARNING)
    with orderly_termination() as signals:
        try:
            outcome = _call(arguments)
        except BaseException:
            # Compiled code that a signal interrupts may turn it into any other error.
            if not signals:
                raise
            outcome = _Outcome(_INTERRUPTED)
    status, message, reason = outcome
    if status == _INTERRUPTED or (signals and status == _BAD_INPUT):
        number = signals[0] if signals else signal.SIGINT
        status, message = 128 + number, describe_signal(number) + reason
    return end_output(status, message)


class _Outcome(NamedTuple):
    """How a command ended."""

    status: int
    message: str = ""
    """Line for the standard error."""
    kept: str = ""
    """What an interrupted command kept, after a colon."""


def _call(arguments: Sequence[str] | None) -> _Outcome:
    """Run a command, and turn its errors into one line."""
    output = sys.stdout
    try:
        arguments = spell_out_video_quality(sys.argv[1:] if arguments is None else arguments)
        status = app(arguments, prog_name="simbench", standalone_mode=False)
        # A full disk behind a redirection is noticed when the last text is written.
        sys.stdout.flush()
    except _UsageError as error:
        return _error(error.format_message())  # type: ignore[attr-defined]
    except SimbenchError as error:
        return _error(str(error))
    except OSError as error:
        if is_broken_pipe(error):
            return _Outcome(BROKEN_PIPE)
        if error.strerror is None:
            raise
        return _error(_describe_system_error(error))
    except (MemoryError, ImportError) as error:
        return _error(_resource_error(error))
    except SystemExit:
        # Of typer, which wraps the output when its reader has gone.
        if sys.stdout is output:
            raise
        sys.stdout = output
        return _Outcome(BROKEN_PIPE)
    except Interrupted as interruption:
        return _Outcome(_INTERRUPTED, kept=f": {interruption}")
    except (KeyboardInterrupt, typer.Abort):
        return _Outcome(_INTERRUPTED)
    return _Outcome(int(status or 0))


def _describe_system_error(error: OSError) -> str:
    """Describe an error of the operating system with the file that it is about."""
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    try:
        os.getcwd()
    except OSError:
        return "the current directory does not exist any more; change to one that does"
    return str(error.strerror)


def _resource_error(error: MemoryError | ImportError) -> str:
    """Describe that memory or an installed library is lacking; raise what is a mistake of the program."""
    if isinstance(error, MemoryError):
        return "not enough memory; raise the limit (ulimit -v), or ask for less"
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("simbench"):
        raise error
    # A limit of memory or of open files, or a damaged installation.
    return f"cannot load {error.name or 'a library'}: {error}"


def _error(message: str) -> _Outcome:
    """Make the outcome of bad input: an error as one line."""
    return _Outcome(_BAD_INPUT, "error: " + " ".join(message.split()))


def _show_version(requested: bool) -> None:
    """Print the version and leave, for `--version`."""
    if requested:
        print(f"simbench {simbench.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Turn recorded human motion into robot motion, and say in numbers whether it works."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("list")
def list_(kind: Annotated[Kind | None, typer.Argument(help="All four if omitted.")] = None) -> None:
    """List what is available."""
    for shown in Kind if kind is None else (kind,):
        if kind is None:
            print(f"{shown.value}:")
        for line in _entries(shown):
            print(line if kind else f"  {line}")


@lru_cache
def _missing_package(robot: str) -> str:
    """Say in brackets what a robot needs that is not installed."""
    from simbench.robot.needed_package import needed_package
    from simbench.robot.packages import describe_missing_package

    package = needed_package(robot)
    return f"({describe_missing_package(package)})" if package else ""


def _entries(kind: Kind) -> list[str]:
    """Return the lines of `simbench list` for one kind."""
    if kind is Kind.robots:
        from simbench.robot.names import find_plug_ins, shipped_robots

        return sorted({*shipped_robots(), *find_plug_ins()})
    if kind is Kind.scenarios:
        from simbench.runs.scenario.library import list_scenarios, read_robot, read_summary

        return [
            f"{name:16} {read_summary(name)} {_missing_package(read_robot(name))}".rstrip()
            for name in list_scenarios()
        ]
    from simbench.motion.sources import list_motion_sources, list_tasks

    if kind is Kind.tasks:
        return list_tasks()
    sources = {
        **list_motion_sources(),
        "joints:sweep": "no recording: a robot with a fixed base swings its joints",
    }
    width = max(map(len, sources))
    return [f"{name:{width}}  {line}".rstrip() for name, line in sources.items()]


@app.command()
def run(
    scenario: Annotated[
        str,
        typer.Argument(
            help="Name or path of a YAML file, or a file of a robot's motion (.csv, .nc, .npz, .pkl) with "
            "--robot.",
            autocompletion=complete_scenario,
        ),
    ],
    robot: Robot = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a value; repeatable.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run directory, by default runs/SCENARIO-TIME.")
    ] = None,
    video: Annotated[
        bool, typer.Option("--video", help="Also record video.mp4; --video=preview: as with --fast.")
    ] = False,
    fast: Fast = False,
    gui: Annotated[bool, typer.Option("--gui", help="Watch in Bullet's window.")] = False,
    plots: Annotated[bool, typer.Option("--plots", help="Also draw plots/*.png.")] = False,
    no_cache: NoCache = False,
) -> None:
    """Run a scenario; exit status 1 if a check fails."""
    resolved = _find_scenario(scenario, robot, overrides)
    from simbench.cli.console import make_console, progress_bars
    from simbench.runs.metric_format import format_value
    from simbench.runs.run_directory import DirectoryTaken, unused_run_path

    result = None
    while result is None:
        folder = out or unused_run_path(resolved.name)
        try:
            shown = {"video": video or fast, "fast": fast, "gui": gui}
            result = _simulate(resolved, folder, cache=not no_cache, **shown)
        except DirectoryTaken:
            # Another process chose the same name in the same second.
            if out is not None:
                raise
    _print_metrics(result)
    print(f"\nrun    {result.directory}")
    if result.robot is not None:
        print(f"robot  {result.robot}")
    if result.video_file is not None:
        print(f"video  {result.video_file}  (drawn by {result.renderer})")
    failed = [each for each in result.checks if not each.passed]
    for note in result.notes:
        print(f"note: {note}", file=sys.stderr)
    if result.diverged is not None:
        print(result.diverged, file=sys.stderr)
    for check in failed if result.diverged is None else ():
        value = format_value(result.metrics.get(check.name))
        why = f" ({check.reason})" if check.reason else ""
        print(f"check failed: {check.name} is {value}, must be {check.bound}{why}", file=sys.stderr)
    if plots:
        from simbench.runs.plots.run_plots import draw_plots

        with progress_bars(make_console(stderr=True)) as on_progress:
            draw_plots(result.directory, on_progress)
        print(f"plots  {result.directory / 'plots'}")
    raise typer.Exit(1 if failed else 0)


def _print_metrics(result: RunResult) -> None:
    """Print what a run leaves of the person, if it follows one, and its metrics with the checks."""
    from simbench.cli.console import make_console, metrics_table, number_table
    from simbench.retargeting.fidelity.metrics import PREFIX
    from simbench.runs.fidelity_rows import HEADS, fidelity_lines, fidelity_rows

    console, rows = make_console(), fidelity_rows(result.metrics)
    if rows:
        table = number_table("run against person", *HEADS)
        table.columns[4].justify = "left"
        for row in rows:
            table.add_row(*row.cells)
        console.print(table)
    for line in fidelity_lines(result.metrics):
        print(line)
    checked = {check.name for check in result.checks}
    others = {
        name: value
        for name, value in result.metrics.items()
        if name in checked or not name.startswith(PREFIX)
    }
    if len(others) < len(result.metrics):
        print()
    console.print(metrics_table(others, result.checks))


def _find_scenario(text: str, robot: str | None, overrides: Sequence[str] | None) -> Scenario:
    """Load the scenario that an argument names, or make that of a file of a robot's motion."""
    from simbench.runs.scenario.library import is_motion_file

    if is_motion_file(text):
        from simbench.runs.scenario.robot_motion import motion_file_scenario

        return motion_file_scenario(Path(text), robot, overrides or ())
    from simbench.runs.scenario.library import read_scenario

    # A wrong name is found before what validates scenarios is imported.
    read_scenario(text)
    from simbench.runs.scenario.loading import load_scenario

    return load_scenario(text, list_overrides(overrides, robot))


def _simulate(
    scenario: Scenario, folder: Path, *, video: bool, fast: bool, gui: bool, cache: bool
) -> RunResult:
    """Run a scenario with progress bars; an interruption says what was kept."""
    from simbench.cli.console import make_console, progress_bars
    from simbench.runs.run_directory import replaced_run

    replaced = replaced_run(folder)
    if replaced is not None:
        print(replaced, file=sys.stderr)
    try:
        from simbench.runs.pipeline import run_scenario

        with progress_bars(make_console(stderr=True)) as on_progress:
            shown = {"video": video, "fast": fast, "gui": gui}
            return run_scenario(
                scenario, folder, cache=cache, on_progress=on_progress, on_doubts=_print_doubts, **shown
            )
    except KeyboardInterrupt:
        raise Interrupted(_kept_of(folder)) from None


def _print_doubts(doubts: Sequence[str]) -> None:
    """Print what may well be wrong about a recording to the standard error, one line each."""
    for doubt in doubts:
        print(f"doubt: {doubt}", file=sys.stderr)


def _kept_of(folder: Path) -> str:
    """Say what is left of an interrupted run."""
    from simbench.runs.run_directory import incomplete_path

    partial = incomplete_path(folder)
    if partial.exists():
        return f"partial run kept in {partial}"
    return f"the run is complete in {folder}" if (folder / "metrics.json").exists() else "nothing kept"


app.command()(retarget)
app.command()(convert)
app.command()(verdict)
app.command()(place)
app.command("check")(check_scenarios)
app.command()(sweep)
app.command()(skills)
app.command()(calibrate)
app.command()(video)
app.command()(replay)
app.command()(report)
app.command()(cache)
app.command()(warmup)
app.command()(samples)
# A message may contain what looks like an option.
app.command(context_settings={"ignore_unknown_options": True})(explain)
app.command()(schema)
