"""The command line: parse, call, print.

What a command needs is imported when it is called, so that `--help` and errors in the arguments come at once.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

import simbench
from simbench.cli.bash_completion import whole_words
from simbench.cli.browser_view import Host, Port, Realtime, View, browser_view, stay_open
from simbench.cli.cache import cache
from simbench.cli.calibrate import calibrate
from simbench.cli.check import NoCache, check_scenarios
from simbench.cli.compare_engines import compare_engines
from simbench.cli.completion import complete_scenario, complete_scenario_key
from simbench.cli.convert import convert
from simbench.cli.example import example
from simbench.cli.explain import explain
from simbench.cli.listing import Kind, make_listing, plain_lines, print_listing
from simbench.cli.motion import motion_app
from simbench.cli.overrides import Engine, Robot, list_overrides
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
    is_terminal,
    open_standard_streams,
)
from simbench.cli.sweep import sweep
from simbench.cli.trend import trend
from simbench.cli.verdict import verdict
from simbench.cli.video_quality import spell_out_video_quality
from simbench.cli.warmup import warmup
from simbench.errors import Interrupted, RunError, SimbenchError
from simbench.plugins.loading import FORBIDDEN
from simbench.system.termination import describe_signal, orderly_termination

if TYPE_CHECKING:
    from simbench.runs.live_view import LiveView
    from simbench.runs.result import RunResult
    from simbench.runs.scenario.schema import Scenario

# typer exports one kind of usage error; this is the base of all of them.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

_BAD_INPUT, _INTERRUPTED = 2, 130

_MOST_DOUBTS = 3
"""Doubts that a terminal shows; the others are in provenance.json, and `--all` shows them."""

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example("simbench list scenarios", "simbench run drawer --video"),
)
app.add_typer(robot_app, name="robot")
app.add_typer(motion_app, name="motion")


@guarded_streams()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    `arguments`: arguments without the program's name; `sys.argv` if None. Returns 0 done and all checks hold,
    1 a check failed, 2 bad input (said in one line), 130 interrupted, 129 or 143 ended by SIGHUP or SIGTERM.
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
            with whole_words():
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
        # Some versions of typer keep pydantic's own prefix.
        return _error(error.format_message().replace(": Value error, ", ": "))  # type: ignore[attr-defined]
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
    no_plugins: Annotated[
        bool,
        typer.Option("--no-plugins", help="Refuse code of others that a scenario names."),
    ] = False,
) -> None:
    """Turn recorded human motion into robot motion, and say in numbers whether it works."""
    if no_plugins:
        # Workers inherit it.
        os.environ[FORBIDDEN] = "1"
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("list", epilog=example("simbench list scenarios"))
def list_(kind: Annotated[Kind | None, typer.Argument(help="All kinds if omitted.")] = None) -> None:
    """List what is available."""
    table = is_terminal()
    for number, shown in enumerate(Kind if kind is None else (kind,)):
        if table:
            if number:
                print()
            print_listing(make_listing(shown))
            continue
        if kind is None:
            print(f"{shown.value}:")
        for line in plain_lines(shown):
            print(line if kind else f"  {line}")


@app.command(
    epilog=example(
        "simbench run drawer --video",
        "simbench run dance --robot mahru --set motion.speed=0.5 --out runs/slow",
    )
)
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
    engine: Engine = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Override a value; repeatable.",
            autocompletion=complete_scenario_key,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run directory, by default runs/SCENARIO-TIME.")
    ] = None,
    video: Annotated[
        bool, typer.Option("--video", help="Also record video.mp4; --video=preview: as with --fast.")
    ] = False,
    fast: Fast = False,
    gui: Annotated[bool, typer.Option("--gui", help="Watch in Bullet's window.")] = False,
    view: View = False,
    view_host: Host = None,
    view_port: Port = None,
    realtime: Realtime = False,
    plots: Annotated[bool, typer.Option("--plots", help="Also draw plots/*.png.")] = False,
    all_metrics: Annotated[
        bool, typer.Option("--all", help="Print every metric, note and doubt in a terminal, as in a pipe.")
    ] = False,
    no_cache: NoCache = False,
) -> None:
    """Run a scenario; exit status 1 if a check fails."""
    resolved = _find_scenario(scenario, robot, list_overrides(overrides, None, engine))
    from simbench.runs.run_directory import DirectoryTaken, unused_run_path

    if view and gui:
        raise RunError("--view: watch in a browser or in Bullet's window (--gui), not both")
    with browser_view(view, view_host, view_port, realtime) as watched:
        result = None
        while result is None:
            folder = out or unused_run_path(resolved.name)
            try:
                result = _simulate(
                    resolved,
                    folder,
                    video=video or fast,
                    fast=fast,
                    gui=watched or gui,
                    cache=not no_cache,
                    doubts=None if all_metrics or not is_terminal(stderr=True) else _MOST_DOUBTS,
                )
            except DirectoryTaken:
                # Another process chose the same name in the same second.
                if out is not None:
                    raise
        _print_result(result, plots=plots, all_metrics=all_metrics)
        if watched is not None:
            stay_open(watched, result)
    raise typer.Exit(0 if result.passed else 1)


def _print_result(result: RunResult, *, plots: bool, all_metrics: bool) -> None:
    """Print what came of a run, draw its plots if they are wanted, and say what to do next."""
    from simbench.cli.console import make_console, progress_bars
    from simbench.cli.run_table import next_commands, print_run

    print_run(result, all_metrics=all_metrics)
    if plots:
        from simbench.runs.plots.run_plots import draw_plots

        with progress_bars(make_console(stderr=True)) as on_progress:
            draw_plots(result.directory, on_progress)
        print(f"plots  {result.directory / 'plots'}")
    if is_terminal():
        for command in next_commands(result.directory, has_video=result.video_file is not None):
            print(f"next   {command}")


def _find_scenario(text: str, robot: str | None, overrides: Sequence[str] | None) -> Scenario:
    """Load the scenario that an argument names, or make that of a file of a robot's motion."""
    from simbench.runs.scenario.scenario_files import is_motion_file

    if is_motion_file(text):
        from simbench.runs.scenario.loading import motion_file_scenario

        return motion_file_scenario(Path(text), robot, overrides or ())
    from simbench.runs.scenario.scenario_files import read_scenario

    # A wrong name is found before what validates scenarios is imported.
    read_scenario(text)
    from simbench.runs.scenario.loading import load_scenario

    return load_scenario(text, list_overrides(overrides, robot))


def _simulate(
    scenario: Scenario,
    folder: Path,
    *,
    video: bool,
    fast: bool,
    gui: bool | LiveView,
    cache: bool,
    doubts: int | None,
) -> RunResult:
    """Run a scenario with progress bars; an interruption says what was kept.

    So many doubts are printed, all of them if None.
    """
    from simbench.cli.console import make_console, progress_bars
    from simbench.runs.run_directory import replaced_run

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
                on_doubts=partial(_print_doubts, limit=doubts),
            )
    except KeyboardInterrupt:
        raise Interrupted(_kept_of(folder)) from None


def _print_doubts(doubts: Sequence[str], limit: int | None) -> None:
    """Print what may well be wrong about a recording to the standard error, one line each."""
    for doubt in doubts[:limit]:
        print(f"doubt: {doubt}", file=sys.stderr)
    if limit is not None and len(doubts) > limit:
        print(f"doubt: {len(doubts) - limit} more, which --all shows", file=sys.stderr)


def _kept_of(folder: Path) -> str:
    """Say what is left of an interrupted run."""
    from simbench.runs.run_directory import incomplete_path

    partial = incomplete_path(folder)
    if partial.exists():
        return f"partial run kept in {partial}"
    return f"the run is complete in {folder}" if (folder / "metrics.json").exists() else "nothing kept"


_COMMANDS: dict[Callable[..., None], str] = {
    retarget: example(
        "simbench retarget actor:drawer --robot romeo --out drawer.csv --picture drawer.png",
        "simbench retarget deepmimic:humanoid3d_walk --robot mahru --physics steps --out walk.csv",
    ),
    convert: example("simbench convert runs/drawer drawer.npz --rate 50"),
    verdict: example("simbench verdict drawer.csv --robot romeo --picture verdict.png"),
    place: example("simbench place actor:valves --robot mahru"),
    check_scenarios: example(
        "simbench check drawer --history history.jsonl", "simbench check my_scenario.yaml --update"
    ),
    compare_engines: example("simbench compare-engines drawer mahru_walk --jobs 2"),
    trend: example("simbench trend history.jsonl --out trend.html"),
    sweep: example("simbench sweep drawer --vary fixtures.0.mass_kg=1,2,5 --jobs 2"),
    skills: example("simbench skills actor:knife:4 --picture knife.png"),
    calibrate: example(
        "simbench calibrate samples/motion1.csv samples/motion2.csv --model direct_drive_arm --kp 9.5"
    ),
    video: example("simbench video runs/drawer --speed 0.5 --start 3 --end 6 --out drawer.mp4"),
    replay: example("simbench replay runs/drawer --ghost --loop"),
    report: example("simbench report runs/drawer", "simbench report runs/a runs/b --out compared.html"),
    cache: example("simbench cache info"),
    warmup: example("simbench warmup drawer --jobs 2"),
    samples: example("simbench samples samples"),
    schema: example("simbench schema scenario"),
}
for _function, _epilog in _COMMANDS.items():
    app.command("check" if _function is check_scenarios else None, epilog=_epilog)(_function)
# A message may contain what looks like an option.
app.command(
    context_settings={"ignore_unknown_options": True}, epilog=example("simbench explain zmp.min_margin_m")
)(explain)
