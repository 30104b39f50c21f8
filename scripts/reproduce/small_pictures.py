"""Pictures of the pages on papers: lines in few colours, as small files."""

from pathlib import Path

from matplotlib.figure import Figure
from PIL import Image

COLOURS = 32


def save_picture(figure: Figure, path: Path, dpi: int = 80) -> None:
    """Write a figure as a PNG file with a palette, a third as large as one with true colours."""
    figure.savefig(path, dpi=dpi)
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
    small.save(path, optimize=True)
