"""Reader of the CSV files that OptiTrack Motive exports: bones of a skeleton, or markers.

The first line holds names and values of properties (`Format Version,1.23,...,Length Units,Meters,...`),
five or six lines describe the columns (type, name, ID, perhaps parent, rotation or position, axis), and
every further line is a frame: its number, its time, and the numbers; a cell is empty where a marker was not
seen.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.files.text import parse_finite_number
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import UNITS, ReadOptions, resolve_length_unit
from simbench.motion.readers.joint_words import name_joints
from simbench.motion.readers.motive_bones import BoneTracks, build_skeleton
from simbench.motion.readers.sparse_table import find_times, read_sparse_numbers, split_row
from simbench.motion.recordings import MarkerRecording, SkeletonRecording

# Most lines between the first one and that of the axes.
LONGEST_HEADER = 15
# Markers as they were measured come first, then as the solver placed them, then bones without rotations.
MARKER_TYPES = ("Marker", "Bone Marker", "Rigid Body Marker", "Bone")
KNOWN_TYPES = {"Rigid Body", "Skeleton", *MARKER_TYPES}
ROTATION_TYPES = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


class _Columns(NamedTuple):
    """Columns of one bone or marker: its type, its name, and its columns by component, as `position x`."""

    kind: str
    name: str
    column: dict[str, int]


def is_motive(lines: list[str]) -> bool:
    """Tell whether a file is one that Motive exported.

    Returns whether its first line begins with the format's version.
    """
    return lines[0].strip('" ').lower().startswith("format version")


def read_motive_csv(
    lines: list[str], source: str, options: ReadOptions
) -> MarkerRecording | SkeletonRecording:
    """Read a CSV file of Motive.

    `source`: name of the recording, for messages; `options`: what the user declares. Returns A skeleton if
    the file has rotations and positions of bones, else markers.
    """
    properties = _properties(lines[0])
    axis_line = _find_axis_line(lines, source)
    columns = _columns(lines[1:axis_line], split_row(lines[axis_line], ","), source)
    notes: list[str] = []
    rate = options.fps or parse_finite_number(
        properties.get("export frame rate") or properties.get("capture frame rate") or ""
    )
    unit, scale, doubts = _unit(properties, options, source)
    order = properties.get("rotation type", "").strip().upper()
    axes = "xyz" if order in ROTATION_TYPES else "xyzw"
    bones = [each for each in columns if each.kind == "Bone" and _is_turned(each, axes)]
    bones = _one_subject(bones, notes)
    chosen = bones or _markers(columns, notes)
    if not chosen:
        kinds = ", ".join(sorted({each.kind for each in columns})) or "nothing"
        raise MotionError(f"{source}: neither bones nor labelled markers of a person, but {kinds}")
    used = [0, 1, *sorted({k for each in chosen for k in each.column.values()})]
    table = read_sparse_numbers(lines, axis_line + 1, used, source)
    if not len(table):
        raise MotionError(f"{source}: no frames follow the header")
    time = find_times(_raw_times(table, rate), rate, source)
    place = {column: k for k, column in enumerate(used)}
    names = tuple(each.name.rpartition(":")[2] for each in chosen)
    positions = np.stack([table[:, _places(each, "position", "xyz", place)] for each in chosen], axis=1)
    if not bones:
        return MarkerRecording(
            time=time,
            names=name_joints(names) if chosen[0].kind == "Bone" else names,
            positions=scale * positions,
            source=source,
            up=options.up,
            unit=unit,
            notes=tuple(notes),
            doubts=doubts,
        )
    angles = np.stack([table[:, _places(each, "rotation", axes, place)] for each in bones], axis=1)
    local = properties.get("coordinate space", "").strip().lower() == "local"
    tracks = BoneTracks(time, names, positions, angles, order if axes == "xyz" else "", local)
    return build_skeleton(tracks, (unit, tuple(notes), doubts), source, options)


def _properties(line: str) -> dict[str, str]:
    """Properties of the first line by name, in small letters."""
    words = split_row(line, ",")
    return {name.lower(): value for name, value in zip(words[::2], words[1::2], strict=False)}


def _find_axis_line(lines: list[str], source: str) -> int:
    """Index of the line that names the axes."""
    for k, line in enumerate(lines[1:LONGEST_HEADER], start=1):
        words = [word.lower() for word in split_row(line, ",")[:2]]
        if len(words) == 2 and words[0] == "frame" and words[1].startswith("time"):
            return k
    raise MotionError(f"{source}: no line that begins with Frame,Time (Seconds) in the header of Motive")


def _columns(header: list[str], axes: list[str], source: str) -> list[_Columns]:
    """Find the columns of each bone and marker by the lines above the axes."""
    rows = [row for row in (split_row(line, ",") for line in header) if any(row)]
    types = next((row for row in rows if KNOWN_TYPES & set(row)), None)
    if types is None or rows.index(types) + 2 > len(rows) - 1:
        raise MotionError(
            f"{source}: the lines of types, names and components of Motive's header are not all there"
        )
    names, components = rows[rows.index(types) + 1], rows[-1]
    # Objects may share a name, unlabelled markers do; the line of IDs tells them apart.
    marks = rows[rows.index(types) + 2] if len(rows) - rows.index(types) > 3 else []
    found: dict[tuple[str, str, str], _Columns] = {}
    for k, axis in enumerate(axes[2:], start=2):
        kind, name, component, mark = (
            row[k] if k < len(row) else "" for row in (types, names, components, marks)
        )
        if component.lower() not in ("position", "rotation") or axis.lower() not in (*"xyzw",) or not name:
            continue
        each = found.setdefault((kind, name, mark), _Columns(kind, name, {}))
        each.column[f"{component.lower()} {axis.lower()}"] = k
    return [each for each in found.values() if all(f"position {axis}" in each.column for axis in "xyz")]


def _is_turned(columns: _Columns, axes: str) -> bool:
    """Tell whether a bone has all components of a rotation besides its position."""
    return all(f"rotation {axis}" in columns.column for axis in axes)


def _one_subject(columns: list[_Columns], notes: list[str]) -> list[_Columns]:
    """Keep the bones or markers of the subject that has most of them; note the others."""
    subjects: dict[str, list[_Columns]] = {}
    for each in columns:
        subjects.setdefault(each.name.rpartition(":")[0], []).append(each)
    if len(subjects) < 2:
        return columns
    best = max(subjects, key=lambda name: len(subjects[name]))
    others = ", ".join(repr(name[:40]) for name in list(subjects)[:6] if name != best)
    notes.append(f"subject {best[:40]!r} is read; left out: {others}")
    return subjects[best]


def _markers(columns: list[_Columns], notes: list[str]) -> list[_Columns]:
    """Labelled markers of one subject, each once, as it was measured where the file says it."""
    found: dict[str, _Columns] = {}
    unlabelled = 0
    for kind in MARKER_TYPES:
        for each in columns:
            if each.kind != kind:
                continue
            if each.name.rpartition(":")[2].lower().startswith("unlabeled"):
                unlabelled += 1
            else:
                found.setdefault(each.name, each)
    if unlabelled:
        notes.append(f"{unlabelled} unlabelled points ignored")
    return _one_subject(list(found.values()), notes)


def _unit(
    properties: Mapping[str, str], options: ReadOptions, source: str
) -> tuple[str, float, tuple[str, ...]]:
    """Find the unit of length, metres per unit, and the doubt where it is assumed."""
    written = properties.get("length units", "")
    if written or options.unit is not None:
        return (*resolve_length_unit(written, options, f"{source}, line 1"), ())
    if options.strict:
        raise MotionError(f"{source}, line 1: no Length Units; declare the unit (--unit)")
    return "m", UNITS["m"], ("unit m assumed: the header has no Length Units (--unit)",)


def _raw_times(table: Array, rate: float | None) -> Array:
    """Return the times of the frames, s, from their numbers where the column of times is empty."""
    if rate is not None and not np.isfinite(table[:, 1]).all():
        return np.asarray(table[:, 0] / rate)
    return np.asarray(table[:, 1])


def _places(columns: _Columns, component: str, axes: str, place: Mapping[int, int]) -> list[int]:
    """Columns of the table that was read, of a bone's or marker's component."""
    return [place[columns.column[f"{component} {axis}"]] for axis in axes]
