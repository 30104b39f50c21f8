"""Draw frames one after another: only what has changed since the frame before.

Where a processor draws, each pixel of each pass costs. So the floor is drawn once and copied; a frame is
drawn within the rectangle in which anything has changed; the shaders shade directly in the colours of the
video; edges are smoothed afterwards, and only they; and luma and chroma are all that is read back.
"""

import contextlib
import itertools
import sys
from collections.abc import Iterator
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from simbench.sim.rendering import regions
from simbench.sim.rendering.canvas import SHADOW_PIXELS, Canvas, box_corners
from simbench.sim.rendering.drawing_process import run_jobs
from simbench.sim.rendering.regions import Rectangle
from simbench.sim.rendering.scene_view import Content, light_direction, move_camera, record_type
from simbench.system.restricted_pickle import load_pickle

LARGEST_SURFACE = 60_000_000  # Largest number of pixels of a drawing surface.


@contextlib.contextmanager
def open_opengl() -> Iterator[moderngl.Context]:
    """Open OpenGL 3.3 without a screen, and release it on leaving.

    Raises Exception of no class of its own, if there is none on this machine.
    """
    options: dict[str, Any] = {"backend": "egl"} if sys.platform == "linux" else {}
    context = moderngl.create_context(standalone=True, require=330, **options)
    try:
        yield context
    finally:
        context.release()


def paint_frames(
    context: moderngl.Context, content: Content, records: Iterator[np.void]
) -> Iterator[NDArray[np.uint8] | None]:
    """Draw frames.

    `context`: openGL; `content`: what stays the same in all frames; `records`: records of `record_type`, one
    for each frame. Yields none at first, when everything is ready. Then, of a video, luma (height, width) and
    chroma (height / 2, width / 2, 2) in one row; of a picture, red, green and blue (height, width, 3).
    Overwritten by the next frame.
    """
    camera = content.camera
    scale = 1 if content.video or 4 * camera.width * camera.height > LARGEST_SURFACE else 2
    view, light = regions.make_view(camera, scale), light_direction(camera)
    light /= np.linalg.norm(light)
    axes, local = regions.light_axes(light), box_corners(content.solids)
    canvas = Canvas(context, content, view, light, scale)
    width, height = camera.width, camera.height
    picture = _Planes(width, height) if content.video else _Rgb(width, height, scale)
    yield None
    before = None
    place = (*camera.target_m, camera.yaw_deg)
    for record in records:
        poses = record["poses"]
        moved_camera = move_camera(camera, record["shift"], float(record["turn_deg"]))
        if (*moved_camera.target_m, moved_camera.yaw_deg) != place:
            place = (*moved_camera.target_m, moved_camera.yaw_deg)
            view, before = regions.make_view(moved_camera, scale), None
            canvas.set_view(view, moved_camera.target_m)
        corners = np.einsum("bij,bkj->bki", poses[:, :, :3], local) + poses[:, None, :, 3]
        boxes = regions.Boxes(view, corners, light)
        marks = regions.find_marks(view, record["cog"], record["zmp"], record["support"])
        window = regions.LightWindow(axes, corners.reshape(-1, 3), SHADOW_PIXELS)
        region: Rectangle | None = Rectangle(0, 0, scale * width, scale * height)
        if before is not None and before[3] == window.key:
            moved = (poses != before[0]).any(axis=(1, 2))
            region = regions.changed_region(view, moved, (before[1], boxes), (before[2], marks))
        if region is not None:
            casting = regions.overlapping(boxes.low_reach, boxes.high_reach, region)
            canvas.set_poses(poses, window, casting)
            visible = regions.overlapping(boxes.low, boxes.high, region)
            canvas.draw_front(region, visible, window, marks)
            # Smoothing reaches beyond what has changed.
            picture.update(
                canvas, regions.grow(view, region, regions.SEARCH + 2) if canvas.smooths_edges else region
            )
        before = poses.copy(), boxes, marks, window.key
        yield picture.data


class _Planes:
    """Luma and chroma of the frame before."""

    def __init__(self, width: int, height: int) -> None:
        self.data = np.empty(width * height * 3 // 2, np.uint8)
        self._luma = self.data[: width * height].reshape(height, width)
        self._chroma = self.data[width * height :].reshape(height // 2, width // 2, 2)

    def update(self, canvas: Canvas, region: Rectangle) -> None:
        """Read what has changed."""
        left, top, right, bottom = region
        luma, chroma = canvas.read_planes(region)
        self._luma[top:bottom, left:right] = luma
        self._chroma[top // 2 : bottom // 2, left // 2 : right // 2] = chroma


class _Rgb:
    """Colours of the picture before."""

    def __init__(self, width: int, height: int, scale: int) -> None:
        self.data = np.empty((height, width, 3), np.uint8)
        self._scale = scale

    def update(self, canvas: Canvas, region: Rectangle) -> None:
        """Read what has changed, and average the pixels of a larger drawing surface."""
        left, top, right, bottom = (edge // self._scale for edge in region)
        drawn = canvas.read_rgb(region)
        if self._scale == 2:
            blocks = drawn.reshape(bottom - top, 2, right - left, 2, 3)
            drawn = ((blocks.sum(axis=(1, 3), dtype=np.uint16) + 2) // 4).astype(np.uint8)
        self.data[top:bottom, left:right] = drawn


def main() -> None:
    """Draw the frames of jobs, in a process of their own: a graphics library may print or end the process.

    It imports little, so that it can begin soon. The arguments are file descriptors: of the pictures, of the
    status, and two of each job: a pickled `Content`, and the records of its frames.
    """
    output, status, *inputs = (int(argument) for argument in sys.argv[1:])

    def draw(number: int) -> Iterator[Any]:
        with open(inputs[2 * number], "rb", closefd=False) as stream:
            content: Content = load_pickle(stream)
        kind = record_type(len(content.solids))
        with open(inputs[2 * number + 1], "rb", closefd=False) as stream, open_opengl() as context:
            read = iter(lambda: stream.read(kind.itemsize), b"")
            whole = itertools.takewhile(lambda data: len(data) == kind.itemsize, read)
            yield from paint_frames(context, content, (np.frombuffer(data, kind)[0] for data in whole))

    run_jobs(len(inputs) // 2, draw, output, status)


if __name__ == "__main__":
    main()
