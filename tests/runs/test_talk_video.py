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
from simbench.errors import RunError
from simbench.runs import talk_video
from simbench.runs.log import open_run
from simbench.runs.talk_video import (
    OVER_TIME,
    Caption,
    Decoration,
    caption_names,
    caption_texts,
    render_talk_video,
    title_card,
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


def test_runs_that_differ_in_much_are_named_by_their_directories(runs, labels, tmp_path):
    other = by_hand.write_puma_run(
        tmp_path / "other", "control.law=pd", "seed=5", "simulation.floor_friction=0.5"
    )
    view = View(FAST, end=0.2)
    render_talk_video([runs[0], other], tmp_path / "both.mp4", on_progress=silent, view=view)
    assert [text for text, *_ in labels] == ["long", "other"]


def test_the_time_is_beside_the_labels_of_two_runs(runs, labels, tmp_path):
    view = View(FAST, end=1.2)
    path, _ = render_talk_video(
        runs, tmp_path / "both.mp4", on_progress=silent, view=view, decoration=Decoration(("wave",))
    )
    assert [aside for _, aside, _ in labels[::2]] == [f"t = {0.2 * frame:.2f} s" for frame in range(6)]
    assert labels[-1][1] == "ended at 1.00 s"
    # Below, there is one line, of letters 13 pixels high.
    frames = iio.imread(path).astype(int)
    assert (frames[0, 60:, :, :].min(axis=(1, 2)) < 60).sum() < 30


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


def test_a_title_card_comes_first_and_only_where_it_is_asked_for(runs, tmp_path):
    view = View(FAST, end=0.4)
    options = {"on_progress": silent, "view": view}
    plain, _ = render_talk_video(runs[:1], tmp_path / "a.mp4", decoration=Decoration(("wave",)), **options)
    titled, _ = render_talk_video(
        runs[:1], tmp_path / "b.mp4", decoration=Decoration(("wave",), "A title"), **options
    )
    without, with_card = iio.imread(plain).astype(int), iio.imread(titled).astype(int)
    assert len(without) == 2
    # Two seconds at 5 frames a second.
    assert len(with_card) == 12
    assert np.mean(np.abs(with_card[10:] - without) > 16) < 0.01
    # All of it is of one tone but the letters.
    assert np.ptp(with_card[0][:20]) < 10
    assert with_card[0].min() < 80


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


def test_an_animated_picture_is_small_unless_a_size_is_asked_for(runs):
    large = ("camera.width=1920", "camera.height=1080")
    small = load_video_scene(runs[0], View(animation=True)).camera
    assert (small.width, small.fps) == (160, 10)
    assert load_video_scene(runs[0], View(large, animation=True)).camera.width == 1920
    assert load_video_scene(runs[0], View(("camera.fps=25",), animation=True)).camera.fps == 25


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


def test_a_person_faces_as_the_robot_does(romeo):
    """The log's points of the robot are turned back by its heading, which is found again."""
    from talk_runs import person_variables, raising_person

    from simbench.motion.trajectory import JointTrajectory
    from simbench.retargeting.body_errors import robot_points

    heading, clock = 0.7, np.linspace(1.0, 2.0, 11)
    base = np.tile([0.4, -0.2, 0.85, 0.0, 0.0, np.sin(0.35), np.cos(0.35)], (11, 1))
    posture = np.tile(romeo.postures["standing"], (11, 1))
    motion = JointTrajectory(clock, posture, romeo.joint_names, base)
    turned = robot_points(romeo, motion, heading=heading)
    names = ("pelvis", "neck", "right_wrist")
    there = np.stack([turned.get(name, np.full((11, 3), np.nan)) for name in names], axis=1)
    log = person_variables(raising_person(), names, there, clock).assign(
        base_pose=(("time", "pose"), base), joint_position=(("time", "joint"), posture)
    )
    log = log.assign_coords(time=clock)
    figure = place_person(None, romeo, log, np.array([1.0]), np.array([0.0, 1.0, 0.0]))
    pelvis, _, wrist = figure.points[0, :3]
    np.testing.assert_allclose(pelvis[:2], [0.4, 0.8], atol=1e-9)
    forward = wrist - pelvis
    assert np.arctan2(forward[1], forward[0]) == pytest.approx(heading, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--with-person"], "--with-person: no recorded person in its log; allowed: runs in which"),
        (["--person-offset", "90"], "--person-offset 90: allowed: -20 to 20 m"),
        (["--caption", "a,b,c"], "--caption a,b,c: allowed: one or two names"),
        (["--caption", "nothing.here"], "--caption nothing.here: no such metric or signal; allowed: "),
        (["--orbit", "0.1"], "camera.orbit_s"),
        (["--out", "a.avi"], "a.avi: a video's name must end in .mp4, .gif or .webp"),
        (["--title", "T", "--out", "a.mov"], "a.mov: a video's name must end in .mp4, .gif or .webp"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_line(runs, options, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["video", str(runs[0]), *options]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert not list(tmp_path.iterdir())
    assert not (runs[0] / "video.mp4").exists()


def test_two_runs_need_a_name_and_an_end_that_one_of_them_reaches(runs, tmp_path, capsys):
    both = [str(run) for run in runs]
    assert main(["video", *both]) == 2
    assert "belongs to neither directory: give its name by --out FILE" in capsys.readouterr().err
    assert main(["video", *both, "--out", str(tmp_path / "a.mp4"), "--end", "3"]) == 2
    assert "--end 3: allowed: up to 2 s" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


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


def test_a_value_that_is_not_defined_has_no_unit(run):
    log = open_run(run).load()
    log["wave"].values[50] = np.nan
    assert caption_texts(run, log, ("wave",), np.array([0.5, 0.6]))[1] == ["wave none", "wave 1.20 m"]


def test_a_metric_without_a_form_over_time_is_of_the_whole_run(run):
    _, share = caption_texts(run, open_run(run), ("torque.saturated_fraction",), np.zeros(2))
    assert share == ["torque.saturated_fraction 0 (whole run)"] * 2


def test_a_name_that_is_neither_is_refused(run):
    with pytest.raises(RunError, match=r"--caption zmp\.rms_m: no such metric or signal; allowed: .*, wave$"):
        caption_texts(run, open_run(run), ("zmp.rms_m",), np.zeros(1))


@pytest.mark.parametrize("given", [("a,b,c",), ("a", "b", "c"), ("a,",), ("",)])
def test_other_than_one_or_two_names_are_refused(given):
    with pytest.raises(RunError):
        caption_names(given)
    assert caption_names(("a, b",)) == caption_names(("a", "b")) == ("a", "b")


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


@pytest.mark.parametrize(("width", "height"), [(640, 360), (1920, 1080), (319, 360)])
def test_a_caption_is_legible_in_small_and_large_pictures(width, height):
    """Its letters are bright on dark along the lower edge, within the picture, and at least 8 pixels high."""
    items = [["t = 12.34 s"], ["ZMP margin 123.4 mm"], ["joint error, RMS 12.34 mrad"]]
    grey = np.full((height, width, 3), 200, np.uint8)
    Caption(items, width, height).draw(grey, 0)
    bar = np.nonzero((grey != 200).all(axis=(1, 2)))[0]
    assert bar[-1] == height - 1
    assert len(bar) < 0.3 * height
    rows, columns = np.nonzero(grey.min(axis=2) > 225)
    assert rows.min() > bar[0]
    assert columns.min() > 0
    assert columns.max() < width - 1
    line = np.nonzero((grey[:, : width // 3].min(axis=2) > 225).any(axis=1))[0]
    assert np.ptp(line) + 1 >= 8
    # In proportion to the picture, but for the least height.
    assert np.ptp(rows) >= 0.02 * height


def test_a_long_title_is_broken_into_lines_within_the_card():
    card = title_card("Whole-body imitation of a person who opens a drawer five times", 320, 180)
    rows, columns = np.nonzero(card.max(axis=2) < 120)
    assert columns.min() > 0.05 * 320
    assert columns.max() < 0.95 * 320
    inked = np.isin(np.arange(180), rows)
    assert (np.diff(inked.astype(int)) == 1).sum() >= 2
