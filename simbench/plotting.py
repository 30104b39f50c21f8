"""Sheets on which plots are laid out, in pixels from the upper left corner."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from PIL import Image

from simbench.files.storage import whole_file

# The current directory may be a received run, whose settings could have LaTeX run.
if Path(matplotlib.matplotlib_fname()).resolve().parent == Path.cwd():
    matplotlib.rcdefaults()

PALETTE_SIZE = 128  # Colours of a PNG file.

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1200, 64, 24, 92, 48
DPI = 100
# Distinguishable for colour-blind readers.
COLOURS = {"left": "#0072b2", "right": "#d55e00"}
MEASURED_COLOUR, REFERENCE_COLOUR = "#0072b2", "#b0b0b0"
ALARM_COLOUR = "#d01010"
LIMIT_STYLE: dict[str, Any] = {"color": "#555555", "linewidth": 0.9, "linestyle": (0, (4, 2))}
CONTACT_COLOUR = "#cfe8cf"
# Heights and distances of the bars above and of the curves below.
BARS_HEIGHT, NAMES_HEIGHT = 180, 110
JOINT_HEIGHT, JOINT_SPACE, JOINT_GAP = 84, 52, 48
COLUMNS = 6


@dataclass(frozen=True)
class Sheet:
    """A figure with a title and a height in pixels."""

    figure: Figure
    height: int


def new_sheet(content: int, title: str, key: Sequence[Line2D | Patch]) -> Sheet:
    """Make a sheet with a title and a legend below it.

    `content`: height of what will be placed between `TOP` and the bottom margin, pixels; `title`: title in
    the upper left corner; `key`: labelled lines and patches of the legend. Returns sheet of width `WIDTH`
    without axes.
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


def add_axes(sheet: Sheet, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes without a frame at the top and on the right.

    `sheet`: sheet to draw on; `left`: distance from the sheet's left edge, pixels; `top`: distance from its
    upper edge, pixels; `width`: width of the axes, pixels; `height`: height of the axes, pixels. Returns the
    new axes.
    """
    box = (left / WIDTH, 1 - (top + height) / sheet.height, width / WIDTH, height / sheet.height)
    axes = sheet.figure.add_axes(box)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def joint_sheet(names: Sequence[str], title: str, key: Sequence[Line2D | Patch]) -> tuple[Axes, list[Axes]]:
    """Make a sheet with a bar and a curve for every joint.

    `key`: labelled lines and patches of the legend. Returns `bars`: axes of the bars: joint k is at x = k;
    `curves`: one for each joint, with its name as the title. Their figure is that of `bars`.
    """
    rows = -(-len(names) // COLUMNS)
    content = BARS_HEIGHT + NAMES_HEIGHT + rows * (JOINT_HEIGHT + JOINT_SPACE) - JOINT_SPACE
    sheet = new_sheet(content, title, key)
    bars = add_axes(sheet, LEFT, TOP, WIDTH - LEFT - RIGHT, BARS_HEIGHT)
    bars.set_xlim(-0.6, len(names) - 0.4)
    bars.set_xticks(
        range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor", parse_math=False
    )
    width = (WIDTH - LEFT - RIGHT - (COLUMNS - 1) * JOINT_GAP) / COLUMNS
    curves = []
    for index, name in enumerate(names):
        row, column = divmod(index, COLUMNS)
        top = TOP + BARS_HEIGHT + NAMES_HEIGHT + row * (JOINT_HEIGHT + JOINT_SPACE)
        axes = add_axes(sheet, LEFT + column * (width + JOINT_GAP), top, width, JOINT_HEIGHT)
        axes.set_title(name, loc="left", size=8, parse_math=False)
        curves.append(axes)
    return bars, curves


def set_time_axis(axes: Axes, time: NDArray[np.float64], *, ticks: int = 8) -> None:
    """Make the x axis span the time of a run, with ticks at whole seconds if it is longer than 3 s.

    `axes`: axes to change; `time` (T,); `ticks`: maximum number of ticks.
    """
    axes.set_xlim(time[0], time[-1])
    axes.xaxis.set_major_locator(MaxNLocator(ticks, integer=bool(time[-1] - time[0] > 3.0)))


def save_png(figure: Figure, path: Path, *, colours: int = PALETTE_SIZE) -> None:
    """Write a figure as PNG with a palette, which takes a third of the size of full colour.

    The file appears under its name only when it is whole. `colours`: size of the palette, at most 256. Raises
    OSError if the file cannot be written.
    """
    drawn = BytesIO()
    with warnings.catch_warnings():
        # A name may have letters that the font lacks; boxes are drawn in their place.
        warnings.filterwarnings("ignore", message="Glyph")
        figure.savefig(drawn, format="png", pil_kwargs={"compress_level": 0})
    picture = Image.open(drawn).convert("RGB").quantize(colours, dither=Image.Dither.NONE)
    with whole_file(path) as part:
        picture.save(part, format="PNG", optimize=True)
