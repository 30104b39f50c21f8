"""Signals over time behind metrics, and when a metric first leaves its bound."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.runs.baseline import DIVERGED, Check
from simbench.runs.metric_catalogue import Metric
from simbench.runs.metrics import FELL_HEIGHT, contact_kinds, foot_displacements

if TYPE_CHECKING:
    import xarray as xr

    from simbench.options import Bound


class Trace(NamedTuple):
    """Signal over time of which a metric is the extreme or the mean."""

    time: Array  # (T,): times, s.
    value: Array  # (T,): values in the metric's unit; NaN where it is not defined.
    part: Array  # (T,) of int: which of `names` the value is of.
    names: tuple[str, ...] = ()  # Joints, feet or hands; empty where there is but one.


class FailureTime(NamedTuple):
    """When a check fails."""

    time: float  # Time in the run, s.
    # What happens then: `first beyond the bound`, `largest`, and the joint, foot, hand or contact.
    words: str


def find_failure_times(
    checks: tuple[Check, ...],
    bounds: Mapping[str, bool | Bound],
    metrics: Mapping[str, Metric],
    log: xr.Dataset,
) -> dict[str, FailureTime]:
    """Find when failed checks first fail.

    A metric that is an extreme of a signal fails at the first sample beyond the bound; of one that is a mean,
    the largest sample is found. Checks whose failure has no time, such as those of the plan, are left out.
    `checks`: outcome of the checks; `bounds`: `checks` of the scenario; `metrics`: metrics of the run; `log`:
    log of the run. Returns by the metric's name.
    """
    found = {}
    for check in checks:
        if check.passed:
            continue
        try:
            failure = _find_failure(check.name, bounds.get(check.name), metrics, log)
        except (KeyError, ValueError):
            # A log of another version may lack the signal: then nothing is said.
            failure = None
        if failure is not None:
            found[check.name] = failure
    return found


def _find_failure(
    name: str, bound: bool | Bound | None, metrics: Mapping[str, Metric], log: xr.Dataset
) -> FailureTime | None:
    """Find when one check fails."""
    if name == DIVERGED:
        value = metrics.get(name)
        return FailureTime(float(value), "the physics diverges") if isinstance(value, float | int) else None
    if name == "fell":
        height = log["base_pose"].values[:, 2]
        standing = height >= FELL_HEIGHT * height[0]
        time = log["time"].values[standing.argmin()]
        return None if standing.all() else FailureTime(float(time), "the root is below 70 % of its height")
    if name == "balance.gave_up":
        time = float(log.attrs.get("balance_gave_up_s", np.nan))
        return FailureTime(time, "the balance controller has no solution") if np.isfinite(time) else None
    if bound is None or isinstance(bound, bool):
        return None
    if name in EVENTS and bound.max is not None:
        # The first event beyond the number that is allowed.
        events, allowed = EVENTS[name](log), int(bound.max)
        return FailureTime(*events[allowed]) if len(events) > allowed else None
    if re.fullmatch(r"[^.]+\..+_ratio", name) and bound.min is not None:
        return _short_stroke(log, name, bound.min)
    if name in MEANS:
        trace = MEANS[name](log)
        if not np.isfinite(trace.value).any():
            return None
        sample, words = int(np.nanargmax(trace.value)), "largest"
    else:
        found = metric_trace(name, log)
        if found is None:
            return None
        trace, low, high, words = found, bound.min, bound.max, "first beyond the bound"
        if name == "torque.saturated_fraction":
            low, high = None, 0.0
        beyond = np.zeros(len(trace.value), dtype=bool)
        if name == "zmp.inside_fraction":
            # The ZMP on the edge of the support is not inside.
            beyond, low, high = trace.value <= 0.0, None, None
        if low is not None:
            beyond |= trace.value < low
        if high is not None:
            beyond |= trace.value > high
        if not beyond.any():
            return None
        sample = int(beyond.argmax())
    part = f", {trace.names[trace.part[sample]]}" if trace.names else ""
    return FailureTime(float(trace.time[sample]), words + part)


def metric_trace(name: str, log: xr.Dataset) -> Trace | None:
    """Compute the signal of which a metric is the extreme.

    `log`: log of the run. Returns the signal; None if the metric is not an extreme of one.
    """
    if name in EXTREMES:
        return EXTREMES[name](log)
    fixture, _, measure = name.rpartition(".")
    if measure not in ("moved_m", "turned_rad") or f"{fixture}_stand" not in log:
        return None
    stand = _settled(log)[f"{fixture}_stand"].values
    if measure == "moved_m":
        return _single(log, np.linalg.norm(stand[:, :3] - stand[0, :3], axis=1))
    chords = [np.linalg.norm(stand[:, 3:] + sign * stand[0, 3:], axis=1) for sign in (1.0, -1.0)]
    return _single(log, 4.0 * np.arcsin(0.5 * np.minimum(*chords)))


def _settled(log: xr.Dataset) -> xr.Dataset:
    return log.sel(time=slice(log.attrs["settle_s"], None))


def _stepped(log: xr.Dataset) -> xr.Dataset:
    """After settling, without the first sample, which no step precedes."""
    return _settled(log.isel(time=slice(1, None)))


def _single(log: xr.Dataset, value: Array) -> Trace:
    """Make a trace of the last samples of a log, one value each."""
    time = log["time"].values[len(log["time"]) - len(value) :]
    return Trace(time, np.asarray(value, dtype=float), np.zeros(len(value), dtype=int))


def _widest(log: xr.Dataset, values: Array, names: Sequence[str]) -> Trace:
    """Take at each of the last samples of a log the largest of columns (T, n); NaN where all are NaN."""
    filled = np.where(np.isnan(values), -np.inf, values)
    part = filled.argmax(axis=1)
    value = filled[np.arange(len(part)), part]
    time = log["time"].values[len(log["time"]) - len(part) :]
    return Trace(time, np.where(np.isfinite(value), value, np.nan), part, tuple(names))


def _joints(log: xr.Dataset, values: Array) -> Trace:
    return _widest(log, values, log["joint"].values.astype(str).tolist())


def _tracking(log: xr.Dataset, chosen: Array) -> Trace:
    settled = _settled(log)
    error = np.abs((settled["joint_position"] - settled["joint_reference"]).values)
    return _widest(log, error[:, chosen], log["joint"].values.astype(str)[chosen].tolist())


def _position_violation(log: xr.Dataset) -> Trace:
    position = log["joint_position"].values
    low, high = log["position_lower"].values, log["position_upper"].values
    return _joints(log, np.maximum(np.maximum(low - position, position - high), 0.0))


def saturation_excess(log: xr.Dataset) -> Trace:
    """Compute by how much the requested torque exceeds what the motor gives.

    `log`: log of a run. Returns largest excess of all joints, N·m, or N of a sliding one.
    """
    return _joints(log, np.abs(log["torque_requested"].values - log["torque_motor"].values))


def _distance(log: xr.Dataset, name: str) -> Trace:
    """Horizontal distance of the COG or the ZMP from where it is desired."""
    settled = _settled(log)
    return _single(
        log, np.linalg.norm(settled[name].values[:, :2] - settled[f"{name}_desired"].values, axis=1)
    )


def _zmp_margin(log: xr.Dataset) -> Trace:
    # Without contact the margin is -∞.
    return _single(log, np.maximum(_stepped(log)["zmp_margin"].values, -1e9))


def _cog_excursion(log: xr.Dataset) -> Trace:
    cog = _stepped(log)["cog"].values[:, :2]
    return _single(log, np.linalg.norm(cog - cog[0], axis=1))


def _feet(log: xr.Dataset, which: int) -> Trace:
    sides = log["foot"].values.astype(str)
    return _widest(log, foot_displacements(log)[which], [f"{side} foot" for side in sides])


def palm_error(log: xr.Dataset) -> Trace:
    """Compute the distance of the palms from the actor's while the actor's are in contact.

    Returns larger distance of both hands, m; NaN without contact.
    """
    error = np.linalg.norm((log["palm_position"] - log["palm_actor"]).values, axis=2)
    return _widest(log, np.where(log["hand_contact"].values, error, np.nan), _hand_names(log))


def _hand_names(log: xr.Dataset) -> list[str]:
    return [f"{side} hand" for side in log["hand"].values.astype(str)]


def _pelvis(log: xr.Dataset, *, tilted: bool) -> Trace:
    """Displacement or rotation of the pelvis since settling."""
    pose = _settled(log)["base_pose"].values
    if tilted:
        return _single(log, 2.0 * np.arccos(np.minimum(1.0, np.abs(pose[:, 3:] @ pose[0, 3:]))))
    return _single(log, np.linalg.norm(pose[:, :3] - pose[0, :3], axis=1))


TraceMaker = Callable[["xr.Dataset"], Trace]

# Signals of which metrics are an extreme, or a fraction of the samples that are beyond zero.
EXTREMES: Mapping[str, TraceMaker] = {
    "tracking.max_rad": lambda log: _tracking(log, ~log["is_grip"].values),
    "limits.torque_ratio": lambda log: _joints(
        log, np.abs(log["torque_motor"].values) / log["torque_limit"].values
    ),
    "limits.speed_ratio": lambda log: _joints(
        log, np.abs(log["joint_velocity"].values) / log["speed_limit"].values
    ),
    "limits.position_violation_rad": _position_violation,
    "torque.saturated_fraction": saturation_excess,
    "zmp.inside_fraction": _zmp_margin,
    "zmp.min_margin_m": _zmp_margin,
    "cog.max_excursion_m": _cog_excursion,
    "feet.slip_m": lambda log: _feet(log, 0),
    "feet.turn_rad": lambda log: _feet(log, 1),
    "hands.max_m": palm_error,
    "grip.max_force_n": lambda log: _widest(
        log, np.linalg.norm(log["grip_wrench"].values[..., :3], axis=-1), _hand_names(log)
    ),
    "seat.least_force_n": lambda log: _single(
        log, -_settled(log)[f"{log.attrs['seat']}_contact_wrench"].values[:, 2]
    ),
    "seat.slip_m": lambda log: _pelvis(log, tilted=False),
    "seat.tilt_rad": lambda log: _pelvis(log, tilted=True),
}

# Signals of which metrics are the RMS.
MEANS: Mapping[str, TraceMaker] = {
    "tracking.rms_rad": lambda log: _tracking(log, ~log["is_grip"].values),
    "tracking.arms_rms_rad": lambda log: _tracking(log, log["is_arm"].values),
    "cog.rms_m": lambda log: _distance(log, "cog"),
    "zmp.rms_m": lambda log: _distance(log, "zmp"),
    "hands.rms_m": palm_error,
}


def _contacts(log: xr.Dataset, kind: str) -> list[tuple[float, str]]:
    """List when unintended contacts of a kind begin, s, and between what, in order."""
    begin, events = log["contact_start"].values, np.flatnonzero(contact_kinds(log) == kind)
    first, second = log["contact_first"].values, log["contact_second"].values
    return [
        (float(begin[event]), f"contact of {first[event]} on {second[event]}")
        for event in events[np.argsort(begin[events], kind="stable")]
    ]


def lost_grips(log: xr.Dataset) -> list[tuple[float, str]]:
    """Find when grips let go although the hand was to hold.

    `log`: log of a run. Returns time, s, and hand, in order; empty if no grip was lost.
    """
    if not int(log.attrs.get("grips_lost", 0)) or not {"grip_engaged", "hand_contact"} <= {*log}:
        return []
    engaged, wanted = log["grip_engaged"].values, log["hand_contact"].values
    lost = engaged[:-1] & ~engaged[1:] & wanted[1:]
    time, names = log["time"].values[1:], _hand_names(log)
    return sorted((float(time[sample]), names[hand]) for sample, hand in np.argwhere(lost))


# Events that metrics count: when, s, and what.
EVENTS: Mapping[str, Callable[[xr.Dataset], list[tuple[float, str]]]] = {
    "contact.self_count": lambda log: _contacts(log, "self"),
    "contact.floor_unintended_count": lambda log: _contacts(log, "floor_unintended"),
    "contact.equipment_unintended_count": lambda log: _contacts(log, "equipment_unintended"),
    "grip.lost": lambda log: [(time, f"grip of the {hand} lost") for time, hand in lost_grips(log)],
}


def _short_stroke(log: xr.Dataset, name: str, least: float) -> FailureTime | None:
    """Find the end of the first of the actor's strokes in which equipment was moved too little."""
    joint = name.removesuffix("_ratio").replace(".", "_", 1)
    if joint not in log or f"{joint}_actor" not in log:
        return None
    time = log["time"].values
    for number, (start, end) in enumerate(log["strokes"].values, start=1):
        inside = (time >= start) & (time <= end)
        wanted, moved = (
            float(np.ptp(log[each].values[inside])) if inside.any() else 0.0
            for each in (f"{joint}_actor", joint)
        )
        if not inside.any() or (wanted > 0.0 and moved / wanted < least):
            reached = min(float(end), float(time[-1]))
            return FailureTime(reached, f"end of stroke {number}, the first that is too short")
    return None
