"""Plot of the motors' torques in % of their limits, by joint and over time."""

from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simbench.plotting import ALARM_COLOUR, LIMIT_STYLE, MEASURED_COLOUR, joint_sheet, save_png, set_time_axis


def draw_torque(log: xr.Dataset, title: str, path: Path) -> None:
    """Draw the motor torque of every joint in % of its limit as PNG, red where it was limited.

    `log`: log from `open_run`; `title`: title of the sheet; `path`: file to write. Raises OSError if the file
    cannot be written.
    """
    names = [str(name) for name in log["joint"].values]
    limit = log["torque_limit"].values
    percent = 100.0 * log["torque_motor"].values / limit
    saturated = np.abs(log["torque_requested"].values) > limit
    peak, rms = np.abs(percent).max(axis=0), np.sqrt(np.mean(percent**2, axis=0))
    key: list[Line2D | Patch] = [
        Patch(facecolor=MEASURED_COLOUR, label="largest torque"),
        Line2D([], [], color="black", marker="_", linestyle="none", label="RMS torque"),
        Line2D([], [], **LIMIT_STYLE, label="limit"),
    ]
    if saturated.any():
        key.append(Patch(facecolor=ALARM_COLOUR, label="saturated: more was asked for, part of the time"))
    bars, curves = joint_sheet(names, title, key)
    colours = [ALARM_COLOUR if ever else MEASURED_COLOUR for ever in saturated.any(axis=0)]
    bars.bar(range(len(names)), peak, color=colours, width=0.7)
    bars.plot(range(len(names)), rms, color="black", marker="_", linestyle="none", markersize=9)
    bars.axhline(100.0, **LIMIT_STYLE)
    bars.set_ylim(0.0, 110.0)
    bars.set_ylabel("% of the limit", size=9)
    time = log.time.values
    for joint, axes in enumerate(curves):
        axes.axhline(100.0, **LIMIT_STYLE)
        axes.axhline(-100.0, **LIMIT_STYLE)
        axes.plot(time, percent[:, joint], color=MEASURED_COLOUR, linewidth=0.9)
        limited = np.where(saturated[:, joint], percent[:, joint], np.nan)
        axes.plot(time, limited, color=ALARM_COLOUR, linewidth=2.0, marker=".", markersize=2.5)
        axes.set_title(f"±{limit[joint]:.3g} N·m", loc="right", size=7, color="#555555")
        if saturated[:, joint].any():
            note = f"limited {100.0 * saturated[:, joint].mean():.2g} % of the time"
            axes.text(
                1.0, 0.12, note, size=7, color=ALARM_COLOUR, ha="right", va="bottom", transform=axes.transAxes
            )
        axes.set_ylim(-115.0, 115.0)
        axes.set_yticks([-100, 0, 100])
        set_time_axis(axes, time, ticks=4)
    figure = bars.get_figure(root=True)
    assert figure is not None
    save_png(figure, path)
