"""A sheet on which the plots of a run are laid out, in pixels from its upper left corner."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from PIL import Image

COLOURS_KEPT = 128

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1200, 64, 24, 92, 48
DPI = 100
# Colour-blind readers can tell them apart.
COLOURS = {"left": "#0072b2", "right": "#d55e00"}
OWN_COLOUR, WANTED_COLOUR = "#0072b2", "#b0b0b0"
ALARM_COLOUR = "#d01010"
LIMIT_STYLE: dict[str, Any] = {"color": "#555555", "linewidth": 0.9, "linestyle": (0, (4, 2))}
CONTACT_COLOUR = "#cfe8cf"
# A bar for each joint above, and its curve below.
BARS_HEIGHT, NAMES_HEIGHT = 180, 110
JOINT_HEIGHT, JOINT_SPACE, JOINT_GAP = 84, 52, 48
COLUMNS = 6


@dataclass(frozen=True)
class Sheet:
    """A figure with a title.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    height : int
        Pixels.
    """

    figure: Figure
    height: int


def new_sheet(content: int, title: str, key: Sequence[Line2D | Patch]) -> Sheet:
    """Begin a sheet.

    Parameters
    ----------
    content : int
        Height of what will be placed between `TOP` and the bottom margin, pixels.
    title : str
    key : sequence of labelled lines and patches
        Explained under the title.

    Returns
    -------
    Sheet
    """
    height = TOP + content + BOTTOM
    figure = Figure(figsize=(WIDTH / DPI, height / DPI), dpi=DPI)
    left = LEFT / WIDTH
    figure.text(left, 1 - 12 / height, title, va="top", size=12, weight="bold", parse_math=False)
    figure.legend(
        handles=list(key),
        loc="upper left",
        bbox_to_anchor=(left, 1 - 34 / height),
        ncols=len(key),
        fontsize=9,
        frameon=False,
        borderaxespad=0.0,
        borderpad=0.2,
    )
    return Sheet(figure, height)


def place_axes(sheet: Sheet, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes without a frame above and to the right; pixels from the sheet's upper left corner."""
    box = (
        left / WIDTH,
        1 - (top + height) / sheet.height,
        width / WIDTH,
        height / sheet.height,
    )
    axes = sheet.figure.add_axes(box)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def joint_sheet(names: Sequence[str], title: str, key: Sequence[Line2D | Patch]) -> tuple[Axes, list[Axes]]:
    """Begin a sheet with room for a bar and a curve of every joint.

    Parameters
    ----------
    names : sequence of str
        Of the joints.
    title : str
    key : sequence of labelled lines and patches

    Returns
    -------
    bars : Axes
        Joint k is at x = k.
    curves : list of Axes
        One a joint, headed by its name. Their figure is that of `bars`.
    """
    rows = -(-len(names) // COLUMNS)
    content = BARS_HEIGHT + NAMES_HEIGHT + rows * (JOINT_HEIGHT + JOINT_SPACE) - JOINT_SPACE
    sheet = new_sheet(content, title, key)
    bars = place_axes(sheet, LEFT, TOP, WIDTH - LEFT - RIGHT, BARS_HEIGHT)
    bars.set_xlim(-0.6, len(names) - 0.4)
    bars.set_xticks(
        range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor", parse_math=False
    )
    width = (WIDTH - LEFT - RIGHT - (COLUMNS - 1) * JOINT_GAP) / COLUMNS
    curves = []
    for place, name in enumerate(names):
        row, column = divmod(place, COLUMNS)
        top = TOP + BARS_HEIGHT + NAMES_HEIGHT + row * (JOINT_HEIGHT + JOINT_SPACE)
        axes = place_axes(sheet, LEFT + column * (width + JOINT_GAP), top, width, JOINT_HEIGHT)
        axes.set_title(name, loc="left", size=8, parse_math=False)
        curves.append(axes)
    return bars, curves


def span_time(axes: Axes, time: NDArray[np.float64], *, ticks: int = 8) -> None:
    """Let an axis span the time of a run, with whole seconds if there are enough."""
    axes.set_xlim(time[0], time[-1])
    axes.xaxis.set_major_locator(MaxNLocator(ticks, integer=bool(time[-1] - time[0] > 3.0)))


def save_png(figure: Figure, path: Path) -> None:
    """Write a figure with a palette, a third of the size of full colour, under its name once it is whole.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    path : Path

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    drawn = BytesIO()
    figure.savefig(drawn, format="png", pil_kwargs={"compress_level": 0})
    picture = Image.open(drawn).convert("RGB").quantize(COLOURS_KEPT, dither=Image.Dither.NONE)
    part = path.with_name(f"{path.name}.part")
    try:
        picture.save(part, format="PNG", optimize=True)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
