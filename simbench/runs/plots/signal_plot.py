"""Plots of signals over time: of runs on the same axes, and of a run over the envelopes of its baseline."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
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
from simbench.runs.log_schema import fixture_coordinates
from simbench.runs.traces.trace_comparison import Divergence
from simbench.runs.traces.trace_signals import Samples, Trace

HEIGHT, SPACE = 170, 44
ROWS = 8  # Largest number of channels in a plot of divergences: those that diverged first.
_DIVERGENCE_HEIGHT, _DIVERGENCE_SPACE, _GAP = 150, 46, 70
_BAND_COLOUR = "#e4e4e4"
_LEGEND_WIDTH = 180
MOST_LINES = 6  # Lines in one panel: of more joints, those that differ or move most are drawn.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_STYLES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), "dotted", (0, (5, 1, 1, 1)))
# Signals that are computed from variables of the log: the largest error of a joint and the largest share of a
# torque limit, of all joints but the fingers, and the vertical force of each foot.
LARGEST_ERROR, LARGEST_TORQUE, FEET = "tracking error", "motor torque", "foot load"


SignalFigure: TypeAlias = Figure  # What is drawn: a figure of matplotlib.


class Channels(NamedTuple):
    """Curves of one quantity."""

    unit: str  # Unit of the values.
    names: list[str]  # Name of each of K curves.
    values: Array  # (T, K).


def plot_signals(
    logs: Mapping[str, xr.Dataset],
    signals: Sequence[str] = (),
    *,
    entries: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """Draw signals over time, those of several runs on the same axes.

    `logs`: logs from `open_run` by the name of the run. `signals`: variables of the log with the dimension
    time, such as `zmp` or `joint_position`, or `tracking error`, `motor torque`, `foot load`: one panel each.
    By default those three, the ZMP and the equipment, as far as the logs have them. `entries`: which joints,
    axes or feet are drawn; by default at most `MOST_LINES`, those that differ most between the runs, or move
    most in one run. `title`: title of the figure; by default the names of the runs. Returns A figure with one
    panel for each signal. Raises RunError if no log has a signal, or a signal lacks an entry; the message
    lists what there is.
    """
    chosen = list(signals) or usual_signals(list(logs.values()))
    panels = {signal: _collect_panel(logs, signal, entries) for signal in chosen}
    key = [
        Line2D([], [], color="#444444", linestyle=_STYLES[number % len(_STYLES)], label=name)
        for number, name in enumerate(logs)
    ]
    content = len(panels) * (HEIGHT + SPACE) - SPACE
    sheet = new_sheet(content, title or " and ".join(logs), key if len(logs) > 1 else [])
    end = max(float(log.time.values[-1]) for log in logs.values())
    for row, (signal, (panel, names, count)) in enumerate(panels.items()):
        axes = add_axes(
            sheet, LEFT, TOP + row * (HEIGHT + SPACE), WIDTH - LEFT - RIGHT - _LEGEND_WIDTH, HEIGHT
        )
        for number, (run, channels) in enumerate(panel.items()):
            time = logs[run].time.values
            for line, name in enumerate(names):
                if name in channels.names:
                    values = channels.values[:, channels.names.index(name)]
                    style = _STYLES[number % len(_STYLES)]
                    colour = _COLOURS[(line if len(names) > 1 else number) % len(_COLOURS)]
                    axes.plot(time, values, color=colour, linestyle=style, linewidth=1.1)
        unit = next(iter(panel.values())).unit
        among = f", {len(names)} of {count}" if len(names) < count else ""
        axes.set_title(f"{signal}{f' ({unit})' if unit else ''}{among}", loc="left", size=9, parse_math=False)
        handles = [Line2D([], [], color=_COLOURS[line], label=name) for line, name in enumerate(names)]
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.005, 1.0), fontsize=8, frameon=False)
        axes.grid(color="#e6e6e6", linewidth=0.6)
        axes.margins(y=0.08)
        set_time_axis(axes, np.array([0.0, end]))
        axes.ticklabel_format(axis="y", useOffset=False)
    axes.set_xlabel("time (s)", size=9)
    return sheet.figure


def usual_signals(logs: Sequence[xr.Dataset]) -> list[str]:
    """List the signals that are drawn where none is named.

    `logs`: logs of at least one run. Returns names, as for `plot_signals`.
    """
    equipment = dict.fromkeys(name for log in logs for name, *_ in fixture_coordinates(log))
    balance = ["zmp"] if any("zmp" in log for log in logs) else []
    feet = [FEET] if any(log.sizes["foot"] for log in logs) else []
    return [LARGEST_ERROR, *equipment, *balance, *feet, LARGEST_TORQUE]


def _collect_panel(
    logs: Mapping[str, xr.Dataset], signal: str, entries: Sequence[str]
) -> tuple[dict[str, Channels], list[str], int]:
    """Read a signal of every log that has it, with only the entries that are asked for.

    Returns the curves, the names of those that are drawn, and how many there are.
    """
    panel = {
        run: found for run, log in logs.items() if (found := _read_channels(log, signal, entries)) is not None
    }
    if not panel:
        allowed = sorted(
            {str(name) for log in logs.values() for name in log.data_vars if "time" in log[name].dims}
        )
        raise RunError(
            f"{signal}: no such signal in the log; allowed: {LARGEST_ERROR}, {LARGEST_TORQUE}, {FEET}, "
            + ", ".join(allowed)
        )
    if entries:
        known = dict.fromkeys(name for channels in panel.values() for name in channels.names)
        wanted = [name for name in entries if name in known]
        # Panels of one curve have nothing to choose from.
        if not wanted and len(known) > 1:
            raise RunError(f"{signal}: has no {', '.join(entries)}; allowed: {', '.join(known)}")
        if wanted:
            for run, channels in panel.items():
                kept = [name for name in wanted if name in channels.names]
                columns = [channels.names.index(name) for name in kept]
                panel[run] = Channels(channels.unit, kept, channels.values[:, columns])
    names = list(dict.fromkeys(name for channels in panel.values() for name in channels.names))
    if len(names) <= MOST_LINES:
        return panel, names, len(names)
    # Curves of two runs are ranked by their largest difference at an index, those of one by their range.
    ranges = {name: 0.0 for name in names}
    for name in names:
        curves = [
            channels.values[:, channels.names.index(name)]
            for channels in panel.values()
            if name in channels.names
        ]
        shortest = min(len(curve) for curve in curves)
        stacked = np.stack([curve[:shortest] for curve in curves])
        spread = np.ptp(stacked, axis=0) if len(curves) > 1 else stacked[0] - stacked[0].min()
        ranges[name] = float(np.nanmax(spread, initial=0.0))
    kept = sorted(names, key=lambda name: -ranges[name])[:MOST_LINES]
    return panel, [name for name in names if name in kept], len(names)


def _read_channels(log: xr.Dataset, signal: str, entries: Sequence[str]) -> Channels | None:
    """Read a signal as curves; None if the log does not have it."""
    if signal == LARGEST_ERROR:
        error = 1000.0 * np.abs((log["joint_position"] - log["joint_reference"]).values)
        return _joint_channels(log, "mrad", error, entries)
    if signal == LARGEST_TORQUE:
        limit = log["torque_limit"].values
        share = 100.0 * np.abs(log["torque_motor"].values) / np.where(limit > 0.0, limit, np.inf)
        return _joint_channels(log, "% of the limit", share, entries)
    if signal == FEET:
        if not log.sizes["foot"]:
            return None
        return Channels("N", list(log["foot"].values.astype(str)), log["foot_wrench"].sel(axis6="fz").values)
    if signal not in log.data_vars or "time" not in log[signal].dims:
        return None
    variable = log[signal].transpose("time", ...)
    others = variable.dims[1:]
    values = variable.values.astype(float).reshape(len(variable), -1)
    labels = [""]
    for dim in others:
        parts = (
            log[dim].values.astype(str).tolist()
            if dim in log.coords
            else [str(k) for k in range(log.sizes[dim])]
        )
        labels = [f"{label} {part}".strip() for label in labels for part in parts]
    return Channels(str(variable.attrs.get("units", "")), labels if others else [signal], values)


def _joint_channels(log: xr.Dataset, unit: str, values: Array, entries: Sequence[str]) -> Channels:
    """Make a curve for each joint where joints are asked for, else one of the largest but the fingers'."""
    names = log["joint"].values.astype(str).tolist()
    if set(entries) & set(names):
        return Channels(unit, names, values)
    # As in the metrics: a handle stops the fingers by design.
    counted = values[:, ~log["is_grip"].values]
    return Channels(unit, ["largest joint"], counted.max(axis=1, keepdims=True))


def draw_divergence(
    trace: Trace, run: Samples, divergences: Sequence[Divergence], title: str, path: Path
) -> None:
    """Draw channels over the baseline and, beside each, its deviation from the baseline with the envelope.

    `trace`: trace of the baseline; `run`: channels of the run at the log's rate; `divergences`: channels of
    one signal that diverged, in the order in which they are drawn; `title`: title of the sheet; `path`: PNG
    file to write. Raises OSError if the file cannot be written.
    """
    shown = divergences[:ROWS]
    key: list[Line2D | Patch] = [
        Line2D([], [], color=REFERENCE_COLOUR, linewidth=3.0, label="baseline"),
        Patch(facecolor=_BAND_COLOUR, label="allowed deviation"),
        Line2D([], [], color=MEASURED_COLOUR, label="run; right: its deviation from the baseline"),
        Line2D([], [], color=ALARM_COLOUR, label="first diverging sample"),
    ]
    sheet = new_sheet(len(shown) * (_DIVERGENCE_HEIGHT + _DIVERGENCE_SPACE) - _DIVERGENCE_SPACE, title, key)
    width = (WIDTH - LEFT - RIGHT - _GAP) / 2
    for row, divergence in enumerate(shown):
        top = TOP + row * (_DIVERGENCE_HEIGHT + _DIVERGENCE_SPACE)
        curve = add_axes(sheet, LEFT, top, width, _DIVERGENCE_HEIGHT)
        deviation = add_axes(sheet, LEFT + width + _GAP, top, width, _DIVERGENCE_HEIGHT)
        unit = "" if divergence.channel.unit == "quaternion" else f" ({divergence.channel.unit})"
        curve.set_title(f"{divergence.channel.name}{unit}", loc="left", size=9, parse_math=False)
        if divergence.outcome in ("lags", "leads"):
            heading = f"{divergence.outcome} by {1e3 * abs(divergence.lag):.2g} ms"
        elif np.isfinite(divergence.ratio):
            heading = f"{divergence.ratio:.3g} times its envelope, at most {divergence.peak_ratio:.3g} times"
        else:
            heading = divergence.outcome
        heading = f"at {divergence.time:.3f} s: {heading}"
        deviation.set_title(heading, loc="left", size=9, parse_math=False)
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
    save_png(sheet.figure, path)
