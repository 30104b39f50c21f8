"""Reader of CSV files: as `write_motion_csv` writes them, as Motive exports them, or of named positions.

Named positions are three columns for each point, however their header writes it: `left_wrist_x, ...`,
`LeftWrist.X`, `wrist_l x (mm)`, or a line of names above one of axes; separated by commas, semicolons or
tabs, with a decimal point or comma, with times or only with numbers of frames.
"""

import re
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import (
    ARM_JOINTS,
    ARM_SEGMENTS,
    HumanMotion,
    check_time,
    transform,
    validate_motion,
)
from simbench.motion.marker_maps.conversion import find_initial_pose
from simbench.motion.marker_maps.map_library import choose_map, ready_maps
from simbench.motion.marker_maps.map_schema import ClusterFrame
from simbench.motion.marker_maps.recorded_body import LEG_JOINTS
from simbench.motion.read_options import SPELLINGS, UNITS, ReadOptions
from simbench.motion.readers.joint_array import (
    ASSUMED_RATE,
    doubt_still_pelvis,
    find_array_unit,
    name_array_joints,
    refuse_image_positions,
)
from simbench.motion.readers.joint_names import JointNaming, name_joints
from simbench.motion.readers.marker_tables import (
    LARGEST_NUMBER,
    NO_VALUE,
    find_times,
    quote,
    read_lines,
    read_numbers,
    read_sparse_numbers,
    split_row,
)
from simbench.motion.readers.motive import read_motive_csv
from simbench.motion.recordings import MarkerRecording, SkeletonRecording
from simbench.motion.writers import POSITION, QUATERNION, SEGMENT_MARK
from simbench.robot.sides import SIDES

# Tolerance on the length of a quaternion: four digits are enough.
UNIT_LENGTH = 1e-3
# Lines that are looked at for the header.
LONGEST_HEADER = 40
DELIMITERS = ("\t", ";", ",")
UNIT_WORDS = {word: unit for unit, words in SPELLINGS.items() for word in words}
TIME_NAMES = {"time", "times", "t", "seconds", "sec", "timestamp", "timestamps", "elapsed", "elapsedtime"}
FRAME_NAMES = {
    *("frame", "frames", "framenumber", "frameno", "frameid"),
    *("field", "fnum", "index", "sample", "nr"),
}
TIME_UNITS = {"s": "s", "sec": "s", "seconds": "s", "ms": "ms", "us": "us", "ns": "ns", "milliseconds": "ms"}
# `name_x`, `name.X (mm)`, `name x`, `nameX`, `name_x_mm`: name, axis and unit.
NAMED_AXIS = re.compile(
    r"(?P<name>.*?)(?:[\s._:\-/\[(]+(?P<axis>[xyzXYZ])|(?<=[a-z0-9])(?P<capital>[XYZ]))\s*[\])]?"
    r"(?:[\s_]*[\[(]?(?P<unit>mm|cm|m|in|inch|inches|meters?|metres?|millimet(?:er|re)s?|centimet(?:er|re)s?)[\])]?)?$"
)
# `x_name`: the axis before the name.
AXIS_FIRST = re.compile(r"(?P<axis>[xyzXYZ])[\s._:\-]+(?P<name>.+)$")
# A line of axes alone: `X`, `y (mm)`, `Z12`.
AXIS_ALONE = re.compile(r"(?P<axis>[xyzXYZ])\d*\s*(?:[\[(](?P<unit>\w+)[\])])?$")
# Words at the end of a point's name that say that the columns are positions, or that they are something else.
POSITION_WORDS = re.compile(
    r"(?:-joint)?[\s._:\-]*(?:posi?|position|coord|coordinate|translation|xyz)$", re.IGNORECASE
)
OTHER_WORDS = re.compile(
    r"(?:^|[\s._:\-])(?:velo?|velocity|acce?|acceleration|rot|rotation|quat|quaternion|orientation|angle|euler|gyro|mag|"
    r"force|moment|error)s?$",
    re.IGNORECASE,
)
# Endings of the columns of a robot's trajectory.
TRAJECTORY_ENDINGS = ("_rad", "_joint", "_dof", "base_qw", "root_qw", "base_qx", "root_qx", "_rad_s", "_nm")
# The map whose names joints in words get.
PLAIN_NAMES = "named_joints"
# Time between samples that a recording has, s: it tells seconds from their fractions.
STEPS = (5e-4, 0.5)
FRACTIONS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
# Times since 1970 in nanoseconds are below this.
LARGEST_TIME = 1e19


def read_csv(path: Path, options: ReadOptions) -> HumanMotion | MarkerRecording | SkeletonRecording:
    """Read a recording from a CSV file, whichever kind its first lines say it is.

    `path`: the file: of joints and segments that simbench wrote, of Motive, or of named positions; `options`:
    what the user declares. Returns what the file holds. Raises MotionError A file of none of these kinds, one
    that is damaged, or the trajectory of a robot.
    """
    lines = read_lines(path)
    if lines[0].strip('" ').lower().startswith("format version"):
        return read_motive_csv(lines, str(path), options)
    # What simbench wrote begins with `time_s` and has the quaternions of segments.
    words = [word.strip().strip('"') for word in lines[0].split(",")]
    turned = any(word.endswith(tuple(f"_{end}" for end in QUATERNION)) for word in words)
    if words[0] == "time_s" and (turned or len(words) == 1) and not _is_trajectory_header(words):
        return read_written_csv(lines, words, str(path))
    return read_named_positions(lines, str(path), options)


def read_written_csv(lines: list[str], header: list[str], source: str) -> HumanMotion:
    """Read joints and segments of a recording that simbench wrote.

    `lines`: lines of the file. The first one is `time_s`, then in any order for each joint `NAME_x_m`,
    `NAME_y_m`, `NAME_z_m` and for each segment these and `NAME_qx`, `NAME_qy`, `NAME_qz`, `NAME_qw`. World z
    up, x forward. The names of the columns declare everything. Returns the validated motion; its initial pose
    is the one that the recording begins with, or computed. Raises MotionError columns that are missing,
    repeated or unknown, lines of different length, a value that is not a finite number, quaternions that are
    not of unit length, time that does not increase.
    """
    # The endings of the columns of each joint and segment, which must be complete.
    where = f"{source}, line 1"
    groups: dict[str, set[str]] = {}
    for k, word in enumerate(header[1:]):
        end = next((end for end in (*POSITION, *QUATERNION) if word.endswith(f"_{end}")), None)
        if end is None or word == f"_{end}":
            allowed = ", ".join(f"NAME_{end}" for end in (*POSITION, *QUATERNION))
            raise MotionError(f"{where}: column {k + 2} is {quote(word)}; allowed: {allowed}")
        ends = groups.setdefault(word.removesuffix(f"_{end}"), set())
        if end in ends:
            raise MotionError(f"{where}: column {k + 2} {quote(word)} is there twice; names must differ")
        ends.add(end)
    for name, ends in groups.items():
        whole = (*POSITION, *QUATERNION) if ends & {*QUATERNION} else POSITION
        absent = [f"{name}_{end}" for end in whole if end not in ends]
        if absent:
            raise MotionError(f"{where}: {quote(name)} lacks {', '.join(map(quote, absent))}")
    table = read_numbers(lines, 1, len(header), source, delimiter=",")
    column = {name: table[:, k] for k, name in enumerate(header)}
    check_time(column["time_s"], source)
    joints: dict[str, Array] = {}
    turned: dict[str, Array] = {}
    for name, ends in groups.items():
        position = np.stack([column[f"{name}_{end}"] for end in POSITION], axis=1)
        if ends == {*POSITION}:
            joints[name] = position
            continue
        quaternion = np.stack([column[f"{name}_{end}"] for end in QUATERNION], axis=1)
        length = np.linalg.norm(quaternion, axis=1)
        off = np.flatnonzero(np.abs(length - 1.0) > UNIT_LENGTH)
        if off.size:
            raise MotionError(
                f"{source}: {name} at frame {off[0]}: a quaternion of length {length[off[0]]:.4g}; it must "
                f"be 1 to {UNIT_LENGTH:g}"
            )
        turned[name] = transform(np.asarray(Rotation.from_quat(quaternion).as_matrix()), position)
    # A mark tells a segment from the joint with the same name.
    segments = {
        plain if (plain := name.removesuffix(SEGMENT_MARK)) in joints else name: frames
        for name, frames in turned.items()
    }
    known = {*joints, *segments}
    lacking = [
        [n for n in (*ARM_JOINTS, *ARM_SEGMENTS) if n.startswith(side) and n not in known] for side in SIDES
    ]
    least = min(lacking, key=len)
    if least:
        raise MotionError(f"{source}, line 1: no complete arm; columns of {', '.join(least)} are missing")
    initial, note = find_initial_pose(column["time_s"], joints, segments)
    wanted = (*ARM_JOINTS, "pelvis", *LEG_JOINTS, *ARM_SEGMENTS, "trunk")
    missing = tuple(n for n in wanted if n not in known)
    motion = HumanMotion(column["time_s"], joints, segments, initial, source, notes=(note,), missing=missing)
    return validate_motion(motion)


def _is_number(cell: str, delimiter: str) -> bool:
    """Tell whether a cell is a number."""
    try:
        float(cell.replace(",", ".") if delimiter != "," else cell)
    except ValueError:
        return False
    return True


def _is_trajectory_header(words: list[str]) -> bool:
    """Tell whether angles or joints of a robot, or a base's quaternion, are among names of columns."""
    return any(word.strip('" ').lower().endswith(TRAJECTORY_ENDINGS) for word in words)


def _refuse(rows: list[list[str]], first: int | None, source: str) -> None:
    """Refuse a table without named points, and say what it may be."""
    words = rows[-1] if rows else []
    if _is_trajectory_header(words) or (not rows and first is not None):
        what = "numbers without a header" if not rows else "the columns of a robot's trajectory"
        raise MotionError(
            f"{source}, line 1: {what}, not named positions of a person; a robot's trajectory is run by "
            f"`simbench run {source} --robot NAME`"
        )
    if first is None:
        raise MotionError(f"{source}, line 1: no line of numbers follows {quote(','.join(words))}")
    raise MotionError(
        f"{source}, line 1: {quote(','.join(words))} does not name the columns of at least three points as "
        "NAME_x, NAME_y, NAME_z"
    )


def _read_cells(rows: list[list[str]]) -> list[tuple[str, str, str]]:
    """Name of the point, axis (empty for none), and unit in each column."""
    alone = [AXIS_ALONE.match(cell) for cell in rows[-1]]
    if sum(match is not None for match in alone) >= 3:
        names, last = [], ""
        # In the line above, each name stands over the first of its columns, or over all of them.
        above = rows[-2] if len(rows) > 1 else []
        for k in range(len(alone)):
            last = (above[k] if k < len(above) else "") or last
            names.append(last)
        if not any(names):
            # Points that only have numbers: X1, Y1, Z1, X2, ...
            names = [re.sub(r"\D", "", cell) for cell in rows[-1]]
        return [
            (name, match["axis"].lower() if match else "", (match["unit"] or "") if match else "")
            for name, match in zip(names, alone, strict=True)
        ]
    found = []
    for cell in rows[-1]:
        match = NAMED_AXIS.match(cell) or AXIS_FIRST.match(cell)
        groups = match.groupdict() if match else {}
        axis = groups.get("axis") or groups.get("capital") or ""
        found.append((groups.get("name") or "", axis.lower(), groups.get("unit") or ""))
    return found


class _PointTable:
    """A table of named positions, and what its header says."""

    def __init__(self, lines: list[str], source: str, options: ReadOptions) -> None:
        """Read the header.

        Raises MotionError no line of numbers, no names, no points in space, or the columns of a robot's
        trajectory.
        """
        self.lines, self.source, self.options = lines, source, options
        head = [k for k in range(min(len(lines), LONGEST_HEADER)) if lines[k].strip(" \t;,")]
        first = None
        delimiter = ","
        for k in head:
            delimiter = next((mark for mark in DELIMITERS if mark in lines[k]), ",")
            cells = [cell for cell in split_row(lines[k], delimiter) if cell.lower() not in NO_VALUE]
            numbers = sum(_is_number(cell, delimiter) for cell in cells)
            if numbers >= 3 and numbers >= 0.7 * len(cells):
                first = k
                break
        rows = [split_row(lines[k].lstrip("#%"), delimiter) for k in head if first is None or k < first]
        if not rows or first is None:
            _refuse(rows, first, source)
        comma = delimiter != "," and re.search(r"\d,\d", lines[first or 0]) is not None
        # A last line may hold nothing but units.
        unit = None
        words = {cell.strip("[]() ").lower() for cell in rows[-1]} - {""}
        if len(rows) > 1 and words and words <= {*UNIT_WORDS, *TIME_UNITS, "-"}:
            unit = next((UNIT_WORDS[word] for word in words - {*TIME_UNITS, "-"}), None)
            rows = rows[:-1]
        found: dict[str, dict[str, int]] = {}
        written = None
        for k, (name, axis, cell_unit) in enumerate(_read_cells(rows)):
            written = written or UNIT_WORDS.get(cell_unit.lower())
            if axis and name and not OTHER_WORDS.search(name):
                plain = POSITION_WORDS.sub("", name).strip(" ._:-") or name
                found.setdefault(plain, {}).setdefault(axis, k)
        # Columns of x, y and z of each point that has all three.
        self.points = {name: (at["x"], at["y"], at["z"]) for name, at in found.items() if len(at) == 3}
        if len(self.points) < 3:
            _refuse(rows, first, source)
        # Character between cells, and whether a comma stands for the decimal point.
        self.how = delimiter, comma
        # Index of the first line of numbers; unit of length, where the header says it.
        self.first, self.unit = first or 0, unit or written
        # All cells of the header, those of the last line first.
        labels = [(k, cell.lower()) for row in reversed(rows) for k, cell in enumerate(row) if cell]
        # Column of times, None if there is none, and their unit, a key of `TIME_UNITS`, where it is known.
        self.time, self.time_unit = self.find_time(labels)
        # Column of the numbers of frames, None if there is none.
        bare = ((k, re.sub(r"[^a-z]", "", re.sub(r"[\[(].*", "", cell))) for k, cell in labels)
        self.frame = next((k for k, cell in bare if cell in FRAME_NAMES), None)
        used = {column for columns in self.points.values() for column in columns} | {self.time, self.frame}
        # Number of columns that are neither.
        self.ignored = max(len(row) for row in rows) - len(used - {None})

    def find_time(self, labels: list[tuple[int, str]]) -> tuple[int | None, str | None]:
        """Column of times, and their unit where its name says it."""
        for k, cell in labels:
            words = [word for word in re.split(r"[^a-z]+", cell) if word]
            if not words or not words[0].startswith(("time", "t", "sec", "elapsed")):
                continue
            unit = TIME_UNITS.get(words[-1]) if len(words) > 1 else None
            base = "".join(words[:-1] if unit else words)
            if base in TIME_NAMES or cell in TIME_NAMES:
                return k, unit
        return None, None

    def name_points(self, names: tuple[str, ...], positions: Array) -> JointNaming:
        """Name the points: as the file does if a map of points knows the names, else as joints in words."""
        bare = tuple(name.rpartition(":")[2] for name in names)
        if len(set(bare)) == len(bare):
            names = bare
        if all(name.isdecimal() for name in names):
            return name_array_joints({}, positions, self.options, self.source)
        try:
            chosen, marker_map = choose_map(names, self.options.marker_map, self.source)
            if chosen not in ready_maps():
                return JointNaming(names, ())
            if chosen != PLAIN_NAMES:
                # It must build its frames from points alone.
                recipes = (*marker_map.segments["left_upper_arm"], *marker_map.segments["right_upper_arm"])
                if any(isinstance(recipe, ClusterFrame) or recipe.turns_with is None for recipe in recipes):
                    return JointNaming(names, ())
        except MotionError:
            pass
        written = name_joints(names)
        renamed = [f"{old} = {new}" for old, new in zip(names, written, strict=True) if old != new]
        shown = ", ".join(quote(pair)[1:-1] for pair in renamed[:4]) + (", ..." if len(renamed) > 4 else "")
        return JointNaming(written, (f"joints named in words: {shown}",) if renamed else ())

    def find_sample_times(self, count: int) -> tuple[Array, tuple[str, ...]]:
        """Find the times of the samples, s, and the doubt about them where the rate is assumed."""
        if self.time is not None and self.options.fps is None:
            column = read_sparse_numbers(
                self.lines, self.first, [self.time], self.source, self.how, LARGEST_TIME
            )[:, 0]
            # Seconds per unit of the column; None if it counts frames.
            fraction: float | None = FRACTIONS.get(self.time_unit or "", 1.0)
            steps = np.diff(column)
            steps = steps[np.isfinite(steps) & (steps > 0)]
            if self.time_unit is None and steps.size:
                step = float(np.median(steps))
                low, high = STEPS
                fraction = next((value for value in FRACTIONS.values() if low <= step * value <= high), 1.0)
                if step == 1.0 and (column == np.round(column)).all():
                    fraction = None
            if fraction is not None:
                return find_times((column - column[0]) * fraction, None, self.source), ()
        if self.options.fps is None and self.options.strict:
            raise MotionError(f"{self.source}: the file has no times; declare its rate (--fps)")
        rate = self.options.fps or ASSUMED_RATE
        doubts = () if self.options.fps else (f"rate {rate:g} Hz assumed: the file has no times (--fps)",)
        numbers = np.arange(count, dtype=np.float64)
        if self.frame is not None:
            written = read_sparse_numbers(
                self.lines, self.first, [self.frame], self.source, self.how, LARGEST_NUMBER
            )[:, 0]
            # Frames that were left out leave gaps in their numbers.
            steps = np.diff(written)
            if (steps >= 1.0).all() and (steps == np.round(steps)).all() and steps.sum() < 2 * count:
                numbers = written - written[0]
        return numbers / rate, doubts


def read_named_positions(lines: list[str], source: str, options: ReadOptions) -> MarkerRecording:
    """Read a table of named positions.

    Returns the points, m. Joints named in words have the names of the marker maps, such as `left_shoulder`;
    the names of a known marker set stay as they are.
    """
    table = _PointTable(lines, source, options)
    columns = [column for point in table.points.values() for column in point]
    values = read_sparse_numbers(lines, table.first, columns, source, table.how, LARGEST_NUMBER)
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
    naming = table.name_points(tuple(table.points), positions)
    kept = [k for k, name in enumerate(naming.names) if name]
    positions, names = positions[:, kept], tuple(naming.names[k] for k in kept)
    tracks = {name: positions[:, k] for k, name in enumerate(names)}
    refuse_image_positions(positions, tracks, source)
    time, doubts = table.find_sample_times(len(values))
    if options.unit is None and table.unit is None and options.strict:
        raise MotionError(f"{source}: the file does not say its unit of length; declare it (--unit)")
    known = options.unit is None and table.unit is not None
    unit, notes, more = (table.unit or "m", (), ()) if known else find_array_unit(tracks, options)
    ignored = (f"{table.ignored} further columns ignored",) if table.ignored else ()
    notes, positions = (*naming.notes, *notes, *ignored), UNITS[unit] * positions
    doubts = (*naming.doubts, *doubts, *more, *doubt_still_pelvis(tracks))
    return MarkerRecording(time, names, positions, source, options.up, unit, notes=notes, doubts=doubts)
