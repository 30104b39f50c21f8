"""Picture of a verdict over time: for each check its value, its limit and its first failure."""

from pathlib import Path

import numpy as np
from matplotlib.lines import Line2D

from simbench.plotting import (
    ALARM_COLOUR,
    LEFT,
    LIMIT_STYLE,
    MEASURED_COLOUR,
    RIGHT,
    TOP,
    WIDTH,
    add_axes,
    new_sheet,
    save_png,
    set_time_axis,
)
from simbench.runs.verdict.verdict_outcome import Verdict

_LANE, _SPACE = 46, 30  # Height of a lane and of the space above it, pixels.
_NAME_WIDTH = 60  # Width on the left for the numbers of the axes, pixels.
_ROOM = 1.3  # Height of a lane in limits, at least.


def draw_verdict(verdict: Verdict, path: Path) -> None:
    """Draw the checks of a verdict over time as PNG; the file appears under its name only when it is whole.

    Each check that has a value over time has a lane: the value, its limit dashed, and a red line from the
    first moment at which it fails. `path`: file to write, PNG. Raises OSError if the file cannot be written.
    """
    lanes = [
        (check, check.series)
        for check in verdict.checks
        if check.series is not None and np.isfinite(check.series).any()
    ]
    source = verdict.source if len(verdict.source) <= 60 else f"…{verdict.source[-59:]}"
    outcome = "passes" if verdict.passed else f"fails {len(verdict.failed)} checks"
    title = f"{source} on {verdict.robot}: {outcome}"
    key = [
        Line2D([], [], color=MEASURED_COLOUR, label="value"),
        Line2D([], [], **LIMIT_STYLE, label="limit"),
        Line2D([], [], color=ALARM_COLOUR, marker="v", label="first failure"),
    ]
    content = max(len(lanes), 1) * (_LANE + _SPACE)
    sheet = new_sheet(content, title, key)
    left = LEFT + _NAME_WIDTH
    for number, (check, series) in enumerate(lanes):
        top = TOP + _SPACE + number * (_LANE + _SPACE)
        axes = add_axes(sheet, left, top, WIDTH - left - RIGHT, _LANE)
        values = np.where(np.isfinite(series), series, np.nan)
        colour = ALARM_COLOUR if check.outcome == "fail" else "#222222"
        unit = f" ({check.unit})" if check.unit else ""
        heading = f"{check.name}{unit}: {check.outcome}" + (f", {check.where}" if check.where else "")
        axes.set_title(heading, loc="left", size=9, color=colour, parse_math=False)
        axes.plot(verdict.time, values, color=MEASURED_COLOUR, linewidth=1.0)
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        if check.limit is not None:
            axes.axhline(check.limit, **LIMIT_STYLE)
            low, high = min(low, check.limit), max(high, _ROOM * check.limit)
        margin = 0.08 * (high - low) or 1.0
        axes.set_ylim(low - margin, high + margin)
        set_time_axis(axes, verdict.time, ticks=12)
        if check.first is not None:
            axes.axvline(check.first.time, color=ALARM_COLOUR, linewidth=1.0)
            axes.plot(
                check.first.time,
                1.0,
                "v",
                color=ALARM_COLOUR,
                markersize=6,
                clip_on=False,
                transform=axes.get_xaxis_transform(),
            )
            axes.annotate(
                f"{check.first.time:.2f} s, frame {check.first.frame}",
                (check.first.time, 1.0),
                (5, -9),
                xycoords=axes.get_xaxis_transform(),
                textcoords="offset points",
                size=8,
                color=ALARM_COLOUR,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
            )
        if number < len(lanes) - 1:
            axes.tick_params(labelbottom=False)
        else:
            axes.set_xlabel("time (s)", fontsize=9)
    save_png(sheet.figure, path)
