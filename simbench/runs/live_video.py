"""The video of a run, drawn while the simulation goes on."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from simbench.robot.robot import Robot
from simbench.runs.scenario.loading import Scenario
from simbench.runs.video import make_camera, sample_frames
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.camera import OPENGL, Renderer, choose_renderer
from simbench.sim.rendering.painting import StreamBrokenError, VideoStream, make_cast, open_video_stream
from simbench.sim.rendering.scene_view import UndrawableShapeError, fits_video

VIDEO_NAME = "video.mp4"


class LiveVideo:
    """A video to which the log's samples go as they come.

    It shows what `render_video` shows of the whole log. `stream`: where the frames go; None if nothing can be
    drawn yet; `mechanisms`: equipment of the run; `rate`: frames per second; `overlays`: whether COG, ZMP and
    support polygon are shown.
    """

    def __init__(
        self, stream: VideoStream | None, mechanisms: Sequence[Mechanism], rate: float, *, overlays: bool
    ) -> None:
        self._stream, self._mechanisms, self._rate, self._overlays = stream, mechanisms, rate, overlays
        self.whole = False
        """Whether all frames are drawn."""
        self.renderer: Renderer | None = None
        """Which renderer drew the video, once its file is there."""

    def add(self, log: xr.Dataset) -> None:
        """Draw what a part of the log shows. `log`: log from the end of the part before."""
        if self._stream is None or not log.sizes["time"]:
            return
        try:
            self._add(self._stream, log)
        except StreamBrokenError:
            self._stream = None

    def finish(self, log: xr.Dataset, progress: Callable[[int, int], None]) -> None:
        """Draw the rest. `log`: the whole log; `progress`: called after frames."""
        if self._stream is None or not log.sizes["time"]:
            return
        with contextlib.suppress(StreamBrokenError):
            self._add(self._stream, log)
            self._stream.finish(self._count(log), progress)
            self.whole = True

    def _add(self, stream: VideoStream, log: xr.Dataset) -> None:
        """Add the frames whose samples are known, each with the first sample that is not before it."""
        last = float(log.time[-1])
        known = int(np.floor((last + 1e-9) * self._rate)) + 1
        times = np.arange(stream.count, known) / self._rate
        if len(times):
            frames = sample_frames(log, self._mechanisms, times, overlays=self._overlays)
            stream.add(frames, self._count(log))

    def _count(self, log: xr.Dataset) -> int:
        """Count the frames of a video of a log that ends here."""
        return max(1, round(float(log.time[-1]) * self._rate))


@contextlib.contextmanager
def live_video(
    folder: Path, scenario: Scenario, robot: Robot, mechanisms: Sequence[Mechanism], *, fast: bool
) -> Iterator[LiveVideo]:
    """Begin the video of a run, for as long as it is simulated.

    `folder`: run directory; `robot`: robot as its description says; `mechanisms`: equipment of the run;
    `fast`: whether it is a preview. Yields the video. After the body, there is a file if it has a `renderer`,
    and none otherwise.
    """
    camera, overlays = make_camera(scenario.camera, fast=fast), scenario.camera.overlays
    nothing = LiveVideo(None, mechanisms, camera.fps, overlays=overlays)
    # A camera that follows smoothly knows where the robot will be.
    moves = scenario.camera.follow or scenario.camera.orbit_s is not None
    if choose_renderer() != OPENGL or not fits_video(camera) or moves:
        yield nothing
        return
    try:
        cast = make_cast(robot, mechanisms, camera, ghost=False, video=True, shadows=not fast)
    except UndrawableShapeError:
        yield nothing
        return
    with contextlib.ExitStack() as stack:
        try:
            stream = stack.enter_context(open_video_stream(folder / VIDEO_NAME, cast))
        except OSError:
            # Of the disk: who draws the video from the log will say it.
            yield nothing
            return
        live = LiveVideo(stream, mechanisms, camera.fps, overlays=overlays)
        yield live
        # An exception of the simulation does not come here, and leaves no video.
        with contextlib.suppress(StreamBrokenError, OSError), stack.pop_all():
            if not live.whole:
                raise StreamBrokenError
        live.renderer = OPENGL if live.whole and (folder / VIDEO_NAME).exists() else None
