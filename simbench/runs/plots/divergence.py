"""Plot of the channels of one signal that left their envelopes, over the baseline."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simbench.plotting import (
    ALARM_COLOUR,
    LEFT,
    MEASURED_COLOUR,
    REFERENCE_COLOUR,
    RIGHT,
    TOP,
    WIDTH,
    add_axes,
    new_sheet,
    save_png,
    set_time_axis,
)
from simbench.runs.traces.comparison import Divergence, TraceComparison

ROWS = 8
"""Largest number of channels in a plot: those that diverged first."""
_HEIGHT, _SPACE, _GAP = 150, 46, 70
_BAND_COLOUR = "#e4e4e4"


def draw_divergence(
    comparison: TraceComparison, divergences: Sequence[Divergence], title: str, path: Path
) -> None:
    """Draw channels over the baseline and, beside each, its deviation from the baseline with the envelope.

    `comparison`: the run compared with its trace; `divergences`: channels of one signal that diverged, in the
    order in which they are drawn; `title`: title of the sheet; `path`: PNG file to write. Raises OSError if
    the file cannot be written.
    """
    shown = divergences[:ROWS]
    key: list[Line2D | Patch] = [
        Line2D([], [], color=REFERENCE_COLOUR, linewidth=3.0, label="baseline"),
        Patch(facecolor=_BAND_COLOUR, label="allowed deviation"),
        Line2D([], [], color=MEASURED_COLOUR, label="run; right: its deviation from the baseline"),
        Line2D([], [], color=ALARM_COLOUR, label="first diverging sample"),
    ]
    sheet = new_sheet(len(shown) * (_HEIGHT + _SPACE) - _SPACE, title, key)
    width = (WIDTH - LEFT - RIGHT - _GAP) / 2
    for row, divergence in enumerate(shown):
        top = TOP + row * (_HEIGHT + _SPACE)
        curve = add_axes(sheet, LEFT, top, width, _HEIGHT)
        deviation = add_axes(sheet, LEFT + width + _GAP, top, width, _HEIGHT)
        unit = "" if divergence.channel.unit == "quaternion" else f" ({divergence.channel.unit})"
        curve.set_title(f"{divergence.channel.name}{unit}", loc="left", size=9, parse_math=False)
        deviation.set_title(_heading(divergence), loc="left", size=9, parse_math=False)
        _draw_channel(curve, deviation, comparison, divergence)
    save_png(sheet.figure, path)


def _heading(divergence: Divergence) -> str:
    at = f"at {divergence.time:.3f} s"
    if divergence.outcome in ("lags", "leads"):
        return f"{at}: {divergence.outcome} by {1e3 * abs(divergence.lag):.2g} ms"
    if np.isfinite(divergence.ratio):
        return f"{at}: {divergence.ratio:.3g} times its envelope, at most {divergence.peak_ratio:.3g} times"
    return f"{at}: {divergence.outcome}"


def _draw_channel(curve: Axes, deviation: Axes, comparison: TraceComparison, divergence: Divergence) -> None:
    """Draw baseline and run on one pair of axes, and their difference with the envelope on the other."""
    trace, run = comparison.trace, comparison.run
    column = trace.channels.index(divergence.channel)
    baseline, allowed = trace.values[:, column], trace.tolerance[:, column]
    allowed = np.where(np.isfinite(allowed), allowed, np.nan)
    curve.plot(trace.time, baseline, color=REFERENCE_COLOUR, linewidth=3.0)
    deviation.fill_between(trace.time, -allowed, allowed, color=_BAND_COLOUR, linewidth=0.0)
    deviation.axhline(0.0, color=REFERENCE_COLOUR, linewidth=0.9)
    if divergence.channel in run.channels:
        measured = run.values[:, run.channels.index(divergence.channel)]
        curve.plot(run.time, measured, color=MEASURED_COLOUR, linewidth=0.9)
        sampled = np.interp(trace.time, run.time, measured, right=np.nan)
        deviation.plot(trace.time, sampled - baseline, color=MEASURED_COLOUR, linewidth=0.9)
    for axes in (curve, deviation):
        axes.axvline(divergence.time, color=ALARM_COLOUR, linewidth=0.9)
        axes.ticklabel_format(axis="y", useOffset=False)
        set_time_axis(axes, trace.time)
