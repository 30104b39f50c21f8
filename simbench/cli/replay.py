"""The command line's `simbench video` and `simbench replay`: parse, call, print."""

import sys
from pathlib import Path
from typing import Annotated

from typer import Option

from simbench.cli.completion import complete_camera_key, complete_metric
from simbench.cli.console import make_console, progress_bars
from simbench.cli.shared_options import Fast, argument, option, output, set_option
from simbench.runs.run_directory import incomplete_reason

PERSON_OFFSET = 1.2  # Default distance of the recorded person from the robot, m.
GHOST_OFFSET = 1.0  # Default distance of the reference from the robot, m.

Run = Annotated[Path, argument("A run directory.", "RUN")]
Overrides = Annotated[
    list[str] | None,
    set_option("Another camera than the scenario's; repeatable.", "camera.KEY=VALUE", complete_camera_key),
]
Speed = Annotated[float, option("Times as fast as it was.", "FACTOR")]
Start = Annotated[float, option("In the time of the run.", "S")]
End = Annotated[float | None, option("In the time of the run.", "S")]
WithGhost = Annotated[bool, Option("--ghost", help="Also show the reference, half transparent.")]
Offset = Annotated[
    float | None,
    option(f"How far to the left of the robot, {GHOST_OFFSET:g} by default; 0 shows it in its place.", "M"),
]


def video(
    folder: Run,
    second: Annotated[Path | None, argument("Another run, side by side with the first.", "RUN2")] = None,
    out: Annotated[
        Path | None,
        output(
            "Ending in .mp4, .gif or .webp; by default video.mp4 in the directory of a single run.", "FILE"
        ),
    ] = None,
    overrides: Overrides = None,
    speed: Speed = 1.0,
    start: Start = 0.0,
    end: End = None,
    ghost: WithGhost = False,
    ghost_offset: Offset = None,
    person: Annotated[
        bool, Option("--with-person", help="Also show the recorded person, beside the robot.")
    ] = False,
    person_offset: Annotated[
        float | None, option(f"How far to the left of the robot, {PERSON_OFFSET:g} by default.", "M")
    ] = None,
    caption: Annotated[
        list[str] | None,
        option(
            "Show the time and one or two metrics or signals: their values at each moment, or of the "
            "whole run where there are none.",
            "NAME[,NAME]",
            complete_metric,
        ),
    ] = None,
    title: Annotated[
        str | None, option("Begin with a title card of 2 s; by default without.", "TEXT")
    ] = None,
    follow: Annotated[
        bool, Option("--follow", help="Move the camera with the robot: camera.follow=true.")
    ] = False,
    orbit: Annotated[
        float | None, option("Time in which the camera turns once about the robot: camera.orbit_s.", "S")
    ] = None,
    fast: Fast = False,
) -> None:
    """Render a video of a finished run, or of two side by side, from the logs, without simulating again."""
    from simbench.runs.talk_video import Decoration, render_talk_video
    from simbench.runs.video import View

    moving = ["camera.follow=true"] if follow else []
    moving += [] if orbit is None else [f"camera.orbit_s={orbit!r}"]
    view = View(
        (*(overrides or ()), *moving),
        speed,
        start,
        end,
        _offset(ghost, ghost_offset),
        fast,
        PERSON_OFFSET if person and person_offset is None else person_offset,
    )
    folders = [folder] if second is None else [folder, second]
    with progress_bars(make_console(stderr=True)) as on_progress:
        decoration = Decoration(tuple(caption or ()), title)
        path, renderer = render_talk_video(
            folders, out, on_progress=on_progress, view=view, decoration=decoration
        )
    for each in folders:
        report_incomplete(each)
    size = f"{path.stat().st_size / 1e6:.1f} MB, " if path.suffix != ".mp4" else ""
    print(f"video  {path}  ({size}drawn by {renderer})")


def replay(
    folder: Run,
    overrides: Overrides = None,
    speed: Speed = 1.0,
    start: Start = 0.0,
    end: End = None,
    ghost: WithGhost = False,
    ghost_offset: Offset = None,
    loop: Annotated[bool, Option("--loop", help="Begin again at the end.")] = False,
) -> None:
    """Show a finished run in Bullet's window, from its log; keys: space, arrows, r, q."""
    from simbench.runs.live_view import replay_run
    from simbench.runs.video import View

    view = View(tuple(overrides or ()), speed, start, end, _offset(ghost, ghost_offset))
    report_incomplete(folder)
    replay_run(folder, view, loop=loop)


def report_incomplete(folder: Path) -> None:
    """Say on the standard error that a run was interrupted, if it was. `folder`: run directory."""
    reason = incomplete_reason(folder)
    if reason is not None:
        print(f"{folder}: incomplete ({reason}): shown as far as it was logged", file=sys.stderr)


def _offset(ghost: bool, offset: float | None) -> float | None:
    """Return where the reference is shown; an offset alone implies `--ghost`."""
    return GHOST_OFFSET if ghost and offset is None else offset
