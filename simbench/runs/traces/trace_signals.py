"""Traces: signals of a scenario at a low rate, and the envelope within which a run must stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import continuous_quaternions
from simbench.runs.metric_catalogue import SPREADS

if TYPE_CHECKING:
    import xarray as xr

_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
POSE = ("x", "y", "z", "qx", "qy", "qz", "qw")  # Labels of a pose: position, then quaternion.


class Tolerance(NamedTuple):
    """Deviation that a trace allows whatever rounding does."""

    absolute: float  # Absolute part, in the signal's unit.
    relative: float  # Part relative to the range of the channel, from its lowest to its highest value.


# Tolerances by unit. The greater part counts; rounding alone stays a thousand times below both.
TOLERANCES: Mapping[str, Tolerance] = {
    "rad": Tolerance(2e-4, 5e-4),
    "m": Tolerance(1e-4, 5e-4),
    # Components of a unit quaternion are half a rotation in rad.
    "quaternion": Tolerance(1e-4, 5e-4),
    "N": Tolerance(1.0, 5e-3),
    "N m": Tolerance(0.1, 5e-3),
    "of limit": Tolerance(5e-3, 5e-3),
}


@dataclass(frozen=True)
class TraceSignal:
    """A quantity in a trace, with one or more channels."""

    name: str  # Name of the signal: channels are `<name>.<label>`.
    source: str  # Variable of the log that it is computed from.
    # Dimension of the log that labels the channels, or the labels; none for a single channel.
    labels: str | tuple[str, ...]
    unit: str  # Unit, a key of `TOLERANCES`; `pose` for a position in m and a quaternion.
    compute: Callable[[xr.Dataset], Array]  # Function that computes the samples, (T, C) or (T,).


def _values(name: str) -> Callable[[xr.Dataset], Array]:
    return lambda log: log[name].values


def _grip_magnitude(part: slice) -> Callable[[xr.Dataset], Array]:
    return lambda log: np.linalg.norm(log["grip_wrench"].values[:, :, part], axis=2)


def _torque_fraction(log: xr.Dataset) -> Array:
    torque, limit = log["torque_motor"].values, log["torque_limit"].values
    return np.divide(torque, limit, out=np.zeros(torque.shape), where=limit > 0.0)


# Signals of every trace; those whose source a log lacks are left out. Positions of fixtures come on top.
SIGNALS: tuple[TraceSignal, ...] = (
    TraceSignal("joint_position", "joint_position", "joint", "rad", _values("joint_position")),
    TraceSignal("base", "base_pose", POSE, "pose", _values("base_pose")),
    TraceSignal("cog", "cog", "xyz", "m", _values("cog")),
    # From the wrench of the floor; then as the balance controller measures it, filtered.
    TraceSignal("zmp", "zmp", "xy", "m", _values("zmp")),
    TraceSignal("zmp_measured", "zmp_measured", "xy", "m", _values("zmp_measured")),
    # Vertical force of the floor on each foot, magnitude of force and torque of each grip.
    TraceSignal("foot_load", "foot_wrench", "foot", "N", lambda log: log["foot_wrench"].values[:, :, 2]),
    TraceSignal("grip_force", "grip_wrench", "hand", "N", _grip_magnitude(slice(0, 3))),
    TraceSignal("grip_torque", "grip_wrench", "hand", "N m", _grip_magnitude(slice(3, 6))),
    # Motor torque of each joint as a fraction of its limit.
    TraceSignal("torque_fraction", "torque_motor", "joint", "of limit", _torque_fraction),
)


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
    sums: Array | None = None  # (T, 2): weighted sums of planned and of measured joint positions.


def read_samples(log: xr.Dataset) -> Samples:
    """Compute the signals of a trace from a log.

    `log`: log from `open_run`. Returns all channels at the log's rate.
    """
    channels: list[Channel] = []
    columns: list[Array] = []
    signals = [signal for signal in SIGNALS if signal.source in log]
    # Positions of fixtures' joints have a counterpart `<name>_actor`; some fixtures stand freely.
    for name in map(str, log.data_vars):
        if log[name].dims == ("time",) and f"{name}_actor" in log:
            unit = str(log[name].attrs["units"])
            signals.append(TraceSignal(name, name, (), unit, _values(name)))
        elif name.endswith("_stand") and log[name].dims == ("time", "pose"):
            signals.append(TraceSignal(name, name, POSE, "pose", _values(name)))
    for signal in signals:
        values = np.array(signal.compute(log), dtype=float)
        values = values.reshape(len(values), -1)
        if signal.unit == "pose" and len(values):
            # Of the first quaternion, the largest number is positive.
            first = values[0, 3:]
            sign = np.copysign(1.0, first[np.abs(first).argmax()])
            values[:, 3:] = sign * continuous_quaternions(values[:, 3:])
        labels: tuple[str, ...] = ("",)
        if signal.labels:
            labels = (
                tuple(log[signal.labels].values.astype(str))
                if isinstance(signal.labels, str)
                else signal.labels
            )
        for label, column in zip(labels, values.T, strict=True):
            unit = ("quaternion" if label.startswith("q") else "m") if signal.unit == "pose" else signal.unit
            channels.append(Channel(signal.name, label, unit))
            columns.append(column)
    time = np.asarray(log["time"].values, dtype=float)
    parts = [log[name].values for name in ("joint_reference", "joint_position")]
    # Of weights 0.5 to 1 that no symmetry of a motion cancels.
    weights = [0.5 + 0.5 * np.modf(np.arange(1, part.shape[1] + 1) * _GOLDEN)[0] for part in parts]
    sums = np.stack([part @ weight for part, weight in zip(parts, weights, strict=True)], axis=1)
    return Samples(time, tuple(channels), np.stack(columns, axis=1), sums)


@dataclass(frozen=True)
class Trace:
    """Signals of a scenario's run at a low rate, and how far rounding alone moved each of them.

    The samples are those of the log at their instants. They are not low-pass filtered: a run is compared at
    the same instants, so nothing is reconstructed between them and aliasing does no harm.
    """

    time: Array  # (T,).
    channels: tuple[Channel, ...]  # Names and units.
    values: Array  # (T, C): samples in the channels' units; NaN where a quantity is not defined.
    # (T, C): greatest deviation of the perturbed runs near each sample, in the channels' units; infinite
    # where rounding decides whether there is a value.
    envelope: Array
    lags: Mapping[str, float]  # Greatest lag of a perturbed run by signal, s.
    log_rate: float  # Rate of the log, 1/s.
    # (T, 2): weighted sums of the planned and of the measured joint positions with all digits, from which a
    # difference as small as rounding is seen; None in a trace without them.
    sums: Array | None = None

    @property
    def signals(self) -> tuple[str, ...]:
        """Names of the signals."""
        return tuple(dict.fromkeys(channel.signal for channel in self.channels))

    def columns(self, signal: str) -> list[int]:
        """Return the columns of a signal's channels.

        `signal`: name of the signal. Returns indices into `channels`.
        """
        return [column for column, channel in enumerate(self.channels) if channel.signal == signal]

    @property
    def tolerance(self) -> Array:
        """Allowed deviation, (T, C): the usual tolerance, or what rounding does times `SPREADS`."""
        return np.maximum(usual_tolerances(self.channels, self.values), SPREADS * self.envelope)


def usual_tolerances(channels: Sequence[Channel], values: Array) -> Array:
    """Compute the deviation that is allowed whatever rounding does.

    `channels`: names and units; `values` (T, C): samples; NaN where a quantity is not defined. Returns (C,):
    tolerances in the channels' units.
    """
    finite = np.isfinite(values)
    highest = np.max(values, axis=0, where=finite, initial=-np.inf)
    lowest = np.min(values, axis=0, where=finite, initial=np.inf)
    extent = np.where(highest >= lowest, highest - lowest, 0.0)
    kinds = [TOLERANCES[channel.unit] for channel in channels]
    absolute = np.array([kind.absolute for kind in kinds])
    return np.maximum(absolute, np.array([kind.relative for kind in kinds]) * extent)
