"""Outcome of a verdict: checks with worst value, limit and first failure; how values are judged."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals

Flags = NDArray[np.bool_]

SIMULATED = "run: "
"""Beginning of the names of checks on the simulated run."""
LEAST_EXCESS_TIME = 0.01
"""Time integral of value / limit − 1, s, from which an excess of a force counts: less is a corner of a curve
that any controller rounds."""
_STILL_NEAR = 0.9
"""Part of a limit down to which a force may sink between two excesses that are one."""

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


class Threshold(NamedTuple):
    """A bound of a check."""

    check: str  # Name of the check that uses it.
    what: str
    value: float  # Largest value that passes.
    unit: str  # Its unit; empty for a ratio of two forces.
    reason: str  # Why it is what it is.


POSITION = Threshold(
    "joint position", "distance beyond a limit", 5e-3, "rad or m", "rounding and noise: a third of a degree"
)
JUMP_STEP = Threshold(
    "jump",
    "step of a joint, or of the base's orientation, less the steps beside it",
    0.1,
    "rad or m",
    "another branch is farther away",
)
JUMP_ACCELERATION = Threshold(
    "jump", "… and the acceleration that it needs", 300.0, "rad/s²", "no motor of a limb gives more"
)
BASE_JUMP_STEP = Threshold(
    "jump",
    "step of the base's position, less the steps beside it",
    0.02,
    "m",
    "less is the noise of a recording",
)
BASE_JUMP_ACCELERATION = Threshold(
    "jump", "… and the acceleration that it needs", 20.0, "m/s²", "twice gravity within a frame"
)
JUMP_RATIO = Threshold(
    "jump",
    "… and its ratio to the spread of the two steps on either side",
    4.0,
    "times",
    "in a fast motion steps change gradually",
)
SPEED = Threshold("joint speed", "speed", 1.02, "of limit", "error of differentiation at 30 Hz")
TORQUE = Threshold(
    "joint torque", "torque", 1.0, "of limit", "the motor's limit; the joint's friction comes on top"
)
SKATE = Threshold(
    "foot skate",
    "horizontal displacement of a touching point within a contact",
    0.02,
    "m",
    "lifting and landing move a touching point of a good walk by up to 1 cm",
)
PENETRATION = Threshold(
    "floor penetration",
    "depth of the lowest corner of a sole",
    0.01,
    "m",
    "soles give, and heights in retargeted data are known to 1 cm",
)
ONSET = Threshold(
    "floor penetration", "depth from which it is dated", 1e-3, "m", "heights are not known better"
)
FLOAT = Threshold(
    "float",
    "height of the lowest sole without contact",
    0.01,
    "m",
    "the height at which a sole no longer touches",
)
FLOAT_HEIGHT = Threshold(
    "float", "height up to which it is float, not flight", 0.05, "m", "feet are higher in a jump"
)
SOLE_ANGLE = Threshold(
    "sole angle",
    "tilt of a sole in contact",
    0.35,
    "rad",
    "people's heel strike; beyond, a rigid foot stands on an edge",
)
COLLISION = Threshold(
    "self-collision",
    "depth of two links' convex hulls in each other",
    0.01,
    "m",
    "hulls are larger than links",
)
ZMP = Threshold(
    "ZMP",
    "distance outside the support polygon",
    0.01,
    "m",
    "error from differentiation and from the moment of touch-down",
)
CAPTURE_SHIFT = Threshold(
    "ZMP",
    "… and the shift of the capture point meanwhile, ω ∫ d dt",
    0.02,
    "m",
    "a balance controller makes up for it",
)
FLAT = Threshold(
    "ZMP", "tilt up to which a foot counts with its whole sole", 0.09, "rad", "5°: the rubber gives"
)
COG_TIME = Threshold(
    "COG",
    "time outside the support polygon without a break",
    0.8,
    "s",
    "longer, the distance grows by cosh(ωt), more than 8 times; a step is shorter",
)
FLIGHT = Threshold(
    "flight",
    "force that is needed while no foot is on the floor",
    0.25,
    "of weight",
    "error of twice differentiated motions",
)
PULL = Threshold(
    "pull", "downward force on a foot in contact", 0.0, "of weight", "a floor holds no foot down"
)
FRICTION = Threshold(
    "friction", "horizontal over vertical force", 0.8, "", "the floor of simulations: rubber on a dry floor"
)
WRENCH = Threshold(
    "contact wrench",
    "part of the wrench that no forces at the soles give",
    0.05,
    "of weight",
    "what is left is the moment about the vertical; soles turn by little before they slip",
)
RUN_JOINT = Threshold(
    "run: joint error",
    "distance of a joint from the motion",
    0.2,
    "rad",
    "balance moves the legs by up to 0.1 rad",
)
RUN_HEIGHT = Threshold(
    "run: height", "how much lower the root is than in the motion", 0.3, "of height", "the robot has fallen"
)
RUN_BASE = Threshold(
    "run: base",
    "horizontal distance of the root from the motion",
    0.1,
    "m",
    "half a foot's length: contacts are no longer where they are meant",
)
RUN_SLIP = Threshold("run: foot slip", "slip of a foot that carries load", 0.02, "m", "as foot skate")
RUN_EDGE_TIME = Threshold(
    "run: ZMP at the edge",
    "time at the edge of the soles without a break",
    0.4,
    "s",
    "a robot that tips for longer falls",
)
RUN_SATURATION = Threshold(
    "run: torque saturation",
    "time of a motor at its limit without a break",
    0.1,
    "s",
    "shorter peaks are those of touch-down",
)

THRESHOLDS: tuple[Threshold, ...] = (
    *(POSITION, JUMP_STEP, JUMP_ACCELERATION, BASE_JUMP_STEP, BASE_JUMP_ACCELERATION, JUMP_RATIO),
    *(SPEED, TORQUE, SKATE, PENETRATION, ONSET, FLOAT, FLOAT_HEIGHT, SOLE_ANGLE, COLLISION),
    *(ZMP, CAPTURE_SHIFT, FLAT, COG_TIME, FLIGHT, PULL, FRICTION, WRENCH),
    *(RUN_JOINT, RUN_HEIGHT, RUN_BASE, RUN_SLIP, RUN_EDGE_TIME, RUN_SATURATION),
)
"""All thresholds, in the order of the checks."""
