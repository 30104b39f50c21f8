"""Schema of logs: what every log declares, the form of what is read back, and what cannot be drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
from simbench.sim.state import Signal

if TYPE_CHECKING:
    import xarray as xr

STROKES: Signal[None] = Signal(
    "strokes", ("stroke", "bound"), "s", "First and last instant of each of the recording's strokes."
)
EQUIPMENT: Signal[None] = Signal(
    "equipment", (), "", "Shapes, joints and pose of the equipment of plug-ins, as JSON.", dtype=str
)
# Columns of the table of contacts; an event lasts from its first sample to its last without a break.
CONTACT_EVENT_SIGNALS: tuple[Signal[None], ...] = (
    Signal("contact_first", ("contact",), "", "Link of the robot that touches, `robot/link`.", dtype=str),
    Signal("contact_second", ("contact",), "", "What it touches: `floor`, or `body/link`.", dtype=str),
    Signal("contact_start", ("contact",), "s", "Time of the first sample that saw the contact."),
    Signal("contact_end", ("contact",), "s", "Time of the last sample that saw the contact."),
    Signal(
        "contact_peak_force", ("contact",), "N", "Largest sum of the contact's normal forces at a sample."
    ),
)
# Labels of the dimensions that have them.
COORDINATE_SIGNALS: tuple[Signal[None], ...] = (
    Signal("time", ("time",), "s", "Time of the samples from the start of the simulation."),
    Signal("joint", ("joint",), "", "Names of the robot's joints, in its model's order.", dtype=str),
    Signal("foot", ("foot",), "", "Feet of the robot, `left` and `right`.", dtype=str),
    Signal("hand", ("hand",), "", "Hands of the robot, `left` and `right`.", dtype=str),
    Signal("xyz", ("xyz",), "", "Axes of a vector.", dtype=str),
    Signal("xy", ("xy",), "", "Axes of a horizontal vector.", dtype=str),
    Signal(
        "pose", ("pose",), "", "Numbers of a pose: position x, y, z and quaternion qx, qy, qz, qw.", dtype=str
    ),
    Signal(
        "axis6", ("axis6",), "", "Numbers of a wrench (force, moment) or twist (linear, angular).", dtype=str
    ),
)
# Attributes of the whole log.
ATTRIBUTE_SIGNALS: tuple[Signal[None], ...] = (
    Signal(
        "robot", (), "", "Name of the robot, with which the names of its links begin in contacts.", dtype=str
    ),
    Signal("mass_kg", (), "kg", "Mass of the robot that the plan assumes."),
    Signal("gravity_m_s2", (), "m/s²", "Acceleration of gravity."),
    Signal("settle_s", (), "s", "Time of standing still before anything moves; most metrics begin after it."),
    Signal("motion_start_s", (), "s", "Time at which the recording's first sample is reached."),
    Signal("grips_lost", (), "", "Number of grips that were overloaded and released.", dtype=int),
    Signal("saturated_fraction", (), "", "Fraction of all joints' physics steps whose torque was limited."),
    Signal("hand_links", (), "", "Links of the hands, separated by spaces.", dtype=str),
    Signal("foot_links", (), "", "Links of the feet, separated by spaces.", dtype=str),
    Signal("thigh_links", (), "", "Links of the thighs, separated by spaces.", dtype=str),
    Signal("seat", (), "", "Name of the fixture that the robot sits on; empty if it stands.", dtype=str),
)


# Labels that are the same in every log.
LABELS = {
    "xyz": ("x", "y", "z"),
    "xy": ("x", "y"),
    "pose": ("x", "y", "z", "qx", "qy", "qz", "qw"),
    "axis6": ("fx", "fy", "fz", "mx", "my", "mz"),
}
SIDES = ("left", "right")  # Labels of feet and hands.
# Names of variables by their dimensions.
_VARIABLES: dict[tuple[str, ...], str] = {
    ("time", "joint"): (
        "joint_position joint_velocity joint_reference torque_motor torque_requested joint_trajectory"
    ),
    ("time", "pose"): "base_pose base_trajectory",
    ("time", "axis6"): "base_velocity push_wrench",
    ("time", "xyz"): "cog cog_velocity",
    ("time", "hand", "xyz"): "palm_position palm_target palm_actor",
    ("time", "foot", "axis6"): "foot_wrench",
    ("time", "foot", "pose"): "foot_pose",
    ("time", "foot", "point", "xy"): "foot_points",
    ("time", "hand", "axis6"): "grip_wrench",
    ("time", "hand"): "grip_engaged hand_contact",
    ("joint",): "torque_limit is_grip is_arm",
    ("time", "xy"): "zmp cog_desired zmp_desired",
    ("time",): "zmp_margin",
    ("time", "corner", "xy"): "support_polygon",
    ("time", "foot"): "contact_planned contact_trajectory",
    ("time", "foot", "xyz"): "foot_trajectory",
    ("recording",): "recording_time recording_robot_time",
    ("recording", "limb"): "direction_error",
    ("recording", "body_point", "xyz"): "person_point robot_point",
}
# Dimensions of the variables that plots, videos and the sums over a log rely on.
FORMS = {name: dims for dims, names in _VARIABLES.items() for name in names.split()}
# Variables that hold flags.
FLAGS = ("hand_contact", "contact_planned", "contact_trajectory", "grip_engaged", "is_grip", "is_arm")
LARGEST = 1e12  # Largest number in an array that is drawn, in its own unit.
_KINDS: dict[type[Any], str] = {float: "iuf", int: "iu", bool: "b", str: "UO"}
_WORDS = {"iuf": "numbers", "iu": "whole numbers", "b": "flags", "UO": "texts"}
# Labels of the dimensions that `add_fidelity` adds to a log.
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
# What `add_fidelity` adds to a log.
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


def check_log(log: xr.Dataset, path: Path) -> xr.Dataset:
    """Check the form of everything in a log that is declared; variables may be missing or more.

    `log`: log from a file; `path`: the file, for messages. Returns the same log.
    """
    for signal in ATTRIBUTE_SIGNALS:
        if signal.name not in log.attrs:
            continue
        value = np.asarray(log.attrs[signal.name])
        if value.ndim or value.dtype.kind not in _KINDS[signal.dtype]:
            words = "a text" if signal.dtype is str else "a number"
            raise RunError(f"{path}: the attribute {signal.name} must be {words}")
    _check_coordinates(log, path)
    for signal in (STROKES, EQUIPMENT, *CONTACT_EVENT_SIGNALS):
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


def _check_coordinates(log: xr.Dataset, path: Path) -> None:
    """Check the labels of the dimensions, and the time."""
    for signal in COORDINATE_SIGNALS:
        name = signal.name
        if name not in log.variables and name != "time":
            continue
        # The labels of a dimension of length zero have no type.
        kinds = _KINDS[signal.dtype] + ("" if log.sizes.get(name) else "f")
        _check_values(log, name, (name,), kinds, path)
        labels = [str(label) for label in log[name].values]
        if name in LABELS and tuple(labels) != LABELS[name]:
            raise RunError(f"{path}: the labels of {name} must be {', '.join(LABELS[name])}")
        if name in ("foot", "hand") and not {*labels} <= {*SIDES}:
            raise RunError(f"{path}: the labels of {name} must be among {', '.join(SIDES)}")
        if len({*labels}) < len(labels):
            raise RunError(f"{path}: a label of {name} is there twice")
    time = log["time"].values
    if not np.isfinite(time).all() or (np.diff(time) <= 0.0).any():
        raise RunError(f"{path}: time must be finite and increase from sample to sample")


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


def has_person(log: xr.Dataset) -> bool:
    """Tell whether a log holds the person whom its robot follows.

    `log`: log of a run. Returns true if `add_fidelity` added them.
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


def fixture_coordinates(log: xr.Dataset) -> list[tuple[str, str, Array, Array]]:
    """Find the joints of the equipment in a log: the variables with a counterpart `<name>_actor`.

    `log`: log from `open_run`. Returns of each its name; its unit, `m` or `rad`; and the positions (T,) to
    which the robot and the actor moved it; empty without equipment.
    """
    names = [str(name).removesuffix("_actor") for name in log if str(name).endswith("_actor")]
    return [
        (name, log[name].attrs["units"], log[name].values, log[f"{name}_actor"].values)
        for name in names
        if name in log and log[name].dims == log[f"{name}_actor"].dims == ("time",)
    ]
