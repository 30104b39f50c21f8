"""Signals over time behind metrics, and when a metric first leaves its bound."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.runs.baseline import DIVERGED, Check
from simbench.runs.metric_catalogue import Metric
from simbench.runs.metrics import FELL_HEIGHT

if TYPE_CHECKING:
    import xarray as xr

    from simbench.options import Bound

_CARRYING_FRACTION = 0.1
"""A foot carries the robot from this fraction of the weight on, as in `foot_metrics`."""


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
        return _first_fall(log)
    if name == "balance.gave_up":
        time = float(log.attrs.get("balance_gave_up_s", np.nan))
        return FailureTime(time, "the balance controller has no solution") if np.isfinite(time) else None
    if bound is None or isinstance(bound, bool):
        return None
    if name in _COUNTS and bound.max is not None:
        return _COUNTS[name](log, int(bound.max))
    if re.fullmatch(r"[^.]+\..+_ratio", name) and bound.min is not None:
        return _short_stroke(log, name, bound.min)
    if name in MEANS:
        return _largest(MEANS[name](log))
    trace = metric_trace(name, log)
    if trace is None:
        return None
    low, high = (0.0, None) if name == "zmp.inside_fraction" else (bound.min, bound.max)
    if name == "torque.saturated_fraction":
        low, high = None, 0.0
    # The ZMP on the edge of the support is not inside.
    strict = name == "zmp.inside_fraction"
    return _first_beyond(trace, low, high, strict=strict)


def metric_trace(name: str, log: xr.Dataset) -> Trace | None:
    """Compute the signal of which a metric is the extreme.

    `log`: log of the run. Returns the signal; None if the metric is not an extreme of one.
    """
    if name in EXTREMES:
        return EXTREMES[name](log)
    fixture, _, measure = name.rpartition(".")
    if measure in ("moved_m", "turned_rad") and f"{fixture}_stand" in log:
        return _stand_displacement(log, fixture, turned=measure == "turned_rad")
    return None


def _settled(log: xr.Dataset) -> xr.Dataset:
    return log.sel(time=slice(log.attrs["settle_s"], None))


def _widest(time: Array, values: Array, names: tuple[str, ...]) -> Trace:
    """Take at every sample the largest of several columns (T, n); NaN where all are NaN."""
    filled = np.where(np.isnan(values), -np.inf, values)
    part = filled.argmax(axis=1)
    value = filled[np.arange(len(part)), part]
    return Trace(time, np.where(np.isfinite(value), value, np.nan), part, names)


def _single(log: xr.Dataset, value: Array) -> Trace:
    return Trace(log["time"].values, np.asarray(value, dtype=float), np.zeros(len(value), dtype=int))


def _joint_names(log: xr.Dataset, chosen: Array) -> tuple[str, ...]:
    return tuple(log["joint"].values.astype(str)[chosen].tolist())


def _tracking_error(log: xr.Dataset, chosen: Array) -> Trace:
    settled = _settled(log)
    error = np.abs((settled["joint_position"] - settled["joint_reference"]).values)
    return _widest(settled["time"].values, error[:, chosen], _joint_names(log, chosen))


def _all_tracking(log: xr.Dataset) -> Trace:
    return _tracking_error(log, ~log["is_grip"].values)


def _arm_tracking(log: xr.Dataset) -> Trace:
    return _tracking_error(log, log["is_arm"].values)


def _joint_ratio(log: xr.Dataset, ratio: Array) -> Trace:
    return _widest(log["time"].values, ratio, _joint_names(log, np.ones(ratio.shape[1], dtype=bool)))


def _torque_ratio(log: xr.Dataset) -> Trace:
    return _joint_ratio(log, np.abs(log["torque_motor"].values) / log["torque_limit"].values)


def _speed_ratio(log: xr.Dataset) -> Trace:
    return _joint_ratio(log, np.abs(log["joint_velocity"].values) / log["speed_limit"].values)


def _position_violation(log: xr.Dataset) -> Trace:
    position = log["joint_position"].values
    low, high = log["position_lower"].values, log["position_upper"].values
    return _joint_ratio(log, np.maximum(np.maximum(low - position, position - high), 0.0))


def saturation_excess(log: xr.Dataset) -> Trace:
    """Compute by how much the requested torque exceeds what the motor gives.

    `log`: log of a run. Returns largest excess of all joints, N·m, or N of a sliding one.
    """
    return _joint_ratio(log, np.abs(log["torque_requested"].values - log["torque_motor"].values))


def _zmp_margin(log: xr.Dataset) -> Trace:
    settled = _settled(log.isel(time=slice(1, None)))
    # Without contact the margin is -∞.
    return _single(settled, np.maximum(settled["zmp_margin"].values, -1e9))


def _cog_excursion(log: xr.Dataset) -> Trace:
    settled = _settled(log.isel(time=slice(1, None)))
    cog = settled["cog"].values[:, :2]
    return _single(settled, np.linalg.norm(cog - cog[0], axis=1))


def _cog_error(log: xr.Dataset) -> Trace:
    settled = _settled(log)
    return _single(
        settled, np.linalg.norm(settled["cog"].values[:, :2] - settled["cog_desired"].values, axis=1)
    )


def _zmp_error(log: xr.Dataset) -> Trace:
    settled = _settled(log)
    return _single(settled, np.linalg.norm(settled["zmp"].values - settled["zmp_desired"].values, axis=1))


def _foot_displacement(log: xr.Dataset, *, turned: bool) -> Trace:
    """Displacement or rotation of each foot since it began to carry the robot."""
    settled = _settled(log)
    weight = log.attrs["mass_kg"] * log.attrs["gravity_m_s2"]
    carrying = settled["foot_wrench"].values[:, :, 2] >= _CARRYING_FRACTION * weight
    values = np.full(carrying.shape, np.nan)
    for foot in range(carrying.shape[1]):
        pose = settled["foot_pose"].values[:, foot]
        x, y, z, w = pose[:, 3:].T
        heading = np.unwrap(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))
        begins = np.flatnonzero(np.diff(carrying[:, foot].astype(int), prepend=0) > 0)
        ends = np.flatnonzero(np.diff(carrying[:, foot].astype(int), append=0) < 0) + 1
        for begin, end in zip(begins, ends, strict=True):
            stance = slice(begin, end)
            values[stance, foot] = (
                np.abs(heading[stance] - heading[begin])
                if turned
                else np.linalg.norm(pose[stance, :2] - pose[begin, :2], axis=1)
            )
    names = tuple(f"{side} foot" for side in log["foot"].values.astype(str))
    return _widest(settled["time"].values, values, names)


def _foot_slip(log: xr.Dataset) -> Trace:
    return _foot_displacement(log, turned=False)


def _foot_turn(log: xr.Dataset) -> Trace:
    return _foot_displacement(log, turned=True)


def palm_error(log: xr.Dataset) -> Trace:
    """Compute the distance of the palms from the actor's while the actor's are in contact.

    Returns larger distance of both hands, m; NaN without contact.
    """
    error = np.linalg.norm((log["palm_position"] - log["palm_actor"]).values, axis=2)
    error = np.where(log["hand_contact"].values, error, np.nan)
    return _widest(log["time"].values, error, _hand_names(log))


def _grip_force(log: xr.Dataset) -> Trace:
    force = np.linalg.norm(log["grip_wrench"].values[..., :3], axis=-1)
    return _widest(log["time"].values, force, _hand_names(log))


def _hand_names(log: xr.Dataset) -> tuple[str, ...]:
    return tuple(f"{side} hand" for side in log["hand"].values.astype(str))


def _seat_load(log: xr.Dataset) -> Trace:
    settled = _settled(log)
    return _single(settled, -settled[f"{log.attrs['seat']}_contact_wrench"].values[:, 2])


def _seat_slip(log: xr.Dataset) -> Trace:
    settled = _settled(log)
    pelvis = settled["base_pose"].values
    return _single(settled, np.linalg.norm(pelvis[:, :3] - pelvis[0, :3], axis=1))


def _seat_tilt(log: xr.Dataset) -> Trace:
    settled = _settled(log)
    pelvis = settled["base_pose"].values
    return _single(settled, 2.0 * np.arccos(np.minimum(1.0, np.abs(pelvis[:, 3:] @ pelvis[0, 3:]))))


def _stand_displacement(log: xr.Dataset, fixture: str, *, turned: bool) -> Trace:
    settled = _settled(log)
    stand = settled[f"{fixture}_stand"].values
    if not turned:
        return _single(settled, np.linalg.norm(stand[:, :3] - stand[0, :3], axis=1))
    chords = [np.linalg.norm(stand[:, 3:] + sign * stand[0, 3:], axis=1) for sign in (1.0, -1.0)]
    return _single(settled, 4.0 * np.arcsin(0.5 * np.minimum(*chords)))


TraceMaker = Callable[["xr.Dataset"], Trace]

EXTREMES: Mapping[str, TraceMaker] = {
    "tracking.max_rad": _all_tracking,
    "limits.torque_ratio": _torque_ratio,
    "limits.speed_ratio": _speed_ratio,
    "limits.position_violation_rad": _position_violation,
    "torque.saturated_fraction": saturation_excess,
    "zmp.inside_fraction": _zmp_margin,
    "zmp.min_margin_m": _zmp_margin,
    "cog.max_excursion_m": _cog_excursion,
    "feet.slip_m": _foot_slip,
    "feet.turn_rad": _foot_turn,
    "hands.max_m": palm_error,
    "grip.max_force_n": _grip_force,
    "seat.least_force_n": _seat_load,
    "seat.slip_m": _seat_slip,
    "seat.tilt_rad": _seat_tilt,
}
"""Signals of which metrics are an extreme, or a fraction of the samples that are beyond zero."""

MEANS: Mapping[str, TraceMaker] = {
    "tracking.rms_rad": _all_tracking,
    "tracking.arms_rms_rad": _arm_tracking,
    "cog.rms_m": _cog_error,
    "zmp.rms_m": _zmp_error,
    "hands.rms_m": palm_error,
}
"""Signals of which metrics are the RMS."""


def _first_beyond(trace: Trace, low: float | None, high: float | None, *, strict: bool) -> FailureTime | None:
    """Find the first sample beyond a bound."""
    beyond = np.zeros(len(trace.value), dtype=bool)
    if low is not None:
        beyond |= trace.value <= low if strict else trace.value < low
    if high is not None:
        beyond |= trace.value > high
    if not beyond.any():
        return None
    sample = int(beyond.argmax())
    return FailureTime(float(trace.time[sample]), "first beyond the bound" + _of(trace, sample))


def _largest(trace: Trace) -> FailureTime | None:
    """Find the largest sample."""
    if not np.isfinite(trace.value).any():
        return None
    sample = int(np.nanargmax(trace.value))
    return FailureTime(float(trace.time[sample]), "largest" + _of(trace, sample))


def _of(trace: Trace, sample: int) -> str:
    return f", {trace.names[trace.part[sample]]}" if trace.names else ""


def _first_fall(log: xr.Dataset) -> FailureTime | None:
    height = log["base_pose"].values[:, 2]
    standing = height >= FELL_HEIGHT * height[0]
    if standing.all():
        return None
    return FailureTime(float(log["time"].values[standing.argmin()]), "the root is below 70 % of its height")


def contact_kinds(log: xr.Dataset) -> Array:
    """Classify the contacts of a log as `contact_metrics` counts them.

    `log`: log of a run. Returns (C,) of str: `self`, `floor_unintended` or `equipment_unintended`; empty for
    an intended contact.
    """
    first, second = log["contact_first"].values.astype(str), log["contact_second"].values.astype(str)
    robot = log.attrs["robot"] + "/"
    hands, feet, thighs = (
        [robot + link for link in str(log.attrs.get(name, "")).split()]
        for name in ("hand_links", "foot_links", "thigh_links")
    )
    kinds = np.full(len(first), "", dtype="U32")
    with_self = np.array([name.startswith(robot) for name in second], dtype=bool)
    with_floor = second == "floor"
    seated = np.isin(first, thighs) & np.char.startswith(second, f"{log.attrs.get('seat', '')}/")
    kinds[with_self] = "self"
    kinds[with_floor & ~np.isin(first, feet)] = "floor_unintended"
    kinds[~with_self & ~with_floor & ~np.isin(first, hands) & ~seated] = "equipment_unintended"
    return kinds


def _extra_contact(kind: str) -> Callable[[xr.Dataset, int], FailureTime | None]:
    def find(log: xr.Dataset, allowed: int) -> FailureTime | None:
        events = np.flatnonzero(contact_kinds(log) == kind)
        if len(events) <= allowed:
            return None
        events = events[np.argsort(log["contact_start"].values[events], kind="stable")]
        event = events[allowed]
        pair = f"{log['contact_first'].values[event]} on {log['contact_second'].values[event]}"
        return FailureTime(float(log["contact_start"].values[event]), f"contact of {pair}")

    return find


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


def _lost_grip(log: xr.Dataset, allowed: int) -> FailureTime | None:
    lost = lost_grips(log)
    return (
        FailureTime(lost[allowed][0], f"grip of the {lost[allowed][1]} lost") if len(lost) > allowed else None
    )


_COUNTS: Mapping[str, Callable[[xr.Dataset, int], FailureTime | None]] = {
    "contact.self_count": _extra_contact("self"),
    "contact.floor_unintended_count": _extra_contact("floor_unintended"),
    "contact.equipment_unintended_count": _extra_contact("equipment_unintended"),
    "grip.lost": _lost_grip,
}
"""Metrics that count events: the first event beyond the number that is allowed."""


def _short_stroke(log: xr.Dataset, name: str, least: float) -> FailureTime | None:
    """Find the end of the first of the actor's strokes in which equipment was moved too little."""
    joint = name.removesuffix("_ratio").replace(".", "_", 1)
    if joint not in log or f"{joint}_actor" not in log:
        return None
    time = log["time"].values
    for number, (start, end) in enumerate(log["strokes"].values, start=1):
        inside = (time >= start) & (time <= end)
        wanted = (
            float(np.ptp(log[f"{joint}_actor"].values[(time >= start) & (time <= end)]))
            if inside.any()
            else 0.0
        )
        moved = float(np.ptp(log[joint].values[inside])) if inside.any() else 0.0
        if not inside.any() or (wanted > 0.0 and moved / wanted < least):
            reached = min(float(end), float(time[-1]))
            return FailureTime(reached, f"end of stroke {number}, the first that is too short")
    return None
