"""The trace of a scenario: its signals at a low rate, and the envelope within which a run must stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.runs.metric_catalogue import SPREADS
from simbench.runs.traces.signals import TOLERANCES, Channel


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
