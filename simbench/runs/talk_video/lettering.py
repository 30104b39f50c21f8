"""Captions, labels and title cards on the pictures of a video."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from simbench.sim.rendering.scene_view import BACKGROUND

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
