"""The command line's `simbench run`: parse, call, print; and watching in a web browser."""

from __future__ import annotations

import sys
import webbrowser
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from simbench.cli import shared_options
from simbench.cli.completion import complete_scenario
from simbench.cli.console import is_terminal, make_console, progress_bars
from simbench.cli.shared_options import argument, list_overrides, option, set_option
from simbench.errors import Interrupted, RunError, ScenarioError

if TYPE_CHECKING:
    from simbench.runs.live_view import LiveView
    from simbench.runs.result import RunResult
    from simbench.runs.scenario.schema import Scenario

_MOST_DOUBTS = 3  # Doubts that a terminal shows; the others are in provenance.json, and `--all` shows them.


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
    out: Annotated[Path | None, option("Run directory, by default runs/SCENARIO-TIME.", "DIR")] = None,
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
            from simbench.cli.run_table import print_remarks
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
