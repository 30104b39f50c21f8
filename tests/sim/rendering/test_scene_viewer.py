"""The scene of a run in a web browser."""

import http.client
import importlib.util
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

from simbench.errors import RunError
from simbench.robot.robot import load_robot
from simbench.sim.rendering.painting import Cast
from simbench.sim.rendering.scene_view import Camera, Frames
from simbench.sim.rendering.scene_viewer import open_browser_view, require_browser_view

needs_viser = pytest.mark.skipif(
    importlib.util.find_spec("viser") is None, reason="viser, which serves scenes to browsers, is missing"
)
CAMERA = Camera((0.0, 0.0, 0.8), 2.0, 45.0, -15.0, 45.0, 160, 120, 30)


@pytest.fixture(scope="module")
def cast():
    return Cast(load_robot("puma560"), [], CAMERA, ghost=False, video=True, shadows=False)


@pytest.fixture(scope="module")
def served(cast):
    with open_browser_view(cast, "run", 1.0) as view:
        yield view


def frames(count):
    base = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (count, 1))
    return Frames(base, np.zeros((count, 6)), {}, None)


@needs_viser
def test_a_page_is_served_on_loopback_and_ends_with_the_run(cast):
    """A second scene finds the first one's port taken, and takes the next."""
    with open_browser_view(cast, "first", 1.0) as first:
        with open_browser_view(cast, "second", 1.0) as second:
            assert first.url != second.url
            with urllib.request.urlopen(second.url) as page:
                assert page.status == 200
            second.add(np.arange(3) / 30.0, frames(3))
            second.finish("3 of 3 checks hold", wait=False)
        assert first.url.startswith("http://localhost:")
        with urllib.request.urlopen(first.url) as page:
            assert b"<html" in page.read().lower()


@needs_viser
def test_an_address_that_is_not_ours_is_refused(cast):
    with (
        pytest.raises(RunError, match=r"--view: cannot listen on 192\.0\.2\.1:8080: "),
        open_browser_view(cast, "run", 1.0, "192.0.2.1"),
    ):
        raise AssertionError("served")


@needs_viser
def test_frames_after_the_server_has_gone_do_not_end_the_run(cast):
    with open_browser_view(cast, "run", 1.0) as view:
        view._process.kill()
        view._process.wait()
        view.add(np.zeros(1), frames(1))
        view.finish("over", wait=True)


@needs_viser
@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:{port}", None, 200),
        ("127.0.0.1:{port}", "http://127.0.0.1:{port}", 200),
        ("evil.example:{port}", None, 403),
        ("evil.example:{port}", "http://evil.example:{port}", 403),
        ("localhost:{port}", "http://evil.example", 403),
        ("localhost:{port}", "http://localhost:1", 403),
        ("localhost:{port}", "null", 403),
        ("", None, 403),
    ],
)
@pytest.mark.parametrize("upgrade", [False, True])
def test_only_its_own_pages_are_answered(served, host, origin, status, upgrade):
    """Neither a name of somebody else that leads here nor a page of another origin reads the scene."""
    port = int(served.url.rpartition(":")[2])
    headers = {"Host": host.format(port=port)}
    if origin is not None:
        headers["Origin"] = origin.format(port=port)
    if upgrade:
        key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13"}
        headers |= {"Upgrade": "websocket", "Connection": "Upgrade", **key}
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/", headers=headers)
    answer = connection.getresponse()
    assert answer.status == (101 if upgrade and status == 200 else status)
    if status == 403:
        assert answer.read() == b"only for pages that this address itself serves\n"
    connection.close()


def test_without_the_library_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(RunError):
        require_browser_view()


@needs_viser
def test_the_frame_of_a_time_is_the_first_one_not_before_it():
    from simbench.sim.rendering.scene_server import _Playback

    playback = _Playback()
    assert playback.frame_at(0.0) is None
    for begin in (0, 3):
        times = np.arange(begin, begin + 3) / 10.0
        playback.add((times, np.arange(begin, begin + 3)))
        assert playback.known == times[-1]
    shown = [playback.frame_at(time) for time in (0.0, 0.1, 0.11, 0.3, 9.0)]
    assert shown == [0, 1, 2, 3, 5]


def test_the_engine_and_its_planner_are_not_loaded_for_a_page():
    """The serving process starts in a moment: what simulates is not imported there."""
    code = (
        "import sys, importlib.util\n"
        "import simbench.sim.rendering.scene_server\n"
        "print([n for n in ('pybullet', 'numba', 'simbench.runs') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
