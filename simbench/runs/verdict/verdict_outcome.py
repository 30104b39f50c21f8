"""Outcome of a verdict: checks with worst value, limit and first failure; how values are judged."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals

Flags = NDArray[np.bool_]

SIMULATED = "run: "  # Beginning of the names of checks on the simulated run.
# Time integral of value / limit − 1, s, from which an excess of a force counts: less is a corner of a curve
# that any controller rounds.
LEAST_EXCESS_TIME = 0.01
_STILL_NEAR = 0.9  # Part of a limit down to which a force may sink between two excesses that are one.

Outcome = Literal["pass", "fail", "not applicable"]


@dataclass(frozen=True)
class Moment:
    """A moment of a motion."""

    time: float  # Time, s.
    frame: int  # Index of the sample, from 0.


@dataclass(frozen=True)
class Check:
    """One check of a motion."""

    name: str  # Name of the check, such as `foot skate`.
    outcome: Outcome  # `pass`, `fail` or `not applicable`.
    value: float | None = None  # Worst value; None where there is none.
    limit: float | None = None  # Largest value that passes; None where nothing is judged.
    unit: str = ""  # Unit of value and limit.
    worst: Moment | None = None  # When the value is worst.
    first: Moment | None = None  # First moment at which the check fails.
    # Joint, foot or pair of links with the worst value, or with the first failure if the check fails.
    where: str = ""
    reason: str = ""  # Why the check is not applicable, or a remark.
    # (T,) or None: the value over the samples of the motion, NaN where it is not judged.
    series: Array | None = field(default=None, compare=False, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Return the check as plain values, without the series.

        Returns value by field; moments as dictionaries of `time` and `frame`.
        """
        values = {key: value for key, value in vars(self).items() if key != "series"}
        for key in ("worst", "first"):
            moment = values[key]
            values[key] = None if moment is None else asdict(moment)
        for key in ("value", "limit"):
            number = values[key]
            values[key] = number if number is None or math.isfinite(number) else None
        return values


@dataclass(frozen=True)
class Verdict:
    """Whether a robot's motion is physically possible, and the checks that say so.

    Parameters
    ----------
    robot : str
        Name of the robot.
    source : str
        Where the motion is from.
    duration : float
        Duration of the motion, s.
    frames : int
        Number of its samples.
    checks : tuple of Check
        The checks, in the order in which they are shown.
    notes : tuple of str
        What was found out about the motion, one line each.
    doubts : tuple of str
        What may well be wrong with how the motion was read, one line each.
    time : (T,) array
        Times of the samples, s.
    """

    robot: str
    source: str
    duration: float
    frames: int
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    time: Array = field(default_factory=lambda: np.empty(0), compare=False, repr=False)

    @property
    def failed(self) -> tuple[Check, ...]:
        """Checks that fail, the earliest first; those of the simulated run, which has its own time, last."""
        failures = [check for check in self.checks if check.outcome == "fail"]
        failures.sort(key=lambda check: math.inf if check.first is None else check.first.time)
        return tuple(sorted(failures, key=lambda check: check.name.startswith(SIMULATED)))

    @property
    def passed(self) -> bool:
        """Whether no check fails."""
        return not self.failed

    @property
    def summary(self) -> str:
        """The verdict in one line."""
        judged = [check for check in self.checks if check.outcome != "not applicable"]
        if self.passed:
            return f"passes all {len(judged)} checks"
        failures = "; ".join(map(describe_failure, self.failed))
        return f"fails {len(self.failed)} of {len(judged)} checks: {failures}"

    def check(self, name: str) -> Check:
        """Return the check of a name.

        Parameters
        ----------
        name : str
            Name of the check.

        Returns
        -------
        Check
            The check.

        Raises
        ------
        KeyError
            If there is no such check.
        """
        return {check.name: check for check in self.checks}[name]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON.

        Returns
        -------
        dict
            Keys `robot`, `source`, `duration_s`, `frames`, `passed`, `summary`, `checks`, `notes`, `doubts`.
        """
        return {
            "robot": self.robot,
            "source": self.source,
            "duration_s": self.duration,
            "frames": self.frames,
            "passed": self.passed,
            "summary": self.summary,
            "checks": [check.as_dict() for check in self.checks],
            "notes": list(self.notes),
            "doubts": list(self.doubts),
        }


def describe_failure(check: Check) -> str:
    """Say in a few words what fails, where and from when.

    Returns such as `foot skate (left_foot) from 1.23 s (frame 37)`.
    """
    where = f" ({check.where})" if check.where else ""
    moment = check.first
    since = "" if moment is None else f" from {moment.time:.2f} s (frame {moment.frame})"
    return f"{check.name}{where}{since}"


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
    labels: Sequence[str] = ("",),
    *,
    limit: float,
    unit: str,
    failing: Flags | None = None,
) -> Check:
    """Judge values over time: the worst one, and the first sample that fails.

    `name`: name of the check; `time` (T,): times of the samples, s; `values` (T, N) or (T,): values, larger
    is worse; NaN where they are not judged; `labels`: what each column is: joints, feet; `limit`: largest
    value that passes; `failing` of bool, shaped as the values: samples that fail, where this is not simply
    beyond the limit.
    """
    if values.ndim == 1:
        values = values[:, None]
        failing = None if failing is None else failing[:, None]
    if failing is None:
        failing = np.nan_to_num(values, nan=-np.inf) > limit
    known = np.where(np.isnan(values), -np.inf, values)
    series = np.where(np.isfinite(known.max(axis=1)), known.max(axis=1), np.nan)
    if not np.isfinite(known).any():
        return Check(name, "not applicable", limit=limit, unit=unit, reason="nothing to judge", series=series)
    worst, column = divmod(_first_of_largest(known), known.shape[1])
    fails = failing.any(axis=1)
    first = None
    if fails.any():
        frame = int(fails.argmax())
        first = moment_at(time, frame)
        column = _first_of_largest(np.where(failing[frame], known[frame], -np.inf))
    return Check(
        name,
        "fail" if first else "pass",
        float(known[worst].max()),
        limit,
        unit,
        moment_at(time, worst),
        first,
        labels[column],
        series=series,
    )


def _first_of_largest(values: Array) -> int:
    """Index of the first of the largest values; those that only rounding tells apart are equal."""
    return int(np.isclose(values, values.max(), rtol=1e-9, atol=0.0).argmax())


def since_onset(values: Array, limit: float, active: Flags) -> Flags:
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


def lasting_excess(time: Array, values: Array, limit: float) -> Flags:
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


def lasting_integral(time: Array, excess: Array, least: float) -> Flags:
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
