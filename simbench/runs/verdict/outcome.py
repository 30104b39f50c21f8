"""Outcome of a verdict: checks with worst value, limit, and the first moment at which they fail."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from simbench.kinematics.arrays import Array

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
        return tuple(sorted(failures, key=_order_of_failure))

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


def _order_of_failure(check: Check) -> tuple[bool, float]:
    """Key that sorts failures."""
    simulated = check.name.startswith(SIMULATED)
    return simulated, math.inf if check.first is None else check.first.time


SIMULATED = "run: "
"""Beginning of the names of checks on the simulated run."""
