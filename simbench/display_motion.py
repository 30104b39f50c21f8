"""What `simbench motion inspect` prints: the tables of a recording's body, hands, gaps and phases."""

from collections.abc import Iterator

import numpy as np
from rich.table import Table

from simbench.motion.handles import Handle, way_length
from simbench.motion.human_motion import Gap
from simbench.motion.inspection import Inspection, human_length, is_human

GAPS_TOLD = 3


def summary_lines(inspection: Inspection) -> Iterator[str]:
    """Lay out what a recording is as a whole, and how it was read.

    Parameters
    ----------
    inspection : Inspection

    Yields
    ------
    str
        A line, however long.
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
    handles = "; ".join(f"{side} {_handle(handle)}" for side, handle in motion.handles.items())
    yield f"handles    {handles or 'not known'}"
    yield from (f"note       {note}" for note in motion.notes)


def length_table(inspection: Inspection) -> Table:
    """Lay out the bones: length, change over time, and what people have.

    Parameters
    ----------
    inspection : Inspection

    Returns
    -------
    rich.table.Table
    """
    table = _table("bone", "median m", "range mm", "people's m", "")
    for length in inspection.lengths:
        allowed = human_length(length.name)
        table.add_row(
            length.name,
            f"{length.median:.4f}",
            f"{1000 * (length.high - length.low):.3f}",
            "" if allowed is None else f"{allowed[0]:.2f} to {allowed[1]:.2f}",
            "" if is_human(length) else "doubtful",
        )
    return table


def angle_table(inspection: Inspection) -> Table:
    """Lay out ranges of motion.

    Parameters
    ----------
    inspection : Inspection

    Returns
    -------
    rich.table.Table
    """
    table = _table("angle", "lowest °", "highest °", "range °")
    for angle in inspection.angles:
        low, high = np.degrees(angle.low), np.degrees(angle.high)
        table.add_row(angle.name, f"{low:.1f}", f"{high:.1f}", f"{high - low:.1f}")
    return table


def hand_table(inspection: Inspection) -> Table:
    """Lay out how fast the palms move.

    Parameters
    ----------
    inspection : Inspection

    Returns
    -------
    rich.table.Table
    """
    table = _table("palm", "RMS m/s", "peak m/s", "at s")
    for hand in inspection.hands:
        table.add_row(hand.side, f"{hand.rms:.3f}", f"{hand.peak:.3f}", f"{hand.peak_time:.2f}")
    return table


def gap_table(inspection: Inspection) -> Table:
    """Lay out the gaps that were filled, by marker.

    Parameters
    ----------
    inspection : Inspection

    Returns
    -------
    rich.table.Table
    """
    table = _table("marker", "gaps", "longest s", "frames")
    table.columns[3].justify = "left"
    for marker in inspection.gaps:
        told = ", ".join(_frames(gap) for gap in marker.gaps[:GAPS_TOLD])
        more = ", …" if len(marker.gaps) > GAPS_TOLD else ""
        table.add_row(marker.marker, f"{len(marker.gaps)}", f"{marker.longest:.3f}", told + more)
    return table


def phase_table(inspection: Inspection) -> Table:
    """Lay out the phases of the recording protocol and the primitives of the periodic one.

    Parameters
    ----------
    inspection : Inspection

    Returns
    -------
    rich.table.Table
    """
    table = _table("phase", "from s", "to s", "duration s")
    phases = inspection.phases
    for name in ("icp", "tgp", "pmp"):
        _add_stretch(table, name.upper(), getattr(phases, name))
    pairs = zip(phases.boundaries[:-1], phases.boundaries[1:], strict=True)
    for number, (start, end) in enumerate(pairs, start=1):
        _add_stretch(table, f"  primitive {number}", (start, end))
    _add_stretch(table, "rest", phases.rest)
    return table


def closing_lines(inspection: Inspection) -> Iterator[str]:
    """Lay out where the feet are, and everything doubtful.

    Parameters
    ----------
    inspection : Inspection

    Yields
    ------
    str
        A line, however long.
    """
    feet = inspection.feet
    if feet is None:
        yield "feet: not recorded"
    else:
        standing = "never still" if feet.standing is None else f"{feet.standing:.3f} m while standing"
        points = ", ".join(sorted({point.partition("_")[2] for point in feet.points}))
        yield f"feet: lowest {feet.lowest:.3f} m at {feet.lowest_time:.2f} s, {standing} ({points})"
    yield f"doubts: {len(inspection.doubts) or 'none'}"
    yield from (f"  {doubt}" for doubt in inspection.doubts)


def _add_stretch(table: Table, name: str, stretch: tuple[float, float] | None) -> None:
    if stretch is not None:
        start, end = stretch
        table.add_row(name, f"{start:.3f}", f"{end:.3f}", f"{end - start:.3f}")


def _handle(handle: Handle) -> str:
    """How far it goes, and how the hand may turn on it."""
    way = "still" if len(handle.poses) == 1 else f"{way_length(handle):.2f} m long"
    axis = handle.turn_axis
    if axis is None:
        return f"{way}, held fully"
    along = np.flatnonzero(np.abs(axis) > 1.0 - 1e-9)
    name = "xyz"[along[0]] if along.size else f"({', '.join(f'{part:.2f}' for part in axis)})"
    return f"{way}, free to turn about the palm's {name}"


def _frames(gap: Gap) -> str:
    return f"{gap.first}" if gap.first == gap.last else f"{gap.first}–{gap.last}"


def _table(*headings: str) -> Table:
    """Build a table of a name and numbers."""
    table = Table(*headings, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify, column.no_wrap = "right", True
    table.columns[0].overflow = "fold"
    return table
