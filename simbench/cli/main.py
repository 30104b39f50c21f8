"""The command line: parse, call, print."""

import sys
from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

import simbench
from simbench.cli.calibrate import calibrate
from simbench.cli.check import check_scenarios
from simbench.cli.console import guarded_streams, make_console, metrics_table, progress_bars
from simbench.cli.explain import explain
from simbench.cli.motion import motion_app
from simbench.cli.place import place
from simbench.cli.replay import replay, video
from simbench.cli.report import report
from simbench.cli.retarget import retarget
from simbench.cli.robot import robot_app
from simbench.cli.samples import samples
from simbench.cli.schema import schema
from simbench.cli.skills import skills
from simbench.cli.sweep import sweep
from simbench.errors import Interrupted, SimbenchError
from simbench.options import SWEEP
from simbench.resources import resource_dir
from simbench.runs.metric_format import format_value
from simbench.runs.run_directory import incomplete_path
from simbench.runs.scenario.loading import list_scenarios, load_scenario

# typer exports one kind of usage error; this is the base of all of them.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
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
        0 done and all checks hold, 1 a check failed, 2 bad input (said in one line), 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        # A terminal without Unicode shows `?` for `✓`.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        status = app(arguments, prog_name="simbench", standalone_mode=False)
    except _UsageError as error:
        return _fail(error.format_message())  # type: ignore[attr-defined]
    except SimbenchError as error:
        return _fail(str(error))
    except OSError as error:
        if error.strerror is None:
            raise
        file = f"{error.filename}: " if error.filename else ""
        return _fail(file + error.strerror)
    except Interrupted as interruption:
        print(f"interrupted: {interruption}", file=sys.stderr)
        return 130
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    if status == 130:
        print("interrupted", file=sys.stderr)
    return int(status or 0)


def _fail(message: str) -> int:
    """Print an error as one line and return its exit status."""
    print("error:", " ".join(message.split()), file=sys.stderr)
    return 2


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


def _entries(kind: Kind) -> list[str]:
    """Return the lines of `simbench list` for one kind."""
    if kind is Kind.robots:
        return sorted(path.parent.name for path in resource_dir("robots").glob("*/robot.yaml"))
    if kind is Kind.scenarios:
        return [f"{name:16} {load_scenario(name).summary}".rstrip() for name in list_scenarios()]
    # Pinocchio takes a second to import, which the other kinds need not wait for.
    if kind is Kind.tasks:
        from simbench.motion.actors import TASKS

        return sorted(TASKS)
    from simbench.motion.sources import list_motion_sources

    sources = {**list_motion_sources(), SWEEP: "no recording: a robot with a fixed base swings its joints"}
    width = max(map(len, sources))
    return [f"{name:{width}}  {line}".rstrip() for name, line in sources.items()]


@app.command()
def run(
    scenario: Annotated[str, typer.Argument(help="Name or path of a YAML file.")],
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a value; repeatable.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Run directory, by default runs/SCENARIO-TIME.")
    ] = None,
    video: Annotated[bool, typer.Option("--video", help="Also record video.mp4.")] = False,
    gui: Annotated[bool, typer.Option("--gui", help="Watch in Bullet's window.")] = False,
    plots: Annotated[bool, typer.Option("--plots", help="Also draw plots/*.png.")] = False,
) -> None:
    """Run a scenario; exit status 1 if a check fails."""
    resolved = load_scenario(scenario, overrides or ())
    folder = out or Path("runs") / f"{resolved.name}-{datetime.now():%Y%m%d-%H%M%S}"
    try:
        from simbench.runs.pipeline import run_scenario

        with progress_bars(make_console(stderr=True)) as on_progress:
            result = run_scenario(resolved, folder, video=video, gui=gui, on_progress=on_progress)
    except KeyboardInterrupt:
        kept = incomplete_path(folder)
        raise Interrupted(f"partial run kept in {kept}" if kept.exists() else "nothing kept") from None
    make_console().print(metrics_table(result.metrics, result.checks))
    print(f"\nrun    {result.directory}")
    if result.video is not None:
        print(f"video  {result.video}  (drawn by {result.renderer})")
    failed = [each for each in result.checks if not each.passed]
    for check in failed:
        value = format_value(result.metrics.get(check.name))
        print(f"check failed: {check.name} is {value}, must be {check.bound}", file=sys.stderr)
    if plots:
        from simbench.runs.plots.run_plots import draw_plots

        with progress_bars(make_console(stderr=True)) as on_progress:
            draw_plots(result.directory, on_progress)
        print(f"plots  {result.directory / 'plots'}")
    raise typer.Exit(1 if failed else 0)


app.command()(retarget)
app.command()(place)
app.command("check")(check_scenarios)
app.command()(sweep)
app.command()(skills)
app.command()(calibrate)
app.command()(video)
app.command()(replay)
app.command()(report)
app.command()(samples)
# A message may contain what looks like an option.
app.command(context_settings={"ignore_unknown_options": True})(explain)
app.command()(schema)
