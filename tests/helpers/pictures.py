"""Pictures read back as pixels."""

import numpy as np
from PIL import Image


def pixels(path):
    """Read a picture as an array (height, width, channels)."""
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB"))


def coloured(image, colour):
    """Tell which pixels have a colour `#rrggbb`, give or take 4 of 255."""
    target = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
    return (np.abs(image.astype(int) - target) <= 4).all(axis=2)
