"""The table of what a run leaves of the person."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from simbench.runs.metric_format import Metric

PREFIX = "fidelity."
"""Beginning of the names of the metrics that the table shows."""
_ENDINGS = ("fraction", "m", "rad")
"""Ending of an error's metrics: fraction of the arm's length, m or rad."""


def fidelity_table(metrics: Mapping[str, Metric]) -> Table | None:
    """Lay out the errors of a robot's motion against the person, from their metrics.

    Parameters
    ----------
    metrics : mapping of str to float, bool, str or None
        Metrics of a run.

    Returns
    -------
    rich.table.Table or None
        One line for each error, in mm, percent or degrees, with both times of the worst; None if none was
        measured.
    """
    from simbench.cli.console import number_table
    from simbench.retargeting.fidelity.body_errors import BODY_QUANTITIES

    table = number_table("run against person", "mean", "95 %", "worst", "unit", "at s", "run's s")
    table.columns[4].justify = "left"
    scales = {"m": (1000.0, "mm"), "fraction": (100.0, "% of arm"), "rad": (math.degrees(1.0), "°")}
    for quantity in BODY_QUANTITIES:
        name = f"{PREFIX}{quantity.replace(' ', '_')}"
        unit = next((each for each in _ENDINGS if f"{name}_mean_{each}" in metrics), None)
        if unit is None:
            continue
        scale, shown = scales[unit]
        values = [metrics[f"{name}_{kind}_{unit}"] for kind in ("mean", "p95", "max")]
        times = [metrics[f"{name}_max_at_s"], metrics[f"{name}_max_at_robot_s"]]
        table.add_row(
            quantity,
            *(f"{scale * float(value or 0.0):.1f}" for value in values),
            shown,
            *(f"{float(each or 0.0):.2f}" for each in times),
        )
    return table if table.row_count else None


def fidelity_lines(metrics: Mapping[str, Metric]) -> Iterator[str]:
    """Say at which tempo the robot moved, how late it was, how often it was at a limit, and how it stepped.

    Parameters
    ----------
    metrics : mapping of str to float, bool, str or None
        Metrics `fidelity.*`, of a run or a plan.

    Yields
    ------
    str
        A line; none without these metrics.
    """

    def value(name: str) -> float | None:
        found = metrics.get(f"{PREFIX}{name}")
        return None if found is None else float(found)

    ratio, stretch, lag = value("duration_ratio"), value("stretch_max_ratio"), value("lag_s")
    position, speed, executed = (
        value(f"{name}_fraction") for name in ("position_limit", "speed_limit", "executed")
    )
    if ratio is None or stretch is None or position is None or speed is None:
        return
    most = "" if stretch < 1.001 * ratio else f", at most {stretch:.3g} at {value('stretch_max_at_s'):.2f} s"
    late = "" if lag is None else f"; hands {abs(1000.0 * lag):.1f} ms {'early' if lag < 0.0 else 'late'}"
    yield f"tempo      {ratio:.3g} times as long as the person{most}{late}"
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
