"""Signals that a trace holds: declared once, each with the variable of the log that it comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import continuous_quaternions

if TYPE_CHECKING:
    import xarray as xr

POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")
"""Labels of a pose: position, then quaternion."""


class Tolerance(NamedTuple):
    """Deviation that a trace allows whatever rounding does."""

    absolute: float  # Absolute part, in the signal's unit.
    relative: float  # Part relative to the range of the channel, from its lowest to its highest value.


TOLERANCES: Mapping[str, Tolerance] = {
    "rad": Tolerance(2e-4, 5e-4),
    "m": Tolerance(1e-4, 5e-4),
    # Components of a unit quaternion are half a rotation in rad.
    "quaternion": Tolerance(1e-4, 5e-4),
    "N": Tolerance(1.0, 5e-3),
    "N m": Tolerance(0.1, 5e-3),
    "of limit": Tolerance(5e-3, 5e-3),
}
"""Tolerances by unit. The greater part counts; rounding alone stays a thousand times below both."""


@dataclass(frozen=True)
class TraceSignal:
    """A quantity in a trace, with one or more channels."""

    name: str  # Name of the signal: channels are `<name>.<label>`.
    source: str  # Variable of the log that it is computed from.
    # Dimension of the log that labels the channels, or the labels; none for a single channel.
    labels: str | tuple[str, ...]
    unit: str  # Unit, a key of `TOLERANCES`; `pose` for a position in m and a quaternion.
    description: str  # Definition of the quantity.
    compute: Callable[[xr.Dataset], Array]  # Function that computes the samples, (T, C) or (T,).


def _values(name: str) -> Callable[[xr.Dataset], Array]:
    return lambda log: log[name].values


def _torque_fraction(log: xr.Dataset) -> Array:
    limit = log["torque_limit"].values
    return np.divide(
        log["torque_motor"].values, limit, out=np.zeros(log["torque_motor"].shape), where=limit > 0.0
    )


SIGNALS: tuple[TraceSignal, ...] = (
    TraceSignal(
        "joint_position", "joint_position", "joint", "rad", "Joint positions.", _values("joint_position")
    ),
    TraceSignal("base", "base_pose", POSE, "pose", "Pose of the root link.", _values("base_pose")),
    TraceSignal("cog", "cog", "xyz", "m", "COG in the world.", _values("cog")),
    TraceSignal("zmp", "zmp", "xy", "m", "ZMP on the floor from the wrench of the floor.", _values("zmp")),
    TraceSignal(
        "zmp_measured",
        "zmp_measured",
        "xy",
        "m",
        "ZMP as the balance controller measures it, filtered.",
        _values("zmp_measured"),
    ),
    TraceSignal(
        "foot_load",
        "foot_wrench",
        "foot",
        "N",
        "Vertical force of the floor on each foot.",
        lambda log: log["foot_wrench"].values[:, :, 2],
    ),
    TraceSignal(
        "grip_force",
        "grip_wrench",
        "hand",
        "N",
        "Magnitude of the force of each grip.",
        lambda log: np.linalg.norm(log["grip_wrench"].values[:, :, :3], axis=2),
    ),
    TraceSignal(
        "grip_torque",
        "grip_wrench",
        "hand",
        "N m",
        "Magnitude of the torque of each grip.",
        lambda log: np.linalg.norm(log["grip_wrench"].values[:, :, 3:], axis=2),
    ),
    TraceSignal(
        "torque_fraction",
        "torque_motor",
        "joint",
        "of limit",
        "Motor torque of each joint as a fraction of its limit.",
        _torque_fraction,
    ),
)
"""Signals of every trace; those whose source a log lacks are left out. Positions of fixtures come on top."""


class Channel(NamedTuple):
    """One curve of a trace."""

    signal: str  # Name of its signal.
    label: str  # Label within the signal, such as a joint's name; empty for a signal with one channel.
    unit: str  # Unit, a key of `TOLERANCES`.

    @property
    def name(self) -> str:
        """Signal and label, joined by a dot."""
        return f"{self.signal}.{self.label}" if self.label else self.signal


class Samples(NamedTuple):
    """All channels of a log."""

    time: Array  # (T,): times of the samples, s.
    channels: tuple[Channel, ...]  # Names and units.
    values: Array  # (T, C): samples in the channels' units; NaN where a quantity is not defined.


def read_samples(log: xr.Dataset) -> Samples:
    """Compute the signals of a trace from a log.

    `log`: log from `open_run`. Returns all channels at the log's rate.
    """
    channels: list[Channel] = []
    columns: list[Array] = []
    for signal in (*SIGNALS, *_fixture_signals(log)):
        if signal.source not in log:
            continue
        values = np.array(signal.compute(log), dtype=float)
        values = values.reshape(len(values), -1)
        if signal.unit == "pose":
            values[:, 3:] = _signed_quaternions(values[:, 3:])
        labels: tuple[str, ...] = ("",)
        if signal.labels:
            labels = (
                tuple(log[signal.labels].values.astype(str))
                if isinstance(signal.labels, str)
                else signal.labels
            )
        for label, column in zip(labels, values.T, strict=True):
            channels.append(Channel(signal.name, label, _unit(signal, label)))
            columns.append(column)
    time = np.asarray(log["time"].values, dtype=float)
    return Samples(time, tuple(channels), np.stack(columns, axis=1))


def _signed_quaternions(quaternions: Array) -> Array:
    """Choose the sign of each quaternion (T, 4): the largest number of the first is positive."""
    if not len(quaternions):
        return quaternions
    first = quaternions[0]
    return np.copysign(1.0, first[np.abs(first).argmax()]) * continuous_quaternions(quaternions)


def _unit(signal: TraceSignal, label: str) -> str:
    if signal.unit != "pose":
        return signal.unit
    return "quaternion" if label.startswith("q") else "m"


def _fixture_signals(log: xr.Dataset) -> list[TraceSignal]:
    """Declare the positions of fixtures' joints, which have a counterpart `<name>_actor`, and free stands."""
    signals = []
    for key, variable in log.data_vars.items():
        name = str(key)
        if variable.dims == ("time",) and f"{name}_actor" in log:
            unit = str(variable.attrs["units"])
            signals.append(TraceSignal(name, name, (), unit, "Position of a fixture's joint.", _values(name)))
        elif name.endswith("_stand") and variable.dims == ("time", "pose"):
            signals.append(TraceSignal(name, name, POSE, "pose", "Pose of a fixture.", _values(name)))
    return signals
