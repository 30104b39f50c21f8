"""Captions, labels and title cards of a video: what they say at each moment, and how they are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from simbench.errors import RunError
from simbench.kinematics.arrays import Array
from simbench.runs.metric_format import format_value, unit_of
from simbench.runs.run_directory import incomplete_reason
from simbench.runs.run_records import read_metrics
from simbench.sim.rendering.scene_look import BACKGROUND

if TYPE_CHECKING:
    import xarray as xr

MOST_VALUES = 2
"""Number of values that a caption shows at most."""
_THOUSANDTHS = {"m": ("mm", 1), "rad": ("mrad", 2)}
"""Unit and decimals of small values, by their unit."""
_SMALL = 0.5
"""Largest value that is shown in thousandths, m or rad."""
Picture = NDArray[np.uint8]

_INK, _BAR, _DIM = (245, 246, 248), (22, 25, 30), (168, 173, 180)
_BAR_OPACITY = 0.72
_TITLE_INK = (30, 33, 38)
_LEAST_TEXT, _ROWS_PER_TEXT = 13, 26
"""Least height of a caption's letters, pixels, and rows of the picture for each pixel of their height."""
_LEAST_SHARE, _GAP = 0.7, 1.2
"""Least height of letters in one line, and least distance of its items, in usual heights and in heights."""
_SMALLEST = 8
"""Height of letters below which a text is cut, pixels."""


class OverTime(NamedTuple):
    """Form over time of a metric."""

    title: str  # Name in a caption.
    needs: tuple[str, ...]  # Variables of the log from which it is computed.
    compute: Callable[[xr.Dataset], Array]  # Callable (log) -> (T,) array: computes it at each sample.


def _joint_errors(log: xr.Dataset, flag: str) -> Array:
    """Absolute errors (T, n) of the joints that count, rad."""
    counted = log["is_arm"].values if flag == "is_arm" else ~log["is_grip"].values
    return np.asarray(np.abs((log["joint_position"] - log["joint_reference"]).values[:, counted]))


def _rms(values: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(values**2, axis=1)))


def _hand_errors(log: xr.Dataset) -> Array:
    """Distances (T, hands) of the palms from the actor's while in contact, m; NaN otherwise."""
    distance = np.linalg.norm((log["palm_position"] - log["palm_actor"]).values, axis=2)
    return np.where(log["hand_contact"].values, distance, np.nan)


def _over_hands(log: xr.Dataset, power: float) -> Array:
    """Power mean over the hands in contact (T,), m."""
    errors = _hand_errors(log)
    count = np.isfinite(errors).sum(axis=1)
    total = np.where(count > 0, np.nansum(errors**power, axis=1) / np.maximum(count, 1), np.nan)
    return np.asarray(total ** (1.0 / power))


def _largest_over_hands(log: xr.Dataset) -> Array:
    errors = _hand_errors(log)
    largest = np.max(np.where(np.isfinite(errors), errors, -np.inf), axis=1, initial=-np.inf)
    return np.where(largest >= 0.0, largest, np.nan)


def _distance(log: xr.Dataset, measured: str, desired: str) -> Array:
    return np.asarray(np.linalg.norm(log[measured].values[:, :2] - log[desired].values, axis=1))


_ERRORS = ("joint_position", "joint_reference")
_HANDS = ("palm_position", "palm_actor", "hand_contact")
OVER_TIME: dict[str, OverTime] = {
    "tracking.rms_rad": OverTime(
        "joint error, RMS", (*_ERRORS, "is_grip"), lambda log: _rms(_joint_errors(log, "is_grip"))
    ),
    "tracking.max_rad": OverTime(
        "largest joint error", (*_ERRORS, "is_grip"), lambda log: _joint_errors(log, "is_grip").max(axis=1)
    ),
    "tracking.arms_rms_rad": OverTime(
        "arm joint error, RMS", (*_ERRORS, "is_arm"), lambda log: _rms(_joint_errors(log, "is_arm"))
    ),
    "zmp.min_margin_m": OverTime("ZMP margin", ("zmp_margin",), lambda log: log["zmp_margin"].values),
    "zmp.rms_m": OverTime(
        "ZMP error", ("zmp", "zmp_desired"), lambda log: _distance(log, "zmp", "zmp_desired")
    ),
    "cog.rms_m": OverTime(
        "COG error", ("cog", "cog_desired"), lambda log: _distance(log, "cog", "cog_desired")
    ),
    "hands.rms_m": OverTime("hand error, RMS", _HANDS, lambda log: _over_hands(log, 2.0)),
    "hands.max_m": OverTime("largest hand error", _HANDS, _largest_over_hands),
}
"""Metrics whose value at each moment is shown instead of that of the whole run."""
_TITLES = {"zmp_margin": "ZMP margin"}
"""Names in a caption of variables whose name is not plain text."""


def caption_names(given: Sequence[str]) -> tuple[str, ...]:
    """Read the names that `--caption` gives, each text with names that commas separate."""
    names = tuple(name.strip() for text in given for name in text.split(","))
    if len(names) > MOST_VALUES or not all(names):
        raise RunError(
            f"--caption {','.join(given)}: allowed: one or two names, such as "
            "zmp.min_margin_m,tracking.rms_rad"
        )
    return names


def caption_texts(folder: Path, log: xr.Dataset, names: Sequence[str], times: Array) -> list[list[str]]:
    """Write the items of a caption at each frame.

    `folder`: run directory; `names`: metrics, or variables of the log with one value a sample; `times` (F,):
    times of the frames in the time of the run, s. Returns F texts of the time, then F texts of each name.
    Raises RunError if the run has no such metric and no such variable.
    """
    chosen = np.clip(np.searchsorted(log.time.values, times - 1e-9), 0, log.sizes["time"] - 1)
    signals = [
        str(name)
        for name, variable in log.data_vars.items()
        if variable.dims == ("time",) and variable.dtype.kind in "iuf"
    ]
    items = [[f"t = {time:.2f} s" for time in times]]
    for name in names:
        over_time = OVER_TIME.get(name)
        if over_time is not None and all(each in log.variables for each in over_time.needs):
            title, unit = over_time.title, unit_of(name)
            values = np.asarray(over_time.compute(log), dtype=float)
        elif name in signals:
            title = _TITLES.get(name, name.replace("_", " "))
            unit, values = str(log[name].attrs["units"]), log[name].values.astype(float)
        else:
            metrics = {} if incomplete_reason(folder) is not None else read_metrics(folder)
            if name not in metrics:
                allowed = ", ".join(["its metrics (metrics.json)", *sorted(signals)])
                raise RunError(f"{folder}: --caption {name}: no such metric or signal; allowed: {allowed}")
            text = f"{name} {format_value(metrics[name])} {unit_of(name)}".rstrip() + " (whole run)"
            items.append([text] * len(times))
            continue
        items.append([f"{title} {text}" for text in _format_values(values[chosen], values, unit)])
    return items


def _format_values(shown: Array, values: Array, unit: str) -> list[str]:
    """Write values with as many digits as the largest of the run needs, so that a caption does not jump."""
    finite = np.abs(values[np.isfinite(values)])
    largest = float(finite.max(initial=0.0))
    digits = 3 if largest < 1.0 else 2 if largest < 10.0 else 1 if largest < 1000.0 else 0
    if unit in _THOUSANDTHS and largest <= _SMALL:
        shown = 1000.0 * shown
        unit, digits = _THOUSANDTHS[unit]
    return [f"{value:.{digits}f} {unit}".rstrip() if np.isfinite(value) else "none" for value in shown]


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def text_size(height: int) -> int:
    """Choose the height of a caption's letters.

    `height`: height of the picture, pixels. Returns pixels: legible in small pictures, and in proportion to
    large ones.
    """
    return max(_LEAST_TEXT, round(height / _ROWS_PER_TEXT))


class Caption:
    """A bar with the time and values along the lower edge of pictures, laid out once for all of them.

    `items`: texts of each item in each frame; `width`, `height`: size of the pictures, pixels.
    """

    def __init__(self, items: list[list[str]], width: int, height: int) -> None:
        self._items = items
        usual = self._size = text_size(height)
        # One line hides less of the picture, if its letters need not be much smaller.
        while not self._fits_one_line(width) and self._size > max(_LEAST_TEXT, _LEAST_SHARE * usual):
            self._size -= 1
        self._one_line = self._fits_one_line(width)
        if not self._one_line:
            self._size = usual
            while max(self._widths()) + self._size > width and self._size > _SMALLEST:
                self._size -= 1
        widths = self._widths()
        step = round(1.35 * self._size)
        self._height = min(height, step * (1 if self._one_line else len(items)) + round(0.55 * self._size))
        spare = (width - sum(widths)) / (len(widths) + 1)
        starts = np.cumsum([0.0, *widths[:-1]]) + spare * (1 + np.arange(len(widths)))
        middle = 0.5 * (self._height - step * (1 if self._one_line else len(items)))
        self._places = [
            (starts[k], middle + 0.5 * step)
            if self._one_line
            else (0.5 * self._size, middle + (k + 0.5) * step)
            for k in range(len(items))
        ]

    def draw(self, picture: Picture, frame: int) -> None:
        """Draw the bar of a frame over its picture.

        `picture` (height, width, 3) of uint8: picture to change; `frame`: index of the frame.
        """
        texts = [(place, item[frame], _INK) for place, item in zip(self._places, self._items, strict=True)]
        _draw_bar(picture[len(picture) - self._height :], texts, self._size)

    def _fits_one_line(self, width: int) -> bool:
        widths = self._widths()
        return sum(widths) + _GAP * self._size * (len(widths) + 1) <= width

    def _widths(self) -> list[float]:
        return [max(_font(self._size).getlength(text) for text in set(item)) for item in self._items]


def draw_label(picture: Picture, text: str, aside: str = "", *, dimmed: bool) -> None:
    """Draw the label of a run along the upper edge of its picture.

    `picture` (height, width, 3) of uint8: picture to change; `aside`: text on the right, such as the time;
    `dimmed`: whether the run has ended.
    """
    height, width = picture.shape[:2]
    size = text_size(height)
    widest = f"{text}   {aside}" if aside else text
    while _font(size).getlength(widest) + size > width and size > _SMALLEST:
        size -= 1
    strip = picture[: round(1.9 * size)]
    ink, middle = _DIM if dimmed else _INK, 0.5 * len(strip)
    right = width - 0.5 * size - _font(size).getlength(aside)
    _draw_bar(strip, [((0.5 * size, middle), text, ink), ((right, middle), aside, ink)], size)


def title_card(text: str, width: int, height: int) -> Picture:
    """Draw a title card.

    `text`: the title; it is broken into lines where it is too long for one; `width`, `height`: size, pixels.
    Returns (height, width, 3) of uint8.
    """
    card = Image.new("RGB", (width, height), (BACKGROUND, BACKGROUND, BACKGROUND))
    size = max(_LEAST_TEXT, round(height / 11))
    lines = _break(text, _font(size), 0.86 * width)
    while size > _SMALLEST and (
        1.3 * size * len(lines) > 0.86 * height
        or max(_font(size).getlength(line) for line in lines) > 0.86 * width
    ):
        size -= 1
        lines = _break(text, _font(size), 0.86 * width)
    pen = ImageDraw.Draw(card)
    for number, line in enumerate(lines):
        row = 0.5 * height + 1.3 * size * (number - 0.5 * (len(lines) - 1))
        pen.text((0.5 * width, row), line, _TITLE_INK, _font(size), anchor="mm")
    return np.array(card)


def _break(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: float) -> list[str]:
    """Break a text between words into lines of at most a width, pixels, if they are not longer."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _draw_bar(
    strip: Picture, texts: Sequence[tuple[tuple[float, float], str, tuple[int, int, int]]], size: int
) -> None:
    """Darken a part of a picture, and write on it."""
    strip[:] = np.rint((1.0 - _BAR_OPACITY) * strip + _BAR_OPACITY * np.array(_BAR))
    bar = Image.fromarray(strip)
    pen = ImageDraw.Draw(bar)
    for place, text, ink in texts:
        pen.text(place, text, ink, _font(size), anchor="lm")
    strip[:] = np.asarray(bar)
