"""Plot of the equipment's joint positions, moved by the robot and by the actor."""

from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from simbench.plotting import (
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

STROKE_COLOUR = "#eeeeee"
HEIGHT, SPACE = 170, 44


def draw_equipment(log: xr.Dataset, title: str, path: Path) -> None:
    """Draw the joints of the equipment over time as PNG, with the actor's repetitions grey.

    `log`: log from `open_run` of a run with equipment; `title`: title of the sheet; `path`: file to write.
    Raises OSError if the file cannot be written.
    """
    coordinates = fixture_coordinates(log)
    key: list[Line2D | Patch] = [
        Line2D([], [], color=REFERENCE_COLOUR, linewidth=3.0, label="actor"),
        Line2D([], [], color=MEASURED_COLOUR, label="robot"),
        Patch(facecolor=STROKE_COLOUR, label="a repetition of the actor's"),
    ]
    sheet = new_sheet(len(coordinates) * (HEIGHT + SPACE) - SPACE, title, key)
    time = log.time.values
    for row, each in enumerate(coordinates):
        axes = add_axes(sheet, LEFT, TOP + row * (HEIGHT + SPACE), WIDTH - LEFT - RIGHT, HEIGHT)
        scale, unit = (1000.0, "mm") if each.unit == "m" else (180.0 / np.pi, "°")
        robot, actor = scale * each.robot, scale * each.actor
        for start, end in log["strokes"].values:
            axes.axvspan(start, end, color=STROKE_COLOUR, linewidth=0, zorder=0)
            axes.axvline(end, color="white", linewidth=2.0, zorder=0)
        axes.plot(time, actor, color=REFERENCE_COLOUR, linewidth=3.0)
        axes.plot(time, robot, color=MEASURED_COLOUR, linewidth=1.1)
        axes.set_title(f"{each.name} ({unit})", loc="left", size=10, parse_math=False)
        travel = f"way {np.ptp(robot):.4g} {unit}, the actor's {np.ptp(actor):.4g} {unit}"
        axes.set_title(travel, loc="right", size=8, color="#555555")
        set_time_axis(axes, time)
        if row == len(coordinates) - 1:
            axes.set_xlabel("time (s)", size=9)
    save_png(sheet.figure, path)
