"""The command line's `simbench motion`: parse, call, print."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from simbench.cli.completion import complete_tasks
from simbench.cli.console import make_console, number_table, progress_bars
from simbench.cli.shared_options import Source, example, option, output, reads_recording
from simbench.errors import MotionError
from simbench.files.text import parse_whole_number

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.kinematics.arrays import Array
    from simbench.kinematics.foot_contact import FootMeasures, Jerk, Worst
    from simbench.motion.human_motion import HandlePath, HumanMotion
    from simbench.motion.motion_inspection import MotionInspection
    from simbench.motion.read_options import ReadOptions


_GAPS_SHOWN = 3  # Gaps of a marker that are listed by frame.

motion_app = typer.Typer(
    help="Look at recordings, convert them, and record virtual actors.",
    epilog=example("simbench motion inspect sample:walk"),
)

_MARKERLESS = (".bvh", ".csv")  # Formats of skeletons, which cannot store markers.


@motion_app.command("inspect", epilog=example("simbench motion inspect sample:walk --picture walk.png"))
@reads_recording()
def inspect_(
    source: Source,
    picture: Annotated[Path | None, output("Also draw the skeleton over time.", "FILE.png")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Show what a recording holds: bones, hands, feet, gaps, phases, and everything doubtful."""
    from simbench.motion.motion_inspection import inspect_motion
    from simbench.motion.readers import read_motion

    inspection = inspect_motion(read_motion(source, reading))
    if picture is not None:
        from simbench.motion.skeleton_plot import plot_recording

        plot_recording(inspection, picture)
    print(*summary_lines(inspection), sep="\n")
    console = make_console()
    for table in inspection_tables(inspection):
        if table.rows:
            print()
            console.print(table)
    print()
    print(*closing_lines(inspection), sep="\n")
    if picture is not None:
        print(f"\npicture  {picture}")


@motion_app.command("export", epilog=example("simbench motion export actor:drawer drawer.bvh"))
@reads_recording()
def export(
    source: Source,
    file: Annotated[Path, output("Ends in .c3d, .bvh, .nc or .csv.", positional=True)],
    *,
    reading: ReadOptions,
) -> None:
    """Write a recording as a file that other programs open."""
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
    out: Annotated[Path | None, output("Where the map goes, by default it is printed.", "FILE.yaml")] = None,
    *,
    reading: ReadOptions,
) -> None:
    """Write a starter marker map for a recording, with what was guessed and what could not be."""
    from simbench.files.storage import write_whole
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
    out: Annotated[Path, output("Where the recordings go.", "DIR")],
    seed: Annotated[int, option("Everything follows from it.", min=0)] = 2018,
    jobs: Annotated[int | None, option("Processes at once, by default one a core.", "N", min=1)] = None,
    actors: Annotated[str | None, option("Actors' numbers, by default all.", "1,2,...")] = None,
    tasks: Annotated[
        str | None, option("What they do, by default everything.", "NAME,...", complete_tasks)
    ] = None,
) -> None:
    """Record a whole session of virtual actors: every actor performs every task."""
    numbers: list[int] | None = None
    if actors is not None:
        given = [parse_whole_number(number.strip()) for number in actors.split(",")]
        numbers = [number for number in given if number is not None]
        if len(numbers) < len(given):
            raise MotionError(
                f"--actors {actors:.80}: must be whole numbers separated by commas, for example 1,2"
            )
    names = None if tasks is None else [name.strip() for name in tasks.split(",")]
    from simbench.motion.actors.session import record_session

    jobs = jobs or os.cpu_count() or 1
    with progress_bars(make_console(stderr=True)) as on_progress:
        record_session(
            out, seed, jobs, numbers, names, lambda done, total: on_progress("record", done, total)
        )
    print(f"session  {out}")


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


def inspection_tables(inspection: MotionInspection) -> Iterator[Table]:
    """Lay out bones, angles, palms, feet, gaps that were filled, and phases of a recording.

    `inspection`: result of `inspect_motion`. A table has no rows where the recording has nothing of it.
    """
    from simbench.motion.motion_inspection import HUMAN_LENGTHS

    bones = []
    for length in inspection.lengths:
        allowed = HUMAN_LENGTHS.get(length.name.partition(" ")[2])
        human = allowed is None or allowed[0] <= length.median <= allowed[1]
        bones.append(
            (
                length.name,
                f"{length.median:.4f}",
                f"{1000 * (length.high - length.low):.3f}",
                "" if allowed is None else f"{allowed[0]:.2f} to {allowed[1]:.2f}",
                "" if human else "doubtful",
            )
        )
    yield number_table("bone", "median m", "range mm", "people's m", "", rows=bones)
    angles = [(each.name, math.degrees(each.low), math.degrees(each.high)) for each in inspection.angles]
    shown = [(name, f"{low:.1f}", f"{high:.1f}", f"{high - low:.1f}") for name, low, high in angles]
    yield number_table("angle", "lowest °", "highest °", "range °", rows=shown)
    hands = [
        (hand.side, f"{hand.rms:.3f}", f"{hand.peak:.3f}", f"{hand.peak_time:.2f}")
        for hand in inspection.hands
    ]
    yield number_table("palm", "RMS m/s", "peak m/s", "at s", rows=hands)
    yield contact_table([describe_person(inspection.motion)])
    gaps = []
    for marker, filled, longest in inspection.gaps:
        frames = [
            f"{gap.first}" if gap.first == gap.last else f"{gap.first}–{gap.last}"
            for gap in filled[:_GAPS_SHOWN]
        ] + ["…"] * (len(filled) > _GAPS_SHOWN)
        gaps.append((marker, f"{len(filled)}", f"{longest:.3f}", ", ".join(frames)))
    yield number_table("marker", "gaps", "longest s", "frames", rows=gaps, left=(3,))
    phases = inspection.phases
    pairs = zip(phases.boundaries[:-1], phases.boundaries[1:], strict=True)
    intervals = [
        *(("ICP", phases.icp), ("TGP", phases.tgp), ("PMP", phases.pmp)),
        *((f"  primitive {number}", pair) for number, pair in enumerate(pairs, start=1)),
        ("rest", phases.rest),
    ]
    known = [(name, *interval) for name, interval in intervals if interval is not None]
    spans = [(name, f"{start:.3f}", f"{end:.3f}", f"{end - start:.3f}") for name, start, end in known]
    yield number_table("phase", "from s", "to s", "duration s", rows=spans)


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


class MovingBody(NamedTuple):
    """What a column of the table is about."""

    name: str  # Heading of the column.
    time: Array  # (T,): times of the samples, s, as they are shown.
    feet: FootMeasures | None  # How its feet touch the floor; None if it has none.
    jerks: Mapping[str, Jerk]  # {str: Jerk}: jerks of `left hand`, ..., `right foot`.


def describe_person(motion: HumanMotion) -> MovingBody:
    """Measure feet and jerk of the person in a recording. Returns column of the table."""
    from simbench.motion.person_body import has_only_ankles, measure_person_feet, measure_person_jerks

    name = "person (ankles)" if has_only_ankles(motion) else "person"
    return MovingBody(name, motion.time, measure_person_feet(motion), measure_person_jerks(motion))


def contact_table(bodies: Sequence[MovingBody]) -> Table:
    """Lay out how feet touch the floor, and the jerk of hands and feet.

    `bodies`: one for each pair of columns. Returns one line for each measure that a body has: value, and when
    it is worst.
    """
    headings = [heading for body in bodies for heading in (body.name, "at s")]
    rows: dict[tuple[str, str], list[str]] = {}
    for number, body in enumerate(bodies):
        measures: list[tuple[str, str, str, Worst | None]] = []
        if body.feet is not None:
            feet = body.feet
            measures += [
                ("both feet on the floor", "%", f"{100.0 * feet.double:.0f}", None),
                ("one foot", "%", f"{100.0 * feet.single:.0f}", None),
                ("no foot", "%", f"{100.0 * feet.flight:.0f}", None),
                ("sliding in contact", "mm", f"{1000.0 * feet.skate.value:.1f}", feet.skate),
                ("below the floor", "mm", f"{1000.0 * feet.penetration.value:.1f}", feet.penetration),
                ("height in the air", "mm", f"{1000.0 * feet.float_height.value:.1f}", feet.float_height),
            ]
        for limb in ("hand", "foot"):
            jerks = [jerk for name, jerk in body.jerks.items() if name.endswith(limb)]
            if jerks:
                worst = max((peak for peak, _ in jerks), key=lambda peak: peak.value)
                measures.append((f"peak jerk of a {limb}", "m/s³", f"{worst.value:.0f}", worst))
                moving = [scaled for _, scaled in jerks if scaled == scaled]
                if moving:
                    measures.append((f"  of a {limb}, dimensionless", "", f"{max(moving):.1e}", None))
        for label, unit, value, most in measures:
            at = "" if most is None or most.value < 5e-5 else f"{body.time[most.sample]:.2f}"
            cells = rows.setdefault((label, unit), [""] * len(headings))
            cells[2 * number : 2 * number + 2] = value, at
    shown = [(label, *cells, unit) for (label, unit), cells in rows.items()]
    return number_table("feet and jerk", *headings, "unit", rows=shown, left=(len(headings) + 1,))
