"""Schema of a log that is read back: the form of what is declared, and what cannot be drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simbench.errors import RunError
from simbench.runs.log_signals import ATTRIBUTE_SIGNALS, CONTACT_EVENT_SIGNALS, COORDINATE_SIGNALS, STROKES
from simbench.sim.state import Signal

if TYPE_CHECKING:
    import xarray as xr

LABELS = {
    "xyz": ("x", "y", "z"),
    "xy": ("x", "y"),
    "pose": ("x", "y", "z", "qx", "qy", "qz", "qw"),
    "axis6": ("fx", "fy", "fz", "mx", "my", "mz"),
}
"""Labels that are the same in every log."""
SIDES = ("left", "right")
"""Labels of feet and hands."""
FORMS: dict[str, tuple[str, ...]] = {
    "joint_position": ("time", "joint"),
    "joint_velocity": ("time", "joint"),
    "joint_reference": ("time", "joint"),
    "torque_motor": ("time", "joint"),
    "torque_requested": ("time", "joint"),
    "base_pose": ("time", "pose"),
    "base_velocity": ("time", "axis6"),
    "cog": ("time", "xyz"),
    "cog_velocity": ("time", "xyz"),
    "palm_position": ("time", "hand", "xyz"),
    "palm_target": ("time", "hand", "xyz"),
    "palm_actor": ("time", "hand", "xyz"),
    "foot_wrench": ("time", "foot", "axis6"),
    "foot_pose": ("time", "foot", "pose"),
    "foot_points": ("time", "foot", "point", "xy"),
    "grip_wrench": ("time", "hand", "axis6"),
    "push_wrench": ("time", "axis6"),
    "grip_engaged": ("time", "hand"),
    "hand_contact": ("time", "hand"),
    "torque_limit": ("joint",),
    "is_grip": ("joint",),
    "is_arm": ("joint",),
    "zmp": ("time", "xy"),
    "zmp_margin": ("time",),
    "support_polygon": ("time", "corner", "xy"),
    "cog_desired": ("time", "xy"),
    "zmp_desired": ("time", "xy"),
    "contact_planned": ("time", "foot"),
    "joint_trajectory": ("time", "joint"),
    "base_trajectory": ("time", "pose"),
    "foot_trajectory": ("time", "foot", "xyz"),
    "contact_trajectory": ("time", "foot"),
    "recording_time": ("recording",),
    "recording_robot_time": ("recording",),
    "direction_error": ("recording", "limb"),
    "person_point": ("recording", "body_point", "xyz"),
    "robot_point": ("recording", "body_point", "xyz"),
}
"""Dimensions of the variables that plots, videos and the sums over a log rely on."""
FLAGS = (
    "hand_contact",
    "contact_planned",
    "contact_trajectory",
    "grip_engaged",
    "is_grip",
    "is_arm",
)
"""Variables that hold flags."""
LARGEST = 1e12
"""Largest number in an array that is drawn, in its own unit."""
_KINDS: dict[type[Any], str] = {float: "iuf", int: "iu", bool: "b", str: "UO"}
_WORDS = {"iuf": "numbers", "iu": "whole numbers", "b": "flags", "UO": "texts"}


def check_log(log: xr.Dataset, path: Path) -> xr.Dataset:
    """Check the form of everything in a log that is declared; variables may be missing or more.

    `log`: log from a file; `path`: the file, for messages. Returns the same log.
    """
    for signal in ATTRIBUTE_SIGNALS:
        if signal.name in log.attrs:
            _check_attribute(log.attrs[signal.name], signal, path)
    _check_coordinates(log, path)
    for signal in (STROKES, *CONTACT_EVENT_SIGNALS):
        if signal.name in log.variables:
            _check_values(log, signal.name, signal.dims, _KINDS[signal.dtype], path)
    for name, dims in FORMS.items():
        if name in log.variables:
            _check_values(log, name, dims, _KINDS[bool] if name in FLAGS else _KINDS[float], path)
    for key, variable in log.data_vars.items():
        if not isinstance(variable.attrs.get("units"), str):
            raise RunError(
                f"{path}: {key} has no units; every variable needs a text, empty for what has none"
            )
    return log


def require_entries(log: xr.Dataset, names: Sequence[str], attributes: Sequence[str], path: Path) -> None:
    """Refuse a log that lacks what is to be read of it.

    `log`: log from `open_run`; `names`: variables and coordinates that are needed; `attributes`: attributes
    of the whole log that are needed; `path`: its run directory, for the message.
    """
    missing = [name for name in names if name not in log.variables]
    missing += [name for name in attributes if name not in log.attrs]
    if missing:
        raise RunError(
            f"{path}: its log has no {missing[0]}, which is needed here: it was damaged or changed, "
            "or another version wrote it"
        )


def require_drawable(
    log: xr.Dataset, names: Sequence[str], path: Path, may_be_missing: Sequence[str] = ()
) -> None:
    """Refuse a log with numbers that cannot be drawn, as after a simulation that diverged.

    `log`: log from `open_run`; `names`: variables over time of which every number must be finite; `path`: run
    directory, for the message; `may_be_missing`: variables over time in which samples may be missing, which
    are NaN.
    """
    for name in (*names, *may_be_missing):
        values = log[name].values.reshape(log.sizes["time"], -1)
        good = np.abs(values) <= LARGEST
        if name in may_be_missing:
            good |= np.isnan(values)
        if not good.all():
            sample = int(good.all(axis=1).argmin())
            raise RunError(
                f"{path}: {name} is NaN, infinite or beyond {LARGEST:g} at {log.time.values[sample]:g} s: "
                "the simulation diverged, or the log is damaged; there is nothing to draw"
            )


def _check_attribute(given: Any, signal: Signal[Any], path: Path) -> None:
    """Check an attribute of the whole log."""
    value, allowed = np.asarray(given), _KINDS[signal.dtype]
    if value.ndim or value.dtype.kind not in allowed:
        words = "a text" if "U" in allowed else "a number"
        raise RunError(f"{path}: the attribute {signal.name} must be {words}")


def _check_coordinates(log: xr.Dataset, path: Path) -> None:
    """Check the labels of the dimensions."""
    for signal in COORDINATE_SIGNALS:
        name = signal.name
        if name in log.variables or name == "time":
            # The labels of a dimension of length zero have no type.
            kinds = _KINDS[signal.dtype] + ("" if log.sizes.get(name) else "f")
            _check_values(log, name, (name,), kinds, path)
            _check_labels(name, [str(label) for label in log[name].values], path)
    time = log["time"].values
    if not np.isfinite(time).all() or (np.diff(time) <= 0.0).any():
        raise RunError(f"{path}: time must be finite and increase from sample to sample")


def _check_labels(name: str, labels: Sequence[str], path: Path) -> None:
    """Check the labels of a dimension that has the same ones in every log."""
    if name in LABELS and tuple(labels) != LABELS[name]:
        raise RunError(f"{path}: the labels of {name} must be {', '.join(LABELS[name])}")
    if name in ("foot", "hand") and not {*labels} <= {*SIDES}:
        raise RunError(f"{path}: the labels of {name} must be among {', '.join(SIDES)}")
    if len({*labels}) < len(labels):
        raise RunError(f"{path}: a label of {name} is there twice")


def _check_values(log: xr.Dataset, name: str, dims: tuple[Hashable, ...], kinds: str, path: Path) -> None:
    """Check that a variable is there, and its dimensions and type."""
    if name not in log.variables:
        raise RunError(f"{path}: has no variable {name}, which such a log has")
    variable = log.variables[name]
    if variable.dims != dims:
        found = ", ".join(map(str, variable.dims))
        raise RunError(f"{path}: {name} has the dimensions ({found}); must be ({', '.join(map(str, dims))})")
    texts = variable.dtype.kind == "O" and all(isinstance(value, str) for value in variable.values.flat)
    if variable.dtype.kind not in kinds or (variable.dtype.kind == "O" and not texts):
        words = next(word for kind, word in _WORDS.items() if kinds.startswith(kind))
        raise RunError(f"{path}: {name} holds {variable.dtype}; must be {words}")
