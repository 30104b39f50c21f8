"""Drawings as small PNG files that are whole or not there."""

import os
from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

COLOURS_KEPT = 128


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
