"""Measurement of a trace from a run of the scenario and its perturbed repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.ndimage import maximum_filter1d

from simbench.kinematics.arrays import Array
from simbench.runs.metric_catalogue import SPREADS
from simbench.runs.traces.lag import estimate_lags
from simbench.runs.traces.signals import Samples
from simbench.runs.traces.trace import Trace, usual_tolerances

UNDEFINED_MARGIN = 0.1
"""Time around a sample whose definition rounding decides, such as the ZMP at a touch-down, within which
nothing is expected of the channel, s."""
_WINDOW = 0.2
"""Time before and after a sample over which the envelope takes the greatest deviation, s."""
_DECAY = 0.5
"""Time constant with which the envelope fades after a peak, s."""


def measure_trace(runs: Sequence[Samples], rate: float) -> Trace:
    """Make a trace from a run and from repetitions whose inputs differ by rounding.

    `runs`: channels of the scenario, then of its repetitions; all have the same channels and rate; `rate`:
    greatest rate of the trace, 1/s: it takes every n-th sample of the log. Returns samples of the first run,
    with the envelope of the others around it.
    """
    first, *others = runs
    log_rate = (len(first.time) - 1) / (first.time[-1] - first.time[0]) if len(first.time) > 1 else rate
    stride = max(1, int(np.ceil(log_rate / rate - 1e-6)))
    envelope = _measure_envelope(first, others, float(log_rate))
    usual = usual_tolerances(first.channels, first.values)
    # What does not exceed the usual tolerance need not be kept.
    envelope[SPREADS * envelope <= usual] = 0.0
    kept = slice(None, None, stride)
    trace = Trace(first.time[kept], first.channels, first.values[kept], envelope[kept], {}, float(log_rate))
    measured = [estimate_lags(trace, other) for other in others]
    lags = {
        signal: max((abs(lags[signal].lag) for lags in measured if signal in lags), default=0.0)
        for signal in trace.signals
    }
    return replace(trace, lags=lags)


def _measure_envelope(first: Samples, others: Sequence[Samples], log_rate: float) -> Array:
    """Compute a maximum of the deviations, (T, C), over all samples of the log near each and, fading, before.

    Where a motion has become chaotic it mostly stays so, and then the maximum stays, too. Where a robot comes
    to rest after a first contact that rounding decides, deviations fade within a second, and so must the
    envelope: a maximum from the start would hide every later change.
    """
    count = len(first.time)
    greatest = np.zeros_like(first.values)
    undecided = np.zeros(first.values.shape, dtype=bool)
    for other in others:
        shared = min(count, len(other.time))
        mine, theirs = first.values[:shared], other.values[:shared]
        undecided[:shared] |= np.isfinite(mine) != np.isfinite(theirs)
        undecided[shared:] = True
        deviation = np.abs(mine - theirs)
        greatest[:shared] = np.fmax(greatest[:shared], np.nan_to_num(deviation, nan=0.0))
    window = 2 * max(1, round(_WINDOW * log_rate)) + 1
    envelope = maximum_filter1d(greatest, window, axis=0, mode="nearest")
    remains = np.exp(-1.0 / (_DECAY * log_rate))
    for row in range(1, count):
        np.maximum(envelope[row], remains * envelope[row - 1], out=envelope[row])
    margin = max(1, round(UNDEFINED_MARGIN * log_rate))
    near = maximum_filter1d(undecided.astype(np.uint8), 2 * margin + 1, axis=0, mode="nearest")
    envelope[near > 0] = np.inf
    return envelope
