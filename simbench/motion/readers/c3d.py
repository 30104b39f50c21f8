"""Reader of C3D files, the binary format of motion-capture systems, by ezc3d.

A file's structure is checked before ezc3d sees it (`c3d_structure`).
"""

import re
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.motion.read_options import AXES, ReadOptions, resolve_length_unit
from simbench.motion.readers.c3d_structure import C3dCounts, check_structure
from simbench.motion.recordings import MarkerRecording

# Names that programs give to points that are not labelled.
UNLABELLED = re.compile(r"(\*\d*|(uname|unlabell?ed).*)?", re.IGNORECASE)
# Parameters that list results of a model that are stored as points and are not positions.
MODEL_OUTPUTS = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS", "REACTIONS")
# ezc3d's bindings turn C++ exceptions into any of these.
LIBRARY_ERRORS = (
    RuntimeError,
    ValueError,
    IndexError,
    TypeError,
    OSError,
    OverflowError,
    MemoryError,
    SystemError,
)

Parameters = dict[str, dict[str, Any]]


def read_c3d(path: Path, options: ReadOptions) -> MarkerRecording:
    """Read the labelled points of a C3D file.

    Unlabelled points, and a model's angles, forces, moments and powers are left out; the notes say how many.
    A residual below zero or a point at exactly 0, 0, 0 means that the marker was not seen. A prefix that all
    names share (`Subject:`) is dropped. The vertical axis is POINT:Y_SCREEN where the file has it.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    options : ReadOptions
        Unit, vertical axis, marker map and longest gap that the user declares.

    Returns
    -------
    MarkerRecording
        The markers in metres; `events` from the EVENT group; `details` may hold `actor`, `height` (m), `mass`
        (kg), `age`, `sex`, `description`.

    Raises
    ------
    MotionError
        Unreadable, damaged or truncated file, no frames, two markers with the same name, no labelled marker,
        an unknown unit.
    """
    try:
        counts = check_structure(path.read_bytes(), str(path))
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        file = ezc3d.c3d(str(path))
        points = np.asarray(file["data"]["points"], dtype=np.float64)
        residuals = np.asarray(file["data"]["meta_points"]["residuals"], dtype=np.float64)
        parameters: Parameters = {
            group: {name: value["value"] for name, value in content.items() if name != "__METADATA__"}
            for group, content in file["parameters"].items()
        }
        first_frame = int(file["header"]["points"]["first_frame"])
    except LIBRARY_ERRORS as error:
        raise MotionError(f"{path}: not a readable C3D file: {' '.join(str(error).split())[:200]}") from error
    positions = _positions(points, residuals, counts, str(path))
    names, columns, notes = _labelled(_strings(parameters, "POINT", "LABELS"), parameters, counts, str(path))
    unit, scale = resolve_length_unit(
        "".join(_strings(parameters, "POINT", "UNITS")[:1]), options, f"{path}: POINT:UNITS"
    )
    rate = float(parameters["POINT"]["RATE"][0])
    events, event_notes = _events(parameters, first_frame / rate)
    up, axis_notes = _vertical(parameters, options)
    return MarkerRecording(
        time=np.arange(counts.frames) / rate,
        names=names,
        positions=scale * positions[:, columns],
        source=str(path),
        up=up,
        unit=unit,
        events=events,
        details=_details(parameters),
        notes=(*notes, *event_notes, *axis_notes),
    )


def _positions(
    points: NDArray[np.float64], residuals: NDArray[np.float64], counts: C3dCounts, source: str
) -> NDArray[np.float64]:
    """Positions (T, M, 3) in the file's unit from ezc3d's (4, M, T), NaN where a point was not seen."""
    frames = points.shape[2]
    if points.shape[1] != counts.points or frames > counts.frames:
        raise MotionError(
            f"{source}: {counts.points} points in {counts.frames} frames announced, others found"
        )
    positions = np.full((counts.frames, counts.points, 3), np.nan)
    # ezc3d drops empty frames at the end.
    positions[:frames] = points[:3].transpose(2, 1, 0)
    # No recorded position exceeds this in any unit: such numbers are not data, and their squares overflow.
    absurd = np.argwhere(np.abs(positions) > 1e9)
    if absurd.size:
        frame, point, axis = absurd[0]
        raise MotionError(
            f"{source}: frame {frame + 1}, point {point + 1}: {AXES[axis]} is "
            f"{positions[frame, point, axis]:.3g}; this is no position"
        )
    unseen = ~np.isfinite(positions).all(axis=2) | (positions == 0.0).all(axis=2)
    unseen[:frames] |= residuals[0].T < 0
    positions[unseen] = np.nan
    return positions


def _strings(parameters: Parameters, group: str, name: str) -> list[str]:
    """Texts of a parameter and of its continuations (`LABELS2`, ...), without surrounding blanks."""
    texts: list[str] = []
    number = 1
    while (key := name if number == 1 else f"{name}{number}") in parameters.get(group, {}):
        texts += [str(text).strip() for text in parameters[group][key]]
        number += 1
    return texts


def _labelled(
    labels: list[str], parameters: Parameters, counts: C3dCounts, source: str
) -> tuple[tuple[str, ...], list[int], list[str]]:
    """Names of the markers, their columns, and notes on what was left out."""
    labels = (labels + [""] * counts.points)[: counts.points]
    outputs = {label for group in MODEL_OUTPUTS for label in _strings(parameters, "POINT", group) if label}
    modelled = [column for column, label in enumerate(labels) if label in outputs]
    unlabelled = [
        column for column, label in enumerate(labels) if UNLABELLED.fullmatch(label.rpartition(":")[2])
    ]
    columns = [c for c in range(counts.points) if c not in {*modelled, *unlabelled}]
    names = [labels[column] for column in columns]
    if not names:
        raise MotionError(f"{source}: none of {counts.points} points has a label; a marker needs a name")
    prefixes = {name.partition(":")[0] if ":" in name else "" for name in names}
    if len(prefixes) == 1:
        names = [name[len(prefix) + 1 :] if (prefix := next(iter(prefixes))) else name for name in names]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        numbers = ", ".join(str(c + 1) for c, name in zip(columns, names, strict=True) if name == twice)
        raise MotionError(f"{source}: points {numbers} are all named {twice!r}; names must differ")
    notes = []
    if unlabelled:
        notes.append(f"{len(unlabelled)} unlabelled points ignored")
    if modelled:
        notes.append(f"{len(modelled)} model outputs that are not positions ignored")
    return tuple(names), columns, notes


def _events(parameters: Parameters, start: float) -> tuple[tuple[tuple[str, float], ...], list[str]]:
    """Events as label and time, s, from the first stored frame, which is at `start` on the file's clock."""
    group = parameters.get("EVENT", {})
    used = np.ravel(group.get("USED", [0])).tolist()[:1]
    if not used or used[0] == 0:
        return (), []
    labels, contexts = _strings(parameters, "EVENT", "LABELS"), _strings(parameters, "EVENT", "CONTEXTS")
    # The rows are minutes and seconds.
    times = np.asarray(group.get("TIMES", []))
    count = int(used[0])
    if times.dtype.kind not in "if" or times.ndim != 2 or times.shape[0] != 2:
        times = np.zeros((2, 0))
    if min(len(labels), times.shape[1]) < count or not np.isfinite(times).all():
        return (), [f"{count} events ignored: the file holds {len(labels)} labels and {times.shape[1]} times"]
    seconds = times[0] * 60.0 + times[1] - start
    sides = [f"{side} " if side in ("Left", "Right") else "" for side in contexts] + [""] * count
    events = [(sides[k] + labels[k], float(seconds[k])) for k in range(count)]
    return tuple(sorted(events, key=lambda event: event[1])), []


def _vertical(parameters: Parameters, options: ReadOptions) -> tuple[str | None, list[str]]:
    """Vertical axis: the one that points up on the screen; and a note if it is not understood."""
    if options.up is not None:
        return options.up, []
    written = "".join(_strings(parameters, "POINT", "Y_SCREEN")[:1])
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
        text = "".join(_strings(parameters, group, name)[:1])
        if text:
            details[key] = text
    capitals = {name.upper(): value for name, value in parameters.get("PROCESSING", {}).items()}
    for key, name, scale in (("height", "HEIGHT", 0.001), ("mass", "BODYMASS", 1.0), ("age", "AGE", 1.0)):
        values = np.ravel(capitals.get(name, []))
        if values.size and values.dtype.kind in "if" and np.isfinite(values[0]) and values[0] > 0:
            # A float of 32 bits has seven significant digits.
            details[key] = f"{float(values[0]) * scale:.7g}"
    return details
