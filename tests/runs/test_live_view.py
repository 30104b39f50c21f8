"""The scene of a run that browsers watch: every frame once, and the run is the same."""

from contextlib import contextmanager
from types import SimpleNamespace

import imageio.v3 as iio
import numpy as np
import pytest
import run_by_hand as by_hand

import simbench
from simbench.cli.main import main
from simbench.runs import live_view, log
from simbench.runs.live_view import LiveView, advance_playhead, play_scene
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.video import View, load_video_scene, render_video
from simbench.sim.bullet.bullet_body import bullet
from simbench.sim.rendering import painting as video_stream
from simbench.sim.rendering.scene_renderer import open_window, pressed_keys

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
    def serve(cast, title, duration, host, port):
        made.title, made.duration = title, duration
        yield made

    monkeypatch.setattr(live_view, "open_browser_view", serve)
    monkeypatch.setattr(live_view, "require_browser_view", lambda: None)
    return made


def test_a_page_is_sent_every_frame_once_while_the_run_stays_the_same(page, tmp_path):
    scenario = simbench.load_scenario("puma560_sweep", SHORT)
    said = []
    with LiveView(said.append) as view:
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


SHORT_VIDEO = [
    "motion.task={amplitude_rad: 0.6, speed_rad_s: 1.0}",
    "simulation.settle_s=0.5",
    "camera.width=160",
    "camera.height=90",
]


def silent(stage, done, total):
    pass


@pytest.fixture(autouse=True)
def every_second(monkeypatch):
    """The log has several parts, however long they take."""
    monkeypatch.setattr(log, "_LARGEST_SHARE", np.inf)


@pytest.mark.parametrize("fast", [False, True])
def test_it_is_the_video_of_the_log(tmp_path, monkeypatch, fast):
    parts = []
    add = live_view.LiveVideo.add
    monkeypatch.setattr(live_view.LiveVideo, "add", lambda self, log: parts.append(log) or add(self, log))
    result = run_scenario(
        load_scenario("puma560_sweep", SHORT_VIDEO), tmp_path / "run", video=True, fast=fast
    )
    if result.renderer != "OpenGL":
        pytest.skip("no OpenGL here")
    assert len(parts) >= 2
    assert result.video_file == tmp_path / "run" / "video.mp4"
    view = View(fast=fast)
    path, _ = render_video(tmp_path / "run", tmp_path / "again.mp4", on_progress=silent, view=view)
    assert path.read_bytes() == result.video_file.read_bytes()
    assert iio.immeta(path, plugin="FFMPEG")["fps"] == (15.0 if fast else 30.0)


def test_where_it_breaks_the_video_is_drawn_from_the_log(tmp_path, monkeypatch):
    """Its processes end before the first frame."""
    monkeypatch.setattr(live_view, "choose_renderer", lambda: "OpenGL")
    monkeypatch.setattr(video_stream, "OPENGL_WORKER", "simbench.nothing")
    drawn = []

    def render(folder, out, *, on_progress, view):
        drawn.append((sorted(path.name for path in folder.iterdir()), view))
        return folder / "video.mp4", "TinyRenderer"

    monkeypatch.setattr("simbench.runs.pipeline.render_video", render)
    result = run_scenario(load_scenario("puma560_sweep", SHORT_VIDEO), tmp_path / "run", video=True)
    assert result.renderer == "TinyRenderer"
    ((files, view),) = drawn
    # Nothing of it is left, and the log is there.
    assert files == ["log.nc", "metrics.json", "provenance.json", "scenario.yaml"]
    assert view == View()


def test_an_interrupted_simulation_leaves_no_video(tmp_path, monkeypatch):
    def stop(stage, done, total):
        if stage == "simulate" and done > 0.6 * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_scenario(
            load_scenario("puma560_sweep", SHORT_VIDEO), tmp_path / "run", video=True, on_progress=stop
        )
    assert not list(tmp_path.rglob("*.mp4"))


def test_more_frames_than_the_log_has_are_not_shown(monkeypatch):
    """A simulation that diverges takes samples back."""
    sent = []
    monkeypatch.setattr(video_stream, "make_records", lambda cast, frames: np.arange(frames))
    monkeypatch.setattr(video_stream.os, "write", lambda pipe, data: sent.append(pipe) or len(data))
    stream = video_stream.VideoStream(None, None, [7, 8])
    stream.add(5, certain=3)
    assert (stream.count, sent) == (5, [7, 8, 7])
    stream.add(2, certain=6)
    assert (stream.count, sent) == (7, [7, 8, 7, 8, 7, 8])
    with pytest.raises(video_stream.StreamBrokenError):
        stream.finish(5, lambda done, total: None)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return by_hand.write_puma_run(tmp_path_factory.mktemp("replay") / "run")


@pytest.mark.parametrize(
    ("head", "keys", "elapsed", "expected"),
    [
        ((1.0, False, False), (), 0.25, (1.25, False, False)),
        ((4.9, False, False), (), 0.25, (5.0, False, False)),
        ((4.9, False, True), (), 0.25, (0.15, False, True)),
        ((1.0, False, False), ("space",), 0.25, (1.0, True, False)),
        ((1.0, True, False), (), 0.25, (1.0, True, False)),
        ((1.0, True, False), ("space",), 0.25, (1.25, False, False)),
        ((1.0, True, False), ("right",), 0.25, (2.0, True, False)),
        ((0.5, False, False), ("left",), 0.25, (0.25, False, False)),
        ((3.0, False, False), ("r",), 0.0, (0.0, False, False)),
        ((3.0, False, False), ("l",), 0.0, (3.0, False, True)),
    ],
)
def test_the_playhead_follows_clock_and_keys(head, keys, elapsed, expected):
    assert advance_playhead(*head, keys, elapsed, 5.0) == (pytest.approx(expected[0]), *expected[1:])


def test_bullet_has_robot_and_reference_where_the_log_says(run):
    """Twice as fast, a pause in the middle: a clock of our own, and no window."""
    view = View(speed=2.0, ghost=0.6)
    film = load_video_scene(run, view, 30.0)
    clock = SimpleNamespace(time=100.0)
    shown = []

    def keys(scene):
        joints, base = [], []
        for figure in (scene.robot, scene.ghost):
            states = bullet.getJointStates(figure.handle, figure.joints, physicsClientId=scene.stage.client)
            joints.append([state[0] for state in states])
            base.append(
                bullet.getBasePositionAndOrientation(figure.handle, physicsClientId=scene.stage.client)[0]
            )
        shown.append((joints, base))
        return {10: {"space"}, 20: {"space"}, 40: {"q"}}.get(len(shown), set()) | pressed_keys(scene)

    def sleep(duration):
        clock.time += duration

    with open_window(film.robot, film.mechanisms, film.camera, ghost=True, gui=False) as scene:
        play_scene(film, scene, view.speed, keys=keys, now=lambda: clock.time, sleep=sleep)
    assert len(shown) == 40
    # Frames of 1/60 s, of which ten pass in the pause.
    playing = np.array([k - min(max(k - 9, 0), 10) for k in range(40)])
    times = 2.0 * playing / 60.0
    joints = np.array([entry[0] for entry in shown])
    for joint in range(6):
        wanted = 0.1 * (joint + 1) * np.sin(np.pi * times)
        # A sample may be 10 ms late.
        late = 0.1 * (joint + 1) * np.pi * 0.0101
        assert np.abs(joints[:, 0, joint] + by_hand.ERROR - wanted).max() < late
        assert np.abs(joints[:, 1, joint] - wanted).max() < late
    apart = np.array([np.subtract(entry[1][1], entry[1][0]) for entry in shown])
    np.testing.assert_allclose(np.linalg.norm(apart, axis=1), 0.6, atol=1e-6)


def test_without_a_screen_one_line_names_what_needs_none(run, monkeypatch, capsys):
    monkeypatch.delenv("DISPLAY", raising=False)
    assert main(["replay", str(run)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "simbench replay needs a screen" in error
    assert "use simbench video RUN instead" in error
