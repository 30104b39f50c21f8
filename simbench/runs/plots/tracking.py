"""Plot of the joints' tracking: error of each joint, reference and measurement over time."""

from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simbench.plotting import MEASURED_COLOUR, REFERENCE_COLOUR, joint_sheet, save_png, set_time_axis


def draw_tracking(log: xr.Dataset, title: str, path: Path) -> None:
    """Draw reference and measured position of every joint as PNG, and the error of each joint above.

    Errors count from the end of the settling time, as in the metrics. `log`: log from `open_run`; `title`:
    title of the sheet; `path`: file to write. Raises OSError if the file cannot be written.
    """
    names = [str(name) for name in log["joint"].values]
    error = 1000.0 * (log["joint_position"] - log["joint_reference"])
    counted = error.sel(time=slice(log.attrs["settle_s"], None)).values
    if not len(counted):
        counted = error.values
    rms, largest = np.sqrt(np.mean(counted**2, axis=0)), np.abs(counted).max(axis=0)
    bars, curves = joint_sheet(
        names,
        title,
        [
            Line2D([], [], color=REFERENCE_COLOUR, linewidth=3.0, label="reference (°)"),
            Line2D([], [], color=MEASURED_COLOUR, label="measured (°)"),
            Patch(facecolor=MEASURED_COLOUR, label="RMS error"),
            Line2D(
                [],
                [],
                color="black",
                marker="_",
                linestyle="none",
                label="largest error, also beside each name",
            ),
        ],
    )
    bars.bar(range(len(names)), rms, color=MEASURED_COLOUR, width=0.7)
    bars.plot(range(len(names)), largest, color="black", marker="_", linestyle="none", markersize=9)
    bars.set_yscale("symlog", linthresh=0.1)
    bars.set_ylim(0.0, max(0.1, 1.3 * float(np.nanmax(largest))))
    bars.set_ylabel("error (mrad)", size=9)
    time = log.time.values
    reference = np.degrees(log["joint_reference"].values)
    measured = np.degrees(log["joint_position"].values)
    for joint, axes in enumerate(curves):
        axes.plot(time, reference[:, joint], color=REFERENCE_COLOUR, linewidth=3.0)
        axes.plot(time, measured[:, joint], color=MEASURED_COLOUR, linewidth=0.9)
        worst = f"{largest[joint]:.2g}" if largest[joint] < 100.0 else f"{largest[joint]:.0f}"
        axes.set_title(f"{worst} mrad", loc="right", size=7, color="#555555")
        # The axis spans at least 1°: a joint that stands still is drawn as a line, not as noise.
        low, high = axes.get_ylim()
        if high - low < 1.0:
            middle = 0.5 * (low + high)
            axes.set_ylim(middle - 0.5, middle + 0.5)
        axes.ticklabel_format(axis="y", useOffset=False)
        set_time_axis(axes, time, ticks=4)
    figure = bars.get_figure(root=True)
    assert figure is not None
    save_png(figure, path)
