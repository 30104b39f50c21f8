"""Reader of C3D files, the binary format of motion-capture systems.

Layout and terms are those of the C3D user guide (c3d.org); `c3d_structure` finds where the points lie.
"""

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.motion.read_options import AXES, ReadOptions
from simbench.motion.readers.c3d_parameters import (
    DEC,
    MIPS,
    Parameters,
    read_floats,
    read_texts,
    read_values,
)
from simbench.motion.readers.c3d_structure import C3dLayout, find_layout
from simbench.motion.readers.labels import drop_shared_prefix, is_unlabelled, keep_first_of_each_name
from simbench.motion.readers.slips import Slips, find_length_unit
from simbench.motion.recordings import MarkerRecording

# Parameters that list results of a model that are stored as points and are not positions, and the names of
# such results in files that do not list them.
MODEL_OUTPUTS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
OUTPUT_NAMES = re.compile(r".*[a-z](Angles?|Forces?|Moments?|Powers?|GRF)|CentreOf(Mass|Pressure).*")
# No recorded position exceeds this in any unit: such numbers are not data, and their squares overflow. More
# than this fraction of them means that the layout was misread.
LARGEST_NUMBER, MOST_ABSURD = 1e9, 0.01
# Frames that are decoded at a time.
CHUNK = 20_000


def read_c3d(path: Path, options: ReadOptions) -> MarkerRecording:
    """Read the labelled points of a C3D file.

    Unlabelled points, and a model's angles, forces, moments and powers are left out; the notes say how many.
    A residual below zero or a point at exactly 0, 0, 0 means that the marker was not seen. A prefix that all
    names share (`Subject:`) is dropped. The vertical axis is POINT:Y_SCREEN where the file has it. Where
    header, parameters and the length of the file disagree, the data that are there decide. `options`: unit,
    vertical axis, frame rate and strictness that the user declares. Returns the markers in metres; `events`
    from the EVENT group; `details` may hold `actor`, `height` (m), `mass` (kg), `age`, `sex`, `description`.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    slips = Slips(str(path), options.strict)
    layout = find_layout(content, options.fps, slips)
    parameters = layout.parameters
    columns, labels, notes = _labelled(parameters, layout.points, str(path))
    positions = _read_points(content, layout, columns, slips)
    seen = (~np.isnan(positions[:, :, 0])).sum(axis=0)
    kept = keep_first_of_each_name(
        labels, seen.tolist(), slips, "points {} are all named {}; names must differ"
    )
    if len(kept) < len(labels):
        positions, labels = positions[:, kept], [labels[k] for k in kept]
    unit, scale = find_length_unit(
        "".join(read_texts(parameters, "POINT", "UNITS")[:1]), options, "POINT:UNITS", slips
    )
    positions *= scale
    events, event_notes = _events(parameters, (layout.first_frame - 1) / layout.rate)
    up, axis_notes = _vertical(parameters, options)
    return MarkerRecording(
        time=np.arange(layout.frames) / layout.rate,
        names=tuple(labels),
        positions=positions,
        source=str(path),
        up=up,
        unit=unit,
        events=events,
        details=_details(parameters),
        notes=(*slips.notes, *notes, *event_notes, *axis_notes),
        doubts=tuple(slips.doubts),
    )


def _read_points(content: bytes, layout: C3dLayout, columns: list[int], slips: Slips) -> NDArray[np.float64]:
    """Positions (T, M, 3) of some points in the file's unit, NaN where a point was not seen."""
    width = 2 if layout.scale else 4
    raw = np.frombuffer(content, np.uint8, layout.frames * layout.frame_size, layout.start)
    raw = raw.reshape(layout.frames, layout.frame_size)[:, : layout.points * 4 * width]
    positions = np.empty((layout.frames, len(columns), 3))
    residuals = np.empty((layout.frames, len(columns)), dtype=np.float32)
    for begin in range(0, layout.frames, CHUNK):
        part = _decode(raw[begin : begin + CHUNK], layout, columns)
        positions[begin : begin + CHUNK], residuals[begin : begin + CHUNK] = part[..., :3], part[..., 3]
    with np.errstate(invalid="ignore"):
        absurd = np.abs(positions) > LARGEST_NUMBER
        lost = (residuals < 0.0) | np.isnan(residuals)
    if absurd.any():
        frame, point, axis = np.argwhere(absurd)[0]
        what = (
            f"frame {frame + 1}, point {columns[point] + 1}: {AXES[axis]} is "
            f"{positions[frame, point, axis]:.3g}; this is no position"
        )
        if absurd.mean() > MOST_ABSURD:
            raise MotionError(f"{slips.source}: {what}")
        slips.doubt(what, f"{int(absurd.any(axis=2).sum())} such points are taken as not seen")
    unseen = absurd.any(axis=2) | np.isnan(positions).any(axis=2) | (positions == 0.0).all(axis=2)
    if lost.all() and not unseen.all():
        # Programs that know no residuals write the same number everywhere.
        slips.doubt("all residuals say that the point was not seen", "they are ignored")
    else:
        unseen |= lost
    positions[unseen] = np.nan
    return positions


def _decode(raw: NDArray[np.uint8], layout: C3dLayout, columns: list[int]) -> NDArray[np.float64]:
    """Coordinates and residual (T, M, 4) of some points from bytes (T, N)."""
    shape = (len(raw), layout.points, 4)
    if layout.scale:
        words = raw.view(">i2" if layout.processor == MIPS else "<i2").reshape(shape)[:, columns]
        return np.asarray(words * np.array([layout.scale] * 3 + [1.0]))
    if layout.processor == DEC:
        return read_floats(raw.tobytes(), DEC).reshape(shape)[:, columns]
    # Arbitrary bits may be a signalling NaN, whose conversion gives a warning.
    with np.errstate(invalid="ignore"):
        floats = raw.view(">f4" if layout.processor == MIPS else "<f4").reshape(shape)[:, columns]
        return np.asarray(floats, dtype=np.float64)


def _labelled(parameters: Parameters, points: int, source: str) -> tuple[list[int], list[str], list[str]]:
    """Columns of the markers, their names, and notes on what was left out."""
    labels = (read_texts(parameters, "POINT", "LABELS") + [""] * points)[:points]
    outputs = {label for group in MODEL_OUTPUTS for label in read_texts(parameters, "POINT", group) if label}
    modelled = {
        column
        for column, label in enumerate(labels)
        if label in outputs or OUTPUT_NAMES.fullmatch(label.rpartition(":")[2])
    }
    unlabelled = {column for column, label in enumerate(labels) if is_unlabelled(label)} - modelled
    columns = [c for c in range(points) if c not in modelled | unlabelled]
    names = [labels[column] for column in columns]
    if not names:
        raise MotionError(f"{source}: none of {points} points has a label; a marker needs a name")
    names, notes = drop_shared_prefix(names)
    if unlabelled:
        notes.append(f"{len(unlabelled)} unlabelled points ignored")
    if modelled:
        notes.append(f"{len(modelled)} model outputs that are not positions ignored")
    return columns, names, notes


def _events(parameters: Parameters, start: float) -> tuple[tuple[tuple[str, float], ...], list[str]]:
    """Events as label and time, s, from the first stored frame, which is at `start` on the file's clock."""
    used = read_values(parameters, "EVENT", "USED")[:1]
    if not used.size or not 1 <= used[0] <= 65535:
        return (), []
    labels, contexts = read_texts(parameters, "EVENT", "LABELS"), read_texts(parameters, "EVENT", "CONTEXTS")
    # The rows are minutes and seconds; the first dimension varies fastest.
    found = parameters.get(("EVENT", "TIMES"))
    count = int(used[0])
    times = np.zeros((0, 2))
    if found is not None and len(found.shape) == 2 and found.shape[0] == 2:
        times = read_values(parameters, "EVENT", "TIMES").reshape(-1, 2)
    if min(len(labels), len(times)) < count or not np.isfinite(times).all():
        return (), [f"{count} events ignored: the file holds {len(labels)} labels and {len(times)} times"]
    seconds = times[:, 0] * 60.0 + times[:, 1] - start
    sides = [f"{side} " if side in ("Left", "Right") else "" for side in contexts] + [""] * count
    events = [(sides[k] + labels[k], float(seconds[k])) for k in range(count)]
    return tuple(sorted(events, key=lambda event: event[1])), []


def _vertical(parameters: Parameters, options: ReadOptions) -> tuple[str | None, list[str]]:
    """Vertical axis: the one that points up on the screen; and a note if it is not understood."""
    if options.up is not None:
        return options.up, []
    written = "".join(read_texts(parameters, "POINT", "Y_SCREEN")[:1])
    axis = written.removeprefix("+").lower()
    if axis in AXES:
        return axis, []
    return None, [f"vertical axis {written!r} (POINT:Y_SCREEN) not understood"] if written else []


def _details(parameters: Parameters) -> dict[str, str]:
    """Details of the actor as texts, from SUBJECTS, and from PROCESSING as Vicon writes it."""
    details = {}
    for key, group, name in (
        ("actor", "SUBJECTS", "NAMES"),
        ("sex", "SUBJECTS", "SEX"),
        ("description", "TRIAL", "DESCRIPTION"),
    ):
        text = "".join(read_texts(parameters, group, name)[:1])
        if text:
            details[key] = text
    for key, name, scale in (("height", "HEIGHT", 0.001), ("mass", "BODYMASS", 1.0), ("age", "AGE", 1.0)):
        values = read_values(parameters, "PROCESSING", name)
        if values.size and np.isfinite(values[0]) and values[0] > 0:
            # A float of 32 bits has seven significant digits.
            details[key] = f"{float(values[0]) * scale:.7g}"
    return details
