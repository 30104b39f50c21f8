"""Rows of a table and lines below it of what a run leaves of the person, from its metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from simbench.retargeting.body_errors import BODY_QUANTITIES
from simbench.runs.metric_format import Metric
from simbench.runs.motion_fidelity import PREFIX

_SCALES = {"fraction": (100.0, "% of arm"), "m": (1000.0, "mm"), "rad": (math.degrees(1.0), "°")}
"""Factor and unit of what is shown, by the ending of an error's metrics."""
_SAME = 5e-4
"""Difference of durations, as a ratio, that is not said."""
_EVEN = 1.001
"""Ratio of the largest local stretch to the duration's from which on it is worth a word."""


class FidelityRow(NamedTuple):
    """One error of a robot's motion against the person, as it is shown."""

    quantity: str  # Part of the body.
    mean: float  # `mean`, `percentile_95`, `worst`: mean, 95th percentile and largest value, in the unit.
    percentile_95: float
    worst: float
    unit: str  # mm, °, or percent of the arm's length.
    at: float  # Time of the worst in the recording, s.
    robot_at: float  # Time of the worst in the run, s.

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text: a digit after the point, times with two."""
        values = (f"{value:.1f}" for value in (self.mean, self.percentile_95, self.worst))
        return (self.quantity, *values, self.unit, f"{self.at:.2f}", f"{self.robot_at:.2f}")


HEADS = ("mean", "95 %", "worst", "unit", "at s", "run's s")
"""Headings of the columns of `FidelityRow.cells` after the first."""


def fidelity_rows(metrics: Mapping[str, Metric]) -> list[FidelityRow]:
    """Read the errors of a robot's motion against the person from their metrics.

    `metrics`: metrics of a run. Returns one for each error that was measured, in the order of
    `BODY_QUANTITIES`.
    """
    rows = []
    for quantity in BODY_QUANTITIES:
        name = quantity.replace(" ", "_")
        for ending, (scale, unit) in _SCALES.items():
            errors = [_value(metrics, f"{name}_{kind}_{ending}") for kind in ("mean", "p95", "max")]
            times = [_value(metrics, f"{name}_max_at_{clock}") for clock in ("s", "robot_s")]
            found = [value for value in (*errors, *times) if value is not None]
            if len(found) == len(errors) + len(times):
                mean, high, worst = (scale * value for value in found[:3])
                rows.append(FidelityRow(quantity, mean, high, worst, unit, *found[3:]))
    return rows


def fidelity_lines(metrics: Mapping[str, Metric]) -> Iterator[str]:
    """Say at which tempo the robot moved, how late it was, how often it was at a limit, and how it stepped.

    `metrics`: metrics `fidelity.*`, of a run or a plan. Yields A line; none without these metrics.
    """

    def value(name: str) -> float | None:
        return _value(metrics, name)

    ratio, stretch, lag = value("duration_ratio"), value("stretch_max_ratio"), value("lag_s")
    position, speed, executed = (
        value(f"{name}_fraction") for name in ("position_limit", "speed_limit", "executed")
    )
    if ratio is None or stretch is None or position is None or speed is None:
        return
    at = value("stretch_max_at_s") or 0.0
    most = "" if stretch < _EVEN * ratio else f", at most {stretch:.3g} at {at:.2f} s"
    late = "" if lag is None else f"; hands {abs(1000.0 * lag):.1f} ms {'early' if lag < 0.0 else 'late'}"
    kept = "the person's" if abs(ratio - 1.0) < _SAME else f"{ratio:.3g} times as long as the person"
    yield f"tempo      {kept}{most}{late}"
    yield (
        f"limits     a joint is at a limit of its position {position:.0%} of the time, "
        f"at its speed limit {speed:.0%}"
    )
    if executed is not None and executed < 1.0:
        yield f"ended      after {executed:.0%} of the recording; the rest is not compared"
    wanted, missed = value("steps_wanted"), value("steps_missed_count")
    if wanted is None or missed is None:
        return
    place, when, turn = (
        value(f"step_{name}") for name in ("position_rms_m", "time_rms_s", "heading_rms_rad")
    )
    errors = (
        ""
        if place is None or when is None or turn is None
        else f"; RMS {1000.0 * place:.0f} mm, {when:.3f} s and {math.degrees(turn):.1f}° off"
    )
    yield f"steps      {wanted - missed:.0f} of the person's {wanted:.0f}{errors}"


def _value(metrics: Mapping[str, Metric], name: str) -> float | None:
    """Value of a metric of fidelity; None if there is none, or it is no finite number."""
    found = metrics.get(f"{PREFIX}{name}")
    return float(found) if isinstance(found, (int, float)) and math.isfinite(found) else None
