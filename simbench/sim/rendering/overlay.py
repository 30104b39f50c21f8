"""COG, ZMP and support polygon, drawn on the floor of a finished picture."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from simbench.sim.rendering.scene_frames import Balance
from simbench.sim.rendering.scene_renderer import Picture
from simbench.sim.rendering.scene_view import Camera, project

SUPPORT, COG, ZMP = (20, 160, 80), (30, 100, 235), (225, 35, 35)
FILL, LINE = 70, 255
"""Opacity of the polygon's area and of everything else, 0..255."""
HIDDEN = 0.25
"""What remains of the opacity behind the robot or a table: feet often cover the ZMP."""
DISC_RADIUS = 0.016  # m
LINE_WIDTH = 2.0  # pixels
SMOOTH = 4
"""Drawn so many times larger, then averaged."""
DEPTH_STEP = 2.0**-16
"""Resolution of the depth buffer."""

_CIRCLE = DISC_RADIUS * np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0.0, 2.0 * np.pi, 33)[:-1]])


def draw_balance(
    picture: Picture, camera: Camera, floor: NDArray[np.float32], balance: Balance, frame: int
) -> NDArray[np.uint8]:
    """Draw COG (blue disc), ZMP (red disc) and support polygon (green) of one frame.

    Parameters
    ----------
    picture : Picture
    camera : Camera
    floor : (h, w) array
        `floor_depth` at the size of `picture.depth`: what stands before the floor hides the drawing.
    balance : Balance
    frame : int

    Returns
    -------
    (height, width, 3) array of uint8
    """
    polygon = balance.support[frame]
    shapes = [(polygon, SUPPORT)] if len(polygon) >= 3 else []
    for spot, color in ((balance.cog[frame], COG), (balance.zmp[frame], ZMP)):
        if np.isfinite(spot).all():
            shapes.append((spot + _CIRCLE, color))
    outlines = [(_on_screen(camera, corners), color) for corners, color in shapes]
    box = _bounds(camera, [outline for outline, _ in outlines])
    if box is None:
        return picture.rgb
    left, top, right, bottom = box
    layer = Image.new("RGBA", (SMOOTH * (right - left), SMOOTH * (bottom - top)))
    pen = ImageDraw.Draw(layer)
    for outline, color in outlines:
        points = [(float(x), float(y)) for x, y in SMOOTH * (outline - (left, top))]
        pen.polygon(points, fill=(*color, FILL if color is SUPPORT else LINE))
        if color is SUPPORT:
            pen.line([*points, *points[:2]], (*color, LINE), round(SMOOTH * LINE_WIDTH), "curve")
    # Averaging must not mix in the colour of what is transparent: PIL weighs by opacity.
    small = np.asarray(layer.resize((right - left, bottom - top), Image.Resampling.BOX), dtype=np.float32)
    visible = _visible(picture, floor, camera, box)
    opacity = small[:, :, 3:] / 255.0 * (HIDDEN + (1.0 - HIDDEN) * visible[:, :, None])
    rgb = picture.rgb.copy()
    part = rgb[top:bottom, left:right]
    part[:] = np.rint(part + opacity * (small[:, :, :3] - part))
    return rgb


def _on_screen(camera: Camera, corners: NDArray[np.float64]) -> NDArray[np.float64]:
    return project(camera, np.column_stack([corners, np.zeros(len(corners))]))


def _bounds(camera: Camera, outlines: list[NDArray[np.float64]]) -> tuple[int, int, int, int] | None:
    """Part of the picture that the outlines touch: left, top, right, bottom; None if they are outside."""
    if not outlines:
        return None
    points = np.vstack(outlines)
    margin = LINE_WIDTH + 1.0
    size = np.array([camera.width, camera.height])
    left, top = np.clip(np.floor(points.min(axis=0) - margin), 0, size).astype(int).tolist()
    right, bottom = np.clip(np.ceil(points.max(axis=0) + margin), 0, size).astype(int).tolist()
    return (left, top, right, bottom) if left < right and top < bottom else None


def _visible(
    picture: Picture, floor: NDArray[np.float32], camera: Camera, box: tuple[int, int, int, int]
) -> NDArray[np.float32]:
    """Share of each pixel of the box in which the floor is seen."""
    left, top, right, bottom = box
    rows, columns = picture.depth.shape
    scale_x, scale_y = columns / camera.width, rows / camera.height
    area = np.s_[
        int(top * scale_y) : int(np.ceil(bottom * scale_y)),
        int(left * scale_x) : int(np.ceil(right * scale_x)),
    ]
    # TinyRenderer looks through a pixel's corner, EGL through its middle: half a row more or less of floor.
    tolerance = DEPTH_STEP + 0.6 * abs(float(floor[-1, 0] - floor[-2, 0]))
    free = np.abs(picture.depth[area] - floor[area]) < tolerance
    mask = Image.fromarray(free.astype(np.float32))
    return np.asarray(mask.resize((right - left, bottom - top), Image.Resampling.BOX))
