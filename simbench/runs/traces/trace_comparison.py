"""Comparison of a run with a trace: the first sample at which a signal leaves its envelope, or comes late."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.runs.metric_catalogue import SPREADS
from simbench.runs.traces.trace_signals import Channel, Samples, Trace

# Allowed lag or lead of a signal, as a fraction of the time between two samples of the log.
TIME_TOLERANCE = 0.2
LARGEST_LAG = 0.25  # Largest lag that is looked for, s.
EVIDENCE = 9.0  # Sum of squared deviations, each in tolerances, from which a lag is significant.
_EXPLAINED = 0.25  # Fraction of that sum which may remain after the shift.
_ITERATIONS = 12
_CONVERGED = 1e-7  # Step of the lag at which the search ends, s.

_SMALLEST = 1e-12  # Differences of sums of positions that count as this: their rounding, rad or m.
# Difference with which rounding may begin, or that it may reach in one jump, rad or m. Masses that differ by
# 1e-12 begin with less than 1e-13; 1 % of the floor's friction, the least change that was tried, with 1e-9.
_LARGEST_ROUNDING = 1e-11
_LARGEST_JUMP = 1e3  # Growth from one sample to the next from which a difference jumps.

Outcome = Literal["left its envelope", "lags", "leads", "undefined", "ended", "missing"]


class Lag(NamedTuple):
    """How late a signal of a run is."""

    lag: float  # Time by which the run lags the trace, s; negative where it leads.
    before: float  # Sum of the squared deviations of all its samples, each in units of its tolerance.
    after: float  # The same once the run is shifted by the lag.

    @property
    def explains(self) -> bool:
        """Whether the shift explains most of a deviation that is significant."""
        return self.before > EVIDENCE and self.after < _EXPLAINED * self.before


class Divergence(NamedTuple):
    """A channel of a run that differs from its baseline."""

    channel: Channel  # Its signal, label and unit.
    # `left its envelope`; `lags` or `leads` by more than the time tolerance; `undefined` where the baseline
    # has a value, or the other way round; `ended` before the baseline; `missing` in the run.
    outcome: Outcome
    time: float  # Time of its first diverging sample, s.
    ratio: float  # Deviation there, as a multiple of the allowed one.
    now: float  # Value of the run there, in the channel's unit.
    was: float  # Value of the baseline there.
    tolerance: float  # Allowed deviation there.
    peak_ratio: float  # Greatest multiple of the allowed deviation in the whole run.
    peak_time: float  # Time of it, s.
    # Time by which the signal lags the baseline, s; 0 where a shift does not explain the deviation.
    lag: float


class Growth(NamedTuple):
    """How the joint positions of a run went away from those of its baseline."""

    first: float  # Time of the first sample that differs at all, s.
    size: float  # Difference there, rad or m.
    planned: bool  # Whether the planned positions differ there already.
    # Time of the sample at which the difference grew most from the one before, s, by which factor, and what
    # it was then. Less than `_SMALLEST` counts as that.
    jump_time: float
    jump: float
    jump_size: float
    decade: float  # Time in which it grew tenfold on average until it was greatest, s.

    @property
    def rounding(self) -> bool:
        """Whether it looks like rounding: it begins with it, and grows from there without a jump."""
        return self.size <= _LARGEST_ROUNDING and (
            self.jump <= _LARGEST_JUMP or self.jump_size <= _LARGEST_ROUNDING
        )


def measure_growth(trace: Trace, run: Samples) -> Growth | None:
    """Measure how a difference grew: from rounding little by little, or at once to what a change makes of it.

    `trace`: trace of the baseline; `run`: channels of the run. Returns None where nothing differs, or one of
    them has no sums to tell.
    """
    if trace.sums is None or run.sums is None:
        return None
    inside = trace.time <= run.time[-1] + 0.5 / trace.log_rate
    times = trace.time[inside]
    rows = np.rint(np.interp(times, run.time, np.arange(len(run.time)))).astype(int)
    apart = np.abs(run.sums[rows] - trace.sums[inside])
    greatest = np.maximum.accumulate(apart.max(axis=1))
    different = np.flatnonzero(greatest > 0.0)
    if not len(different):
        return None
    first, counted = int(different[0]), np.maximum(greatest, _SMALLEST)
    jumps = counted / np.concatenate([[_SMALLEST], counted[:-1]])
    jump, last = int(jumps.argmax()), int(np.argmax(greatest == greatest[-1]))
    begin = int(np.argmax(greatest >= min(_SMALLEST, greatest[-1])))
    decades = np.log10(counted[last] / counted[begin])
    return Growth(
        float(times[first]),
        float(greatest[first]),
        bool(apart[first, 0] > 0.0),
        float(times[jump]),
        float(jumps[jump]),
        float(greatest[jump]),
        float((times[last] - times[begin]) / decades) if decades > 0.0 else np.inf,
    )


def describe_growth(growth: Growth) -> str:
    """Describe in one line how a difference grew, and what it looks like."""
    part = "planned" if growth.planned else "measured"
    begins = f"{part} joint positions differ by {growth.size:.1e} from {growth.first:.3f} s on"
    if growth.rounding:
        grows = f", ten times as much every {growth.decade:.2g} s" if np.isfinite(growth.decade) else ""
        return f"looks like rounding: {begins}{grows}"
    if growth.jump_time > growth.first:
        begins += f", at {growth.jump_time:.3f} s by {growth.jump_size:.1e}, {growth.jump:.0e} times as much"
    return f"looks like a change, not like rounding: {begins}"


def compare_trace(trace: Trace, run: Samples) -> tuple[Divergence, ...]:
    """Compare a run with a trace, channel by channel.

    A signal that lags or leads by less than the time tolerance is shifted before it is compared. One that is
    further off in time, and follows the baseline otherwise, is reported as lagging or leading. Returns the
    channels that diverge, the earliest first; of those that do so at the same sample, the one that is
    furthest outside its envelope first.
    """
    index = {channel.name: column for column, channel in enumerate(run.channels)}
    start = float(trace.time[0])
    found = [
        Divergence(channel, "missing", start, np.inf, np.nan, was, 0.0, np.inf, start, 0.0)
        for channel, was in zip(trace.channels, trace.values[0].tolist(), strict=True)
        if channel.name not in index
    ]
    kept = [column for column, channel in enumerate(trace.channels) if channel.name in index]
    shared = Trace(
        trace.time,
        tuple(trace.channels[column] for column in kept),
        trace.values[:, kept],
        trace.envelope[:, kept],
        trace.lags,
        trace.log_rate,
    )
    columns = [index[channel.name] for channel in shared.channels]
    ours = Samples(run.time, shared.channels, run.values[:, columns])
    inside = shared.time <= ours.time[-1] + 0.5 / shared.log_rate
    times, baseline, tolerance = shared.time[inside], shared.values[inside], shared.tolerance[inside]
    lags = estimate_lags(shared, ours)
    values = sample_at(ours, times)
    for signal in shared.signals:
        columns = shared.columns(signal)
        lag, allowed = lags[signal], time_tolerance(shared, signal)
        late = abs(lag.lag) > allowed and lag.explains
        compared = _ratios(values[:, columns], baseline[:, columns], tolerance[:, columns])
        if abs(lag.lag) <= allowed:
            # A shift within the tolerance is none.
            part = Samples(ours.time, tuple(ours.channels[c] for c in columns), ours.values[:, columns])
            shifted = sample_at(part, times + lag.lag)
            compared = np.fmin(compared, _ratios(shifted, baseline[:, columns], tolerance[:, columns]))
        for column, ratios in zip(columns, compared.T, strict=True):
            outside = np.flatnonzero(ratios > 1.0)
            if late and not len(outside):
                # The first sample by which the lag is certain.
                outside = np.flatnonzero(np.cumsum(ratios**2) > EVIDENCE)
            if not len(outside):
                continue
            first, peak = int(outside[0]), int(ratios.argmax())
            outcome: Outcome = "left its envelope"
            if np.isfinite(values[first, column]) != np.isfinite(baseline[first, column]):
                outcome = "undefined"
            elif late:
                outcome = "lags" if lag.lag > 0.0 else "leads"
            found.append(
                Divergence(
                    shared.channels[column],
                    outcome,
                    float(times[first]),
                    float(ratios[first]),
                    float(values[first, column]),
                    float(baseline[first, column]),
                    float(tolerance[first, column]),
                    float(ratios[peak]),
                    float(times[peak]),
                    lag.lag if late else 0.0,
                )
            )
    if not inside.all():
        # A run that ended before its baseline is reported once: on the first channel whose end is expected.
        end, row = float(ours.time[-1]), int(inside.sum())
        expected = np.isfinite(shared.tolerance[row]) & np.isfinite(shared.values[row])
        earlier = [each for each in found if each.outcome != "missing" and each.time < end]
        if expected.any() and not earlier:
            column = int(expected.argmax())
            was, allowed = float(shared.values[row, column]), float(shared.tolerance[row, column])
            channel = shared.channels[column]
            found.append(Divergence(channel, "ended", end, np.inf, np.nan, was, allowed, np.inf, end, 0.0))
    found.sort(key=lambda each: (each.time, -each.ratio))
    return tuple(found)


def time_tolerance(trace: Trace, signal: str) -> float:
    """Return how far a signal may lag or lead.

    `trace`: trace of the baseline; `signal`: name of the signal. Returns time, s: a fraction of a sample of
    the log, or what rounding was seen to do times `SPREADS`.
    """
    return max(TIME_TOLERANCE / trace.log_rate, SPREADS * trace.lags.get(signal, 0.0))


def _ratios(now: Array, was: Array, tolerance: Array) -> Array:
    """Compute deviations (T, C) as multiples of what is allowed; infinite where only one value is defined."""
    with np.errstate(invalid="ignore"):
        ratios = np.abs(now - was) / tolerance
    one = np.isfinite(now) != np.isfinite(was)
    ratios = np.where(one, np.inf, np.where(np.isfinite(ratios), ratios, 0.0))
    return np.where(np.isinf(tolerance), 0.0, ratios)


def describe_divergence(divergence: Divergence) -> str:
    """Describe a diverging channel in one line.

    `divergence`: A channel that differs from its baseline. Returns channel, time, by how much, and both
    values.
    """
    each = divergence
    if each.outcome == "missing":
        return f"{each.channel.name} is missing in the run"
    if each.outcome == "ended":
        return f"the run ends at {each.time:.3f} s, before its baseline"
    where = f"{each.channel.name} at {each.time:.3f} s"
    if each.outcome == "undefined":
        words = "is not defined, but is" if np.isnan(each.now) else "is defined, but is not"
        return f"{where} {words} in the baseline"
    unit = "" if each.channel.unit == "quaternion" else f" {each.channel.unit}"
    how = f"{each.ratio:.3g} times its envelope"
    if each.outcome in ("lags", "leads"):
        how = f"{each.outcome} by {1e3 * abs(each.lag):.2g} ms, {how}"
    peak = (
        f"; {each.peak_ratio:.3g} times at {each.peak_time:.3f} s"
        if each.peak_ratio >= 1.1 * each.ratio
        else ""
    )
    return f"{where}, {how} (now {each.now:.5g}, baseline {each.was:.5g}{unit}){peak}"


def sample_at(samples: Samples, times: Array) -> Array:
    """Interpolate the channels of a log linearly.

    `samples`: channels at the log's rate; `times` (T,): times, s; those outside the log take its first or
    last sample. Returns (T, C): values; NaN beside a sample that is NaN.
    """
    position = np.interp(times, samples.time, np.arange(len(samples.time), dtype=float))
    # A time that is a sample's but for rounding must not mix in its neighbour, which may be NaN.
    nearest = np.rint(position)
    position = np.where(np.abs(position - nearest) < 1e-6, nearest, position)
    low = np.floor(position).astype(int)
    high = np.ceil(position).astype(int)
    fraction = (position - low)[:, None]
    below, above = samples.values[low], samples.values[high]
    return np.where(fraction == 0.0, below, below + fraction * (above - below))


def estimate_lags(trace: Trace, run: Samples) -> dict[str, Lag]:
    """Estimate by how much each signal of a run lags a trace.

    All channels of a signal count, each sample in units of its tolerance: Gauss-Newton's method minimises the
    sum of squared deviations over the shift in time. `trace`: trace of the baseline; `run`: channels of the
    run, at least those of the trace and in its order.
    """
    tolerance = trace.tolerance
    inside = trace.time <= run.time[-1]
    times = trace.time[inside]
    half = 0.5 / trace.log_rate
    found: dict[str, Lag] = {}
    for signal in trace.signals:
        columns = trace.columns(signal)
        part = Samples(run.time, tuple(run.channels[c] for c in columns), run.values[:, columns])
        weight = 1.0 / tolerance[inside][:, columns]
        target = trace.values[inside][:, columns]

        def errors(
            shift: float, part: Samples = part, weight: Array = weight, target: Array = target
        ) -> Array:
            deviation = (sample_at(part, times + shift) - target) * weight
            return np.where(np.isfinite(deviation), deviation, 0.0)

        lag = 0.0
        for _ in range(_ITERATIONS):
            slope = (errors(lag + half) - errors(lag - half)) / (2.0 * half)
            curvature = float(np.sum(slope**2))
            if curvature == 0.0:
                break
            step = -float(np.sum(slope * errors(lag))) / curvature
            lag = float(np.clip(lag + np.clip(step, -0.05, 0.05), -LARGEST_LAG, LARGEST_LAG))
            if abs(step) < _CONVERGED:
                break
        before = float(np.sum(errors(0.0) ** 2))
        after = float(np.sum(errors(lag) ** 2))
        found[signal] = Lag(lag, before, after) if after < before else Lag(0.0, before, before)
    return found
