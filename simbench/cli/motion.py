"""The command line's `simbench motion`: parse, call, print."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from simbench.cli.console import progress_bars
from simbench.errors import MotionError

motion_app = typer.Typer(help="Look at recordings, convert them, and record virtual actors.")

Source = Annotated[str, typer.Argument(help="actor:TASK, deepmimic:CLIP, or a file.")]
Unit = Annotated[str | None, typer.Option(help="The file's unit of length: m, cm, mm, in, cmu.")]
Up = Annotated[str | None, typer.Option(help="The file's vertical axis: x, y, z.")]
Map = Annotated[
    str | None, typer.Option("--map", metavar="NAME|FILE", help="Marker map, by default the one that fits.")
]
LongestGap = Annotated[
    float, typer.Option(metavar="SECONDS", help="Longest gap in a marker's track that is filled.")
]


# Formats of skeletons, which have no place for what sticks to the skin.
MARKERLESS = (".bvh", ".csv")


@motion_app.command("inspect")
def inspect_(
    source: Source,
    unit: Unit = None,
    up: Up = None,
    marker_map: Map = None,
    longest_gap: LongestGap = 0.2,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Also draw the skeleton over time.")
    ] = None,
) -> None:
    """Show what a recording holds: bones, hands, feet, gaps, phases, and everything doubtful."""
    if picture is not None:
        _check_target(picture)
        if picture.suffix.lower() != ".png":
            raise MotionError(f"{picture}: a picture's name must end in .png")
    from simbench import display_motion
    from simbench.motion.inspection import inspect
    from simbench.motion.read_options import ReadOptions
    from simbench.motion.readers import read_motion

    inspection = inspect(read_motion(source, ReadOptions(unit, up, marker_map, longest_gap)))
    if picture is not None:
        from simbench.motion.skeleton_picture import draw_picture

        draw_picture(inspection, picture)
    for line in display_motion.summary_lines(inspection):
        print(line)
    console = Console(markup=False, emoji=False)
    for lay_out in (
        display_motion.length_table,
        display_motion.angle_table,
        display_motion.hand_table,
        display_motion.gap_table,
        display_motion.phase_table,
    ):
        table = lay_out(inspection)
        if table.rows:
            print()
            console.print(table)
    print()
    for line in display_motion.closing_lines(inspection):
        print(line)
    if picture is not None:
        print(f"\npicture  {picture}")


@motion_app.command("export")
def export(
    source: Source,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Ends in .c3d, .bvh, .nc or .csv.")],
    unit: Unit = None,
    up: Up = None,
    marker_map: Map = None,
    longest_gap: LongestGap = 0.2,
) -> None:
    """Write a recording as a file that other programs open."""
    _check_target(file)
    from simbench.motion.read_options import ReadOptions
    from simbench.motion.readers import read_motion
    from simbench.motion.writers import SUFFIXES, write_motion

    if file.suffix.lower() not in SUFFIXES:
        raise MotionError(f"{file}: a recording is written to a name ending in {', '.join(SUFFIXES)}")
    motion = read_motion(source, ReadOptions(unit, up, marker_map, longest_gap))
    write_motion(motion, file)
    markers = "" if file.suffix.lower() in MARKERLESS else f", {len(motion.markers)} markers"
    counts = (
        f"{len(motion.time)} frames, {len(motion.joints)} joints, {len(motion.segments)} segments{markers}"
    )
    print(f"recording  {file}  ({counts})")


@motion_app.command("session")
def session(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the recordings go.")],
    seed: Annotated[int, typer.Option(min=0, help="Everything follows from it.")] = 2018,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Processes at once, by default one a core.")
    ] = None,
    actors: Annotated[
        str | None, typer.Option(metavar="1,2,...", help="Actors' numbers, by default all.")
    ] = None,
    tasks: Annotated[
        str | None, typer.Option(metavar="NAME,...", help="What they do, by default everything.")
    ] = None,
) -> None:
    """Record a whole session of virtual actors: every actor performs every task."""
    numbers = None if actors is None else _numbers(actors)
    names = None if tasks is None else [name.strip() for name in tasks.split(",")]
    from simbench.motion.actors.session import record_session

    jobs = jobs or os.cpu_count() or 1
    with progress_bars(Console(stderr=True)) as on_progress:
        record_session(
            out, seed, jobs, numbers, names, lambda done, total: on_progress("record", done, total)
        )
    print(f"session  {out}")


def _check_target(path: Path) -> None:
    """Refuse before anything is read what could not be written after it."""
    if path.is_dir() or not path.parent.is_dir():
        raise MotionError(f"{path}: must be a file in a directory that exists")


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise MotionError(
            f"--actors {text}: must be whole numbers separated by commas, for example 1,2"
        ) from None
