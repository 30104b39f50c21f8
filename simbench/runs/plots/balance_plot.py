"""Plot of COG and ZMP against the support polygon over time, for one run or several."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
from simbench.plotting import save_png
from simbench.runs.metrics import FELL_HEIGHT

# The colours of the overlays on the floor of videos.
COG_COLOUR, ZMP_COLOUR, SUPPORT_COLOUR = "#1e64eb", "#e12323", "#c4e8d3"
EDGE_COLOUR = "#14a050"
FALL_COLOUR = "#555555"
# Width of the picture, its margins, height of a drawing and the space around it, in pixels.
WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1200, 70, 24, 92, 48
HEIGHT, SPACE, BETWEEN = 220, 26, 36
DPI = 100
# Fraction of the width that the shortest run gets at least; longer runs share one scale of time.
LEAST_WIDTH = 0.22
# Fraction of the support's greatest extent that is shown beyond it: a COG farther out belongs to a fall.
MARGIN = 0.2
DIRECTIONS = (("y", "to the left (mm)"), ("x", "forward (mm)"))


def until_fall(log: xr.Dataset) -> xr.Dataset:
    """Cut a log where the robot begins to lie on the floor.

    `log`: log from `open_run`. Returns the log before the fall; all of it if the robot stays up.
    """
    height = log["base_pose"].values[:, 2]
    standing = height >= FELL_HEIGHT * height[0]
    return log if standing.all() else log.isel(time=slice(0, int(standing.argmin())))


def draw_balance(runs: Mapping[str, xr.Dataset], title: str, path: Path) -> None:
    """Draw COG and ZMP of runs side by side as PNG.

    The upper row shows the robot's left, the lower row forward: the extent of the convex hull of the points
    where feet touch the floor, and within it ZMP and COG; their planned curves are thin and dashed. A run
    ends where the robot has fallen. The file appears under its name only when it is whole. `runs` {heading:
    log}: logs from `open_run`; `title`: title of the picture; `path`: file to write. Raises OSError if the
    file cannot be written.
    """
    for heading, log in runs.items():
        if "zmp" not in log:
            raise RunError(f"{heading}: {log.attrs['robot']} has no feet, so neither ZMP nor support")
    standing = {heading: until_fall(log) for heading, log in runs.items()}
    height = TOP + 2 * HEIGHT + SPACE + BOTTOM
    figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI)
    lengths = np.array([float(log.time[-1]) for log in standing.values()])
    fractions = np.maximum(lengths / lengths.sum(), min(LEAST_WIDTH, 1.0 / len(runs)))
    widths = fractions / fractions.sum() * (WIDTH - LEFT - RIGHT - (len(runs) - 1) * BETWEEN)
    for row, (direction, label) in enumerate(DIRECTIONS):
        extents = np.concatenate([_support(log, direction) for log in standing.values()], axis=1)
        low, high = float(np.nanmin(extents)), float(np.nanmax(extents))
        limits = low - MARGIN * (high - low), high + MARGIN * (high - low)
        for column, (heading, log) in enumerate(standing.items()):
            left = LEFT + widths[:column].sum() + column * BETWEEN
            bottom = BOTTOM + (1 - row) * (HEIGHT + SPACE)
            axes = figure.add_axes(
                (left / WIDTH, bottom / height, widths[column] / WIDTH, HEIGHT / height), ylim=limits
            )
            time = log.time.values
            lower, upper = _support(log, direction)
            # With an edge, so that the narrow support of a robot on its toes is visible.
            style: dict[str, Any] = {
                "facecolor": SUPPORT_COLOUR,
                "edgecolor": EDGE_COLOUR,
                "linewidth": 0.8,
                "zorder": 1,
            }
            axes.fill_between(time, lower, upper, step="mid", **style)
            for name, colour, order in (("zmp", ZMP_COLOUR, 2), ("cog", COG_COLOUR, 4)):
                # The COG has a third coordinate.
                values = log[name].values[:, "xy".index(direction)]
                axes.plot(time, 1000.0 * values, color=colour, linewidth=1.1, zorder=order)
                if f"{name}_desired" in log:
                    planned = 1000.0 * log[f"{name}_desired"].sel(xy=direction).values
                    axes.plot(time, planned, color=colour, linewidth=0.8, linestyle=(0, (4, 2)), alpha=0.6)
            axes.set_xlim(0.0, time[-1])
            axes.xaxis.set_major_locator(MaxNLocator(integer=bool(time[-1] > 3.0)))
            axes.tick_params(labelsize=8)
            axes.spines[["top", "right"]].set_visible(False)
            if log.sizes["time"] < runs[heading].sizes["time"]:
                fall = float(log.time[-1])
                axes.axvline(fall, color=FALL_COLOUR, linewidth=2.5)
                if row == 0:
                    axes.set_title(f"fallen at {fall:.1f} s", loc="right", size=9, color=FALL_COLOUR)
            if column == 0:
                axes.set_ylabel(label, size=9)
            else:
                axes.set_yticklabels([])
            if row == 0:
                axes.set_title(heading, loc="left", size=10, parse_math=False)
                axes.set_xticklabels([])
            else:
                axes.set_xlabel("time (s)", size=9)
    figure.text(LEFT / WIDTH, 1 - 12 / height, title, va="top", size=12, weight="bold", parse_math=False)
    key: list[Patch | Line2D] = [
        Patch(fc=SUPPORT_COLOUR, ec=EDGE_COLOUR, linewidth=0.8, label="support, from edge to edge"),
        Line2D([], [], color=ZMP_COLOUR, label="ZMP"),
        Line2D([], [], color=COG_COLOUR, label="COG"),
    ]
    if any("cog_desired" in log for log in runs.values()):
        style = {"linewidth": 0.8, "linestyle": (0, (4, 2)), "alpha": 0.6}
        key.append(Line2D([], [], color=ZMP_COLOUR, label="ZMP planned", **style))
        key.append(Line2D([], [], color=COG_COLOUR, label="COG planned", **style))
    figure.legend(
        handles=key,
        loc="upper left",
        bbox_to_anchor=(LEFT / WIDTH, 1 - 34 / height),
        ncols=len(key),
        fontsize=9,
        frameon=False,
        borderaxespad=0.0,
        borderpad=0.2,
    )
    save_png(figure, path)


def _support(log: xr.Dataset, direction: str) -> Array:
    """Compute the least and greatest coordinate (2, T) of the support polygon, mm; NaN in the air."""
    corners = 1000.0 * log["support_polygon"].sel(xy=direction)
    return np.stack([corners.min("corner").values, corners.max("corner").values])
