"""What a caption says at each moment: the time, and values of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
from simbench.runs.metric_catalogue import format_value, unit_of
from simbench.runs.run_directory import incomplete_reason, read_metrics

if TYPE_CHECKING:
    import xarray as xr

MOST_VALUES = 2
"""Number of values that a caption shows at most."""
_THOUSANDTHS = {"m": ("mm", 1), "rad": ("mrad", 2)}
"""Unit and decimals of small values, by their unit."""
_SMALL = 0.5
"""Largest value that is shown in thousandths, m or rad."""


class OverTime(NamedTuple):
    """Form over time of a metric."""

    title: str  # Name in a caption.
    needs: tuple[str, ...]  # Variables of the log from which it is computed.
    compute: Callable[[xr.Dataset], Array]  # Callable (log) -> (T,) array: computes it at each sample.


def _joint_errors(log: xr.Dataset, flag: str) -> Array:
    """Absolute errors (T, n) of the joints that count, rad."""
    counted = log["is_arm"].values if flag == "is_arm" else ~log["is_grip"].values
    return np.asarray(np.abs((log["joint_position"] - log["joint_reference"]).values[:, counted]))


def _rms(values: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(values**2, axis=1)))


def _hand_errors(log: xr.Dataset) -> Array:
    """Distances (T, hands) of the palms from the actor's while in contact, m; NaN otherwise."""
    distance = np.linalg.norm((log["palm_position"] - log["palm_actor"]).values, axis=2)
    return np.where(log["hand_contact"].values, distance, np.nan)


def _over_hands(log: xr.Dataset, power: float) -> Array:
    """Power mean over the hands in contact (T,), m."""
    errors = _hand_errors(log)
    count = np.isfinite(errors).sum(axis=1)
    total = np.where(count > 0, np.nansum(errors**power, axis=1) / np.maximum(count, 1), np.nan)
    return np.asarray(total ** (1.0 / power))


def _largest_over_hands(log: xr.Dataset) -> Array:
    errors = _hand_errors(log)
    largest = np.max(np.where(np.isfinite(errors), errors, -np.inf), axis=1, initial=-np.inf)
    return np.where(largest >= 0.0, largest, np.nan)


def _distance(log: xr.Dataset, measured: str, desired: str) -> Array:
    return np.asarray(np.linalg.norm(log[measured].values[:, :2] - log[desired].values, axis=1))


_ERRORS = ("joint_position", "joint_reference")
_HANDS = ("palm_position", "palm_actor", "hand_contact")
OVER_TIME: dict[str, OverTime] = {
    "tracking.rms_rad": OverTime(
        "joint error, RMS", (*_ERRORS, "is_grip"), lambda log: _rms(_joint_errors(log, "is_grip"))
    ),
    "tracking.max_rad": OverTime(
        "largest joint error", (*_ERRORS, "is_grip"), lambda log: _joint_errors(log, "is_grip").max(axis=1)
    ),
    "tracking.arms_rms_rad": OverTime(
        "arm joint error, RMS", (*_ERRORS, "is_arm"), lambda log: _rms(_joint_errors(log, "is_arm"))
    ),
    "zmp.min_margin_m": OverTime("ZMP margin", ("zmp_margin",), lambda log: log["zmp_margin"].values),
    "zmp.rms_m": OverTime(
        "ZMP error", ("zmp", "zmp_desired"), lambda log: _distance(log, "zmp", "zmp_desired")
    ),
    "cog.rms_m": OverTime(
        "COG error", ("cog", "cog_desired"), lambda log: _distance(log, "cog", "cog_desired")
    ),
    "hands.rms_m": OverTime("hand error, RMS", _HANDS, lambda log: _over_hands(log, 2.0)),
    "hands.max_m": OverTime("largest hand error", _HANDS, _largest_over_hands),
}
"""Metrics whose value at each moment is shown instead of that of the whole run."""
_TITLES = {"zmp_margin": "ZMP margin"}
"""Names in a caption of variables whose name is not plain text."""


def caption_names(given: Sequence[str]) -> tuple[str, ...]:
    """Read the names that `--caption` gives, each text with names that commas separate."""
    names = tuple(name.strip() for text in given for name in text.split(","))
    if len(names) > MOST_VALUES or not all(names):
        raise RunError(
            f"--caption {','.join(given)}: allowed: one or two names, such as "
            "zmp.min_margin_m,tracking.rms_rad"
        )
    return names


def caption_texts(folder: Path, log: xr.Dataset, names: Sequence[str], times: Array) -> list[list[str]]:
    """Write the items of a caption at each frame.

    `folder`: run directory; `names`: metrics, or variables of the log with one value a sample; `times` (F,):
    times of the frames in the time of the run, s. Returns F texts of the time, then F texts of each name.
    Raises RunError if the run has no such metric and no such variable.
    """
    chosen = np.clip(np.searchsorted(log.time.values, times - 1e-9), 0, log.sizes["time"] - 1)
    items = [[f"t = {time:.2f} s" for time in times]]
    for name in names:
        found = _read_signal(log, name)
        if found is None:
            items.append([_final_value(folder, log, name)] * len(times))
        else:
            title, unit, values = found
            items.append([f"{title} {text}" for text in _format_values(values[chosen], values, unit)])
    return items


def _read_signal(log: xr.Dataset, name: str) -> tuple[str, str, Array] | None:
    """Read title, unit and values (T,) of what changes over time; None if there is no such signal."""
    over_time = OVER_TIME.get(name)
    if over_time is not None and all(each in log.variables for each in over_time.needs):
        return over_time.title, unit_of(name), np.asarray(over_time.compute(log), dtype=float)
    if name in log.data_vars and log[name].dims == ("time",) and log[name].dtype.kind in "iuf":
        title = _TITLES.get(name, name.replace("_", " "))
        return title, str(log[name].attrs["units"]), log[name].values.astype(float)
    return None


def _final_value(folder: Path, log: xr.Dataset, name: str) -> str:
    """Write the value of a metric of the whole run."""
    metrics = {} if incomplete_reason(folder) is not None else read_metrics(folder)
    if name not in metrics:
        signals = sorted(
            str(each)
            for each in log.data_vars
            if log[each].dims == ("time",) and log[each].dtype.kind in "iuf"
        )
        raise RunError(
            f"{folder}: --caption {name}: no such metric or signal; allowed: its metrics (metrics.json)"
            + (f", {', '.join(signals)}" if signals else "")
        )
    return f"{name} {format_value(metrics[name])} {unit_of(name)}".rstrip() + " (whole run)"


def _format_values(shown: Array, values: Array, unit: str) -> list[str]:
    """Write values with as many digits as the largest of the run needs, so that a caption does not jump."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max(initial=0.0))
    digits = 3 if largest < 1.0 else 2 if largest < 10.0 else 1 if largest < 1000.0 else 0
    if unit in _THOUSANDTHS and largest <= _SMALL:
        shown = 1000.0 * shown
        unit, digits = _THOUSANDTHS[unit]
    return [f"{value:.{digits}f} {unit}".rstrip() if np.isfinite(value) else "none" for value in shown]
