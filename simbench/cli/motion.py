"""The command line's `simbench motion`: parse, call, print."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simbench.cli.completion import complete_tasks
from simbench.cli.example import example
from simbench.cli.reading import Source, reads_recording
from simbench.errors import MotionError
from simbench.files.documents.number_text import parse_whole_number

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.motion.human_motion import Gap, HandlePath
    from simbench.motion.motion_inspection import MotionInspection
    from simbench.motion.read_options import ReadOptions


_GAPS_SHOWN = 3
"""Gaps of a marker that are listed by frame."""

motion_app = typer.Typer(
    help="Look at recordings, convert them, and record virtual actors.",
    epilog=example("simbench motion inspect sample:walk"),
)

_MARKERLESS = (".bvh", ".csv")
"""Formats of skeletons, which cannot store markers."""


@motion_app.command("inspect", epilog=example("simbench motion inspect sample:walk --picture walk.png"))
@reads_recording()
def inspect_(
    source: Source,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Also draw the skeleton over time.")
    ] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Show what a recording holds: bones, hands, feet, gaps, phases, and everything doubtful."""
    from simbench.cli.console import make_console, require_output_file

    if picture is not None:
        require_output_file(picture, MotionError, ".png", "a picture")
    from simbench.motion.motion_inspection import inspect_motion
    from simbench.motion.readers import read_motion

    inspection = inspect_motion(read_motion(source, reading))
    if picture is not None:
        from simbench.motion.skeleton_plot import plot_recording

        plot_recording(inspection, picture)
    for line in summary_lines(inspection):
        print(line)
    console = make_console()
    for make_table in (
        length_table,
        angle_table,
        hand_table,
        foot_table,
        gap_table,
        phase_table,
    ):
        table = make_table(inspection)
        if table.rows:
            print()
            console.print(table)
    print()
    for line in closing_lines(inspection):
        print(line)
    if picture is not None:
        print(f"\npicture  {picture}")


@motion_app.command("export", epilog=example("simbench motion export actor:drawer drawer.bvh"))
@reads_recording()
def export(
    source: Source,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Ends in .c3d, .bvh, .nc or .csv.")],
    *,
    reading: ReadOptions,
) -> None:
    """Write a recording as a file that other programs open."""
    from simbench.cli.console import require_output_file

    require_output_file(file, MotionError)
    from simbench.motion.readers import read_motion
    from simbench.motion.writers import SUFFIXES, write_motion

    if file.suffix.lower() not in SUFFIXES:
        raise MotionError(f"{file}: a recording is written to a name ending in {', '.join(SUFFIXES)}")
    motion = read_motion(source, reading)
    write_motion(motion, file)
    markers = "" if file.suffix.lower() in _MARKERLESS else f", {len(motion.markers)} markers"
    counts = (
        f"{len(motion.time)} frames, {len(motion.joints)} joints, {len(motion.segments)} segments{markers}"
    )
    print(f"recording  {file}  ({counts})")


@motion_app.command("map", epilog=example("simbench motion map my_take.c3d --out my_markers.yaml"))
@reads_recording()
def map_(
    source: Source,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.yaml", help="Where the map goes, by default it is printed.")
    ] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Write a starter marker map for a recording, with what was guessed and what could not be."""
    from simbench.cli.console import require_output_file

    if out is not None:
        require_output_file(out, MotionError, ".yaml", "a marker map")
    from simbench.files.storage.whole_file import write_whole
    from simbench.motion.marker_maps.starter_map import read_recording_for_map, write_starter_map
    from simbench.motion.readers import read_recording

    recording = read_recording_for_map(read_recording(source, reading), source)
    text = write_starter_map(recording, reading.marker_map)
    if out is None:
        print(text, end="")
        return
    write_whole(out, text)
    print(f"marker map  {out}  (read the recording with --map {out})")


@motion_app.command("session", epilog=example("simbench motion session --out session"))
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
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="What they do, by default everything.",
            autocompletion=complete_tasks,
        ),
    ] = None,
) -> None:
    """Record a whole session of virtual actors: every actor performs every task."""
    from simbench.cli.console import make_console, progress_bars

    numbers = None if actors is None else _numbers(actors)
    names = None if tasks is None else [name.strip() for name in tasks.split(",")]
    from simbench.motion.actors.session import record_session

    jobs = jobs or os.cpu_count() or 1
    with progress_bars(make_console(stderr=True)) as on_progress:
        record_session(
            out, seed, jobs, numbers, names, lambda done, total: on_progress("record", done, total)
        )
    print(f"session  {out}")


def _numbers(text: str) -> list[int]:
    """Read the numbers of `--actors`."""
    numbers = [parse_whole_number(number.strip()) for number in text.split(",")]
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        raise MotionError(f"--actors {text:.80}: must be whole numbers separated by commas, for example 1,2")
    return known


def summary_lines(inspection: MotionInspection) -> Iterator[str]:
    """Describe a recording as a whole, and how it was read.

    `inspection`: result of `inspect_motion`. Yields A line, however long.
    """
    motion, actor = inspection.motion, inspection.motion.actor
    yield f"recording  {motion.source}"
    if actor is not None:
        known = [actor.name, f"{actor.height:.3g} m"]
        known += [] if actor.mass is None else [f"{actor.mass:.3g} kg"]
        known += [] if actor.sex is None else [actor.sex]
        known += [] if actor.age is None else [f"{actor.age:.3g} years"]
        yield f"actor      {', '.join(known)}"
    yield f"rate       {motion.rate:.5g} Hz"
    yield f"duration   {motion.time[-1] - motion.time[0]:.3f} s, {len(motion.time)} frames"
    yield f"joints     {len(motion.joints)}"
    yield f"markers    {len(motion.markers) or 'none'}"
    count = len(motion.filled)
    yield f"gaps       {f'{count} filled in {len(inspection.gaps)} markers' if count else 'none'}"
    yield f"missing    {', '.join(motion.missing) or 'nothing'}"
    handles = "; ".join(f"{side} {_describe_handle(handle)}" for side, handle in motion.handles.items())
    yield f"handles    {handles or 'not known'}"
    yield from (f"note       {note}" for note in motion.notes)


def length_table(inspection: MotionInspection) -> Table:
    """Lay out the bones: length, change over time, and the range of human lengths.

    `inspection`: result of `inspect_motion`. Returns one line for each bone.
    """
    from simbench.cli.console import number_table
    from simbench.motion.motion_inspection import human_length_range, is_human_length

    table = number_table("bone", "median m", "range mm", "people's m", "")
    for length in inspection.lengths:
        allowed = human_length_range(length.name)
        table.add_row(
            length.name,
            f"{length.median:.4f}",
            f"{1000 * (length.high - length.low):.3f}",
            "" if allowed is None else f"{allowed[0]:.2f} to {allowed[1]:.2f}",
            "" if is_human_length(length) else "doubtful",
        )
    return table


def angle_table(inspection: MotionInspection) -> Table:
    """Lay out the ranges of motion of the joints.

    `inspection`: result of `inspect_motion`. Returns one line for each angle.
    """
    import numpy as np

    from simbench.cli.console import number_table

    table = number_table("angle", "lowest °", "highest °", "range °")
    for angle in inspection.angles:
        low, high = np.degrees(angle.low), np.degrees(angle.high)
        table.add_row(angle.name, f"{low:.1f}", f"{high:.1f}", f"{high - low:.1f}")
    return table


def hand_table(inspection: MotionInspection) -> Table:
    """Lay out the speeds of the palms.

    `inspection`: result of `inspect_motion`. Returns one line for each palm.
    """
    from simbench.cli.console import number_table

    table = number_table("palm", "RMS m/s", "peak m/s", "at s")
    for hand in inspection.hands:
        table.add_row(hand.side, f"{hand.rms:.3f}", f"{hand.peak:.3f}", f"{hand.peak_time:.2f}")
    return table


def foot_table(inspection: MotionInspection) -> Table:
    """Lay out how the feet touch the floor, and the jerk of hands and feet.

    `inspection`: result of `inspect_motion`. Returns one line for each measure.
    """
    from simbench.cli.contact_table import contact_table, describe_person

    return contact_table([describe_person(inspection.motion)])


def gap_table(inspection: MotionInspection) -> Table:
    """Lay out the gaps that were filled, by marker.

    `inspection`: result of `inspect_motion`. Returns one line for each marker with gaps.
    """
    from simbench.cli.console import number_table

    table = number_table("marker", "gaps", "longest s", "frames")
    table.columns[3].justify = "left"
    for marker in inspection.gaps:
        shown = ", ".join(_frames(gap) for gap in marker.gaps[:_GAPS_SHOWN])
        more = ", …" if len(marker.gaps) > _GAPS_SHOWN else ""
        table.add_row(marker.marker, f"{len(marker.gaps)}", f"{marker.longest:.3f}", shown + more)
    return table


def phase_table(inspection: MotionInspection) -> Table:
    """Lay out the phases of the recording protocol and the primitives of its periodic phase.

    `inspection`: result of `inspect_motion`. Returns one line for each phase or primitive.
    """
    from simbench.cli.console import number_table

    table = number_table("phase", "from s", "to s", "duration s")
    phases = inspection.phases
    for name in ("icp", "tgp", "pmp"):
        _add_interval(table, name.upper(), getattr(phases, name))
    pairs = zip(phases.boundaries[:-1], phases.boundaries[1:], strict=True)
    for number, (start, end) in enumerate(pairs, start=1):
        _add_interval(table, f"  primitive {number}", (start, end))
    _add_interval(table, "rest", phases.rest)
    return table


def closing_lines(inspection: MotionInspection) -> Iterator[str]:
    """Describe the feet and list everything doubtful.

    `inspection`: result of `inspect_motion`. Yields A line, however long.
    """
    feet = inspection.feet
    if feet is None:
        yield "feet: not recorded"
    else:
        standing = "never still" if feet.standing is None else f"{feet.standing:.3f} m while standing"
        points = ", ".join(sorted({point.partition("_")[2] for point in feet.points}))
        yield f"feet: lowest {feet.lowest:.3f} m at {feet.lowest_time:.2f} s, {standing} ({points})"
    yield f"doubts: {len(inspection.warnings) or 'none'}"
    yield from (f"  {doubt}" for doubt in inspection.warnings)


def _add_interval(table: Table, name: str, interval: tuple[float, float] | None) -> None:
    if interval is not None:
        start, end = interval
        table.add_row(name, f"{start:.3f}", f"{end:.3f}", f"{end - start:.3f}")


def _describe_handle(handle: HandlePath) -> str:
    """Say how far a handle moves, and how the hand may rotate on it."""
    import numpy as np

    from simbench.motion.human_motion import path_length

    path = "still" if len(handle.poses) == 1 else f"{path_length(handle):.2f} m long"
    axis = handle.turn_axis
    if axis is None:
        return f"{path}, held fully"
    along = np.flatnonzero(np.abs(axis) > 1.0 - 1e-9)
    name = "xyz"[along[0]] if along.size else f"({', '.join(f'{part:.2f}' for part in axis)})"
    return f"{path}, free to turn about the palm's {name}"


def _frames(gap: Gap) -> str:
    """Write the first and the last frame of a gap."""
    return f"{gap.first}" if gap.first == gap.last else f"{gap.first}–{gap.last}"
