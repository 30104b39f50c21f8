"""Draw COG, ZMP and support polygon on the floor of a finished picture."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from simbench.sim.rendering.scene_frames import Balance
from simbench.sim.rendering.scene_look import COG, DISC_RADIUS, FILL, HIDDEN, LINE, LINE_WIDTH, SUPPORT, ZMP
from simbench.sim.rendering.scene_renderer import Picture
from simbench.sim.rendering.scene_view import Camera, project

SUPERSAMPLING = 4
"""Anti-aliasing: the overlay is drawn so many times larger, then averaged."""
DEPTH_STEP = 2.0**-16
"""Resolution of the depth buffer."""

_CIRCLE = DISC_RADIUS * np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0.0, 2.0 * np.pi, 33)[:-1]])


def draw_balance(
    picture: Picture, camera: Camera, floor: NDArray[np.float32], balance: Balance, frame: int
) -> NDArray[np.uint8]:
    """Draw COG (blue disc), ZMP (red disc) and support polygon (green) of one frame.

    `picture`: colours and depths of the frame; `camera`: camera of the picture; `floor` (h, w): `floor_depth`
    at the size of `picture.depth`: objects in front of the floor hide the drawing; `frame`: index of the
    frame. Returns (height, width, 3) of uint8: RGB picture with the drawing.
    """
    polygon = balance.support[frame]
    shapes = [(polygon, SUPPORT)] if len(polygon) >= 3 else []
    for point, color in ((balance.cog[frame], COG), (balance.zmp[frame], ZMP)):
        if np.isfinite(point).all():
            shapes.append((point + _CIRCLE, color))
    outlines = [(_on_screen(camera, corners), color) for corners, color in shapes]
    box = _bounds(camera, [outline for outline, _ in outlines])
    if box is None:
        return picture.rgb
    left, top, right, bottom = box
    layer = Image.new("RGBA", (SUPERSAMPLING * (right - left), SUPERSAMPLING * (bottom - top)))
    pen = ImageDraw.Draw(layer)
    for outline, color in outlines:
        points = [(float(x), float(y)) for x, y in SUPERSAMPLING * (outline - (left, top))]
        pen.polygon(points, fill=(*color, FILL if color is SUPPORT else LINE))
        if color is SUPPORT:
            pen.line([*points, *points[:2]], (*color, LINE), round(SUPERSAMPLING * LINE_WIDTH), "curve")
    # The average must not include the colour of transparent pixels: PIL weights by opacity.
    small = np.asarray(layer.resize((right - left, bottom - top), Image.Resampling.BOX), dtype=np.float32)
    visible = _visible(picture, floor, camera, box)
    opacity = small[:, :, 3:] / 255.0 * (HIDDEN + (1.0 - HIDDEN) * visible[:, :, None])
    rgb = picture.rgb.copy()
    part = rgb[top:bottom, left:right]
    part[:] = np.rint(part + opacity * (small[:, :, :3] - part))
    return rgb


def _on_screen(camera: Camera, corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Project points (N, 2) on the floor, m, to pixels (N, 2)."""
    return project(camera, np.column_stack([corners, np.zeros(len(corners))]))


def _bounds(camera: Camera, outlines: list[NDArray[np.float64]]) -> tuple[int, int, int, int] | None:
    """Compute the bounding box of outlines, pixels: left, top, right, bottom; None if not visible."""
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
    """Compute the fraction of each pixel of the box in which the floor is visible."""
    left, top, right, bottom = box
    rows, columns = picture.depth.shape
    scale_x, scale_y = columns / camera.width, rows / camera.height
    area = np.s_[
        int(top * scale_y) : int(np.ceil(bottom * scale_y)),
        int(left * scale_x) : int(np.ceil(right * scale_x)),
    ]
    # TinyRenderer samples a pixel's corner, EGL its centre: their floors differ by half a row.
    tolerance = DEPTH_STEP + 0.6 * abs(float(floor[-1, 0] - floor[-2, 0]))
    free = np.abs(picture.depth[area] - floor[area]) < tolerance
    mask = Image.fromarray(free.astype(np.float32))
    return np.asarray(mask.resize((right - left, bottom - top), Image.Resampling.BOX))
