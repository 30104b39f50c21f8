"""Reader of tables of named positions: three columns for each point, however their header writes it.

`left_wrist_x, left_wrist_y, ...`, `LeftWrist.X`, `wrist_l x (mm)`, or a line of names above one of axes;
separated by commas, semicolons or tabs, with a decimal point or comma, with times or only with numbers of
frames.
"""

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_library import choose_map, ready_maps
from simbench.motion.marker_maps.map_schema import ClusterFrame
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.readers.joint_array import name_array_joints
from simbench.motion.readers.joint_array_checks import (
    doubt_still_pelvis,
    find_array_unit,
    refuse_image_positions,
)
from simbench.motion.readers.joint_naming import JointNaming
from simbench.motion.readers.joint_words import name_joints
from simbench.motion.readers.named_columns import Header, read_header
from simbench.motion.readers.sparse_table import find_times, read_sparse_numbers
from simbench.motion.readers.text_table import LARGEST_NUMBER, quote
from simbench.motion.recordings import MarkerRecording

# The map whose names joints in words get.
PLAIN_NAMES = "named_joints"
# Sampling rate where neither times nor the user say one, Hz.
ASSUMED_RATE = 30.0
# Time between samples that a recording has, s: it tells seconds from their fractions.
STEPS = (5e-4, 0.5)
FRACTIONS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
# Times since 1970 in nanoseconds are below this.
LARGEST_TIME = 1e19


def read_named_positions(lines: list[str], source: str, options: ReadOptions) -> MarkerRecording:
    """Read a table of named positions.

    `lines`: all lines of the file; `source`: name of the recording, for messages; `options`: what the user
    declares. Returns the points, m. Joints named in words have the names of the marker maps, such as
    `left_shoulder`; the names of a known marker set stay as they are.
    """
    header = read_header(lines, source)
    columns = [column for point in header.points.values() for column in point]
    how = header.delimiter, header.comma
    values = read_sparse_numbers(lines, header.first, columns, source, how, LARGEST_NUMBER)
    if not len(values):
        raise MotionError(f"{source}: no lines of numbers follow the header")
    positions = values.reshape(len(values), -1, 3)
    positions[~np.isfinite(positions).all(axis=2)] = np.nan
    # A point at exactly zero was not seen; several programs write so.
    positions[(positions == 0.0).all(axis=2)] = np.nan
    if not np.isfinite(positions).any():
        raise MotionError(
            f"{source}: no point is seen in any of {len(positions)} frame(s); there is nothing to read"
        )
    naming = _name_points(tuple(header.points), positions, options, source)
    kept = [k for k, name in enumerate(naming.names) if name]
    positions, names = positions[:, kept], tuple(naming.names[k] for k in kept)
    tracks = {name: positions[:, k] for k, name in enumerate(names)}
    refuse_image_positions(positions, tracks, source)
    time, doubts = _times(lines, header, len(values), source, options)
    unit, notes, more = _unit(header, tracks, options, source)
    ignored = (f"{header.ignored} further columns ignored",) if header.ignored else ()
    return MarkerRecording(
        time=time,
        names=names,
        positions=UNITS[unit] * positions,
        source=source,
        up=options.up,
        unit=unit,
        notes=(*naming.notes, *notes, *ignored),
        doubts=(*naming.doubts, *doubts, *more, *doubt_still_pelvis(tracks)),
    )


def _name_points(names: tuple[str, ...], positions: Array, options: ReadOptions, source: str) -> JointNaming:
    """Name the points: as the file does if a map of points knows the names, else as joints in words."""
    bare = tuple(name.rpartition(":")[2] for name in names)
    if len(set(bare)) == len(bare):
        names = bare
    if all(name.isdecimal() for name in names):
        return name_array_joints({}, positions, options, source)
    if _is_known(names, options, source):
        return JointNaming(names, ())
    written = name_joints(names)
    renamed = [f"{old} = {new}" for old, new in zip(names, written, strict=True) if old != new]
    shown = ", ".join(quote(pair)[1:-1] for pair in renamed[:4]) + (", ..." if len(renamed) > 4 else "")
    return JointNaming(written, (f"joints named in words: {shown}",) if renamed else ())


def _is_known(names: tuple[str, ...], options: ReadOptions, source: str) -> bool:
    """Tell whether a marker map knows the names that builds its frames from points alone."""
    try:
        name, marker_map = choose_map(names, options.marker_map, source)
    except MotionError:
        return False
    if name not in ready_maps():
        return True
    if name == PLAIN_NAMES:
        return False
    recipes = (*marker_map.segments["left_upper_arm"], *marker_map.segments["right_upper_arm"])
    return any(isinstance(recipe, ClusterFrame) or recipe.turns_with is None for recipe in recipes)


def _times(
    lines: list[str], header: Header, count: int, source: str, options: ReadOptions
) -> tuple[Array, tuple[str, ...]]:
    """Find the times of the samples, s, and the doubt about them where the rate is assumed."""
    how = header.delimiter, header.comma
    if header.time is not None and options.fps is None:
        column = read_sparse_numbers(lines, header.first, [header.time], source, how, LARGEST_TIME)[:, 0]
        fraction = _fraction(column, header.time_unit)
        if fraction is not None:
            return find_times((column - column[0]) * fraction, None, source), ()
    if options.fps is None and options.strict:
        raise MotionError(f"{source}: the file has no times; declare its rate (--fps)")
    rate = options.fps or ASSUMED_RATE
    doubts = () if options.fps else (f"rate {rate:g} Hz assumed: the file has no times (--fps)",)
    numbers = np.arange(count, dtype=np.float64)
    if header.frame is not None:
        written = read_sparse_numbers(lines, header.first, [header.frame], source, how, LARGEST_NUMBER)[:, 0]
        # Frames that were left out leave gaps in their numbers.
        steps = np.diff(written)
        if (steps >= 1.0).all() and (steps == np.round(steps)).all() and steps.sum() < 2 * count:
            numbers = written - written[0]
    return numbers / rate, doubts


def _fraction(column: Array, unit: str | None) -> float | None:
    """Seconds per unit of a column of times; None if it counts frames."""
    if unit is not None:
        return FRACTIONS[unit]
    steps = np.diff(column)
    steps = steps[np.isfinite(steps) & (steps > 0)]
    if not steps.size:
        return 1.0
    step = float(np.median(steps))
    low, high = STEPS
    if step == 1.0 and (column == np.round(column)).all():
        return None
    return next((value for value in FRACTIONS.values() if low <= step * value <= high), 1.0)


def _unit(
    header: Header, tracks: dict[str, Array], options: ReadOptions, source: str
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Find the unit of length, with notes and doubts."""
    if options.unit is None and header.unit is not None:
        return header.unit, (), ()
    if options.unit is None and options.strict:
        raise MotionError(f"{source}: the file does not say its unit of length; declare it (--unit)")
    return find_array_unit(tracks, options)
