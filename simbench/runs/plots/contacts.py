"""Plot of contact forces: force on each foot, force and torque of each grip against its strength."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from simbench.plotting import (
    COLOURS,
    CONTACT_COLOUR,
    LEFT,
    LIMIT_STYLE,
    RIGHT,
    TOP,
    WIDTH,
    add_axes,
    new_sheet,
    save_png,
    set_time_axis,
)
from simbench.runs.log_schema import fixture_coordinates

HEIGHT, SPACE = 190, 44


def has_contacts(log: xr.Dataset) -> bool:
    """Return whether a run has contacts to draw: a robot with feet, or equipment to grip.

    `log`: log from `open_run`. Returns true if `draw_contacts` has something to draw.
    """
    return bool(log.sizes["foot"]) or bool(fixture_coordinates(log))


def draw_contacts(log: xr.Dataset, strength: tuple[float, float], title: str, path: Path) -> None:
    """Draw the forces on feet and grips over time as PNG, with the times of planned hand contact in green.

    `log`: log from `open_run` for which `has_contacts` is true; `strength`: force, N, and torque, N·m, at
    which a grip lets go; `title`: title of the sheet; `path`: file to write. Raises OSError if the file
    cannot be written.
    """
    feet = bool(log.sizes["foot"])
    hands = bool(fixture_coordinates(log)) and bool(log.sizes["hand"])
    rows = feet + 2 * hands
    sides = dict.fromkeys([*map(str, log["foot"].values), *map(str, log["hand"].values)])
    key: list[Line2D | Patch] = [Line2D([], [], color=COLOURS[side], label=side) for side in sides]
    lines = ["weight of the robot"] * feet + ["strength of a grip"] * hands
    key.append(Line2D([], [], **LIMIT_STYLE, label=", ".join(lines)))
    if hands:
        key.append(Patch(facecolor=CONTACT_COLOUR, label="a hand is to hold"))
    sheet = new_sheet(rows * (HEIGHT + SPACE) - SPACE, title, key)
    panels = [
        add_axes(sheet, LEFT, TOP + row * (HEIGHT + SPACE), WIDTH - LEFT - RIGHT, HEIGHT)
        for row in range(rows)
    ]
    time = log.time.values
    if feet:
        weight = float(log.attrs["mass_kg"] * log.attrs["gravity_m_s2"])
        force = log["foot_wrench"].values[..., 2]
        _draw_sides(panels[0], time, log["foot"].values, force, weight)
        panels[0].set_title("force of the floor on each foot, upwards (N)", loc="left", size=10)
    if hands:
        wrench, names = log["grip_wrench"].values, log["hand"].values
        contact = np.any(log["hand_contact"].values, axis=1)
        for axes, part, limit, heading in (
            (panels[-2], wrench[..., :3], strength[0], "force of the grip on each hand (N)"),
            (panels[-1], wrench[..., 3:], strength[1], "torque of the grip on each hand (N·m)"),
        ):
            for start, end in _intervals(contact):
                axes.axvspan(time[start], time[end], color=CONTACT_COLOUR, linewidth=0, zorder=0)
            _draw_sides(axes, time, names, np.linalg.norm(part, axis=2), limit)
            axes.set_title(f"{heading}; it lets go at {limit:g}", loc="left", size=10)
    panels[-1].set_xlabel("time (s)", size=9)
    save_png(sheet.figure, path)


def _draw_sides(
    axes: Axes,
    time: NDArray[np.float64],
    sides: NDArray[np.str_],
    values: NDArray[np.float64],
    line: float,
) -> None:
    """Draw a curve for each side and a horizontal line."""
    # Both curves may coincide: the first is wider and shows behind the second.
    for side, column, width in zip(sides, values.T, (2.6, 1.0), strict=False):
        axes.plot(time, column, color=COLOURS[str(side)], linewidth=width)
    axes.axhline(line, **LIMIT_STYLE)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    set_time_axis(axes, time)


def _intervals(flags: Any) -> list[tuple[int, int]]:
    """Find the first and last sample of each run of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]])))
    return [(int(start), int(end) - 1) for start, end in list(pairwise(edges))[::2]]
