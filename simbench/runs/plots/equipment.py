"""What the robot did with the equipment, and what the actor had done."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from simbench.plotting import (
    LEFT,
    OWN_COLOUR,
    RIGHT,
    TOP,
    WANTED_COLOUR,
    WIDTH,
    new_sheet,
    place_axes,
    save_png,
    span_time,
)

STROKE_COLOUR = "#eeeeee"
HEIGHT, SPACE = 170, 44


@dataclass(frozen=True)
class FixtureCoordinate:
    """One joint of the equipment over time.

    Parameters
    ----------
    name : str
        Of the fixture and its joint.
    unit : `m` or `rad`
    own, actor : (T,) array
        Where the robot had it, and where the actor.
    """

    name: str
    unit: str
    own: NDArray[np.float64]
    actor: NDArray[np.float64]


def fixture_coordinates(log: xr.Dataset) -> list[FixtureCoordinate]:
    """Find the joints of the equipment in a log: what has a counterpart `<name>_actor`.

    Parameters
    ----------
    log : xarray.Dataset
        From `open_run`.

    Returns
    -------
    list of FixtureCoordinate
        Empty without equipment.
    """
    names = [str(name).removesuffix("_actor") for name in log if str(name).endswith("_actor")]
    return [
        FixtureCoordinate(name, log[name].attrs["units"], log[name].values, log[f"{name}_actor"].values)
        for name in names
        if name in log
    ]


def draw_equipment(log: xr.Dataset, title: str, path: Path) -> None:
    """Draw the joints of the equipment over time as PNG, with the actor's repetitions grey.

    Parameters
    ----------
    log : xarray.Dataset
        From `open_run`; with equipment.
    title : str
    path : Path

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    coordinates = fixture_coordinates(log)
    key: list[Line2D | Patch] = [
        Line2D([], [], color=WANTED_COLOUR, linewidth=3.0, label="actor"),
        Line2D([], [], color=OWN_COLOUR, label="robot"),
        Patch(facecolor=STROKE_COLOUR, label="a repetition of the actor's"),
    ]
    sheet = new_sheet(len(coordinates) * (HEIGHT + SPACE) - SPACE, title, key)
    time = log.time.values
    for row, each in enumerate(coordinates):
        axes = place_axes(sheet, LEFT, TOP + row * (HEIGHT + SPACE), WIDTH - LEFT - RIGHT, HEIGHT)
        scale, unit = (1000.0, "mm") if each.unit == "m" else (180.0 / np.pi, "°")
        own, actor = scale * each.own, scale * each.actor
        for start, end in log["strokes"].values:
            axes.axvspan(start, end, color=STROKE_COLOUR, linewidth=0, zorder=0)
            axes.axvline(end, color="white", linewidth=2.0, zorder=0)
        axes.plot(time, actor, color=WANTED_COLOUR, linewidth=3.0)
        axes.plot(time, own, color=OWN_COLOUR, linewidth=1.1)
        axes.set_title(f"{each.name} ({unit})", loc="left", size=10, parse_math=False)
        way = f"way {np.ptp(own):.4g} {unit}, the actor's {np.ptp(actor):.4g} {unit}"
        axes.set_title(way, loc="right", size=8, color="#555555")
        span_time(axes, time)
        if row == len(coordinates) - 1:
            axes.set_xlabel("time (s)", size=9)
    save_png(sheet.figure, path)
