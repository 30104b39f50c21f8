"""The scene of a run in a web browser, while it is simulated."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType

import numpy as np
import xarray as xr

from simbench.errors import RunError
from simbench.robot.robot import Robot
from simbench.runs.scenario.loading import Scenario
from simbench.runs.video import make_camera, sample_frames
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.painting import make_cast
from simbench.sim.rendering.scene_view import UndrawableShapeError
from simbench.sim.rendering.scene_viewer import Address, BrowserView, open_browser_view, require_browser_view

_RATE = 30.0
"""Frames per second of the run."""


class LiveView:
    """A scene that browsers show while its run is simulated, and after that for as long as it is open.

    `address`: where the scene is served; `on_ready`: called with the scene's URL, before anything is
    simulated; `realtime`: whether the simulation keeps to the clock; else it goes as fast as it can, and the
    scene follows.
    """

    def __init__(self, address: Address, on_ready: Callable[[str], None], *, realtime: bool = False) -> None:
        require_browser_view()
        self.realtime = realtime
        self._address, self._on_ready = address, on_ready
        self._view: BrowserView | None = None
        self._mechanisms: Sequence[Mechanism] = ()
        self._count = 0
        self._stack = ExitStack()

    def __enter__(self) -> "LiveView":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
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
            cast = make_cast(
                robot, mechanisms, camera, ghost=False, video=True, shadows=False, average_textures=True
            )
        except UndrawableShapeError as error:
            raise RunError(f"--view: {robot.name} cannot be shown: {error}") from error
        title = f"{scenario.name} on {robot.name}"
        self._mechanisms, self._count = mechanisms, 0
        self._view = self._stack.enter_context(open_browser_view(cast, title, duration, self._address))
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
