"""Pictures on a disk: whole, small, or not there."""

import errno

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from simbench.plotting import save_png


def test_a_picture_is_what_was_drawn_in_a_palette(tmp_path):
    figure = Figure(figsize=(1, 2), dpi=50)
    figure.add_axes((0, 0, 1, 0.5), facecolor="#d55e00").set(xticks=[], yticks=[])
    save_png(figure, tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as picture:
        assert (picture.size, picture.mode) == ((50, 100), "P")
        pixels = np.asarray(picture.convert("RGB"))
    assert (pixels[10, 25] == 255).all()
    assert (pixels[75, 25] == (0xD5, 0x5E, 0x00)).all()


def test_a_full_disk_leaves_the_old_picture_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space left"):
        save_png(Figure(figsize=(1, 1)), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
