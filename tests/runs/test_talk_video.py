"""Videos for talks: what is in the pictures, where, and when."""

import shutil

import imageio.v3 as iio
import numpy as np
import pytest
import run_by_hand as by_hand
from PIL import Image
from talk_runs import START, write_run_with_flags, write_run_with_person

import simbench
from simbench.cli.main import main
from simbench.runs import talk_video
from simbench.runs.log import open_run
from simbench.runs.talk_video import (
    OVER_TIME,
    Decoration,
    caption_texts,
    render_talk_video,
)
from simbench.runs.video import View, load_video_scene
from simbench.runs.video_person import place_person
from simbench.sim.rendering.camera import choose_renderer
from simbench.sim.rendering.scene_view import project

FAST = ("camera.width=160", "camera.height=90", "camera.fps=5")


def silent(stage, done, total):
    pass


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs that differ in a gain and in their end: 2 s and 1 s."""
    folder = tmp_path_factory.mktemp("talk")
    return (
        write_run_with_flags(folder / "long"),
        write_run_with_flags(folder / "short", "control.law=pd", samples=101),
    )


@pytest.fixture
def labels(monkeypatch):
    """Labels as they are drawn: text, and whether it is dimmed."""
    drawn = []
    draw = talk_video.draw_label

    def note(picture, text, aside, *, dimmed):
        drawn.append((text, aside, dimmed))
        draw(picture, text, aside, dimmed=dimmed)

    monkeypatch.setattr(talk_video, "draw_label", note)
    return drawn


def test_two_runs_have_one_clock_and_the_shorter_one_holds_its_last_frame(runs, labels, tmp_path):
    path, _ = render_talk_video(runs, tmp_path / "both.mp4", on_progress=silent, view=View(FAST))
    frames = iio.imread(path).astype(int)
    assert frames.shape == (10, 90, 160, 3)
    assert iio.immeta(path, plugin="FFMPEG")["fps"] == 5.0
    # A line of two pixels divides them.
    left, right = frames[:, 26:, :79], frames[:, 26:, 81:]
    # Both are the same motion until the second ends; then the first moves on alone.
    for frame in range(5):
        assert np.mean(np.abs(left[frame] - right[frame]) > 24) < 0.01
    assert np.mean(np.abs(left[9] - left[4]) > 24) > 0.01
    assert np.mean(np.abs(right[9] - right[4]) > 24) < 0.002
    texts, asides, dimmed = zip(*labels, strict=True)
    assert texts[:2] == ("control.law: computed_torque", "control.law: pd")
    assert dimmed == (False, False) * 5 + (False, True) * 5
    assert texts[-1] == "control.law: pd"
    assert asides[-1] == "ended at 1.00 s"
    assert asides[:-1:2] == ("",) * 10


def test_both_panels_show_the_second_run_as_the_first_one_is_seen(runs):
    """Direction, distance and height of the camera are equal; each looks at its own place."""
    options = ("camera.yaw_deg=130", "camera.target_m=[0.2, 0.0, 0.5]", *FAST)
    camera, panels = talk_video._load_panels(runs, View(options), ())
    first, second = (scene.camera for scene, *_ in panels)
    assert first == second
    assert first.yaw_deg == 130
    assert (first.width, first.height) == (79, 90)
    assert (camera.width, camera.height) == (160, 90)
    # A narrow panel is seen from farther away.
    assert first.distance_m == pytest.approx(1.1 * 90 / 79 * camera.distance_m)


@pytest.mark.parametrize("suffix", ["gif", "webp"])
def test_an_animated_picture_lasts_as_long_as_the_part_of_the_run(runs, suffix, tmp_path, capsys):
    out = tmp_path / f"a.{suffix}"
    size = ["--set", "camera.width=160", "--set", "camera.height=90"]
    assert main(["video", str(runs[0]), "--end", "1.2", "--out", str(out), *size]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"video  {out}  (0.")
    assert " MB, drawn by " in printed
    with Image.open(out) as picture:
        assert picture.size == (160, 90)
        # Ten frames a second.
        assert picture.n_frames == 12
        lasted = 0.0
        for frame in range(picture.n_frames):
            picture.seek(frame)
            picture.load()
            lasted += picture.info["duration"]
        assert picture.info["loop"] == 0
    assert lasted == pytest.approx(1200.0, abs=10.0)


def test_the_person_is_beside_the_robot_when_it_does_the_same(tmp_path):
    """The hand is drawn where it was recorded, in the time of the run."""
    run = write_run_with_person(tmp_path / "run")
    options = ("camera.width=320", "camera.height=240", "camera.fps=10")
    scene = load_video_scene(run, View(options, start=START, end=START + 1.0, person=1.0))
    wrist = scene.frames.figure.points[:, 2]
    # Raised by 0.5 m within 1 s, as the recording, which lasts half as long.
    np.testing.assert_allclose(wrist[:, 2], 0.9 + 0.5 * (scene.times - START), atol=1e-9)
    pelvis = scene.frames.figure.points[0, 0]
    base = open_run(run)["base_pose"].values[0]
    yaw = np.radians(scene.camera.yaw_deg)
    left = np.array([np.cos(yaw), np.sin(yaw)])
    np.testing.assert_allclose(pelvis[:2], base[:2] - left, atol=1e-9)
    # Without legs, it stands on a stand, and its head is above the neck.
    head, floor = scene.frames.figure.points[0, -2:]
    np.testing.assert_allclose(floor, [*pelvis[:2], 0.0])
    np.testing.assert_allclose(head, [*pelvis[:2], 1.4 + 0.36 * 0.5])
    if choose_renderer() != "OpenGL":
        pytest.skip("no OpenGL here")
    out = tmp_path / "person.mp4"
    sizes = [part for option in options for part in ("--set", option)]
    times = ["--start", f"{START}", "--end", f"{START + 1.0}"]
    assert (
        main(["video", str(run), "--with-person", "--person-offset", "1", *times, *sizes, "--out", str(out)])
        == 0
    )
    frames = iio.imread(out).astype(int)
    for frame in (0, 9):
        orange = frames[frame, ..., 0] - frames[frame, ..., 2] > 60
        x, y = project(scene.camera, wrist[frame][None])[0]
        rows, columns = np.nonzero(orange)
        assert np.hypot(rows - y, columns - x).min() < 3.0


def test_a_person_who_walks_farther_than_the_robot_stays_beside_it(tmp_path):
    """Their way is the robot's, which stands; the sway of a hand against the pelvis is theirs."""
    run = write_run_with_person(tmp_path / "run")
    log = open_run(run).load()
    walk = 0.8 * np.linspace(0.0, 1.0, 11)
    log["person_point"] = log["person_point"].copy()
    log["person_point"].values[:, :, 0] += walk[:, None]
    log["recording_robot_time"] = log["recording_robot_time"] * 10.0
    clock = log["recording_robot_time"].values
    figure = place_person(run, None, log, clock, np.array([0.0, 1.0, 0.0]))
    pelvis, _, wrist = figure.points.transpose(1, 0, 2)[:3]
    base = log["base_pose"].values[0]
    np.testing.assert_allclose(pelvis[:, 0], base[0], atol=0.04)
    np.testing.assert_allclose(pelvis[:, 1], base[1] + 1.0, atol=1e-9)
    np.testing.assert_allclose(wrist[:, 0] - pelvis[:, 0], 0.3, atol=1e-9)


def test_videos_of_results_and_of_comparisons(runs, tmp_path):
    """The same videos as the command makes, and the one of a run is made once."""
    run = shutil.copytree(runs[0], tmp_path / "run")
    result = simbench.load_run(run)
    view = View(FAST, end=0.4)
    video = result.video(view=view)
    assert video == run / "video.mp4"
    assert len(iio.imread(video)) == 2
    made = video.stat().st_mtime_ns
    assert result.video() == video
    assert video.stat().st_mtime_ns == made
    titled = result.video(tmp_path / "titled.mp4", view=view, decoration=Decoration((), "T"))
    assert len(iio.imread(titled)) == 12
    both = simbench.compare(result, runs[1]).video(tmp_path / "both.mp4", view=view)
    assert iio.imread(both).shape == (2, 90, 160, 3)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return write_run_with_flags(tmp_path_factory.mktemp("caption") / "run")


def test_a_metric_has_its_value_at_each_moment(run):
    times = np.array([0.0, 0.5, 1.25])
    clock, error, wave = caption_texts(run, open_run(run), ("tracking.rms_rad", "wave"), times)
    assert clock == ["t = 0.00 s", "t = 0.50 s", "t = 1.25 s"]
    # Every joint is behind by the same.
    assert error == [f"joint error, RMS {1000.0 * by_hand.ERROR:.2f} mrad"] * 3
    assert wave == ["wave 0.00 m", "wave 1.00 m", "wave 2.50 m"]


def test_hand_errors_are_those_of_hands_in_contact(drawer_log):
    for name, reduce in (("hands.rms_m", lambda d: np.sqrt(np.mean(d**2))), ("hands.max_m", np.max)):
        found = OVER_TIME[name][2](drawer_log)
        for sample in range(3):
            touching = drawer_log["hand_contact"].values[sample]
            distance = np.linalg.norm(drawer_log["palm_position"].values[sample][touching], axis=1)
            expected = reduce(distance) if touching.any() else np.nan
            assert found[sample] == pytest.approx(expected, nan_ok=True)


@pytest.fixture
def drawer_log():
    """Three samples of two palms: both, one and none in contact."""
    import xarray as xr

    palms = np.random.default_rng(3).normal(size=(3, 2, 3))
    return xr.Dataset(
        {
            "palm_position": (("time", "hand", "xyz"), palms),
            "palm_actor": (("time", "hand", "xyz"), np.zeros((3, 2, 3))),
            "hand_contact": (("time", "hand"), np.array([[True, True], [False, True], [False, False]])),
        }
    )
