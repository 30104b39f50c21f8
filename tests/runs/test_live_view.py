"""The scene of a run that browsers watch: every frame once, and the run is the same."""

from contextlib import contextmanager

import numpy as np
import pytest

import simbench
from simbench.cli.main import main
from simbench.runs import live_view
from simbench.runs.live_view import LiveView
from simbench.runs.pipeline import run_scenario
from simbench.sim.rendering.scene_viewer import Address

SHORT = {"motion.task": {"amplitude_rad": 0.4, "speed_rad_s": 1.0, "repetitions": 1}, "checks": {}}


class Page:
    """Takes what a page would be sent."""

    url = "http://localhost:1"

    def __init__(self):
        self.times, self.joints, self.words = [], [], []

    def add(self, times, frames):
        self.times.append(times)
        self.joints.append(frames.joints)

    def finish(self, words, *, wait):
        self.words.append((words, wait))


@pytest.fixture
def page(monkeypatch):
    """A page instead of the process that serves one."""
    made = Page()

    @contextmanager
    def serve(cast, title, duration, address):
        made.title, made.duration = title, duration
        yield made

    monkeypatch.setattr(live_view, "open_browser_view", serve)
    monkeypatch.setattr(live_view, "require_browser_view", lambda: None)
    return made


def test_a_page_is_sent_every_frame_once_while_the_run_stays_the_same(page, tmp_path):
    scenario = simbench.load_scenario("puma560_sweep", SHORT)
    said = []
    with LiveView(Address(), said.append) as view:
        watched = run_scenario(scenario, tmp_path / "watched", gui=view, on_progress=False)
        view.finish("over", wait=False)
    plain = run_scenario(scenario, tmp_path / "plain", on_progress=False)
    times, joints = np.concatenate(page.times), np.concatenate(page.joints)
    assert len(page.times) > 1
    np.testing.assert_allclose(times, np.arange(len(times)) / 30.0)
    last = float(watched.log.time[-1])
    assert last - 1.0 / 30.0 <= times[-1] <= last
    sampled = watched.log.joint_position.values[np.searchsorted(watched.log.time.values, times - 1e-9)]
    np.testing.assert_array_equal(joints, sampled)
    np.testing.assert_array_equal(watched.log.joint_position, plain.log.joint_position)
    assert page.title == "puma560_sweep on puma560"
    assert page.duration == pytest.approx(last, abs=0.01)
    assert said == [page.url]
    assert page.words == [("over", False)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--realtime"], "--realtime: allowed only with --view"),
        (["--view-host", "0.0.0.0"], "--view-host: allowed only with --view"),
        (["--view-port", "8081"], "--view-port: allowed only with --view"),
        (["--view", "--gui"], "--view: watch in a browser or in Bullet's window (--gui), not both"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "puma560_sweep", *options]) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_command_says_where_the_page_is_and_ends_with_the_checks(page, capsys, tmp_path):
    short = [f"motion.task.{key}={value}" for key, value in SHORT["motion.task"].items()]
    sets = [part for each in (*short, "checks={fell: true}") for part in ("--set", each)]
    assert main(["run", "puma560_sweep", "--view", "--out", str(tmp_path / "run"), *sets]) == 1
    assert f"view   {page.url}" in capsys.readouterr().err
    assert page.words == [("0 of 1 checks hold", False)]
