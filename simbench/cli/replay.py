"""The command line's `simbench video` and `simbench replay`: parse, call, print."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from simbench.cli.completion import complete_camera_key
from simbench.runs.run_directory import incomplete_reason

GHOST_OFFSET = 1.0
"""Default distance of the reference from the robot, m."""

Run = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="camera.KEY=VALUE",
        help="Another camera than the scenario's; repeatable.",
        autocompletion=complete_camera_key,
    ),
]
Speed = Annotated[float, typer.Option(metavar="FACTOR", help="Times as fast as it was.")]
Start = Annotated[float, typer.Option(metavar="S", help="In the time of the run.")]
End = Annotated[float | None, typer.Option(metavar="S", help="In the time of the run.")]
WithGhost = Annotated[bool, typer.Option("--ghost", help="Also show the reference, half transparent.")]
Offset = Annotated[
    float | None,
    typer.Option(
        metavar="M",
        help=f"How far to the left of the robot, {GHOST_OFFSET:g} by default; 0 shows it in its place.",
    ),
]
Fast = Annotated[
    bool, typer.Option("--fast", help="A preview: 640 pixels wide, 15 frames a second, no shadows.")
]


def video(
    folder: Run,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="By default video.mp4 in the run directory.")
    ] = None,
    overrides: Overrides = None,
    speed: Speed = 1.0,
    start: Start = 0.0,
    end: End = None,
    ghost: WithGhost = False,
    ghost_offset: Offset = None,
    fast: Fast = False,
) -> None:
    """Render a video of a finished run from its log, without simulating it again."""
    from simbench.cli.console import make_console, progress_bars
    from simbench.runs.video import View, render_video

    view = View(tuple(overrides or ()), speed, start, end, _offset(ghost, ghost_offset), fast)
    with progress_bars(make_console(stderr=True)) as on_progress:
        path, renderer = render_video(folder, out, on_progress=on_progress, view=view)
    report_incomplete(folder)
    print(f"video  {path}  (drawn by {renderer})")


def replay(
    folder: Run,
    overrides: Overrides = None,
    speed: Speed = 1.0,
    start: Start = 0.0,
    end: End = None,
    ghost: WithGhost = False,
    ghost_offset: Offset = None,
    loop: Annotated[bool, typer.Option("--loop", help="Begin again at the end.")] = False,
) -> None:
    """Show a finished run in Bullet's window, from its log; keys: space, arrows, r, q."""
    from simbench.runs.replay import replay_run
    from simbench.runs.video import View

    view = View(tuple(overrides or ()), speed, start, end, _offset(ghost, ghost_offset))
    report_incomplete(folder)
    replay_run(folder, view, loop=loop)


def report_incomplete(folder: Path) -> None:
    """Say on the standard error that a run was interrupted, if it was.

    Parameters
    ----------
    folder : Path
        Run directory.
    """
    reason = incomplete_reason(folder)
    if reason is not None:
        print(f"{folder}: incomplete ({reason}): shown as far as it was logged", file=sys.stderr)


def _offset(ghost: bool, offset: float | None) -> float | None:
    """Return where the reference is shown; an offset alone implies `--ghost`."""
    return GHOST_OFFSET if ghost and offset is None else offset
