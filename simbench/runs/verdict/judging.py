"""Judging a value over time against its limit: the worst moment and the first one that counts."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals
from simbench.runs.verdict.outcome import Check, Moment

LEAST_EXCESS_TIME = 0.01
"""Time integral of value / limit − 1, s, from which an excess of a force counts: less is a corner of a curve
that any controller rounds."""


_STILL_NEAR = 0.9
"""Part of a limit down to which a force may sink between two excesses that are one."""


def moment_at(time: Array, frame: int) -> Moment:
    """Make the moment of a sample. `time` (T,): times of the samples, s; `frame`: index of the sample."""
    return Moment(float(time[frame]), int(frame))


def not_applicable(name: str, reason: str) -> Check:
    """Make a check that is not applicable. `reason`: why it is not."""
    return Check(name, "not applicable", reason=reason)


def judge(
    name: str,
    time: Array,
    values: Array,
    labels: Sequence[str],
    *,
    limit: float,
    unit: str,
    failing: NDArray[np.bool_] | None = None,
) -> Check:
    """Judge values over time: the worst one, and the first sample that fails.

    `name`: name of the check; `time` (T,): times of the samples, s; `values` (T, N): values, larger is worse;
    NaN where they are not judged; `labels`: what each column is: joints, feet; `limit`: largest value that
    passes; `failing` (T, N) of bool: samples that fail, where this is not simply beyond the limit.
    """
    if failing is None:
        failing = np.nan_to_num(values, nan=-np.inf) > limit
    known = np.where(np.isnan(values), -np.inf, values)
    series = np.where(np.isfinite(known.max(axis=1)), known.max(axis=1), np.nan)
    if not np.isfinite(known).any():
        return Check(name, "not applicable", limit=limit, unit=unit, reason="nothing to judge", series=series)
    worst, column = np.unravel_index(int(known.argmax()), known.shape)
    fails = failing.any(axis=1)
    first = None
    if fails.any():
        frame = int(fails.argmax())
        first = moment_at(time, frame)
        column = np.where(failing[frame], known[frame], -np.inf).argmax()
    return Check(
        name,
        "fail" if first else "pass",
        float(known[worst].max()),
        limit,
        unit,
        moment_at(time, int(worst)),
        first,
        labels[int(column)],
        series=series,
    )


def since_onset(values: Array, limit: float, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Find samples that fail: those beyond the limit, and those of a run of active samples that leads there.

    `values` (T, N): values, larger is worse; `limit`: largest value that passes; `active` (T, N) of bool:
    samples in which the fault is under way, such as those in which a foot slides. Returns (T, N) of bool.
    """
    failing = values > limit
    result = failing.copy()
    for column in np.flatnonzero(failing.any(axis=0)):
        for first, last in contact_intervals(active[:, column]):
            run = slice(first, last + 1)
            result[run, column] |= failing[run, column].any()
    return np.asarray(result)


def lasting_excess(time: Array, values: Array, limit: float) -> NDArray[np.bool_]:
    """Find the samples of excesses whose time integral of value / limit − 1 is at least 10 ms.

    A shorter excess before such a one is part of it if the value stays above 0.9 of the limit in between.
    `time` (T,): times of the samples, s; `values` (T, N): values, NaN where they are not judged; `limit`:
    limit, positive. Returns (T, N) of bool.
    """
    ratio = np.nan_to_num(values, nan=0.0) / limit
    lasting = lasting_integral(time, ratio - 1.0, LEAST_EXCESS_TIME)
    for column in np.flatnonzero(lasting.any(axis=0)):
        for first, last in contact_intervals(ratio[:, column] > _STILL_NEAR):
            run = slice(first, last + 1)
            lasting[run, column] |= lasting[run, column].any() & (ratio[run, column] > 1.0)
    return lasting


def lasting_integral(time: Array, excess: Array, least: float) -> NDArray[np.bool_]:
    """Find the samples of runs of positive excess whose time integral is at least a given one.

    `time` (T,): times of the samples, s; `excess` (T, N): excess over a limit; not positive within it;
    `least`: least time integral of a run that counts, the excess's unit times s. Returns (T, N) of bool:
    samples of the runs that count.
    """
    durations = np.gradient(time)
    lasting = np.zeros(excess.shape, bool)
    for column in np.flatnonzero((excess > 0.0).any(axis=0)):
        for first, last in contact_intervals(excess[:, column] > 0.0):
            run = slice(first, last + 1)
            lasting[run, column] = excess[run, column] @ durations[run] >= least
    return lasting
