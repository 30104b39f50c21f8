"""Replay without a window: the playhead, and where Bullet has the robot at every moment."""

from types import SimpleNamespace

import numpy as np
import pytest
import run_by_hand as by_hand

from simbench.cli.main import main
from simbench.runs.replay import Playhead, advance_playhead, play_scene
from simbench.runs.video import View, load_video_scene
from simbench.sim.bullet.bullet_body import bullet
from simbench.sim.rendering.scene_renderer import open_window, pressed_keys


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return by_hand.write_puma_run(tmp_path_factory.mktemp("replay") / "run")


@pytest.mark.parametrize(
    ("head", "keys", "elapsed", "expected"),
    [
        (Playhead(1.0), (), 0.25, Playhead(1.25)),
        (Playhead(4.9), (), 0.25, Playhead(5.0)),
        (Playhead(4.9, looping=True), (), 0.25, Playhead(0.15, looping=True)),
        (Playhead(1.0), ("space",), 0.25, Playhead(1.0, paused=True)),
        (Playhead(1.0, paused=True), (), 0.25, Playhead(1.0, paused=True)),
        (Playhead(1.0, paused=True), ("space",), 0.25, Playhead(1.25)),
        (Playhead(1.0, paused=True), ("right",), 0.25, Playhead(2.0, paused=True)),
        (Playhead(0.5), ("left",), 0.25, Playhead(0.25)),
        (Playhead(3.0), ("r",), 0.0, Playhead(0.0)),
        (Playhead(3.0), ("l",), 0.0, Playhead(3.0, looping=True)),
        (Playhead(3.0), ("q",), 0.0, Playhead(3.0, ended=True)),
    ],
)
def test_the_playhead_follows_clock_and_keys(head, keys, elapsed, expected):
    got = advance_playhead(head, keys, elapsed, 5.0)
    assert got.time == pytest.approx(expected.time)
    assert (got.paused, got.looping, got.ended) == (expected.paused, expected.looping, expected.ended)


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
        play_scene(film, scene, Playhead(), view.speed, keys=keys, now=lambda: clock.time, sleep=sleep)
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
