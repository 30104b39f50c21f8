"""A finished run looked at again: which moment every frame shows, from where, and what is refused."""

import dataclasses

import imageio.v3 as iio
import numpy as np
import pinocchio as pin
import pytest
import run_by_hand as by_hand
import xarray as xr

from simbench.cli.main import main
from simbench.options import CameraSection
from simbench.robot.robot import load_robot
from simbench.runs.run_directory import MARKER
from simbench.runs.video import View, load_video_scene, make_camera_path, reconstruct_planned_base
from simbench.sim.rendering import camera as camera_module
from simbench.sim.rendering.camera import draw_pictures
from simbench.sim.rendering.scene_view import project


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return by_hand.write_puma_run(tmp_path_factory.mktemp("film") / "run")


def swing(times, joint):
    return 0.1 * (joint + 1) * np.sin(np.pi * times)


def test_frames_are_the_moments_of_the_run_at_its_speed(run):
    film = load_video_scene(run, View(speed=2.0, start=0.4, end=1.6))
    assert film.camera.fps == 30
    np.testing.assert_allclose(film.times, 0.4 + np.arange(18) * 2.0 / 30.0)
    # The sample at or after it: at most 10 ms late, in which joint 6 moves by 0.6 π rad/s.
    for joint in range(6):
        shown = film.frames.joints[:, joint] + by_hand.ERROR
        assert np.abs(shown - swing(film.times, joint)).max() < 0.1 * (joint + 1) * np.pi * 0.0101


def test_another_camera_and_the_reference_to_the_left_in_the_picture(run):
    film = load_video_scene(run, View(("camera.yaw_deg=130", "camera.target_m=[0.0, 0.0, 0.0]"), ghost=0.8))
    plain = load_video_scene(run, View(("camera.yaw_deg=130", "camera.target_m=[0.0, 0.0, 0.0]")))
    assert plain.camera.yaw_deg == 130
    assert plain.frames.ghost is None
    assert plain.camera.target_m == (0.0, 0.0, 0.0)
    base, joints = film.frames.ghost
    np.testing.assert_allclose(joints - film.frames.joints, by_hand.ERROR, atol=1e-12)
    apart = base[:, :3] - film.frames.base[:, :3]
    np.testing.assert_allclose(np.linalg.norm(apart, axis=1), 0.8)
    left, right = project(film.camera, np.stack([base[0, :3], film.frames.base[0, :3]]))
    # Both as far from the middle, at one height.
    middle = 0.5 * film.camera.width
    assert left[0] < middle < right[0]
    assert middle - left[0] == pytest.approx(right[0] - middle, abs=1e-6)
    assert left[1] == pytest.approx(right[1], abs=1e-6)


def test_in_its_place_the_reference_moves_no_camera(run):
    film = load_video_scene(run, View(ghost=0.0))
    assert film.camera == load_video_scene(run, View()).camera
    base, _ = film.frames.ghost
    np.testing.assert_array_equal(base, film.frames.base)


def test_the_video_of_a_part_is_as_long_as_its_speed_says(run, tmp_path, capsys, monkeypatch):
    # Starts sooner.
    monkeypatch.setattr("simbench.sim.rendering.camera.choose_renderer", lambda: "TinyRenderer")
    out = tmp_path / "part.mp4"
    options = ["--start", "0.5", "--end", "1.5", "--speed", "5", "--ghost"]
    assert main(["video", str(run), "--out", str(out), *options]) == 0
    assert capsys.readouterr().out == f"video  {out}  (drawn by TinyRenderer)\n"
    frames = iio.imread(out)
    assert frames.shape == (6, 120, 160, 3)
    # Half blue, around where the reference's root is.
    blue = frames[0, :, :, 2].astype(int) - frames[0, :, :, 0] > 30
    film = load_video_scene(run, View(ghost=1.0))
    base, _ = film.frames.ghost
    columns = np.nonzero(blue)[1]
    assert len(columns) > 300
    assert np.median(columns) == pytest.approx(project(film.camera, base[:1, :3])[0, 0], abs=6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--speed", "0"], "--speed 0: allowed: 0.01 to 100"),
        (["--speed", "nan"], "--speed nan: allowed"),
        (["--start", "2.5"], "--start 2.5: allowed: 0 <= start < end <= 2 s"),
        (["--start", "1", "--end", "1"], "--start 1 --end 1: allowed"),
        (["--end", "2.1"], "--end 2.1: allowed"),
        (["--set", "seed=3"], "--set seed=3: a finished run cannot be changed"),
        (["--set", "camera.fov_deg=200"], "camera.fov_deg"),
        (["--ghost-offset", "1e9"], "--ghost-offset 1e+09: allowed: -20 to 20 m"),
        (["--out", "a.avi"], "must end in .mp4, .gif or .webp"),
        (["--out", "no/such/a.mp4"], "no/such/a.mp4: must be a file in a directory that exists"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_line(run, options, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["video", str(run), *options]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert not list(tmp_path.iterdir())
    assert not (run / "video.mp4").exists()


def test_a_camera_that_follows_keeps_the_robot_in_the_middle():
    """It walks with a sway that the camera smooths away, and always is within a few centimetres."""
    time = np.arange(0.0, 4.0, 0.005)
    base = np.zeros((len(time), 7))
    base[:, 0] = 0.3 * time + 0.02 * np.sin(12.0 * time)
    base[:, 2] = 0.8
    log = xr.Dataset({"base_pose": (("time", "pose"), base)}, {"time": time})
    section = CameraSection(target_m=(0.5, -0.3, 0.7), distance_m=2.0, follow=True)
    moments = np.arange(1.5, 2.5, 0.02)
    shift, turn_deg = make_camera_path(section, log, moments, moments)
    target = np.array(section.target_m) + shift
    np.testing.assert_allclose(target[:, 0], 0.3 * moments, atol=0.003)
    np.testing.assert_allclose(target[:, 1], 0.0, atol=1e-12)
    np.testing.assert_allclose(target[:, 2], 0.7)
    # Of the sway, whose speed is 0.24 m/s, nothing is left.
    assert np.abs(np.diff(target[:, 0]) / 0.02 - 0.3).max() < 0.02
    np.testing.assert_array_equal(turn_deg, 0.0)


def test_a_camera_that_orbits_turns_in_the_time_of_the_video(run):
    scene = load_video_scene(run, View(("camera.orbit_s=4",), speed=2.0))
    # 2 s at twice the speed: a quarter of a turn.
    assert len(scene.times) == 30
    shift, turn_deg = scene.frames.camera_path
    np.testing.assert_allclose(turn_deg, 90.0 * np.arange(30) / 30.0)
    np.testing.assert_array_equal(shift, 0.0)
    assert load_video_scene(run, View()).frames.camera_path is None


@pytest.mark.parametrize("renderer", ["TinyRenderer", "OpenGL"])
def test_both_renderers_move_the_camera(run, renderer, monkeypatch):
    """A frame of an orbit is the picture of a camera that stands there."""
    if renderer == "OpenGL" and camera_module.choose_renderer() != "OpenGL":
        pytest.skip("no OpenGL here")
    monkeypatch.setattr(camera_module, "choose_renderer", lambda: renderer)
    scene = load_video_scene(run, View(("camera.orbit_s=4",)))
    frame = 40
    (orbiting,), name = draw_pictures(scene.robot, [], scene.frames, scene.camera, [frame])
    assert name == renderer
    turned = dataclasses.replace(scene.camera, yaw_deg=scene.camera.yaw_deg + 120.0)
    still = dataclasses.replace(scene.frames, camera_path=None)
    (there,), _ = draw_pictures(scene.robot, [], still, turned, [frame])
    (before,), _ = draw_pictures(scene.robot, [], still, scene.camera, [frame])
    # The lamp stays where it is, whereas it is behind a camera that stands: compare what is black.
    outlines = [each.max(axis=2) < 60 for each in (orbiting, there, before)]
    assert outlines[0].sum() > 30
    assert (outlines[0] ^ outlines[1]).sum() < 0.25 * outlines[1].sum()
    assert (outlines[0] ^ outlines[2]).sum() > 0.7 * outlines[2].sum()


def test_a_run_that_is_none_and_one_without_a_sample_are_refused(tmp_path, capsys):
    assert main(["video", str(tmp_path / "nowhere")]) == 2
    assert "nowhere: is not a run directory with a log.nc" in capsys.readouterr().err
    assert main(["video", str(by_hand.write_puma_run(tmp_path / "empty", samples=0))]) == 2
    assert "empty: interrupted before anything was logged" in capsys.readouterr().err


def test_an_interrupted_run_is_shown_as_far_as_it_was_logged(tmp_path, capsys, monkeypatch):
    run = by_hand.write_puma_run(tmp_path / "a.incomplete", samples=101)
    (run / MARKER).write_text("interrupted\n")
    assert load_video_scene(run, View()).times[-1] == pytest.approx(1.0 - 1.0 / 30.0)
    assert main(["video", str(tmp_path / "a")]) == 2
    assert f"with a log.nc; its interrupted run is {run}\n" in capsys.readouterr().err
    drawn = []
    monkeypatch.setattr(
        "simbench.runs.video.draw_video", lambda path, *rest, **options: drawn.append(path) or "EGL"
    )
    assert main(["video", str(run)]) == 0
    assert drawn == [run / "video.mp4"]
    assert capsys.readouterr().err == f"{run}: incomplete (interrupted): shown as far as it was logged\n"


COUNT = 60


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


def foot_poses(robot, base, joints):
    data, poses = robot.model.createData(), []
    for pose, row in zip(base, joints, strict=True):
        pin.framesForwardKinematics(robot.model, data, np.concatenate([pose, row]))
        poses.append(
            [data.oMf[robot.model.getFrameId(robot.frames[role])].homogeneous for role in robot.feet]
        )
    return np.array(poses)


def test_the_supporting_foot_stays_while_the_other_swings(mahru):
    phases = np.linspace(0.0, 2.0 * np.pi, COUNT)[:, None]
    rates = np.random.default_rng(3).uniform(-0.3, 0.3, len(mahru.joint_names))
    joints = mahru.postures["standing"] + rates * np.sin(phases)
    contact = np.ones((COUNT, 2), dtype=bool)
    contact[20:30, 0] = contact[40:50, 1] = False
    turn = pin.Quaternion(pin.rpy.rpyToMatrix(0.0, 0.1, 0.7)).coeffs()
    start = np.concatenate([[0.3, -0.2, 0.8], turn])
    log = xr.Dataset(
        {
            "base_pose": (("time", "pose"), np.tile(start, (COUNT, 1))),
            "joint_reference": (("time", "joint"), joints),
            "contact_planned": (("time", "foot"), contact),
        },
        attrs={"seat": ""},
    )
    base = reconstruct_planned_base(mahru, log)
    np.testing.assert_allclose(base[0], start, atol=1e-12)
    poses = foot_poses(mahru, base, joints)
    # On the left foot until it lifts, then on the right one until that lifts.
    for first, last, foot in ((0, 20, 0), (20, 40, 1), (40, COUNT - 1, 0)):
        np.testing.assert_allclose(
            poses[first : last + 1, foot], np.tile(poses[first, foot], (last - first + 1, 1, 1)), atol=1e-9
        )
    # The one that swings goes somewhere.
    assert np.linalg.norm(poses[30, 0, :3, 3] - poses[20, 0, :3, 3]) > 0.01


def test_a_fixed_base_stays_where_it_was():
    robot = load_robot("puma560")
    poses = np.tile([0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 1.0], (4, 1))
    log = xr.Dataset({"base_pose": (("time", "pose"), poses)})
    np.testing.assert_array_equal(reconstruct_planned_base(robot, log), poses)
