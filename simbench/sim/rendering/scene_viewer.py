"""The scene of a run in a web browser, from the side of the process that simulates."""

import contextlib
import importlib.util
import pickle
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RunError
from simbench.files.json_document import parse_json
from simbench.sim.rendering.painting import Cast, make_records
from simbench.sim.rendering.scene_server import EndMessage, Status
from simbench.sim.rendering.scene_view import Frames

LOOPBACK, PORT = "127.0.0.1", 8080
_EXIT_TIMEOUT = 5.0  # Time, s, that the serving process has to end before it is killed.


# Run with this process's path: the current directory, which may be a received run, is not on it.
_SERVE = "from simbench.sim.rendering.scene_server import main; main()"


class BrowserView:
    """A scene that browsers can look at while frames are added to it.

    `process`: process that serves it; `cast`: the bodies of the scene; `url`: where it is seen.
    """

    def __init__(self, process: subprocess.Popen[bytes], cast: Cast, url: str) -> None:
        self._process, self._cast, self.url = process, cast, url

    def add(self, times: NDArray[np.float64], frames: Frames) -> None:
        """Show more frames. `times` (F,): times of the frames, s; `frames`: poses of robot and equipment."""
        self._send((times, make_records(self._cast, frames)))

    def finish(self, words: str, *, wait: bool) -> None:
        """Say that the run has ended, and stay for as long as a browser shows it.

        `words`: what came of it, in one line; `wait`: whether to wait for a browser that has not come yet.
        """
        self._send(EndMessage(words, wait))
        self._process.wait()

    def _send(self, message: object) -> None:
        stream = self._process.stdin
        assert stream is not None
        # A view that has ended does not end the run.
        with contextlib.suppress(BrokenPipeError, ValueError):
            pickle.dump(message, stream)
            stream.flush()


@contextlib.contextmanager
def open_browser_view(
    cast: Cast, title: str, duration: float, host: str = LOOPBACK, port: int = PORT
) -> Iterator[BrowserView]:
    """Serve a scene to web browsers for as long as the body lasts.

    `title`: name of the run; `duration`: time that the run is to last, s; `host`: address to listen on; the
    default is seen from this machine only; `port`: first port to try.
    Raises RunError if the library that serves it is missing, or nothing can listen there.
    """
    require_browser_view()
    process = subprocess.Popen(
        # Not as the main module: its classes are what messages are pickled from.
        [*(sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {_SERVE}"), *(host, str(port))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        view = BrowserView(process, cast, "")
        content = cast.content
        view._send((title, content.solids, content.camera, duration))
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise RunError("--view: the process that serves the scene ended before it was ready")
        status = Status(**parse_json(line.decode(), "--view", RunError))
        if status.kind == "failed":
            raise RunError(f"--view: cannot listen on {status.words}")
        view.url = status.words
        yield view
    finally:
        # A closed pipe ends the process, unless it has ended already.
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def require_browser_view() -> None:
    """Refuse to go on without the library that serves the scene."""
    if importlib.util.find_spec("viser") is None:
        raise RunError('--view needs viser: pip install viser, or in a clone pip install -e ".[viewer]"')
