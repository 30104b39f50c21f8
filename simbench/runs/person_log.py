"""What the log of a run that follows a recording holds beside the rest: the person and the robot's errors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
from simbench.retargeting.body_errors import DIRECTIONS, POINT_NAMES
from simbench.runs.log import assign_variables, label
from simbench.runs.log_schema import LARGEST, require_entries
from simbench.runs.motion_fidelity import Fidelity
from simbench.sim.state import Signal

if TYPE_CHECKING:
    import xarray as xr

PERSON_COORDINATES: tuple[Signal[None], ...] = (
    Signal(
        "limb",
        ("limb",),
        "",
        "Parts of the body whose direction is compared with the person's, such as `left_upper_arm`.",
        dtype=str,
    ),
    Signal(
        "body_point",
        ("body_point",),
        "",
        "Points of the body that stick figures connect, named as the joints of a recording.",
        dtype=str,
    ),
)
"""Labels of the dimensions that `with_person` adds to a log."""
PERSON_SIGNALS: tuple[Signal[None], ...] = (
    Signal(
        "recording_time",
        ("recording",),
        "s",
        "Time of each sample of the recording, from the first one that is used on, at the person's tempo.",
    ),
    Signal(
        "recording_robot_time",
        ("recording",),
        "s",
        "Time of the run at which the robot is to be where the person is at each sample of the recording.",
    ),
    Signal(
        "direction_error",
        ("recording", "limb"),
        "rad",
        "Angle between the robot's part of the body and the person's, at `recording_robot_time`; NaN after "
        "the end of a run that ended early.",
    ),
    Signal(
        "person_point",
        ("recording", "body_point", "xyz"),
        "m",
        "Position of the person's points in the recording's world; NaN for one that was not recorded.",
    ),
    Signal(
        "robot_point",
        ("recording", "body_point", "xyz"),
        "m",
        "Position of the robot's points at `recording_robot_time`, in the world turned back by the heading "
        "with which it was placed; NaN for one that it does not have.",
    ),
)
"""What `with_person` adds to a log."""


def has_person(log: xr.Dataset) -> bool:
    """Tell whether a log holds the person whom its robot follows.

    `log`: log of a run. Returns true if `with_person` added them.
    """
    return "person_point" in log


def require_person(log: xr.Dataset, path: Path) -> None:
    """Refuse a log whose person cannot be drawn.

    `log`: log from `open_run` that holds one; `path`: its run directory, for the message.
    """
    require_entries(log, [signal.name for signal in (*PERSON_SIGNALS, *PERSON_COORDINATES)], (), path)
    clocks = np.array([log[name].values for name in ("recording_time", "recording_robot_time")])
    points = [log[name].values for name in ("person_point", "robot_point")]
    known = np.isfinite(points[0]).all(axis=(0, 2))
    largest = max(float(np.nanmax(np.abs(values), initial=0.0)) for values in (clocks, *points))
    if clocks.shape[1] < 2 or not (np.diff(clocks) > 0.0).all() or not known.any() or not largest <= LARGEST:
        raise RunError(
            f"{path}: the person in its log has no two samples, a time that does not increase, or no point "
            "that is known throughout; there is nothing to draw"
        )


def with_person(
    log: xr.Dataset, fidelity: Fidelity, person: Mapping[str, Array], robot: Mapping[str, Array]
) -> xr.Dataset:
    """Add the person, and the directions' errors of the robot, to the log of a run.

    `fidelity`: what it leaves of the person, at T samples of the recording; `person` {str: (T, 3) array}:
    points of the person's body, m, by name; `robot` {str: (K, 3) array}: points of the robot's body at the
    first K samples, m, by name. Returns log with the variables of `PERSON_SIGNALS`.
    """
    count = len(fidelity.recording_time)
    tracks = [track for track in fidelity.errors.tracks if track.quantity in DIRECTIONS]
    errors = np.full((count, len(tracks)), np.nan)
    for column, track in enumerate(tracks):
        errors[track.samples, column] = track.values
    names = [name for name in POINT_NAMES if name in person or name in robot]
    values = {
        "recording_time": fidelity.recording_time,
        "recording_robot_time": fidelity.robot_time,
        "direction_error": errors,
        "person_point": _stack(person, names, count),
        "robot_point": _stack(robot, names, count),
    }
    labels = {"limb": [track.name for track in tracks], "body_point": names}
    described = {signal.name: {"description": signal.description} for signal in PERSON_COORDINATES}
    coordinates = {name: (name, np.array(each, dtype=str), described[name]) for name, each in labels.items()}
    return assign_variables(log.assign_coords(coordinates), label(PERSON_SIGNALS, values))


def _stack(points: Mapping[str, Array], names: list[str], count: int) -> Array:
    """Positions (T, N, 3) of named points; NaN for those that are not there, and after their last sample."""
    stacked = np.full((count, len(names), 3), np.nan)
    for column, name in enumerate(names):
        if name in points:
            stacked[: len(points[name]), column] = points[name]
    return stacked
