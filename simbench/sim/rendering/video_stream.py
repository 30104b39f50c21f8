"""A video that is drawn while its frames become known."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from simbench.errors import RunError
from simbench.files.storage import whole_file
from simbench.sim.rendering.drawing_process import Drawing, default_processes, job_pipes, start_drawing
from simbench.sim.rendering.encoder import open_encoder
from simbench.sim.rendering.painting import Cast, make_records
from simbench.sim.rendering.renderer_choice import OPENGL_WORKER, RendererUnavailableError
from simbench.sim.rendering.scene_frames import Frames


class StreamBrokenError(Exception):
    """A video stream that cannot go on; the video can still be drawn from the log."""


class VideoStream:
    """A video to which frames are added.

    `cast`: what it shows; `drawing`: processes that draw it; `pipes`: file descriptors to which the records
    of their frames are written; -1 where closed.
    """

    def __init__(self, cast: Cast, drawing: Drawing, pipes: list[int]) -> None:
        self._cast, self._drawing, self._pipes = cast, drawing, pipes
        self._waiting: list[bytes] = []
        self._sent = 0

    @property
    def count(self) -> int:
        """Number of frames that have been added."""
        return self._sent + len(self._waiting)

    def add(self, frames: Frames, certain: int) -> None:
        """Add frames, which are drawn as soon as may be.

        `frames`: poses in each frame; `certain`: number of frames that the video will have at least; others
        wait. Raises StreamBrokenError if the processes have ended.
        """
        self._waiting += [record.tobytes() for record in make_records(self._cast, frames)]
        self._send(certain)

    def finish(self, count: int, progress: Callable[[int, int], None]) -> None:
        """Wait until all frames are drawn.

        `count`: number of frames of the video; `progress`: called after frames.
        """
        self._send(count)
        if self._sent != count:
            raise StreamBrokenError
        for number, descriptor in enumerate(self._pipes):
            os.close(descriptor)
            self._pipes[number] = -1
        try:
            self._drawing.wait_until_ready()
            for done in self._drawing.drawn_frames():
                progress(done, count)
        except (RendererUnavailableError, RunError, BrokenPipeError):
            raise StreamBrokenError from None

    def _send(self, certain: int) -> None:
        """Send the frames that wait, up to the number that is certain."""
        ready = max(0, certain - self._sent)
        for record in self._waiting[:ready]:
            data = memoryview(record)
            try:
                while data:
                    data = data[os.write(self._pipes[self._sent % len(self._pipes)], data) :]
            except BrokenPipeError:
                raise StreamBrokenError from None
            self._sent += 1
        del self._waiting[:ready]


@contextlib.contextmanager
def open_video_stream(path: Path, cast: Cast) -> Iterator[VideoStream]:
    """Begin a video; its file appears when the body ends without an exception.

    `path`: file to write; its name ends in `.mp4`; `cast`: what it shows, as a video. Raises OSError if the
    file cannot be written.
    """
    with (
        whole_file(path, keep_suffix=True) as part,
        open_encoder(part, cast.content.camera, "nv12") as encoder,
        job_pipes([cast.content] * default_processes()) as (inputs, pipes),
        start_drawing(OPENGL_WORKER, inputs, encoder.input) as drawing,
    ):
        # Else a pipe to a process that has ended would fill, and writing to it wait for ever.
        for _, reading in inputs:
            os.close(reading)
        yield VideoStream(cast, drawing, pipes)
