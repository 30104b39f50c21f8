"""A run as it goes: its video drawn and its scene in browsers while it is simulated, and its replay."""

import contextlib
import time as clock
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np
import xarray as xr

from simbench.errors import RunError
from simbench.robot.robot import Robot
from simbench.runs.scenario.schema import Scenario
from simbench.runs.video import VideoScene, View, load_video_scene, make_camera, sample_frames
from simbench.sim.engine import open_picture_engine
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.camera import OPENGL, Renderer, choose_renderer
from simbench.sim.rendering.painting import Cast, StreamBrokenError, VideoStream, open_video_stream
from simbench.sim.rendering.scene_renderer import Scene, open_window, pose_scene, pressed_keys
from simbench.sim.rendering.scene_view import UndrawableShapeError, fits_video
from simbench.sim.rendering.scene_viewer import (
    LOOPBACK,
    PORT,
    BrowserView,
    open_browser_view,
    require_browser_view,
)

VIDEO_NAME = "video.mp4"
_RATE = 30.0  # Frames per second of the run.
FRAME_RATE = 60.0  # Frame rate of the window, 1/s.
JUMP = 1.0  # Time of the run by which the arrow keys jump forward and back, s.


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
        cast = Cast(robot, mechanisms, camera, ghost=False, video=True, shadows=not fast)
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


class LiveView:
    """A scene that browsers show while its run is simulated, and after that for as long as it is open.

    `on_ready`: called with the scene's URL, before anything is simulated; `host`, `port`: address to listen
    on, and first port to try; `realtime`: whether the simulation keeps to the clock; else it goes as fast as
    it can, and the scene follows.
    """

    def __init__(
        self,
        on_ready: Callable[[str], None],
        host: str = LOOPBACK,
        port: int = PORT,
        *,
        realtime: bool = False,
    ) -> None:
        require_browser_view()
        self.realtime = realtime
        self._address, self._on_ready = (host, port), on_ready
        self._view: BrowserView | None = None
        self._mechanisms: Sequence[Mechanism] = ()
        self._count = 0
        self._stack = ExitStack()

    def __enter__(self) -> "LiveView":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def open(
        self, scenario: Scenario, robot: Robot, mechanisms: Sequence[Mechanism], duration: float
    ) -> None:
        """Serve the scene.

        `scenario`: scenario of the run; `robot`: robot as its description says; `mechanisms`: equipment of
        the run; `duration`: time that the run is to last, s.
        """
        camera = make_camera(scenario.camera)
        try:
            cast = Cast(
                robot, mechanisms, camera, ghost=False, video=True, shadows=False, average_textures=True
            )
        except UndrawableShapeError as error:
            raise RunError(f"--view: {robot.name} cannot be shown: {error}") from error
        title = f"{scenario.name} on {robot.name}"
        self._mechanisms, self._count = mechanisms, 0
        self._view = self._stack.enter_context(open_browser_view(cast, title, duration, *self._address))
        self._on_ready(self._view.url)

    def add(self, log: xr.Dataset) -> None:
        """Show what a part of the log has.

        `log`: log from the end of the part before, or from the beginning.
        """
        if self._view is None or not log.sizes["time"]:
            return
        known = int(np.floor((float(log.time[-1]) + 1e-9) * _RATE)) + 1
        times = np.arange(self._count, known) / _RATE
        if len(times):
            self._view.add(times, sample_frames(log, self._mechanisms, times, overlays=True))
            self._count = known

    def finish(self, words: str, *, wait: bool) -> None:
        """Say that the run has ended, and stay for as long as a browser shows it.

        `words`: what came of it, in one line; `wait`: whether to wait for a browser that has not come yet.
        """
        if self._view is not None:
            self._view.finish(words, wait=wait)


def advance_playhead(
    time: float, paused: bool, looping: bool, keys: Collection[str], elapsed: float, length: float
) -> tuple[float, bool, bool]:
    """Advance a playhead by the keys pressed and the time elapsed.

    `time`: time of the run that is shown, since the first frame, s; `paused`: whether time stands still;
    `looping`: whether the player begins again at every end; `keys`: keys pressed since: `space` pauses and
    continues, `left` and `right` jump back and forward, `r` begins again, `l` switches looping; `elapsed`:
    time of the run by which it advances unless it is paused, s; `length`: time of the last frame, s; without
    looping the playhead stays there. Returns time, paused and looping after.
    """
    paused = paused != ("space" in keys)
    looping = looping != ("l" in keys)
    time = 0.0 if "r" in keys else time + JUMP * (("right" in keys) - ("left" in keys))
    time = max(0.0, time) + (0.0 if paused else elapsed)
    if time > length:
        time = time % length if looping and length > 0.0 else length
    return time, paused, looping


def play_scene(
    video: VideoScene,
    window: Scene,
    speed: float,
    *,
    looping: bool = False,
    keys: Callable[[Scene], Collection[str]] = pressed_keys,
    now: Callable[[], float] = clock.perf_counter,
    sleep: Callable[[float], None] = clock.sleep,
) -> None:
    """Show frames at their times until `q` is pressed or the window is closed.

    `speed`: ratio of the run's time to the clock; `looping`: begin again at the end; `keys`: function that
    returns the keys pressed since its last call; `now`: function that returns the clock's time, s; `sleep`:
    function that waits for a time, s.
    """
    length = float(video.times[-1] - video.times[0])
    shown, paused = 0.0, False
    pressed: Collection[str] = ()
    before = now()
    while "q" not in pressed:
        index = int(np.abs(video.times - video.times[0] - shown).argmin())
        pose_scene(window, video.frames, index)
        sleep(max(0.0, before + 1.0 / FRAME_RATE - now()))
        after = now()
        pressed = keys(window)
        elapsed = speed * (after - before)
        shown, paused, looping = advance_playhead(shown, paused, looping, pressed, elapsed, length)
        before = after


def replay_run(folder: Path, view: View, *, loop: bool) -> None:
    """Show a run, complete or interrupted, in Bullet's window.

    `folder`: run directory; `view`: part of the run, speed and camera; `loop`: begin again at the end. Raises
    RunError, ScenarioError if there is no screen or no log, or the view does not fit the run.
    """
    engine = open_picture_engine("simbench replay")
    engine.require_display("simbench replay", "simbench video RUN")
    video = load_video_scene(folder, view, FRAME_RATE / view.speed)
    with open_window(video.robot, video.mechanisms, video.camera, ghost=view.ghost is not None) as window:
        play_scene(video, window, view.speed, looping=loop)
